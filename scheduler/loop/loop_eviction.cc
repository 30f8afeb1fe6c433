// Who leaves for whom: the room kept for the gang that is to come (Claim), and the requests that
// ask the others to leave (Departure).
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/cycle/preemption.h"
#include "scheduler/loop/loop_impl.h"
#include "scheduler/report/events.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

// Room that is being freed is kept for so long; evictions that are refused are tried until then.
constexpr absl::Duration kClaimFor = absl::Minutes(5);
// After a claim that came to nothing.
constexpr absl::Duration kPauseAfterClaim = absl::Seconds(30);
constexpr absl::Duration kTryAgain = absl::Seconds(1);
// An eviction that was granted shows in the watch long before this.
constexpr absl::Duration kAskAgain = absl::Seconds(10);
constexpr size_t kGangsNamed = 4;

bool TakesRoom(const PodFacts& pod) { return !pod.terminal && !pod.node_name.empty(); }

std::string NamesOf(const std::vector<std::string>& gangs) {
  std::vector<std::string> named(gangs.begin(),
                                 gangs.begin() + std::min(gangs.size(), kGangsNamed));
  if (gangs.size() > kGangsNamed) {
    named.push_back(absl::StrCat("and ", gangs.size() - kGangsNamed, " more"));
  }
  return absl::StrJoin(named, ", ");
}

}  // namespace

void SchedulingLoop::Impl::StartClaim(Case& c, const GangRequest& request,
                                      const std::vector<RunningGang>& running,
                                      const PreemptionPlan& plan, ClaimGround ground) {
  ++counters_.preemptions;
  LeaveLine(c);  // it has room now that is better than a plan
  waits_for_leaving_.erase(c.gang.id);
  if (plan.used_initial_share) c.record.initial_share_used = true;
  const std::string name = GangText(c.gang.key);
  const QuotaNodeId queue = ledger_.book().QueueNamed(c.gang.queue);
  const auto victim_of_queue = [&](QuotaNodeId theirs) {
    return theirs == queue ? name : absl::StrCat(name, kOfQueue, c.gang.queue);
  };
  Claim claim{.until = c.now + kClaimFor};
  std::vector<std::string> names;
  for (const Victim& victim : plan.victims) {
    const RunningGang& gang = running[victim.running];
    claim.victims.push_back(gang.gang);
    const bool whole = victim.pods.size() == gang.members.size();
    names.push_back(whole ? gang.name
                          : absl::StrCat(victim.pods.size(), " surplus pods of ", gang.name));
    StartDeparture(gang.gang, victim.pods,
                   {.for_gang = c.gang.id,
                    .by = ground == ClaimGround::kPolicy ? victim_of_queue(gang.queue) : "",
                    .why = absl::StrCat("preempted by ", name),
                    .until = claim.until,
                    .whole = whole},
                   c.now);
    if (ground == ClaimGround::kPolicy) NoteLeaving(gang.gang, c.gang.id);
  }
  for (const Placement& place : plan.plan.placements) {
    const auto want = std::ranges::find(request.wants, place.pod, &Want::pod);
    claim.rooms.push_back(
        {state_.Hold(place.node, want->shape), place.node, want->shape, place.pod});
  }
  claim.text = absl::StrCat("its room is being freed: ", NamesOf(names),
                            names.size() == 1 ? " leaves" : " leave");
  Log(absl::StrCat("preempt ", name, ": ", absl::StrJoin(names, ", ")));
  Log(absl::StrCat("claim ", name, ": ", PlacesText(plan.plan.placements)));
  SendEvent(PreemptingEvent(c.gang, NamesOf(names)), c.now);
  c.record.claim = std::move(claim);
  ChargeQuota(c);
}

// Nobody takes the room any more but who finds it.
void SchedulingLoop::Impl::DropClaim(GangRecord& record) {
  if (!record.claim.has_value()) return;
  for (const Claim::Room& room : record.claim->rooms) state_.ReleaseHold(room.hold, news_);
  touched_.insert(record.claim->victims.begin(), record.claim->victims.end());
  record.claim.reset();
}

bool SchedulingLoop::Impl::VictimsLeave(const Case& c) const {
  return std::ranges::any_of(c.record.claim->victims, [&](GangId victim) {
    const auto it = records_.find(victim);
    return it != records_.end() && it->second->departure.has_value() &&
           it->second->departure->for_gang == c.gang.id;
  });
}

void SchedulingLoop::Impl::GiveUpClaim(Case& c) {
  Log(absl::StrCat("give up the room of ", GangText(c.gang.key)));
  DropClaim(c.record);
  if (c.record.waiting != nullptr &&
      c.record.waiting->reason == WaitReason::kWaitingForPreemption) {
    c.record.waiting.reset();  // it spoke of the claim
  }
  ChargeQuota(c);
}

// Also of a gang that its queue does not ask any more.
void SchedulingLoop::Impl::SeeClaim(Case& c) {
  if (!c.record.claim.has_value() || c.now < c.record.claim->until) return;
  c.record.no_preemption_until = c.now + kPauseAfterClaim;
  GiveUpClaim(c);
}

// The room that was made is not enough yet. False: it never will be, and the claim is over.
bool SchedulingLoop::Impl::WaitForClaim(Case& c, QueueItem item) {
  GangRecord& record = c.record;
  if (item.kind != ItemKind::kQuorum || !record.claim.has_value()) return false;
  if (!VictimsLeave(c)) {
    GiveUpClaim(c);
    return false;
  }
  Note(c, item, {.reason = WaitReason::kWaitingForPreemption, .message = record.claim->text});
  Park(c, item,
       {.class_key = absl::StrCat("claim ", c.gang.id.index()),
        .relief = kReliefRoom | kReliefNodes | kReliefQuota | kReliefQueue,
        .until = record.claim->until});
  return true;
}

void SchedulingLoop::Impl::StartDeparture(GangId id, const std::vector<PodId>& pods,
                                          Departure departure, absl::Time now) {
  GangRecord& record = *records_.at(id);
  for (const PodId pod : pods) departure.pods[pod] = {.next_try = now};
  if (departure.whole) {
    ++counters_.gangs_preempted;
    if (!departure.by.empty()) record.preempted_by = departure.by;
  }
  if (const Gang* gang = state_.FindGang(id)) SendEvent(PreemptedEvent(*gang, departure.why), now);
  record.departure = std::move(departure);
  touched_.insert(id);
}

// Nobody waits any more for its members to leave.
bool SchedulingLoop::Impl::CalledOff(const Case& c, const Departure& departure) const {
  if (!departure.for_gang.valid()) {
    const Queue* queue = ledger_.book().FindQueue(c.gang.queue);
    return queue == nullptr || queue->stop != StopPolicy::kHoldAndDrain;
  }
  const auto it = records_.find(departure.for_gang);
  return it == records_.end() || !it->second->claim.has_value() ||
         std::ranges::find(it->second->claim->victims, c.gang.id) ==
             it->second->claim->victims.end();
}

// Whom the watch shows gone has left; the rest is asked, again if need be.
void SchedulingLoop::Impl::SeeDeparture(Case& c) {
  GangRecord& record = c.record;
  if (!record.departure.has_value()) return;
  Departure& departure = *record.departure;
  std::erase_if(departure.pods, [this](const auto& leaving) {
    const PodFacts* pod = state_.FindPod(leaving.first);
    return pod == nullptr || !TakesRoom(*pod);
  });
  const bool left = departure.pods.empty();
  if (CalledOff(c, departure)) {
    std::erase_if(departure.pods, [this](const auto& leaving) {
      return !leaving.second.under_way && !state_.FindPod(leaving.first)->terminating;
    });
  }
  if (departure.pods.empty() || c.now >= departure.until) {
    Log(absl::StrCat(left ? "left " : "stays ", GangText(c.gang.key)));
    if (left && departure.whole) {
      record.bound.clear();
      NoteEvicted(record, c.gang, departure.why);
    }
    if (departure.for_gang.valid()) touched_.insert(departure.for_gang);
    record.departure.reset();
    return;
  }
  for (auto& [id, leaving] : departure.pods) {
    // Once it is on its way out only the watch can tell more.
    if (state_.FindPod(id)->terminating) leaving.next_try = absl::InfiniteFuture();
    if (leaving.under_way || leaving.next_try > c.now) continue;
    ++counters_.evictions_sent;
    leaving.under_way = true;
    SendTo(id, ErrandKind::kEvict, EvictPodRequest);
  }
}

void SchedulingLoop::Impl::HearEviction(const Errand& errand, const WriteResult& result,
                                        absl::Time now) {
  const auto it = records_.find(errand.gang);
  if (it == records_.end() || !it->second->departure.has_value()) return;
  const auto leaving = it->second->departure->pods.find(errand.pod);
  if (leaving == it->second->departure->pods.end()) return;
  const bool granted = result.outcome == WriteOutcome::kAnswered && result.http_status / 100 == 2;
  if (!granted) ++counters_.evictions_refused;
  leaving->second = {.next_try = now + (granted ? kAskAgain : kTryAgain)};
  touched_.insert(errand.gang);
}

absl::Time SchedulingLoop::Impl::NextEviction(const GangRecord& record) {
  absl::Time next = absl::InfiniteFuture();
  if (!record.departure.has_value()) return next;
  next = record.departure->until;
  for (const auto& [pod, leaving] : record.departure->pods) {
    if (!leaving.under_way) next = std::min(next, leaving.next_try);
  }
  return next;
}

// A queue that is drained starts nothing and lets nobody stay.
void SchedulingLoop::Impl::DrainQueue(Case& c) {
  if (c.record.departure.has_value() || c.record.binding.has_value() || !c.gang.group_exists) {
    return;
  }
  const Queue* queue = ledger_.book().FindQueue(c.gang.queue);
  if (queue == nullptr || queue->stop != StopPolicy::kHoldAndDrain) return;
  std::vector<PodId> pods;
  for (const Member& member : c.gang.members) {
    if (member.state == MemberState::kBound) pods.push_back(member.pod);
  }
  if (pods.empty()) return;
  StartDeparture(c.gang.id, pods,
                 {.why = absl::StrCat("queue \"", c.gang.queue,
                                      "\" is being drained: spec.stopPolicy is HoldAndDrain"),
                  .until = absl::InfiniteFuture()},
                 c.now);
}

}  // namespace maniple
