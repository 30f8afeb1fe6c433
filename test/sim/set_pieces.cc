#include "test/sim/set_pieces.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace maniple::sim {
namespace {

constexpr int64_t kWholeNode = 8;  // GPUs
constexpr char kQueue[] = "set-piece";
constexpr char kQueues[] = "/apis/scheduling.maniple.dev/v1alpha1/queues";

}  // namespace

void SetPieces::Create(const std::string& gang, const GangSpec& spec) {
  users_.gangs()[gang] = spec;
  users_.CreateGroup(gang);
  for (int i = 0; i < spec.pods; ++i) users_.CreatePod(gang, i);
}

void SetPieces::BeginHalf() { Create(kHalf, {.pods = 3, .gpus = 1, .min_member = 3}); }

void SetPieces::OrphanHalf() {
  users_.gangs().at(kHalf).group_is_gone = true;
  users_.Call("DELETE", absl::StrCat(kGroupsTarget, "/", kHalf), Json());
}

bool SetPieces::Challenge() {
  const std::map<std::string, Truth::NodeFacts> nodes = users_.truth().nodes();
  const auto open = std::ranges::find_if(nodes, [](const auto& node) {
    return node.second.gpus == kWholeNode && !node.second.tainted && !node.second.cordoned;
  });
  if (open == nodes.end()) return false;
  for (const auto& [name, node] : nodes) {
    if (name == open->first) continue;
    users_.Call("PATCH", absl::StrCat("/api/v1/nodes/", name),
                Json::Object({{"spec", Json::Object({{"unschedulable", true}})}}));
  }
  Create(kChallenger, {.pods = 2,
                       .gpus = kWholeNode / 2,
                       .min_member = 2,
                       .recreated = true,
                       .priority_class = "middle"});
  return true;
}

void SetPieces::Answer() {
  Create(kAnswerer, {.pods = 1, .gpus = kWholeNode, .min_member = 1, .priority_class = "high"});
}

void SetPieces::Humble() {
  users_.Call("PATCH", absl::StrCat(kGroupsTarget, "/", kAnswerer),
              Json::Object({{"spec", Json::Object({{"priorityClassName", "low"}})}}));
}

void SetPieces::Admit() {
  users_.Call("POST", kQueues,
              Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                            {"kind", "Queue"},
                            {"metadata", Json::Object({{"name", kQueue}})},
                            {"spec", Json::Object()}}));
  Create(kGuest, {.pods = 2, .gpus = 1, .min_member = 2, .queue = kQueue});
}

void SetPieces::CloseQueue() {
  const Json nobody = Json::Object({{"matchLabels", Json::Object({{kTeamLabel, "nobody"}})}});
  users_.Call("PATCH", absl::StrCat(kQueues, "/", kQueue),
              Json::Object({{"spec", Json::Object({{"namespaceSelector", nobody}})}}));
}

void SetPieces::Grow() {
  GangSpec& spec = users_.gangs().at(kGuest);
  spec.pods = spec.min_member = 4;
  users_.Call("PATCH", absl::StrCat(kGroupsTarget, "/", kGuest),
              Json::Object({{"spec", Json::Object({{"minMember", spec.min_member}})}}));
  for (const int index : {2, 3}) users_.CreatePod(kGuest, index);
}

void SetPieces::Delete(const std::string& gang) {
  for (const std::string& pod : users_.PodsOf(gang)) {
    users_.Call("DELETE", absl::StrCat(kPodsTarget, "/", pod), Json());
  }
  users_.Call("DELETE", absl::StrCat(kGroupsTarget, "/", gang), Json());
  users_.gangs().erase(gang);
}

void SetPieces::Clear() {
  for (const char* gang : {kHalf, kChallenger, kAnswerer, kGuest}) {
    if (users_.gangs().contains(gang)) Delete(gang);
  }
  users_.Call("DELETE", absl::StrCat(kQueues, "/", kQueue), Json());
}

}  // namespace maniple::sim
