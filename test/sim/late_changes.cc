#include "test/sim/late_changes.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/sim/hostile_tenant.h"
#include "test/sim/names.h"

namespace maniple::sim {
namespace {

constexpr int kMostScaledPods = 9;
constexpr int kMostAtOnce = 3;
constexpr int kLargestJob = 5;
// One member in so many gangs that are scaled up comes later still.
constexpr int kOneLate = 4;

std::string QueueTarget(const std::string& queue) { return absl::StrCat(kQueuesPath, "/", queue); }

Json Spec(const char* field, Json value) {
  return Json::Object({{"spec", Json::Object({{field, std::move(value)}})}});
}

// Pods of parts have a place in them each.
int FewestPods(const GangSpec& spec) {
  int pods = 0;
  for (const Part& part : spec.parts) pods += part.pods;
  return std::max(1, pods);
}

// Queues of gangs for which others leave.
std::vector<std::string> ClaimedQueues(const Truth& truth) {
  std::set<std::string> queues;
  for (const auto& [key, pod] : truth.pods()) {
    if (pod.nominated.empty() || !pod.node.empty() || pod.ended() || IsOfTenant(key)) continue;
    const std::string& queue = truth.gangs().at(pod.gang).queue;
    if (queue != kWalledQueue && truth.quotas().queues().contains(queue)) queues.insert(queue);
  }
  return {queues.begin(), queues.end()};
}

}  // namespace

std::span<const Fault> LateChanges::Kinds() {
  static constexpr Fault kKinds[] = {Fault::kQuorumRaised, Fault::kGangScaledDown,
                                     Fault::kOwnerScaled, Fault::kClaimedQueueEdited};
  return kKinds;
}

void LateChanges::Strike(Fault fault, const std::string& gang) {
  switch (fault) {
    case Fault::kQuorumRaised:
    case Fault::kGangScaledDown: {
      std::string at = gang;
      const auto& gangs = users_.gangs();
      if (at.empty() && !gangs.empty()) {
        at = std::next(gangs.begin(), Draw(fault, static_cast<int>(gangs.size())))->first;
      }
      if (!gangs.contains(at) || gangs.at(at).group_is_gone) return;
      return fault == Fault::kQuorumRaised ? ScaleUp(at) : ScaleDown(at);
    }
    case Fault::kOwnerScaled:
      return ScaleOwner();
    case Fault::kClaimedQueueEdited:
      return EditClaimedQueue();
    default:
      return;  // no change of this kind
  }
}

// Whether the pods come before the edit or after it is up to whoever does it.
void LateChanges::ScaleUp(const std::string& gang) {
  constexpr Fault kFault = Fault::kQuorumRaised;
  GangSpec& spec = users_.gangs().at(gang);
  if (spec.pods >= kMostScaledPods) return;
  faults_.Note(kFault);
  const int first = spec.pods;
  spec.pods += 1 + Draw(kFault, std::min(kMostAtOnce, kMostScaledPods - first));
  spec.min_member += 1 + Draw(kFault, spec.pods - spec.min_member);
  const int late = Draw(kFault, kOneLate) == 0 ? 1 : 0;
  const bool pods_first = Draw(kFault, 2) == 0;
  if (pods_first) CreatePods(gang, first, spec.pods - late);
  PatchMinimum(gang);
  if (!pods_first) CreatePods(gang, first, spec.pods - late);
}

void LateChanges::ScaleDown(const std::string& gang) {
  constexpr Fault kFault = Fault::kGangScaledDown;
  GangSpec& spec = users_.gangs().at(gang);
  const int fewest = FewestPods(spec);
  if (spec.pods <= fewest) return;
  faults_.Note(kFault);
  spec.pods -= 1 + Draw(kFault, spec.pods - fewest);
  spec.min_member = std::min(spec.min_member, spec.pods);
  const bool pods_first = Draw(kFault, 2) == 0;
  if (pods_first) DeletePodsFrom(gang, spec.pods);
  PatchMinimum(gang);
  if (!pods_first) DeletePodsFrom(gang, spec.pods);
}

void LateChanges::PatchMinimum(const std::string& gang) {
  users_.Call("PATCH", absl::StrCat(kGroupsTarget, "/", gang),
              Spec("minMember", users_.gangs().at(gang).min_member));
}

void LateChanges::CreatePods(const std::string& gang, int first, int end) {
  for (int i = first; i < end; ++i) users_.CreatePod(gang, i);
}

void LateChanges::DeletePodsFrom(const std::string& gang, int first) {
  for (int i = first; i < kMostScaledPods; ++i) {
    const std::string pod = absl::StrCat(gang, "-", i);
    if (!users_.truth().pods().contains("default/" + pod)) continue;
    users_.Call("DELETE", absl::StrCat(kPodsTarget, "/", pod), Json());
  }
}

void LateChanges::ScaleOwner() {
  constexpr Fault kFault = Fault::kOwnerScaled;
  const std::vector<std::string> jobs = producers_.JobsThatScale();
  if (jobs.empty()) return;
  faults_.Note(kFault);
  const std::string& job = jobs[static_cast<size_t>(Draw(kFault, static_cast<int>(jobs.size())))];
  producers_.Scale(job, 1 + Draw(kFault, kLargestJob));
}

void LateChanges::EditClaimedQueue() {
  constexpr Fault kFault = Fault::kClaimedQueueEdited;
  const std::vector<std::string> queues = ClaimedQueues(users_.truth());
  if (queues.empty()) return;
  faults_.Note(kFault);
  const std::string& queue =
      queues[static_cast<size_t>(Draw(kFault, static_cast<int>(queues.size())))];
  switch (Draw(kFault, 4)) {
    case 0: {
      constexpr const char* kCohorts[] = {"", "cohort0", "cohort1"};
      users_.Call("PATCH", QueueTarget(queue), Spec("cohort", kCohorts[Draw(kFault, 3)]));
      return;
    }
    case 1: {
      const Json labels = Json::Object({{"example.com/edited", absl::StrCat(Draw(kFault, 100))}});
      users_.Call("PATCH", QueueTarget(queue),
                  Json::Object({{"metadata", Json::Object({{"labels", labels}})}}));
      return;
    }
    case 2:
      return LetInOrShutOut(queue);
    default:
      return EditQuotas(queue);
  }
}

// Each of its amounts becomes another.
void LateChanges::EditQuotas(const std::string& queue) {
  Json quotas = users_.Get(QueueTarget(queue))["spec"]["quotas"];
  if (!quotas.is_array()) return;
  for (Json& entry : quotas.mutable_items()) {
    Json amounts = entry["resources"];
    for (Json& amount : amounts.mutable_items()) {
      const int64_t nominal = WholeNumber(amount["nominal"]);
      const int64_t others[] = {0, nominal / 2, nominal + 8};
      amount.Set("nominal", absl::StrCat(others[Draw(Fault::kClaimedQueueEdited, 3)]));
    }
    entry.Set("resources", std::move(amounts));
  }
  users_.Call("PATCH", QueueTarget(queue), Spec("quotas", std::move(quotas)));
}

void LateChanges::LetInOrShutOut(const std::string& queue) {
  if (shut_.erase(queue) > 0) {
    users_.Call("PATCH", QueueTarget(queue), Spec("namespaceSelector", Json()));
    return;
  }
  const Json nobody = Json::Object({{kTeamLabel, "nobody"}});
  shut_.insert(queue);
  users_.Call("PATCH", QueueTarget(queue),
              Spec("namespaceSelector", Json::Object({{"matchLabels", nobody}})));
}

void LateChanges::Restore() {
  while (!shut_.empty()) LetInOrShutOut(std::string(*shut_.begin()));
}

}  // namespace maniple::sim
