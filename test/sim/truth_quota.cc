// What Queues allow, and who may make whom leave: the promises of Truth that are about them.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "test/sim/truth.h"

namespace maniple::sim {
namespace {

// Whoever binds now has decided before; what it did not know then it may not know for so long.
constexpr absl::Duration kUnknownFor = absl::Seconds(240);
// A gang may go on asking others to leave for so long, and was not blind for longer before.
constexpr absl::Duration kAsksFor = absl::Minutes(9);

}  // namespace

void Truth::ApplyQuota(absl::string_view kind, const std::string& name, const Json& object,
                       absl::Time now) {
  switch (quotas_.Apply(kind, name, object)) {
    case QuotaTruth::Change::kLimits:
      NoteUpheaval(now);
      [[fallthrough]];
    case QuotaTruth::Change::kRules:
      rules_changed_ = now;
      break;
    case QuotaTruth::Change::kNone:
      break;
  }
}

// By pods whose PodGroup says which Queue they are charged to.
QuotaTruth::Usage Truth::UsageKnown(absl::Time bound_by_others_before,
                                    const std::string& without) const {
  QuotaTruth::Usage usage;
  for (const auto& [key, pod] : pods_) {
    if (pod.node.empty() || pod.ended() || pod.gang == without) continue;
    if (!pod.ours && pod.bound_at >= bound_by_others_before) continue;
    const auto group = groups_.find(pod.gang);
    const auto node = nodes_.find(pod.node);
    if (group == groups_.end() || node == nodes_.end()) continue;
    usage[{group->second.queue, quotas_.FlavorOf(node->second.labels)}] += pod.gpus;
  }
  return usage;
}

void Truth::CheckQuotaLegal(const PodFacts& pod, absl::Time now) {
  const auto group = groups_.find(pod.gang);
  const auto node = nodes_.find(pod.node);
  if (group == groups_.end() || node == nodes_.end() || group->second.queue.empty()) return;
  if (now < upheaval_ + kUnknownFor) return;
  ++quota_checks_;
  const std::string why = quotas_.Illegal(
      group->second.queue, quotas_.FlavorOf(node->second.labels), UsageKnown(now - kUnknownFor));
  if (why.empty()) return;
  Violated(now, absl::StrCat("QuotaLegal: once ", pod.key, " of queue ", group->second.queue,
                             " is bound on ", pod.node, ", ", why));
}

bool Truth::MayMakeLeave(const GangFacts& gang, const GangFacts& victim) const {
  const bool higher = gang.priority() > victim.priority();
  if (!gang.preempts || quotas_.RootOf(gang.queue) != quotas_.RootOf(victim.queue)) return false;
  const auto queue = quotas_.queues().find(gang.queue);
  if (queue == quotas_.queues().end()) return gang.queue.empty() && higher;
  const bool own = gang.queue == victim.queue;
  const std::string& policy = own ? queue->second.within : queue->second.reclaim;
  if (policy == "LowerPriority") return higher;
  if (policy == "LowerOrNewerEqualPriority") return gang.priority() >= victim.priority();
  return policy == "Any";
}

void Truth::CheckEviction(const std::string& gang, const std::string& what, absl::Time now) {
  const auto victim = gangs_.find(gang);
  if (now < rules_changed_ + kAsksFor || victim == gangs_.end()) return;
  const std::string& queue = victim->second.queue;
  const auto stopped = quotas_.queues().find(queue);
  if (stopped != quotas_.queues().end() && stopped->second.stop == "HoldAndDrain") return;
  const bool any = std::ranges::any_of(gangs_, [&](const auto& other) {
    const bool there = groups_.contains(other.first) || other.second.seen >= now - kAsksFor;
    return other.first != gang && there && MayMakeLeave(other.second, victim->second);
  });
  if (any) return;
  Violated(now, absl::StrCat("EvictionsFollowPolicy: ", what, " of queue ", queue,
                             ", which nobody may make leave"));
}

std::vector<Truth::Wanting> Truth::WholeGangsWaiting() const {
  std::vector<Wanting> found;
  for (const auto& [key, group] : groups_) {
    int64_t held = 0, succeeded = 0, waiting = 0, each = 0;
    bool same = true, minds_company = false;
    for (const auto& [pod_key, pod] : pods_) {
      if (pod.gang != key || pod.deleting) continue;
      if (pod.phase == "Succeeded") ++succeeded;
      if (pod.ended()) continue;
      if (!pod.node.empty()) {
        ++held;
        continue;
      }
      ++waiting;
      minds_company = minds_company || pod.minds_company;
      same = same && (each == 0 || each == pod.gpus);
      each = pod.gpus;
    }
    const int64_t need = group.min_member - held - succeeded;
    if (need <= 0 || waiting < need || !same || each == 0) continue;
    // Which rack or domain, and who is near whom, is left to the scheduler's own check.
    if (minds_company || group.sliced || (group.in_one_rack && held > 0)) continue;
    found.push_back({key, need, each, group.in_one_rack});
  }
  return found;
}

// The most members that may start together: in one rack if it must be, and charged to one flavor.
int64_t Truth::RoomFor(const Wanting& gang, const std::string& queue,
                       const std::string& gone) const {
  std::map<std::pair<std::string, QuotaTruth::Cell>, int64_t> rooms;
  std::map<QuotaTruth::Cell, std::string> flavors;
  for (const auto& [name, gpus] : FreeGpus(gone)) {
    const NodeFacts& node = nodes_.at(name);
    const std::string flavor = quotas_.FlavorOf(node.labels);
    const QuotaTruth::Cell cell = quotas_.CellOf(queue, flavor);
    flavors[cell] = flavor;
    rooms[{gang.in_one_rack ? node.rack : "", cell}] += std::max<int64_t>(0, gpus) / gang.each;
  }
  int64_t most = 0;
  for (const auto& [where, room] : rooms) {
    const std::string& flavor = flavors.at(where.second);
    QuotaTruth::Usage usage = UsageKnown(absl::InfiniteFuture(), gone);
    int64_t members = 0;
    for (; members < std::min(room, gang.need); ++members) {
      usage[{queue, flavor}] += gang.each;
      if (!quotas_.Illegal(queue, flavor, usage).empty()) break;
    }
    most = std::max(most, members);
  }
  return most;
}

// Its Queue is away or stopped, or serves somebody else first.
bool Truth::MayBeHeldUp(const std::string& gang, const std::string& queue) const {
  if (queue.empty()) return false;
  const auto rules = quotas_.queues().find(queue);
  if (rules == quotas_.queues().end() || rules->second.stop != "None") return true;
  return rules->second.strict && std::ranges::any_of(pods_, [&](const auto& pod) {
           const auto group = groups_.find(pod.second.gang);
           return pod.second.gang != gang && group != groups_.end() &&
                  group->second.queue == queue && pod.second.node.empty() && !pod.second.ended();
         });
}

bool Truth::CouldStartWithout(const std::string& waiting, const std::string& runs) const {
  const std::vector<Wanting> gangs = WholeGangsWaiting();
  const auto gang = std::ranges::find(gangs, waiting, &Wanting::key);
  if (gang == gangs.end()) return false;
  const std::string& queue = groups_.at(waiting).queue;
  return !MayBeHeldUp(waiting, queue) && RoomFor(*gang, queue, runs) >= gang->need;
}

bool Truth::StaysSince(const std::string& gang, absl::Time time) const {
  int64_t held = 0;
  for (const auto& [key, pod] : pods_) {
    if (pod.gang != gang || pod.node.empty() || pod.ended()) continue;
    if (pod.deleting || pod.bound_at > time) return false;
    ++held;
  }
  const auto group = groups_.find(gang);
  return held > 0 && (group == groups_.end() || held >= group->second.min_member);
}

void Truth::CheckNobodyIsNominated(absl::Time now) {
  for (const auto& [key, pod] : pods_) {
    if (pod.nominated.empty() || !pod.node.empty() || pod.ended() || pod.deleting) continue;
    Violated(now, absl::StrCat("NothingLeaks: ", key, " is nominated for ", pod.nominated,
                               " though nobody makes room for it"));
  }
}

void Truth::CheckNothingRunnableWaits(Holds holds, absl::Time now) {
  for (const Wanting& gang : WholeGangsWaiting()) {
    const GroupFacts& group = groups_.at(gang.key);
    if (MayBeHeldUp(gang.key, group.queue)) continue;
    // Whether room is held rightly is left to the scheduler's own check, and to the end of the
    // hold.
    if (group.reason == "HeldByReservation") continue;
    // A repair does not say so.
    if (group.reason == "QuorumLost" && holds == Holds::kSome) continue;
    const int64_t room = RoomFor(gang, group.queue);
    if (room < gang.need) continue;
    Violated(now, absl::StrCat("NothingRunnableWaits: ", gang.key, " needs ", gang.need, " x ",
                               gang.each, " GPUs and there is room for ", room, "; phase ",
                               group.phase, ", reason ", group.reason));
  }
}

}  // namespace maniple::sim
