// Others make room: because the gang gets a higher priority, or because one of them ends.
#include <algorithm>
#include <iterator>
#include <limits>

#include "absl/container/btree_set.h"
#include "scheduler/advice/changes.h"

namespace maniple {
namespace {

// The most that a PriorityClass of a user may have; see the Kubernetes documentation of priority.
constexpr int32_t kMostPriority = 1'000'000'000;
// At most so many gangs are tried one by one.
constexpr size_t kMostGangsTried = 24;
// More blockers than these are no help to whoever reads them.
constexpr size_t kMostBlockers = 4;

int64_t GpusOf(ShapeId shape, const Tables& tables) {
  int64_t gpus = 0;
  for (const auto& [resource, amount] : tables.ShapeOf(shape).requests) {
    if (tables.FactsOf(resource).gpu) gpus += amount;
  }
  return gpus;
}

int64_t GpusOf(const RunningGang& gang, const Tables& tables) {
  int64_t gpus = 0;
  for (const VictimPod& pod : gang.members) gpus += GpusOf(pod.shape, tables);
  for (const FreedRoom& room : gang.held) gpus += GpusOf(room.shape, tables);
  return gpus;
}

int64_t LeastGpusOf(const GangRequest& request, const Tables& tables) {
  int64_t least = std::numeric_limits<int32_t>::max();
  for (const Want& want : request.wants) least = std::min(least, GpusOf(want.shape, tables));
  return least;
}

GangGone GoneOf(const RunningGang& gang) {
  return {.gang = gang.name, .expected = gang.known_end, .waits = gang.members.empty()};
}

Hypothesis WithoutThem(Hypothesis from, const std::vector<const RunningGang*>& gangs) {
  for (const RunningGang* gang : gangs) from = EndGang(std::move(from), *gang);
  return from;
}

// Those that have pods or room on nodes of the plan.
std::vector<const RunningGang*> InTheWayOf(const Plan& plan,
                                           const std::vector<const RunningGang*>& gangs) {
  absl::btree_set<NodeId> nodes;
  for (const Placement& placement : plan.placements) nodes.insert(placement.node);
  const auto is_there = [&nodes](const auto& room) { return nodes.contains(room.node); };
  std::vector<const RunningGang*> in_the_way;
  std::ranges::copy_if(gangs, std::back_inserter(in_the_way), [&](const RunningGang* gang) {
    return std::ranges::any_of(gang->members, is_there) ||
           std::ranges::any_of(gang->held, is_there);
  });
  return in_the_way;
}

}  // namespace

std::optional<FoundChange> FindHigherPriority(const HelpQuestion& question, const Hypothesis& from,
                                              Trials& trials) {
  if (!question.preempts) return std::nullopt;
  // Only at these steps does another priority reach another gang.
  absl::btree_set<int32_t> steps;
  for (const RunningGang* gang : trials.running()) {
    for (const int64_t step : {int64_t{gang->priority}, int64_t{gang->priority} + 1}) {
      if (step > question.priority && step <= kMostPriority) {
        steps.insert(static_cast<int32_t>(step));
      }
    }
  }
  if (steps.empty()) return std::nullopt;
  const std::vector<int32_t> ordered(steps.begin(), steps.end());
  std::optional<PreemptionPlan> plan;
  const auto does = [&](int64_t step) {
    auto found = trials.Evicts(from, ordered[static_cast<size_t>(step)]);
    if (!found.has_value()) return false;
    plan = std::move(found);
    return true;
  };
  const auto last = static_cast<int64_t>(ordered.size()) - 1;
  if (!does(last)) return std::nullopt;
  const int64_t least = LeastThatDoes(-1, last, does);
  // A policy may let it evict newer equals: then its priority is not what keeps it from that.
  if (least == 0 && trials.Evicts(from, question.priority).has_value()) return std::nullopt;
  if (trials.spent()) return std::nullopt;
  HigherPriority change{.above = ordered[static_cast<size_t>(least)] - 1, .evicts = {}};
  for (const Victim& victim : plan->victims) {
    change.evicts.push_back(trials.running()[victim.running]->name);
  }
  return FoundChange{.change = std::move(change), .after = from};
}

std::optional<FoundChange> FindGangGone(const Hypothesis& from, int64_t members_lacking,
                                        Trials& trials) {
  const Tables& tables = *from.snapshot->tables;
  std::vector<const RunningGang*> by_size = trials.running();
  if (by_size.empty() || !trials.Starts(WithoutThem(from, by_size))) return std::nullopt;
  std::ranges::stable_sort(by_size, {},
                           [](const RunningGang* gang) { return gang->members.size(); });
  if (by_size.size() > kMostGangsTried) {
    // Not all can be tried. A gang that is too small may do where it shares nodes with free room,
    // but a large enough one is the better guess.
    const int64_t lacking = members_lacking * LeastGpusOf(from.request, tables);
    std::stable_partition(by_size.begin(), by_size.end(), [&](const RunningGang* gang) {
      return GpusOf(*gang, tables) >= lacking;
    });
  }
  size_t tried = 0;
  for (const RunningGang* gang : by_size) {
    if (tried++ == kMostGangsTried) {
      trials.NoteUntried();
      break;
    }
    Hypothesis with = EndGang(from, *gang);
    if (!trials.Starts(with)) continue;
    return FoundChange{.change = GoneOf(*gang), .after = std::move(with)};
  }
  return std::nullopt;
}

std::vector<GangGone> FindGangsGone(const Hypothesis& from, Trials& trials) {
  const std::optional<Plan> plan = trials.Start(WithoutThem(from, trials.running()));
  if (!plan.has_value()) return {};
  std::vector<const RunningGang*> blockers = InTheWayOf(*plan, trials.running());
  if (blockers.size() > kMostGangsTried || !trials.Starts(WithoutThem(from, blockers))) return {};
  for (size_t i = blockers.size(); i-- > 0;) {
    std::vector<const RunningGang*> others = blockers;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (trials.Starts(WithoutThem(from, others))) blockers = std::move(others);
  }
  if (blockers.size() > kMostBlockers || trials.spent()) return {};
  std::vector<GangGone> gone;
  for (const RunningGang* gang : blockers) gone.push_back(GoneOf(*gang));
  return gone;
}

}  // namespace maniple
