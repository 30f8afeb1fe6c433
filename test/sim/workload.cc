#include "test/sim/workload.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "test/sim/economy.h"
#include "test/sim/mig_users.h"
#include "test/sim/variety.h"
#include "test/sim/volume_users.h"

namespace maniple::sim {
namespace {

constexpr int kFirstNodes = 6;
constexpr size_t kMostNodes = 10;
constexpr size_t kMostGangs = 14;
constexpr int kCrowd = 8, kRush = 3;

// Every sixth gang minds its company, each kind in turn; no random number is drawn for it.
Company CompanyOf(int gang) {
  if (gang % 6 != 4) return Company::kAny;
  constexpr Company kKinds[] = {Company::kNoLoner, Company::kEven, Company::kOwnKind,
                                Company::kNearLoners};
  return kKinds[(gang / 6) % 4];
}

}  // namespace

void Workload::SetUp(const std::vector<Json>& crds) {
  for (const Json& crd : crds) users_.InstallCrd(crd);
  const std::string prefix = "/apis/scheduling.maniple.dev/v1alpha1/";
  const Json level = Json::Object({{"name", "rack"}, {"nodeLabel", "example.com/rack"}});
  users_.Call("POST", prefix + "topologies",
              Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                            {"kind", "Topology"},
                            {"metadata", Json::Object({{"name", "default"}})},
                            {"spec", Json::Object({{"levels", Json::Array({level})}})}}));
  users_.Call("POST", prefix + "queues",
              Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                            {"kind", "Queue"},
                            {"metadata", Json::Object({{"name", "team"}})},
                            {"spec", Json::Object({{"stopPolicy", "None"}})}}));
  for (int i = 0; i < kFirstNodes; ++i) AddNode();
  variety_.SetUp();
  mig_.SetUp();
  volumes_.SetUp();
}

void Workload::Act() {
  switch (random_.Below(10)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return Submit();
    case 4:
      return AddLateMember();
    case 5:
    case 6:
      return FinishGang();
    case 7:
      return DeleteGang();
    case 8:
      return FinishMember();
    default:
      return AddNode();
  }
}

void Workload::Submit() {
  if (users_.gangs().size() >= kMostGangs) return FinishGang();
  GangSpec spec;
  spec.pods = 1 + static_cast<int>(random_.Below(6));
  spec.gpus = random_.OneIn(3) ? 8 : 1 + static_cast<int64_t>(random_.Below(4));
  spec.recreated = random_.OneIn(2);
  spec.min_member =
      random_.OneIn(one_elastic_) ? 1 + static_cast<int>(random_.Below(spec.pods)) : spec.pods;
  spec.in_one_rack = random_.OneIn(one_in_rack_);
  if (!spec.in_one_rack && random_.OneIn(6)) {
    spec.slice_size = 1 + static_cast<int>(random_.Below(3));
  }
  spec.kept = random_.OneIn(8);
  if (random_.OneIn(3)) spec.queue = "team";
  economy_.Describe(spec);
  spec.company = CompanyOf(next_gang_);
  variety_.Describe(spec);
  mig_.Describe(spec);
  volumes_.Describe(spec);
  Create(spec);
}

void Workload::MoveIn() {
  for (int i = 0; i < kCrowd; ++i) Create({.pods = 1, .gpus = 3, .min_member = 1});
}

void Workload::Crowd() {
  for (int i = 0; i < kCrowd; ++i) {
    GangSpec spec = economy_.Settler();
    variety_.Describe(spec);
    Create(spec);
  }
}

void Workload::Rush() {
  for (int i = 0; i < kRush; ++i) Create(economy_.Rusher());
  for (int i = 0; i < kRush; ++i) Create(economy_.Settler());
}

void Workload::Create(const GangSpec& spec) {
  const std::string name = absl::StrCat("g", next_gang_++);
  users_.gangs()[name] = spec;
  users_.CreateBudgets(name);
  const bool group_first = !random_.OneIn(4);
  if (group_first) users_.CreateGroup(name);
  const int late = random_.OneIn(4) ? 1 : 0;  // the last member comes later, or never
  for (int i = 0; i + late < spec.pods; ++i) users_.CreatePod(name, i);
  if (!group_first) users_.CreateGroup(name);
}

void Workload::AddLateMember() {
  const std::string gang = users_.AnyGang();
  if (!gang.empty()) users_.CreatePod(gang, users_.gangs()[gang].pods - 1);
}

void Workload::FinishGang() {
  const std::string gang = users_.AnyGang();
  if (!gang.empty()) Finish(gang);
}

void Workload::Finish(const std::string& gang) {
  for (const std::string& pod : users_.PodsOf(gang)) FinishPod(gang, pod);
}

void Workload::FinishPod(const std::string& gang, const std::string& pod) {
  const auto it = users_.truth().pods().find("default/" + pod);
  if (it == users_.truth().pods().end() || it->second.phase != "Running") return;
  users_.gangs().at(gang).leaving.done.insert(pod);
  users_.Call("PATCH", absl::StrCat(kPodsTarget, "/", pod, "/status"),
              Json::Object({{"status", Json::Object({{"phase", "Succeeded"}})}}));
}

// One member is done before the others.
void Workload::FinishMember() {
  const std::string gang = users_.AnyGang();
  if (gang.empty()) return;
  const std::vector<std::string> pods = users_.PodsOf(gang);
  if (!pods.empty()) FinishPod(gang, pods[random_.Below(pods.size())]);
}

void Workload::DeleteGang() {
  const std::string gang = users_.AnyGang();
  if (gang.empty()) return;
  Delete(gang, random_.OneIn(2));
}

void Workload::DeleteAll() {
  while (!users_.gangs().empty()) Delete(users_.AnyGang(), true);
}

void Workload::Delete(const std::string& gang, bool group_first) {
  if (group_first) users_.Call("DELETE", absl::StrCat(kGroupsTarget, "/", gang), Json());
  for (const std::string& pod : users_.PodsOf(gang)) {
    users_.Call("DELETE", absl::StrCat(kPodsTarget, "/", pod), Json());
  }
  if (!group_first) users_.Call("DELETE", absl::StrCat(kGroupsTarget, "/", gang), Json());
  users_.gangs().erase(gang);
}

void Workload::AddNode() {
  if (users_.truth().nodes().size() >= kMostNodes) return;
  users_.AddNode(absl::StrCat("n", next_node_++));
}

void Workload::ControllerTurn(absl::Time now) {
  FinishWhoseTimeIsUp(now);
  Recreate();
  variety_.ControllerTurn(now);
}

// Counted from when its last member was bound, as far as its quorum runs.
void Workload::FinishWhoseTimeIsUp(absl::Time now) {
  std::map<std::string, std::pair<int, absl::Time>> running;
  for (const auto& [key, pod] : users_.truth().pods()) {
    if (pod.phase != "Running" || pod.deleting) continue;
    auto& [count, last] = running.try_emplace(pod.gang, 0, absl::InfinitePast()).first->second;
    ++count;
    last = std::max(last, pod.bound_at);
  }
  for (const auto& [gang, spec] : users_.gangs()) {
    const auto it = running.find("default/" + gang);
    if (spec.takes_seconds == 0 || it == running.end()) continue;
    const auto& [count, last] = it->second;
    if (count >= spec.min_member && now >= last + absl::Seconds(spec.takes_seconds)) Finish(gang);
  }
}

void Workload::Recreate() {
  for (const auto& [gang, spec] : users_.gangs()) {
    if (!spec.recreated) continue;
    for (int i = 0; i < spec.pods; ++i) {
      const std::string name = absl::StrCat(gang, "-", i);
      if (spec.leaving.done.contains(name)) continue;
      const auto it = users_.truth().pods().find("default/" + name);
      if (it != users_.truth().pods().end() && it->second.phase == "Failed") {
        users_.Call("DELETE", absl::StrCat(kPodsTarget, "/", name), Json());
      }
      if (!users_.truth().pods().contains("default/" + name)) users_.CreatePod(gang, i);
    }
  }
}

}  // namespace maniple::sim
