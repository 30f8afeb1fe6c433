// Imports ClusterQueues as Queues; LocalQueues tell which namespaces use them.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/model/maniple_types.h"
#include "scheduler/import/dialects.h"

namespace maniple {
namespace {

// The namespaces of the LocalQueues of each ClusterQueue.
using Users = std::map<std::string, std::set<std::string>>;

constexpr absl::string_view kNamespaceName = "kubernetes.io/metadata.name";

// A queue's name may be longer than the value of a label.
constexpr size_t kLongestLabelValue = 63;

// As kubectl puts an object that names none.
std::string NamespaceOf(const ForeignManifest& local) {
  return local.namespace_name().empty() ? "default" : local.namespace_name();
}

void SetIf(Json& spec, absl::string_view key, const Json& value) {
  if (!value.is_null() && (!value.is_string() || !value.AsString().empty())) spec.Set(key, value);
}

// A node is of one flavor here. A flavor with more labels is more specific, so it goes first.
void ImportFlavor(ForeignManifest& flavor, Imported& out) {
  Json spec = Json::Object();
  const Json& labels = flavor.Take("nodeLabels");
  if (labels.size() > 0) {
    spec.Set("nodeLabels", labels);
    spec.Set("priority", static_cast<int64_t>(labels.size()));
  }
  flavor.HasNoCounterpart("nodeTaints", "pods tolerate the taints of nodes themselves",
                          out.findings);
  flavor.HasNoCounterpart("tolerations", "nothing is added to pods: give them the tolerations",
                          out.findings);
  flavor.HasNoCounterpart("topologyName", "a PodGroup names its Topology, where there are several",
                          out.findings);
  out.objects.push_back(OurObject("ResourceFlavor", flavor.name(), std::move(spec)));
}

void TellFlavorsThatAreAlike(const ForeignManifests& objects, Imported& out) {
  std::map<std::string, const ForeignManifest*> first;
  for (const ForeignManifest& object : objects) {
    if (object.kind() != "ResourceFlavor") continue;
    std::map<std::string, std::string> labels;
    for (const auto& [key, value] : object.whole().At("spec.nodeLabels").members()) {
      labels[key] = value.AsString();
    }
    const auto [found, fresh] =
        first.emplace(absl::StrJoin(labels, ",", absl::PairFormatter("=")), &object);
    if (fresh) continue;
    const std::string& winner = std::min(found->second->name(), object.name());
    object.Note("spec.nodeLabels",
                absl::StrCat("selects the same nodes as ResourceFlavor ", found->second->name(),
                             "; a node is of one flavor here, so both are charged as ", winner),
                out.findings);
  }
}

// The quota of a group is that of the flavors' nodes. A second group counts other resources of the
// same nodes by flavors of its own, which one flavor for each node cannot tell apart.
const Json* GroupToKeep(ForeignManifest& queue, const Json& groups, Imported& out) {
  const Json* kept = nullptr;
  const auto has_devices = [](const Json& group) {
    return std::ranges::any_of(group["coveredResources"].items(), [](const Json& resource) {
      return absl::StrContains(resource.AsString(), '/');
    });
  };
  for (const Json& group : groups.items()) {
    if (kept == nullptr || (has_devices(group) && !has_devices(*kept))) kept = &group;
  }
  for (size_t i = 0; i < groups.items().size(); ++i) {
    const Json& group = groups.items()[i];
    if (&group == kept) continue;
    std::vector<std::string> names;
    for (const Json& resource : group["coveredResources"].items()) {
      names.push_back(resource.AsString());
    }
    queue.Note(absl::StrCat("spec.resourceGroups[", i, "]"),
               absl::StrCat("not carried over: ", absl::StrJoin(names, ", "),
                            " is not limited now. What a pod uses is charged to the flavor of its "
                            "node here: divide this quota among the flavors of the other group, "
                            "and add it there"),
               out.findings);
  }
  return kept;
}

Json QuotasOf(ForeignManifest& queue, Imported& out) {
  Json quotas = Json::Array();
  const Json& groups = queue.Take("resourceGroups");
  const Json* group = GroupToKeep(queue, groups, out);
  if (group == nullptr) return quotas;
  queue.TellOthers("spec.resourceGroups", *group, {"coveredResources", "flavors"}, out.findings);
  for (const Json& flavor : (*group)["flavors"].items()) {
    Json resources = Json::Array();
    queue.TellOthers("spec.resourceGroups.flavors", flavor, {"name", "resources"}, out.findings);
    for (const Json& theirs : flavor["resources"].items()) {
      Json ours = Json::Object({{"name", theirs["name"]}, {"nominal", theirs["nominalQuota"]}});
      SetIf(ours, "borrowingLimit", theirs["borrowingLimit"]);
      SetIf(ours, "lendingLimit", theirs["lendingLimit"]);
      queue.TellOthers("spec.resourceGroups.flavors.resources", theirs,
                       {"name", "nominalQuota", "borrowingLimit", "lendingLimit"}, out.findings);
      resources.Append(std::move(ours));
    }
    quotas.Append(Json::Object({{"flavor", flavor["name"]}, {"resources", std::move(resources)}}));
  }
  return quotas;
}

void SetQuotasAndWeight(ForeignManifest& object, Json& spec, Imported& out) {
  if (Json quotas = QuotasOf(object, out); quotas.size() > 0) spec.Set("quotas", std::move(quotas));
  if (const Json& weight = object.Take("fairSharing.weight"); !weight.is_null()) {
    spec.Set("fairShare", Json::Object({{"weight", weight}}));
  }
}

void ImportCohort(ForeignManifest& cohort, Imported& out) {
  Json spec = Json::Object();
  SetIf(spec, "parent", cohort.TakeAny({"parentName", "parent"}));
  SetQuotasAndWeight(cohort, spec, out);
  out.objects.push_back(OurObject("Cohort", cohort.name(), std::move(spec)));
}

// The namespaces that the ClusterQueue selects; if any has a LocalQueue for it, only such ones.
void SetUsers(ForeignManifest& queue, const Users& users, Json& spec, Imported& out) {
  const Json theirs = queue.Take("namespaceSelector");
  const auto found = users.find(queue.name());
  Json selector = theirs.is_object() ? theirs : Json::Object();
  Json more =
      selector["matchExpressions"].is_array() ? selector["matchExpressions"] : Json::Array();
  if (theirs.is_null()) {
    queue.Note("spec.namespaceSelector",
               "without it nobody may use a ClusterQueue: nobody may use "
               "the Queue either",
               out.findings);
    more.Append(Json::Object({{"key", kNamespaceName}, {"operator", "DoesNotExist"}}));
  } else if (found == users.end()) {
    queue.Note("",
               "no LocalQueue for it is among the files: every namespace that it selects may "
               "use the Queue",
               out.findings);
  } else {
    Json names = Json::Strings({found->second.begin(), found->second.end()});
    more.Append(
        Json::Object({{"key", kNamespaceName}, {"operator", "In"}, {"values", std::move(names)}}));
  }
  if (more.size() > 0) selector.Set("matchExpressions", std::move(more));
  if (selector.size() > 0) spec.Set("namespaceSelector", std::move(selector));
}

// The defaults there are the rule here: room in any flavor, borrowed or not, goes before victims.
void TellFungibility(ForeignManifest& queue, Imported& out) {
  const std::string borrow = queue.Take("flavorFungibility.whenCanBorrow").AsString();
  const std::string preempt = queue.Take("flavorFungibility.whenCanPreempt").AsString();
  if ((borrow.empty() || borrow == "Borrow") && (preempt.empty() || preempt == "TryNextFlavor"))
    return;
  queue.Note(
      "spec.flavorFungibility",
      "not carried over: flavors are tried in their order, first for room, be it borrowed, then "
      "for room that victims leave",
      out.findings);
}

std::set<std::string> CoveredBy(const ForeignManifest& queue) {
  std::set<std::string> covered;
  for (const Json& group : queue.whole().At("spec.resourceGroups").items()) {
    for (const Json& resource : group["coveredResources"].items()) {
      covered.insert(resource.AsString());
    }
  }
  return covered;
}

// Nothing that asks for a resource that the ClusterQueue does not cover is admitted there; a Queue
// of ours does not limit what it does not list. `covered`: by any of the ClusterQueues.
void CloseWhatIsNotCovered(ForeignManifest& queue, const std::set<std::string>& covered, Json& spec,
                           Imported& out) {
  if (!spec.Has("quotas")) {
    if (spec["stopPolicy"].AsString() != "HoldAndDrain") spec.Set("stopPolicy", "Hold");
    queue.Note("spec.resourceGroups",
               "not there: nothing is admitted without, so the Queue is held (spec.stopPolicy)",
               out.findings);
    return;
  }
  const std::set<std::string> own = CoveredBy(queue);
  std::vector<std::string> closed;
  std::ranges::set_difference(covered, own, std::back_inserter(closed));
  if (closed.empty()) return;
  for (Json& quota : spec.Mutable("quotas").mutable_items()) {
    for (const std::string& name : closed) {
      quota.Mutable("resources")
          .Append(Json::Object({{"name", name}, {"nominal", 0}, {"borrowingLimit", 0}}));
    }
  }
  queue.Note("spec.resourceGroups",
             absl::StrCat("does not cover ", absl::StrJoin(closed, ", "),
                          ", as others do: nothing of that is admitted, as there"),
             out.findings);
}

void ImportClusterQueue(ForeignManifest& queue, const Users& users,
                        const std::set<std::string>& covered, Imported& out) {
  Json spec = Json::Object();
  SetIf(spec, "cohort", queue.TakeAny({"cohortName", "cohort"}));
  SetUsers(queue, users, spec, out);
  SetQuotasAndWeight(queue, spec, out);
  SetIf(spec, "ordering", queue.Take("queueingStrategy"));
  SetIf(spec, "stopPolicy", queue.Take("stopPolicy"));
  CloseWhatIsNotCovered(queue, covered, spec, out);
  Json preemption = Json::Object();
  SetIf(preemption, "withinQueue", queue.Take("preemption.withinClusterQueue"));
  SetIf(preemption, "reclaimWithinCohort", queue.Take("preemption.reclaimWithinCohort"));
  SetIf(preemption, "borrowWithinCohort", queue.Take("preemption.borrowWithinCohort"));
  if (preemption.size() > 0) spec.Set("preemption", std::move(preemption));
  for (const absl::string_view checks : {"admissionChecks", "admissionChecksStrategy"}) {
    queue.HasNoCounterpart(checks, "nothing outside is asked before a gang starts", out.findings);
  }
  TellFungibility(queue, out);
  queue.HasNoCounterpart("admissionScope", "a Queue has one order for all its gangs", out.findings);
  queue.HasNoCounterpart("concurrentAdmissionPolicy", "flavors are tried in one decision",
                         out.findings);
  out.objects.push_back(OurObject("Queue", queue.name(), std::move(spec)));
}

// A namespace has one default Queue: that of the LocalQueue called "default", or of its only one.
void ImportLocalQueues(ForeignManifests& objects, Imported& out) {
  std::map<std::string, std::vector<ForeignManifest*>> by_namespace;
  for (ForeignManifest& object : objects) {
    if (object.kind() == "LocalQueue") by_namespace[NamespaceOf(object)].push_back(&object);
  }
  for (auto& [name, locals] : by_namespace) {
    const auto chosen = std::ranges::find(locals, "default", &ForeignManifest::name);
    ForeignManifest* const leads = chosen != locals.end() ? *chosen
                                   : locals.size() == 1   ? locals.front()
                                                          : nullptr;
    for (ForeignManifest* local : locals) {
      const std::string& queue = local->Take("clusterQueue").AsString();
      if (local->Take("stopPolicy").AsString() != "None") {
        local->HasNoCounterpart("stopPolicy", "a Queue is stopped for all of its namespaces",
                                out.findings);
      }
      local->HasNoCounterpart("fairSharing", "shares are those of Queues", out.findings);
      if (queue.empty()) {
        local->Error("spec.clusterQueue", "is missing: it leads to no Queue", out.findings);
      }
      if (queue.empty()) continue;
      if (local == leads && queue.size() <= kLongestLabelValue) continue;
      local->Note("",
                  absl::StrCat("gangs of namespace ", name,
                               " that used it name the Queue: ", "spec.queue: ", queue),
                  out.findings);
    }
    const std::string queue = leads != nullptr ? leads->Take("clusterQueue").AsString() : "";
    if (queue.empty() || queue.size() > kLongestLabelValue) continue;
    Json labels = Json::Object({{kDefaultQueueLabel, queue}});
    out.objects.push_back(Json::Object(
        {{"apiVersion", "v1"},
         {"kind", "Namespace"},
         {"metadata", Json::Object({{"name", name}, {"labels", std::move(labels)}})}}));
  }
}

void ImportPriorityClass(ForeignManifest& priority, Imported& out) {
  const Json& theirs = priority.whole();
  Json ours = Json::Object({{"apiVersion", "scheduling.k8s.io/v1"},
                            {"kind", "PriorityClass"},
                            {"metadata", Json::Object({{"name", priority.name()}})},
                            {"value", theirs["value"]}});
  SetIf(ours, "description", theirs["description"]);
  priority.Note("",
                "a gang's priority is never higher than that of its pods: give the class to the "
                "pods, too",
                out.findings);
  out.objects.push_back(std::move(ours));
}

}  // namespace

void ImportKueue(ForeignManifests& objects, Imported& out) {
  Users users;
  for (ForeignManifest& object : objects) {
    if (object.kind() != "LocalQueue") continue;
    users[object.Take("clusterQueue").AsString()].insert(NamespaceOf(object));
  }
  std::set<std::string> covered;
  for (const ForeignManifest& object : objects) {
    if (object.kind() == "ClusterQueue") covered.merge(CoveredBy(object));
  }
  // Pods are counted only where the ClusterQueue covers them: elsewhere they close nothing.
  covered.erase("pods");
  TellFlavorsThatAreAlike(objects, out);
  for (ForeignManifest& object : objects) {
    if (object.kind() == "ResourceFlavor") ImportFlavor(object, out);
    if (object.kind() == "Topology") ImportTopology(object, out);
    if (object.kind() == "Cohort") ImportCohort(object, out);
    if (object.kind() == "ClusterQueue") ImportClusterQueue(object, users, covered, out);
    if (object.kind() == "WorkloadPriorityClass") ImportPriorityClass(object, out);
  }
  ImportLocalQueues(objects, out);
}

}  // namespace maniple
