// The queues of a ConfigMap, `guaranteed` and `max` of each; a queue with children is a Cohort.
//
// Names there are whole paths ("root.team.train"), and so jobs name them. `vcore` is in cores;
// what `max` does not name has no limit, what `guaranteed` does not name is shared.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/codec/yaml.h"
#include "scheduler/import/queue_tree.h"

namespace maniple {
namespace {

// A path as a name of ours: their names may have characters that ours may not.
std::string NameOf(absl::string_view path) {
  std::string name = absl::AsciiStrToLower(path);
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.') c = '-';
  }
  return name;
}

// One object for each queue: its fields are the spec, and metadata says where it stands.
class Unfolding final {
 public:
  Unfolding(const ForeignManifest& config, ForeignManifests& into) : config_(config), into_(into) {}

  void AddPartition(const Json& partition, Findings& findings) {
    const std::string& name = partition["name"].AsString();
    if (name != "default") {
      config_.Note("partitions", absl::StrCat(name, ": skipped: there is one partition, default"),
                   findings);
      return;
    }
    Json fields = Without(partition, "queues");
    into_.push_back(Part("Partition", name, "", std::move(fields)));
    const Json& queues = partition["queues"];
    const bool has_root = queues.size() == 1 && IsRoot(queues.items()[0]);
    if (has_root)
      into_.push_back(Part("Queue", kRootQueue, "", Without(queues.items()[0], "queues")));
    AddQueues(has_root ? queues.items()[0]["queues"] : queues, kRootQueue);
  }

 private:
  static bool IsRoot(const Json& queue) {
    return absl::AsciiStrToLower(queue["name"].AsString()) == kRootQueue;
  }

  void AddQueues(const Json& queues, const std::string& above) {
    for (const Json& queue : queues.items()) {
      const std::string path = absl::StrCat(above, ".", queue["name"].AsString());
      into_.push_back(Part("Queue", path, above, Without(queue, "queues")));
      AddQueues(queue["queues"], path);
    }
  }

  static Json Without(const Json& object, absl::string_view field) {
    Json out = Json::Object();
    for (const auto& [name, value] : object.members()) {
      if (name != field && name != "name") out.Set(name, value);
    }
    return out;
  }

  [[nodiscard]] ForeignManifest Part(absl::string_view kind, const std::string& path,
                                     const std::string& above, Json fields) const {
    return config_.Part(
        Json::Object({{"kind", kind},
                      {"metadata", Json::Object({{"name", path}, {"above", above}})},
                      {"spec", std::move(fields)}}));
  }

  const ForeignManifest& config_;
  ForeignManifests& into_;
};

void AddParts(const ForeignManifest& config, ForeignManifests& into, Imported& out) {
  Unfolding unfolding(config, into);
  bool any = false;
  for (const auto& [file, text] : config.whole()["data"].members()) {
    const absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text.AsString());
    if (!documents.ok()) {
      config.Error(absl::StrCat("data[", file, "]"), documents.status().message(), out.findings);
      continue;
    }
    for (const YamlDocument& document : *documents) {
      for (const Json& partition : document.value["partitions"].items()) {
        any = true;
        unfolding.AddPartition(partition, out.findings);
      }
    }
  }
  if (!any) config.Note("data", "skipped: it has no partitions", out.findings);
}

struct Lost {
  absl::string_view name, why;
};
constexpr std::array<Lost, 7> kFieldsLost = {{
    {"maxapplications", "quota bounds what runs, not the number of gangs"},
    {"limits", "quota is a Queue's: give users and groups Queues of their own"},
    {"childtemplate", "no Queue is made on demand: write one for each team"},
    {"adminacl", "RBAC says who may change a Queue"},
    {"placementrules", "a job is charged to the Queue that it names, else to defaultQueue"},
    {"nodesortpolicy", "plugins in the configuration of the scheduler score the nodes"},
    {"statedumpfilepath", "see maniple diag"},
}};
constexpr std::array<Lost, 7> kPropertiesLost = {{
    {"application.sort.priority", "a gang of higher priority always comes first"},
    {"priority.policy", "priorities count within a Queue and its Cohort"},
    {"priority.offset", "give its pods another PriorityClass"},
    {"preemption.delay", "who may have quota back asks at once"},
    {"quota.preemption.delay", "lowered quota evicts nobody; to empty a Queue: HoldAndDrain"},
    {"application.sort.policy", ""},  // both read below
    {"preemption.policy", ""},
}};

void TellLostFields(ForeignManifest& object, Imported& out) {
  for (const Lost& field : kFieldsLost) {
    object.HasNoCounterpart(field.name, field.why, out.findings);
  }
}

// Their names have dots in them.
void TellLostProperties(const Json& properties, ForeignManifest& queue, Imported& out) {
  for (const auto& [name, value] : properties.members()) {
    const auto* const known = std::ranges::find(kPropertiesLost, name, &Lost::name);
    const absl::string_view why =
        known == kPropertiesLost.end() ? "the property is not known here" : known->why;
    if (why.empty()) continue;
    queue.Note(absl::StrCat("properties[", name, "]"), absl::StrCat("not carried over: ", why),
               out.findings);
  }
}

bool IsFence(const Json& properties) {
  return properties["preemption.policy"].AsString() == "fence";
}

// Preemption there is between queues, and for what is guaranteed only.
Json PreemptionOf(const Json& properties, bool reclaims) {
  return Json::Object(
      {{"withinQueue", "Never"},
       {"reclaimWithinCohort", IsFence(properties) || !reclaims ? "Never" : "Any"}});
}

// Queues inside a fence get back there from each other what is theirs, and from nobody else.
void TellFencesAroundOthers(const ForeignManifests& parts, Imported& out) {
  std::set<absl::string_view> parents;
  for (const ForeignManifest& part : parts) {
    parents.insert(part.whole().At("metadata.above").AsString());
  }
  for (const ForeignManifest& part : parts) {
    if (part.name() == kRootQueue || !parents.contains(part.name())) continue;
    if (!IsFence(part.whole().At("spec.properties"))) continue;
    part.Note("properties[preemption.policy]",
              "not carried over: a Cohort is no fence, and the queues below it get back what is "
              "theirs from outside, too; to prevent that, give preemption.reclaimWithinCohort: "
              "Never to these, and they get nothing back from each other either",
              out.findings);
  }
}

TreeQueue TreeQueueOf(ForeignManifest& queue, bool reclaims, Imported& out) {
  const std::string& above = queue.whole().At("metadata.above").AsString();
  TreeQueue tree{.from = &queue, .parent = above == kRootQueue ? "" : NameOf(above)};
  for (const auto& [resource, amount] : TakeAmounts(queue, "resources.max", out)) {
    tree.lines[resource].limit = amount;
  }
  for (const auto& [resource, amount] : TakeAmounts(queue, "resources.guaranteed", out)) {
    tree.lines[resource].nominal = amount;
  }
  TellLostFields(queue, out);
  if (const Json& who = queue.Take("submitacl"); who.AsString() != "*") {
    queue.HasNoCounterpart("submitacl", "namespaceSelector says who may use a Queue", out.findings);
  }
  if (queue.Take("parent").AsBool()) {
    queue.Note("parent", "queues below it are not made on demand: write one for each team",
               out.findings);
  }
  const Json& properties = queue.Take("properties");
  TellLostProperties(properties, queue, out);
  if (properties["application.sort.policy"].AsString() == "fair") {
    queue.Note("properties[application.sort.policy]",
               "not carried over: gangs of a Queue come in order of priority and age",
               out.findings);
  }
  if (properties["preemption.policy"].AsString() == "disabled") {
    queue.Note("properties[preemption.policy]",
               "not carried over: others get back here what is theirs; to keep it, guarantee it",
               out.findings);
  }
  tree.own_spec = Json::Object({{"preemption", PreemptionOf(properties, reclaims)}});
  if (NameOf(queue.name()) != queue.name()) {
    queue.Note("name",
               absl::StrCat("is called ", NameOf(queue.name()),
                            " here; for jobs that name it: ", "`producers.queues: {\"",
                            queue.name(), "\": ", NameOf(queue.name()), "}` in the configuration"),
               out.findings);
  }
  return tree;
}

}  // namespace

void ImportYuniKorn(ForeignManifests& objects, Imported& out) {
  ForeignManifests parts;
  for (const ForeignManifest& object : objects) {
    if (object.kind() == "ConfigMap") AddParts(object, parts, out);
  }
  bool reclaims = true;
  std::map<std::string, TreeQueue> queues;
  for (ForeignManifest& part : parts) {
    if (part.kind() == "Partition") {
      TellLostFields(part, out);
      const Json& enabled = part.Take("preemption.enabled");
      reclaims = !enabled.is_bool() || enabled.AsBool();
      continue;
    }
    TreeQueue queue = TreeQueueOf(part, reclaims, out);
    if (part.name() == kRootQueue) continue;  // it has what the nodes have
    if (!queues.emplace(NameOf(part.name()), std::move(queue)).second) {
      part.Error("name", "the queue is there twice; the first counts", out.findings);
    }
  }
  if (reclaims) TellFencesAroundOthers(parts, out);
  ImportTree(std::move(queues), kRootQueue, CapacityOf(objects), out);
  std::ranges::move(parts, std::back_inserter(objects));
}

}  // namespace maniple
