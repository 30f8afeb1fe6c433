#include "scheduler/state/gang_members.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "queue/assembly.h"

namespace maniple {
namespace {

// Successes are kept beyond the quorum as well: minMember may be raised again.
constexpr int32_t kMostBeyondQuorum = 1000;

auto OrderOf(const Member& member) { return std::tie(member.rank, member.name, member.pod); }

}  // namespace

bool InOrder(const Member& a, const Member& b) { return OrderOf(a) < OrderOf(b); }

std::vector<Member>::iterator FindMember(std::vector<Member>& members, PodId pod) {
  return std::find_if(members.begin(), members.end(),
                      [pod](const Member& member) { return member.pod == pod; });
}

std::vector<Member>::iterator FindMember(std::vector<Member>& members, PodId pod, const Rank& rank,
                                         const std::string& name) {
  const auto order = std::tie(rank, name, pod);
  const auto at = std::lower_bound(
      members.begin(), members.end(), order,
      [](const Member& member, const auto& wanted) { return OrderOf(member) < wanted; });
  return at != members.end() && at->pod == pod ? at : FindMember(members, pod);
}

void AddInOrder(std::vector<Member>& members, Member member) {
  members.insert(std::upper_bound(members.begin(), members.end(), member, InOrder),
                 std::move(member));
}

bool UpdateMember(Member& member, const MemberFacts& facts, const Pod& pod, Rank rank) {
  static const std::string kNone;
  const bool failed = pod.phase == PodPhase::kFailed;
  const bool waits =
      pod.scheduled_condition.has_value() && pod.scheduled_condition->status == "False";
  bool changed = false;
  const auto set = [&changed](auto& field, const auto& value) {
    if (field == value) return;
    field = value;
    changed = true;
  };
  set(member.shape, facts.shape);
  set(member.node, facts.node);
  set(member.state, facts.state);
  set(member.started_elsewhere, facts.started_elsewhere);
  set(member.started, pod.started);
  set(member.preempts, pod.preempts);
  set(member.running, pod.phase == PodPhase::kRunning);
  set(member.was_ready, member.was_ready || pod.ready);
  set(member.priority, pod.priority);
  set(member.deadline, pod.active_deadline);
  set(member.created, pod.meta.created);
  set(member.status_reason, failed ? pod.status_reason : kNone);
  set(member.waiting_reason, waits ? pod.scheduled_condition->reason : kNone);
  set(member.nominated, waits && !pod.nominated_node_name.empty());
  set(member.own_hold, IsOnHold(pod.meta));
  set(member.rank, rank);
  return changed;
}

bool IsOnHold(const ObjectMeta& meta) { return meta.annotations.Get(kHoldAnnotation) == "true"; }

bool HasEnded(MemberState state) {
  return state == MemberState::kSucceeded || state == MemberState::kFailed;
}

bool StandsSomewhere(const Member& member) {
  return member.state == MemberState::kBound || member.state == MemberState::kTerminating;
}

void ForgetCleaned(Gang& gang, const Rank& rank) {
  CleanedMembers& cleaned = gang.cleaned;
  if (cleaned.empty()) return;
  const bool over = std::none_of(gang.members.begin(), gang.members.end(), IsLive) &&
                    NeedWith(gang, [](const Member& member) {
                      return member.state == MemberState::kSucceeded;
                    }).Met();
  if (over) {
    cleaned = CleanedMembers{};
  } else if (rank.index >= 0) {
    std::erase(cleaned.ranks, rank);
  }
}

void RememberCleaned(Gang& gang, const Rank& rank) {
  const bool singleton = gang.key.dialect == GangDialect::kSingleton;
  if (!gang.group_exists || singleton) return;
  // Whoever has taken its place counts instead.
  const auto replaces = [&rank](const Member& member) {
    return member.rank == rank && (IsLive(member) || member.state == MemberState::kSucceeded);
  };
  if (rank.index >= 0 && std::ranges::any_of(gang.members, replaces)) return;
  if (gang.cleaned.count() >= kMostBeyondQuorum && QuorumCount(gang).Need().Met()) return;
  std::vector<Rank>& ranks = gang.cleaned.ranks;
  ranks.insert(std::upper_bound(ranks.begin(), ranks.end(), rank), rank);
}

void RerankCleaned(Gang& gang, const std::vector<SubGroup>& before) {
  for (Rank& rank : gang.cleaned.ranks) {
    const auto part = static_cast<size_t>(rank.sub_group);
    const absl::string_view name = part < before.size() ? before[part].name : absl::string_view();
    rank.sub_group = SubGroupIndex(name, gang.spec);
  }
  std::sort(gang.cleaned.ranks.begin(), gang.cleaned.ranks.end());
}

bool RecallCleaned(Gang& gang) {
  if (gang.status.members.succeeded == 0) return false;
  const int32_t quorum = std::max(1, gang.spec.min_member);
  // Pods that came after all members had succeeded are of a new run.
  const bool over = gang.status.phase == "Completed" && gang.status.members.succeeded >= quorum;
  if (over && std::any_of(gang.members.begin(), gang.members.end(), IsLive)) return false;
  const int32_t seen = Assemble(gang).counts.succeeded - gang.cleaned.unranked;
  const int32_t most = std::max(quorum, kMostBeyondQuorum);
  const int32_t told = std::min(gang.status.members.succeeded, most);
  // Never added up: who was told of and not seen a moment ago may be seen by now.
  const int32_t unranked = std::max(0, told - seen);
  return std::exchange(gang.cleaned.unranked, unranked) != unranked;
}

}  // namespace maniple
