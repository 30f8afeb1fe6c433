#include "test/sim/variety.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace maniple::sim {
namespace {

constexpr int kPoorRacks = 12;
constexpr int kPoorNodes = 22;
using Kind = Part::Kind;

bool IsPoor(uint64_t seed) { return seed % 9 == 5; }

uint64_t Rate(Random& random) { return random.OneIn(2) ? 0 : 2 + random.Below(5); }

}  // namespace

Variety::Variety(Users& users, uint64_t seed)
    : users_(users),
      random_(seed * 15485863 + 5),
      poor_(IsPoor(seed)),
      one_unlike_(poor_ ? 2 : Rate(random_)),
      one_slow_(Rate(random_)),
      one_cleaned_(Rate(random_)),
      one_patient_(Rate(random_)) {}

int Variety::RacksOf(uint64_t seed) {
  if (IsPoor(seed)) return kPoorRacks;
  constexpr int kRacks[] = {2, 2, 2, 5, 10};
  return kRacks[seed / 9 % 5];
}

// Their racks are the same as those of the usual nodes, of which only some are good.
void Variety::SetUp() {
  if (!poor_) return;
  for (int i = 0; i < kPoorNodes; ++i) {
    users_.AddNode(absl::StrCat("p", 10 + i), {.gpus = 1 + static_cast<int>(random_.Below(4))});
  }
}

void Variety::Describe(GangSpec& spec) {
  const auto chosen = [this](uint64_t one_in) { return one_in != 0 && random_.OneIn(one_in); };
  if (chosen(one_unlike_)) DescribeParts(spec);
  if (chosen(one_slow_)) spec.leaving.grace_seconds = 30 + static_cast<int>(random_.Below(400));
  if (chosen(one_cleaned_)) {
    spec.leaving.cleaned_up_seconds = 5 + static_cast<int>(random_.Below(60));
  }
  if (chosen(one_patient_)) {
    constexpr int kGraces[] = {20, 60, 3600, 86400};
    spec.loss_grace_seconds = kGraces[random_.Below(4)];
  }
}

void Variety::DescribeParts(GangSpec& spec) {
  const int some = 2 + static_cast<int>(random_.Below(2));
  const int64_t most = random_.OneIn(2) ? 8 : 4;
  switch (random_.Below(6)) {
    case 0:  // a launcher
      spec.parts = {{1, 0}, {some, spec.gpus}};
      break;
    case 1:  // a leader and its workers
      spec.parts = {{1, most / 2}, {some, most}};
      spec.in_one_rack = true;
      break;
    case 2:
      spec.parts = {{1, most - 1}, {1, 1}};
      break;
    case 3:
      spec.parts = {{some, most, Kind::kSubGroupInOneRack}, {2, 2, Kind::kSubGroupInOneRack}};
      break;
    case 4:
      spec.parts = {{some, 2, Kind::kSubGroup}, {1, most}};
      break;
    default:  // all alike, and some of them together
      spec.parts = {{some, spec.gpus, Kind::kSubGroupInOneRack}, {1, spec.gpus}};
      break;
  }
  if (spec.parts.front().kind == Kind::kSubGroupInOneRack) spec.in_one_rack = false;
  const bool elastic = spec.min_member < spec.pods;
  spec.pods = 0;
  for (const Part& part : spec.parts) spec.pods += part.pods;
  spec.min_member = elastic ? spec.pods - 1 : spec.pods;
  spec.slice_size = 0;
}

void Variety::ControllerTurn(absl::Time now) { CleanUp(now); }

void Variety::CleanUp(absl::Time now) {
  if (one_cleaned_ == 0) return;
  for (const auto& [gang, spec] : users_.gangs()) {
    const int seconds = spec.leaving.cleaned_up_seconds;
    if (seconds == 0) continue;
    for (const std::string& pod : users_.PodsOf(gang)) {
      const auto facts = users_.truth().pods().find("default/" + pod);
      if (facts == users_.truth().pods().end()) continue;  // it went with one that was deleted here
      if (facts->second.phase != "Succeeded" || facts->second.deleting) continue;
      if (now < facts->second.ended_at + absl::Seconds(seconds)) continue;
      users_.Call("DELETE", absl::StrCat(kPodsTarget, "/", pod), Json());
    }
  }
}

void Variety::LetGo() {
  std::vector<std::string> stopped;
  for (const auto& [key, pod] : users_.truth().pods()) {
    if (pod.slow && pod.deleting && (pod.ended() || pod.node.empty())) {
      stopped.push_back(key.substr(key.find('/') + 1));
    }
  }
  for (const std::string& pod : stopped) {
    users_.Call("PATCH", absl::StrCat(kPodsTarget, "/", pod),
                Json::Object({{"metadata", Json::Object({{"finalizers", Json()}})}}));
  }
}

void Variety::Maim() {
  for (auto& [gang, spec] : users_.gangs()) {
    if (!random_.OneIn(3)) continue;
    const std::vector<std::string> pods = users_.PodsOf(gang);
    if (pods.size() < 2) continue;
    spec.recreated = false;
    users_.Call("DELETE", absl::StrCat(kPodsTarget, "/", pods[random_.Below(pods.size())]), Json());
  }
}

}  // namespace maniple::sim
