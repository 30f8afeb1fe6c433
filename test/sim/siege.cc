#include "test/sim/siege.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace maniple::sim {
namespace {

constexpr char kSiegeQueue[] = "siege";
constexpr size_t kMostBesiegers = 4;

}  // namespace

Siege::Siege(Users& users, uint64_t seed) : users_(users), random_(seed * 32452843 + 11) {}

void Siege::Settle() {
  const Json preemption = Json::Object({{"withinQueue", "LowerPriority"}});
  users_.Call("POST", "/apis/scheduling.maniple.dev/v1alpha1/queues",
              Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                            {"kind", "Queue"},
                            {"metadata", Json::Object({{"name", kSiegeQueue}})},
                            {"spec", Json::Object({{"preemption", preemption}})}}));
  const size_t nodes = users_.truth().nodes().size();
  const bool queued = !random_.OneIn(3);
  for (size_t i = 0; i < nodes; ++i) {
    GangSpec spec{.pods = 2 + static_cast<int>(random_.Below(2)),
                  .gpus = 4,
                  .queue = queued ? kSiegeQueue : "",
                  .priority_class = "middle"};
    spec.min_member = spec.pods;
    spec.recreated = random_.OneIn(2);
    spec.kept = random_.OneIn(4);
    if (random_.OneIn(2)) spec.loss_grace_seconds = 86400;
    if (random_.OneIn(8)) spec.leaving.grace_seconds = 30 + static_cast<int>(random_.Below(60));
    settlers_.push_back(absl::StrCat("settler", i));
    users_.CreateGang(settlers_.back(), spec);
  }
}

void Siege::Maim() {
  for (const std::string& gang : settlers_) {
    switch (random_.Below(4)) {
      case 0:
      case 1:
        users_.gangs().at(gang).recreated = false;
        users_.Call("DELETE", absl::StrCat(kPodsTarget, "/", gang, "-0"), Json());
        break;
      case 2:
        users_.gangs().at(gang).group_is_gone = true;
        users_.Call("DELETE", absl::StrCat(kGroupsTarget, "/", gang), Json());
        break;
      default:
        break;
    }
  }
}

void Siege::Besiege() {
  const bool queued = users_.gangs().at(settlers_.front()).queue == kSiegeQueue || random_.OneIn(2);
  for (size_t i = 0; i < std::min(settlers_.size(), kMostBesiegers); ++i) {
    GangSpec spec{.pods = 1 + static_cast<int>(random_.Below(2)),
                  .gpus = random_.OneIn(3) ? 4 : 8,
                  .queue = queued ? kSiegeQueue : "",
                  .loss_grace_seconds = 86400,
                  .priority_class = "high"};
    spec.min_member = spec.pods;
    besiegers_.push_back(absl::StrCat("besieger", i));
    users_.CreateGang(besiegers_.back(), spec);
  }
}

void Siege::Injure() {
  for (const std::string& gang : besiegers_) {
    const auto& pods = users_.truth().pods();
    const auto pod = pods.find(absl::StrCat("default/", gang, "-0"));
    const bool others = pods.contains(absl::StrCat("default/", gang, "-1"));
    if (!others || pod == pods.end() || pod->second.node.empty()) continue;
    users_.Call("PATCH", absl::StrCat("/api/v1/nodes/", pod->second.node),
                Json::Object({{"spec", Json::Object({{"unschedulable", true}})}}));
    users_.gangs().at(gang).recreated = true;
    users_.Call("DELETE", absl::StrCat(kPodsTarget, "/", gang, "-0"), Json());
    return;
  }
}

void Siege::Humble() {
  for (const std::string& gang : besiegers_) {
    users_.Call("PATCH", absl::StrCat(kGroupsTarget, "/", gang),
                Json::Object({{"spec", Json::Object({{"priorityClassName", "low"}})}}));
  }
}

}  // namespace maniple::sim
