#include "test/sim/immunity.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/sim/free_room.h"
#include "test/sim/leave_rules.h"
#include "test/sim/waiting.h"

namespace maniple::sim {
namespace {

// Beyond what protects it.
constexpr absl::Duration kLongBound = absl::Minutes(2);

bool Stands(const Truth::PodFacts& pod) { return !pod.node.empty() && !pod.ended(); }

std::set<std::string> GangsThatStand(const Truth& truth) {
  std::set<std::string> gangs;
  for (const auto& [key, pod] : truth.pods()) {
    if (Stands(pod) && truth.gangs().contains(pod.gang)) gangs.insert(pod.gang);
  }
  return gangs;
}

// The highest of the members that are there now, and not above its class.
int64_t PriorityNow(const Truth& truth, const std::string& gang) {
  int64_t highest = 0;
  for (const auto& [key, pod] : truth.pods()) {
    if (pod.gang == gang && !pod.ended()) highest = std::max(highest, pod.priority);
  }
  return std::min(highest, truth.gangs().at(gang).most.value_or(highest));
}

// Its request alone is within what is its Queue's own, on nodes of every flavor that it may use.
bool IsWithinNominal(const Truth& truth, const Wanting& gang) {
  const std::string& queue = truth.groups().at(gang.key).queue;
  int64_t gpus = 0;
  for (const Wanting::Pod& pod : gang.pods) gpus += pod.gpus;
  return std::ranges::all_of(truth.nodes(), [&](const auto& node) {
    const std::string flavor = truth.quotas().FlavorOf(node.second.labels);
    return gpus <= truth.quotas().NominalOf(queue, flavor);
  });
}

bool MayPreemptAtAll(const Truth& truth, const Wanting& gang) {
  const Truth::GroupFacts& group = truth.groups().at(gang.key);
  if (!truth.gangs().at(gang.key).MayPreempt()) return false;
  if (group.reason == "HeldByReservation" || group.reason == "WaitingForPreemption") return false;
  if (MayBeHeldUp(truth, gang.key)) return false;
  return group.queue.empty() || IsWithinNominal(truth, gang);
}

bool IsPlainVictim(const Truth& truth, const std::string& victim, absl::Time now) {
  const Truth::GangFacts& facts = truth.gangs().at(victim);
  const absl::Duration shielded = facts.protected_for + kLongBound;
  return truth.BudgetsOver(victim, now) == 0 &&
         std::ranges::none_of(truth.pods(), [&](const auto& entry) {
           const Truth::PodFacts& pod = entry.second;
           if (pod.gang != victim || !Stands(pod)) return false;
           return !pod.ours || pod.bound_at + shielded > now || !truth.nodes().contains(pod.node);
         });
}

// Within one Queue, or by priority alone where the other has no Queue.
bool MayMakeLeave(const Truth& truth, const std::string& gang, const std::string& victim) {
  const Truth::GangFacts& theirs = truth.gangs().at(victim);
  if (PriorityNow(truth, gang) <= theirs.priority()) return false;
  const std::string& queue = truth.groups().at(gang).queue;
  return (theirs.queue == queue || theirs.queue.empty()) &&
         MayMakeLeave(truth, truth.gangs().at(gang), theirs);
}

std::set<std::string> HeldFrom(const Truth& truth, const std::string& gang, const HeldNodes& held) {
  std::set<std::string> all;
  for (const auto& [holder, nodes] : held) {
    const bool yields =
        truth.gangs().contains(holder) && PriorityNow(truth, holder) < PriorityNow(truth, gang);
    if (holder != gang && !yields) all.insert(nodes.begin(), nodes.end());
  }
  return all;
}

// Whom it may make leave by all that is known.
std::vector<std::string> VictimsFor(const Truth& truth, const Evictions& evictions,
                                    const Wanting& gang, absl::Time now) {
  std::vector<std::string> victims;
  for (const std::string& victim : GangsThatStand(truth)) {
    if (IsOfTenant(victim) || victim == gang.key) continue;
    if (!MayMakeLeave(truth, gang.key, victim) || !IsPlainVictim(truth, victim, now)) continue;
    if (evictions.BarOf(gang.key, victim) == Evictions::Bar::kStands) continue;
    victims.push_back(victim);
  }
  return victims;
}

// One of them, or two, that are enough.
std::optional<GangNames> Smallest(const std::vector<std::string>& victims,
                                  const std::function<bool(const GangNames&)>& enough) {
  for (const std::string& one : victims) {
    if (enough({one})) return GangNames{one};
  }
  for (size_t i = 0; i < victims.size(); ++i) {
    for (size_t k = i + 1; k < victims.size(); ++k) {
      if (enough({victims[i], victims[k]})) return GangNames{victims[i], victims[k]};
    }
  }
  return std::nullopt;
}

// What is charged to whom is open to doubt while these run.
bool SomebodyMovedOrLeaves(const Truth& truth) {
  return std::ranges::any_of(truth.pods(), [&](const auto& entry) {
    const Truth::PodFacts& pod = entry.second;
    if (pod.deleting) return true;
    const auto gang = truth.gangs().find(pod.gang);
    return Stands(pod) && gang != truth.gangs().end() && gang->second.moved;
  });
}

}  // namespace

void CheckNobodyIsImmune(Truth& truth, const Evictions& evictions, const HeldNodes& held,
                         absl::Time now) {
  if (SomebodyMovedOrLeaves(truth)) return;
  for (const Wanting& gang : WholeGangsWaiting(truth)) {
    if (IsOfTenant(gang.key) || !MayPreemptAtAll(truth, gang)) continue;
    const std::set<std::string> not_free = HeldFrom(truth, gang.key, held);
    const std::vector<std::string> victims = VictimsFor(truth, evictions, gang, now);
    const std::optional<GangNames> gone = Smallest(
        victims, [&](const auto& names) { return CouldStart(truth, gang, names, not_free); });
    if (!gone.has_value()) continue;
    const bool barred = std::ranges::any_of(*gone, [&](const std::string& victim) {
      return evictions.BarOf(gang.key, victim) == Evictions::Bar::kOutlived;
    });
    truth.Violated(
        now, absl::StrCat(barred ? "NoBanOutlivesItsReason" : "NobodyIsImmune", ": ", gang.key,
                          " waits (", truth.groups().at(gang.key).reason, ") and could start if ",
                          absl::StrJoin(*gone, " and "), " left, which it may make leave"));
  }
}

}  // namespace maniple::sim
