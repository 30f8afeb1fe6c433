#include "scheduler/replay/cluster_changes.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/base/status_macros.h"
#include "api/codec/quantity.h"
#include "api/model/model.h"

namespace maniple {
namespace {

constexpr size_t kMostOfLabel = 63;  // bytes of its value

Json* FindObject(std::vector<Json>& objects, absl::string_view kind, absl::string_view name) {
  const auto it = std::ranges::find_if(objects, [&](const Json& object) {
    return object["kind"].AsString() == kind && object["metadata"]["name"].AsString() == name;
  });
  return it == objects.end() ? nullptr : &*it;
}

// Says that the node is not ready yet, or on its way out.
bool IsOfTrouble(absl::string_view taint) {
  return absl::StartsWith(taint, "node.kubernetes.io/") ||
         absl::StartsWith(taint, "node.cloudprovider.kubernetes.io/") ||
         absl::StartsWith(taint, "karpenter.sh/") || taint == "ToBeDeletedByClusterAutoscaler" ||
         taint == "DeletionCandidateOfClusterAutoscaler";
}

// A fresh node: without the marks of the original's troubles.
Json CopyOf(const Json& node, const std::string& name, const std::string& host) {
  Json copy = node;
  Json& meta = copy.Mutable("metadata");
  meta.Set("name", name);
  meta.Set("uid", absl::StrCat("what-if-", name));
  meta.Mutable("labels").Set(kHostnameLabel, host);
  Json& spec = copy.Mutable("spec");
  spec.Erase("unschedulable");
  if (!spec["taints"].is_array()) return copy;
  std::erase_if(spec.Mutable("taints").mutable_items(),
                [](const Json& taint) { return IsOfTrouble(taint["key"].AsString()); });
  return copy;
}

// The only resource that the Queue limits, else its GPUs.
std::string ResourceOf(const Json& queue) {
  std::set<std::string> names;
  for (const Json& quota : queue["spec"]["quotas"].items()) {
    for (const Json& resource : quota["resources"].items()) {
      names.insert(resource["name"].AsString());
    }
  }
  if (names.size() == 1) return *names.begin();
  const auto gpu = std::ranges::find_if(
      names, [](const std::string& name) { return absl::EndsWith(name, "/gpu"); });
  return gpu == names.end() ? "" : *gpu;
}

absl::Status Raise(Json& entry, const std::string& resource, int64_t by) {
  const Json& nominal = entry["nominal"];
  const std::string text = nominal.is_int() ? absl::StrCat(nominal.AsInt()) : nominal.AsString();
  ASSIGN_OR_RETURN(const Amount before, ParseAmount(resource, text.empty() ? "0" : text));
  ASSIGN_OR_RETURN(const Amount more, ParseAmount(resource, absl::StrCat(std::abs(by))));
  const Amount after = by < 0 ? std::max(before - more, Amount()) : before + more;
  entry.Set("nominal", FormatAmount(resource, after));
  return absl::OkStatus();
}

}  // namespace

absl::Status AddNodes(const AddedNodes& added, std::vector<Json>& objects) {
  const Json* like = FindObject(objects, "Node", added.like);
  if (like == nullptr) {
    return absl::NotFoundError(absl::StrCat("there is no node \"", added.like, "\" to copy"));
  }
  const Json original = *like;
  std::set<std::string> taken;
  for (const Json& object : objects) taken.insert(object["metadata"]["name"].AsString());
  int64_t number = 0;
  for (int64_t i = 0; i < added.count; ++i) {
    std::string name;
    do {
      name = absl::StrCat(added.like, "-what-if-", ++number);
    } while (taken.contains(name));
    const std::string host =
        name.size() <= kMostOfLabel ? name : absl::StrCat("what-if-", objects.size());
    objects.push_back(CopyOf(original, name, host));
  }
  return absl::OkStatus();
}

absl::Status AddQuota(const AddedQuota& more, std::vector<Json>& objects) {
  Json* queue = FindObject(objects, "Queue", more.queue);
  if (queue == nullptr) {
    return absl::NotFoundError(absl::StrCat("there is no Queue \"", more.queue, "\""));
  }
  const std::string resource = more.resource.empty() ? ResourceOf(*queue) : more.resource;
  const absl::Status unlimited = absl::InvalidArgumentError(absl::StrCat(
      "Queue \"", more.queue, "\" has no quota of ",
      resource.empty() ? "GPUs; name the resource" : resource,
      more.flavor.empty() ? "" : absl::StrCat(" in flavor \"", more.flavor, "\""), " to change"));
  Json& spec = queue->Mutable("spec");
  if (resource.empty() || !spec["quotas"].is_array()) return unlimited;
  for (Json& quota : spec.Mutable("quotas").mutable_items()) {
    if (!quota["resources"].is_array()) continue;
    if (!more.flavor.empty() && quota["flavor"].AsString() != more.flavor) continue;
    for (Json& entry : quota.Mutable("resources").mutable_items()) {
      if (entry["name"].AsString() != resource) continue;
      return Annotate(Raise(entry, resource, more.amount),
                      absl::StrCat("Queue \"", more.queue, "\""));
    }
  }
  return unlimited;
}

}  // namespace maniple
