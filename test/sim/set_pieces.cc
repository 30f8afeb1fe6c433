#include "test/sim/set_pieces.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/client/watch_session.h"
#include "test/sim/names.h"

namespace maniple::sim {
namespace {

constexpr int64_t kWholeNode = 8;  // GPUs
constexpr char kStageQueue[] = "set-piece";
constexpr absl::Duration kShort = absl::Seconds(5), kLong = absl::Minutes(1);
// By then everybody knows of it, even if a watch has fallen silent.
const absl::Duration kUntilKnown = 2 * WatchSessionOptions().idle_timeout;

std::string GroupOf(const std::string& gang) { return absl::StrCat(kGroupsTarget, "/", gang); }

Json SpecOf(Json spec) { return Json::Object({{"spec", std::move(spec)}}); }

}  // namespace

void SetPieces::Play(const Stage& stage) {
  OrphanHalf(stage);
  GrowUnderAClosedQueue(stage);
  Reverse(stage);
}

void SetPieces::OrphanHalf(const Stage& stage) {
  stage.refuse_binds(absl::StrCat(kPodsTarget, "/half-1"), 2 * kShort);
  Create("half", {.pods = 3, .gpus = 1, .min_member = 3});
  stage.pass(kShort);
  users_.gangs().at("half").group_is_gone = true;
  users_.Call("DELETE", GroupOf("half"), Json());
  stage.pass(kUntilKnown);
  stage.look();
  Delete("half");
  stage.pass(kLong);
}

void SetPieces::GrowUnderAClosedQueue(const Stage& stage) {
  users_.Call("POST", kQueuesPath,
              Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                            {"kind", "Queue"},
                            {"metadata", Json::Object({{"name", kStageQueue}})},
                            {"spec", Json::Object()}}));
  Create("guest", {.pods = 2, .gpus = 1, .min_member = 2, .queue = kStageQueue});
  stage.pass(kLong);
  const std::string queue = absl::StrCat(kQueuesPath, "/", kStageQueue);
  const Json nobody = Json::Object({{"matchLabels", Json::Object({{kTeamLabel, "nobody"}})}});
  users_.Call("PATCH", queue, SpecOf(Json::Object({{"namespaceSelector", nobody}})));
  stage.pass(kUntilKnown);
  GangSpec& spec = users_.gangs().at("guest");
  spec.pods = spec.min_member = 4;
  users_.Call("PATCH", GroupOf("guest"), SpecOf(Json::Object({{"minMember", spec.min_member}})));
  for (const int index : {2, 3}) users_.CreatePod("guest", index);
  stage.pass(kLong);
  Delete("guest");
  users_.Call("DELETE", queue, Json());
  stage.pass(kLong);
}

bool SetPieces::LeaveOneNodeOpen() {
  const std::map<std::string, Truth::NodeFacts> nodes = users_.truth().nodes();
  const auto open = std::ranges::find_if(nodes, [](const auto& node) {
    return node.second.gpus == kWholeNode && !node.second.tainted && !node.second.cordoned;
  });
  if (open == nodes.end()) return false;
  for (const auto& [name, node] : nodes) {
    if (name == open->first) continue;
    users_.Call("PATCH", absl::StrCat("/api/v1/nodes/", name),
                SpecOf(Json::Object({{"unschedulable", true}})));
  }
  return true;
}

void SetPieces::Reverse(const Stage& stage) {
  if (!LeaveOneNodeOpen()) return;
  Create("challenger", {.pods = 2,
                        .gpus = kWholeNode / 2,
                        .min_member = 2,
                        .recreated = true,
                        .priority_class = "middle"});
  stage.pass(kLong);
  Create("answerer", {.pods = 1, .gpus = kWholeNode, .min_member = 1, .priority_class = "high"});
  stage.pass(2 * kLong);
  users_.Call("PATCH", GroupOf("answerer"), SpecOf(Json::Object({{"priorityClassName", "low"}})));
  stage.hold_out();
  for (const char* gang : {"challenger", "answerer"}) Delete(gang);
  stage.pass(2 * kLong);
}

void SetPieces::Create(const std::string& gang, const GangSpec& spec) {
  users_.gangs()[gang] = spec;
  users_.CreateGroup(gang);
  for (int i = 0; i < spec.pods; ++i) users_.CreatePod(gang, i);
}

void SetPieces::Delete(const std::string& gang) {
  for (const std::string& pod : users_.PodsOf(gang)) {
    users_.Call("DELETE", absl::StrCat(kPodsTarget, "/", pod), Json());
  }
  users_.Call("DELETE", GroupOf(gang), Json());
  users_.gangs().erase(gang);
}

}  // namespace maniple::sim
