#include "test/sim/set_pieces.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/client/watch_session.h"
#include "test/sim/free_room.h"
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
  Overstay(stage);
  Borrow(stage);
  Relabel(stage);
  LandLate(stage);
  TakeElsewhere(stage);
}

void SetPieces::AddQueue(const std::string& name, Json spec) {
  users_.Call("POST", kQueuesPath,
              Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                            {"kind", "Queue"},
                            {"metadata", Json::Object({{"name", name}})},
                            {"spec", std::move(spec)}}));
}

void SetPieces::OrphanHalf(const Stage& stage) {
  stage.refuse_binds(absl::StrCat(kPodsTarget, "/half-1"), 2 * kShort);
  users_.CreateGang("half", {.pods = 3, .gpus = 1, .min_member = 3});
  stage.pass(kShort);
  users_.gangs().at("half").group_is_gone = true;
  users_.Call("DELETE", GroupOf("half"), Json());
  stage.pass(kUntilKnown);
  stage.look();
  users_.DeleteGang("half");
  stage.pass(kLong);
}

void SetPieces::GrowUnderAClosedQueue(const Stage& stage) {
  AddQueue(kStageQueue, Json::Object());
  users_.CreateGang("guest", {.pods = 2, .gpus = 1, .min_member = 2, .queue = kStageQueue});
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
  users_.DeleteGang("guest");
  users_.Call("DELETE", queue, Json());
  stage.pass(kLong);
}

bool SetPieces::LeaveOneNodeOpen(GpusAre gpus) {
  const std::map<std::string, Truth::NodeFacts> nodes = users_.truth().nodes();
  const auto open = std::ranges::find_if(nodes, [gpus](const auto& node) {
    const bool suits = gpus == GpusAre::kWhole || node.second.can_be_divided;
    return suits && node.second.gpus == kWholeNode && !node.second.tainted && !node.second.cordoned;
  });
  if (open == nodes.end()) return false;
  for (const auto& [name, node] : nodes) {
    if (name == open->first) continue;
    SetOpen(name, false);
  }
  return true;
}

void SetPieces::SetOpen(const std::string& node, bool open) {
  users_.Call("PATCH", absl::StrCat("/api/v1/nodes/", node),
              SpecOf(Json::Object({{"unschedulable", !open}})));
}

void SetPieces::Reverse(const Stage& stage) {
  if (!LeaveOneNodeOpen()) return;
  users_.CreateGang("challenger", {.pods = 2,
                                   .gpus = kWholeNode / 2,
                                   .min_member = 2,
                                   .recreated = true,
                                   .priority_class = "middle"});
  stage.pass(kLong);
  users_.CreateGang("answerer",
                    {.pods = 1, .gpus = kWholeNode, .min_member = 1, .priority_class = "high"});
  stage.pass(2 * kLong);
  users_.Call("PATCH", GroupOf("answerer"), SpecOf(Json::Object({{"priorityClassName", "low"}})));
  stage.hold_out();
  for (const char* gang : {"challenger", "answerer"}) users_.DeleteGang(gang);
  stage.pass(2 * kLong);
}

void SetPieces::Overstay(const Stage& stage) {
  if (stage.reservation_after > absl::Hours(1) || !LeaveOneNodeOpen()) return;
  const int half = kWholeNode / 2;
  users_.CreateGang("occupant", {.pods = 1, .gpus = half, .min_member = 1, .says_seconds = 86400});
  stage.pass(kLong);
  users_.CreateGang("holder", {.pods = 1, .gpus = kWholeNode, .min_member = 1});
  stage.pass(stage.reservation_after + kLong);
  users_.CreateGang("overstayer", {.pods = 1, .gpus = half, .min_member = 1, .says_seconds = 30});
  stage.pass(2 * kLong);
  users_.DeleteGang("occupant");
  stage.pass(3 * kLong);
  stage.must_run("holder");
  for (const char* gang : {"holder", "overstayer"}) users_.DeleteGang(gang);
  stage.pass(kLong);
}

void SetPieces::Borrow(const Stage& stage) {
  const int half = kWholeNode / 2;
  const std::map<std::string, int> nominal = {{"borrows", 0}, {"lends", half}};
  for (const auto& [queue, gpus] : nominal) {
    const Json amount = Json::Object({{"name", "nvidia.com/gpu"}, {"nominal", gpus}});
    const Json quota = Json::Object({{"flavor", ""}, {"resources", Json::Array({amount})}});
    AddQueue(queue, Json::Object({{"cohort", kStageQueue}, {"quotas", Json::Array({quota})}}));
  }
  users_.CreateGang("owner", {.pods = 1, .gpus = half, .min_member = 1, .queue = "lends"});
  stage.pass(kLong);
  users_.CreateGang("borrower", {.pods = 1, .gpus = half, .min_member = 1, .queue = "borrows"});
  stage.pass(kLong);
  users_.DeleteGang("owner");
  stage.pass(kLong);
  stage.must_run("borrower");
  users_.DeleteGang("borrower");
  stage.pass(kLong);
  for (const auto& [queue, gpus] : nominal) {
    users_.Call("DELETE", absl::StrCat(kQueuesPath, "/", queue), Json());
  }
}

void SetPieces::Relabel(const Stage& stage) {
  users_.CreateGang("mover", {.pods = 2, .gpus = 1, .min_member = 2, .loss_grace_seconds = 30});
  users_.CreateGang("elsewhere", {.pods = 1, .gpus = 1, .min_member = 1});
  stage.pass(kLong);
  const Json labels = Json::Object({{kPodGroupLabel, "elsewhere"}});
  users_.Call("PATCH", absl::StrCat(kPodsTarget, "/mover-1"),
              Json::Object({{"metadata", Json::Object({{"labels", labels}})}}));
  stage.pass(kUntilKnown + kLong);
  for (const char* gang : {"mover", "elsewhere"}) {
    stage.must_run(gang);
    users_.DeleteGang(gang);
  }
  stage.pass(kLong);
}

void SetPieces::LandLate(const Stage& stage) {
  if (!LeaveOneNodeOpen()) return;
  stage.delay_binds(absl::StrCat(kPodsTarget, "/late-1"), kScheduleTimeout);
  users_.CreateGang("late", {.pods = 2, .gpus = kWholeNode / 2, .min_member = 2});
  stage.pass(kShort);
  for (const char* gang : {"next", "last"}) {
    users_.CreateGang(gang, {.pods = 1, .gpus = kWholeNode / 2, .min_member = 1});
  }
  stage.pass(2 * kLong);
  for (const char* gang : {"late", "next", "last"}) users_.DeleteGang(gang);
  stage.pass(kLong);
}

void SetPieces::TakeElsewhere(const Stage& stage) {
  if (!LeaveOneNodeOpen()) return;
  const std::map<std::string, Truth::NodeFacts> nodes = users_.truth().nodes();
  const auto is_open = [](const auto& node) { return !node.second.cordoned; };
  const auto other = std::ranges::find_if(nodes, [](const auto& node) {
    return node.second.cordoned && node.second.gpus == kWholeNode && !node.second.tainted;
  });
  const auto open = std::ranges::find_if(nodes, is_open);
  if (other == nodes.end() || open == nodes.end()) return;
  SetOpen(open->first, false);
  stage.pass(kShort);
  for (const char* gang : {"taken", "waits"}) {
    users_.CreateGang(gang, {.pods = 1, .gpus = kWholeNode, .min_member = 1});
    stage.pass(kShort);
  }
  stage.hold_pods(2 * kShort);
  stage.bind_as_another("taken-0", other->first);
  SetOpen(open->first, true);
  stage.pass(kShort);
  SetOpen(other->first, true);
  stage.pass(kLong);
  for (const char* gang : {"taken", "waits"}) users_.DeleteGang(gang);
  stage.pass(kLong);
}

void SetPieces::JoinADivision(const Stage& stage) {
  // Shorter than it takes news to come: the pod may overtake what the node says of itself.
  constexpr absl::Duration kMoment = absl::Milliseconds(1);
  constexpr int kMoments = 60'000;
  if (!LeaveOneNodeOpen(GpusAre::kDivisible)) return;
  users_.CreateGang("slicer", {.pods = 1, .gpus = 1, .mig_profile = "1g.10gb", .min_member = 1});
  const auto is_divided = [](const auto& node) { return node.second.is_being_divided; };
  for (int i = 0; i < kMoments; ++i) {
    if (std::ranges::any_of(users_.truth().nodes(), is_divided)) break;
    stage.pass(kMoment);
  }
  users_.CreateGang("joiner", {.pods = 1, .gpus = kWholeNode, .min_member = 1});
  stage.pass(kLong);
  for (const char* gang : {"slicer", "joiner"}) users_.DeleteGang(gang);
  stage.pass(kLong);
}

int SetPieces::RoomFor(const std::string& storage_class, const VolumeTruth& volumes) const {
  int64_t pods = 0;
  for (const auto& [node, gpus] : FreeGpus(users_.truth())) {
    const int64_t most =
        storage_class == kDiskClass ? volumes.FreeDisks(node) : volumes.AttachLimit(node);
    pods += std::min(gpus, most);
  }
  return static_cast<int>(pods);
}

void SetPieces::ShareALoneClaim(const Stage& stage) {
  for (const char* gang : {"first", "second"}) {
    users_.CreateGang(gang, {.pods = 1, .gpus = 1, .min_member = 1, .claim = kLoneClaim});
    stage.pass(kUntilKnown);
  }
  stage.must_run("first");
  for (const char* gang : {"first", "second"}) users_.DeleteGang(gang);
  stage.pass(kLong);
}

void SetPieces::UseAllStorage(const VolumeTruth& volumes, const Stage& stage) {
  ShareALoneClaim(stage);
  for (const char* storage_class : {kDiskClass, kMadeClass}) {
    const int pods = RoomFor(storage_class, volumes);
    if (pods == 0) continue;
    const std::string gang = absl::StrCat("all-", storage_class);
    users_.CreateGang(
        gang, {.pods = pods, .gpus = 1, .min_member = pods, .storage_class = storage_class});
    stage.pass(kUntilKnown);
    stage.must_run(gang);
    users_.DeleteGang(gang);
    stage.pass(kLong);
  }
}

}  // namespace maniple::sim
