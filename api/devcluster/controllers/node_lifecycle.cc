#include "api/devcluster/controllers/node_lifecycle.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/devcluster/store/conditions.h"
#include "api/devcluster/store/object_facts.h"
#include "api/devcluster/types/served_version.h"

namespace maniple::devcluster {
namespace {

constexpr const char* kOurReason = "DevclusterAnnotation";
constexpr const char* kDefaultPods = "110";

void KeepReadiness(Json& node, absl::Time now) {
  const bool told_not_ready =
      node["metadata"]["annotations"][kReadyAnnotation].AsString() == "false";
  const Json& ready = FindCondition(node, "Ready");
  const std::string status = ready["status"].AsString();
  if (told_not_ready && status != "False") {
    SetCondition(node,
                 {.type = "Ready",
                  .status = "False",
                  .reason = kOurReason,
                  .message = "the annotation devcluster.maniple.dev/ready says so"},
                 now);
  } else if (!told_not_ready && (status.empty() || ready["reason"].AsString() == kOurReason)) {
    SetCondition(node,
                 {.type = "Ready",
                  .status = "True",
                  .reason = "KubeletReady",
                  .message = "kubelet is posting ready status"},
                 now);
  }
}

bool IsNotReadyTaint(const Json& taint) {
  return taint["key"].AsString() == kNotReadyTaint && taint["effect"].AsString() == "NoSchedule";
}

void KeepTaint(Json& node) {
  const std::string ready = FindCondition(node, "Ready")["status"].AsString();
  const std::vector<Json>& taints = node["spec"]["taints"].items();
  const bool tainted = std::any_of(taints.begin(), taints.end(), IsNotReadyTaint);
  if (tainted == (ready == "False")) return;
  Json& list = node.Mutable("spec").Mutable("taints");
  if (!tainted) {
    if (!list.is_array()) list = Json::Array();
    list.Append(Json::Object({{"key", kNotReadyTaint}, {"effect", "NoSchedule"}}));
    return;
  }
  std::vector<Json>& items = list.mutable_items();
  items.erase(std::remove_if(items.begin(), items.end(), IsNotReadyTaint), items.end());
  if (items.empty()) node.Mutable("spec").Erase("taints");
}

void KeepAmounts(Json& node) {
  Json& status = node.Mutable("status");
  if (status["allocatable"].size() == 0 && status["capacity"].size() > 0) {
    const Json capacity = status["capacity"];
    status.Set("allocatable", capacity);
  }
  for (const char* field : {"capacity", "allocatable"}) {
    if (status[field].size() > 0 && !status[field].Has("pods")) {
      status.Mutable(field).Set("pods", kDefaultPods);
    }
  }
}

void KeepMachineFacts(Json& node) {
  Json& status = node.Mutable("status");
  if (!status["nodeInfo"].Has("kubeletVersion") ||
      status["nodeInfo"]["kubeletVersion"].AsString().empty()) {
    status.Set("nodeInfo", Json::Object({{"kubeletVersion", kServedKubernetesVersion},
                                         {"osImage", "maniple-devcluster"},
                                         {"operatingSystem", "linux"},
                                         {"architecture", "amd64"},
                                         {"containerRuntimeVersion", "simulated://1"}}));
  }
  if (status["addresses"].size() == 0) {
    status.Set(
        "addresses",
        Json::Array({Json::Object({{"type", "Hostname"}, {"address", node["metadata"]["name"]}})}));
  }
}

}  // namespace

std::optional<Json> KeptNode(const Json& node, absl::Time now) {
  Json kept = node;
  if (!kept["status"].is_object()) kept.Set("status", Json::Object());
  if (!kept["spec"].is_object()) kept.Set("spec", Json::Object());
  KeepReadiness(kept, now);
  KeepTaint(kept);
  KeepAmounts(kept);
  KeepMachineFacts(kept);
  if (kept == node) return std::nullopt;
  return kept;
}

NodeLifecycle::NodeLifecycle(const TypeRegistry& types)
    : nodes_storage_(types.Storage("", "nodes")) {}

void NodeLifecycle::OnChange(const Change& change) {
  if (change.storage == nodes_storage_ && change.kind != ChangeKind::kDeleted) {
    noted_.push_back(change.name);
  }
}

absl::Time NodeLifecycle::NextDeadline() const {
  return noted_.empty() ? absl::InfiniteFuture() : absl::InfinitePast();
}

void NodeLifecycle::OnTime(const Cluster& cluster) {
  for (const ObjectName& name : std::exchange(noted_, {})) {
    const ObjectPtr node = cluster.store.Get(nodes_storage_, name);
    if (node == nullptr || IsLeaving(*node)) continue;
    if (std::optional<Json> kept = KeptNode(*node, cluster.now)) {
      cluster.store.Put(nodes_storage_, *std::move(kept));
    }
  }
}

}  // namespace maniple::devcluster
