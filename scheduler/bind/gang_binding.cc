#include "scheduler/bind/gang_binding.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/base/check.h"

namespace maniple {
namespace {

// A member that a reply calls gated or gone is looked at afresh after this long,
// should the watch never show it.
constexpr absl::Duration kOutFor = absl::Seconds(5);
// A reply that the watch does not confirm is asked again after this long:
// a server may have forgotten its promise.
constexpr absl::Duration kConfirmAfter = absl::Seconds(10);
// A refused member is planned again after this long, should the gang still need it:
// policies change.
constexpr absl::Duration kRefusedFor = absl::Minutes(1);
// A request that timed out may still reach the server:
// the room is kept for so long before the pod counts as not bound.
constexpr absl::Duration kMayStillLand = absl::Seconds(15);

}  // namespace

GangBinding::Entry* GangBinding::Find(PodId pod) {
  const auto it = std::ranges::lower_bound(entries_, pod, {}, &Entry::pod);
  return it != entries_.end() && it->pod == pod ? &*it : nullptr;
}
const GangBinding::Entry* GangBinding::Find(PodId pod) const {
  return const_cast<GangBinding*>(this)->Find(pod);  // NOLINT: same lookup, nothing changes
}

GangBinding::Entry& GangBinding::Insert(const Placement& placement, ShapeId shape,
                                        BindState state) {
  const auto at = std::ranges::lower_bound(entries_, placement.pod, {}, &Entry::pod);
  CHECK(at == entries_.end() || at->pod != placement.pod);
  return *entries_.insert(at, Entry{.pod = placement.pod,
                                    .node = placement.node,
                                    .shape = shape,
                                    .state = state,
                                    .backoff = Backoff(backoff_)});
}

bool GangBinding::Any(absl::FunctionRef<bool(const Entry&)> test) const {
  return std::ranges::any_of(entries_, [test](const Entry& entry) { return test(entry); });
}

void GangBinding::Remember(const Known& known) {
  if (Find(known.pod) == nullptr) {
    Insert({known.pod, known.node}, known.shape, BindState::kBound).sub_group = known.sub_group;
  }
  any_bound_ = true;
}

void GangBinding::ForgetNodes(const absl::btree_set<NodeId>& gone) {
  for (Entry& entry : entries_) {
    if (gone.contains(entry.node)) entry.node = NodeId();
  }
  for (Vacancy& vacancy : vacancies_) {
    if (gone.contains(vacancy.node)) vacancy.node = NodeId();
  }
}

void GangBinding::Start(std::span<const Placement> placements, const Gang& gang, BindStep& step) {
  CHECK(phase_ != BindPhase::kUndoing && phase_ != BindPhase::kLeaving &&
        phase_ != BindPhase::kEnded);
  for (const Placement& placement : placements) {
    const auto member = std::ranges::find(gang.members, placement.pod, &Member::pod);
    CHECK(member != gang.members.end());
    // The newcomer fills the place of a lost member of its own shape, in its sub-group if it can.
    const auto is_lost = [&](const Entry& entry) {
      return entry.state == BindState::kGone && !entry.stale && entry.shape == member->shape;
    };
    auto lost = std::ranges::find_if(entries_, [&](const Entry& entry) {
      return is_lost(entry) && entry.sub_group == member->rank.sub_group;
    });
    if (lost == entries_.end()) lost = std::ranges::find_if(entries_, is_lost);
    if (lost != entries_.end()) entries_.erase(lost);
    Send(Insert(placement, member->shape, BindState::kInFlight), step);
  }
  wants_repair_ = false;
}

void GangBinding::Ask(Entry& entry, Request request, BindStep& step) {
  entry.asked = request;
  entry.retry_at = absl::InfiniteFuture();
  switch (request) {
    case Request::kBind:
      step.actions.push_back(SendBind{entry.pod, entry.node, entry.state == BindState::kWaiting});
      break;
    case Request::kRead:
      step.actions.push_back(ReadPod{entry.pod});
      break;
    case Request::kDelete:
      step.actions.push_back(DeletePod{entry.pod});
      break;
    case Request::kNone:
      break;
  }
}

void GangBinding::Send(Entry& entry, BindStep& step) {
  Ask(entry, Request::kBind, step);
  entry.state = BindState::kInFlight;
}

// The member does not need its reserved room any more.
void GangBinding::LetGo(Entry& entry, BindState state, BindStep& step) {
  entry.state = state;
  entry.retry_at = step.now + kOutFor;
  entry.stale = true;
  step.actions.push_back(ReleaseReservation{entry.pod});
}

// The bind is not sent again. The room is kept until an earlier bind can no longer take effect.
// A bind names the node, not its uid: even if the node has gone,
// it may land on the next of that name.
void GangBinding::GiveUp(Entry& entry, BindStep& step) {
  if (entry.may_land_until == absl::InfinitePast()) {
    LetGo(entry, BindState::kOut, step);
  } else if (entry.may_land_until <= step.now) {
    entry.state = BindState::kReading;
    Ask(entry, Request::kRead, step);
  } else {
    TryLater(entry, BindState::kReading, std::nullopt, step);
  }
}

void GangBinding::TryLater(Entry& entry, BindState state, std::optional<absl::Duration> named,
                           BindStep& step) {
  entry.state = state;
  const absl::Duration wait = entry.backoff.Next(step.random);
  entry.retry_at = step.now + std::max(wait, named.value_or(absl::ZeroDuration()));
}

// Bound, by us or by another; `node` is none when the node is unknown to us.
void GangBinding::Land(Entry& entry, std::optional<NodeId> node, BindStep& step) {
  const bool ours = node == entry.node;
  if (!any_bound_ && phase_ == BindPhase::kBinding) since_ = step.now;
  any_bound_ = true;
  entry.state = BindState::kBound;
  entry.stale = true;
  entry.retry_at = step.now + kConfirmAfter;
  if (ours) return;
  entry.elsewhere = true;
  entry.node = node.value_or(NodeId());
  step.actions.push_back(ReleaseReservation{entry.pod});
  Judge(entry, step);
}

// Weighs the place of a member that somebody else has bound against the places of the others. Each
// member that lands or leaves may change the judgement.
void GangBinding::Judge(Entry& entry, BindStep& step) {
  const bool was = entry.state == BindState::kMisplaced;
  const bool judged = was || CountsAsBound(entry.state);
  if (!entry.elsewhere || !judged || !entry.node.valid()) return;
  if (was == step.misplaced_on(entry.pod, entry.node)) return;
  entry.state = was ? BindState::kBound : BindState::kMisplaced;
  entry.retry_at = was && entry.stale ? step.now + kConfirmAfter : absl::InfiniteFuture();
  if (was) return;
  trouble_ = "a member was bound by somebody else outside the required domain";
}

GangBinding::Entry* GangBinding::Answered(PodId pod, Request request) {
  Entry* entry = Find(pod);
  if (entry == nullptr || entry->asked != request) return nullptr;
  entry->asked = Request::kNone;
  return entry;
}

void GangBinding::OnBindReply(PodId pod, const BindReply& reply, std::optional<NodeId> elsewhere,
                              BindStep& step) {
  Entry* entry = Answered(pod, Request::kBind);
  if (entry == nullptr || entry->state != BindState::kInFlight) return;
  if (reply.kind != BindReplyKind::kBound) trouble_ = reply.detail;
  switch (reply.kind) {
    case BindReplyKind::kBound:
      Land(*entry, entry->node, step);
      break;
    case BindReplyKind::kBoundElsewhere:
      Land(*entry, elsewhere, step);
      break;
    case BindReplyKind::kUnclear:
      // Read after a while: a bind whose reply is lost may still be under way in the server.
      entry->may_land_until = step.now + kMayStillLand;
      TryLater(*entry, BindState::kReading, std::nullopt, step);
      break;
    case BindReplyKind::kRetry:
      if (reply.in_doubt) entry->may_land_until = std::max(entry->may_land_until, step.now);
      TryLater(*entry, BindState::kWaiting, reply.retry_after, step);
      break;
    case BindReplyKind::kRefused:
      if (entry->may_land_until != absl::InfinitePast()) {  // an earlier bind may be let through
        GiveUp(*entry, step);
        break;
      }
      LetGo(*entry, BindState::kRefused, step);
      entry->stale = false;
      entry->retry_at = step.now + kRefusedFor;
      step.actions.push_back(MemberRefused{pod, reply.detail});
      break;
    case BindReplyKind::kGone:
      // The pod may be leaving the node to which an earlier bind took it: then it keeps its room.
      if (entry->may_land_until != absl::InfinitePast()) {
        GiveUp(*entry, step);
      } else {
        LetGo(*entry, BindState::kGone, step);
      }
      break;
    case BindReplyKind::kGated:
      LetGo(*entry, BindState::kOut, step);
      break;
  }
}

void GangBinding::OnReading(PodId pod, const PodReading& reading, std::optional<NodeId> node,
                            BindStep& step) {
  Entry* entry = Answered(pod, Request::kRead);
  if (entry == nullptr) return;
  const bool confirming = entry->state == BindState::kConfirming;
  if (!confirming && entry->state != BindState::kReading) return;
  switch (reading.kind) {
    case PodReadingKind::kUnbound:
      if (confirming) {
        trouble_ = "the server has forgotten a binding that it had confirmed";
        LetGo(*entry, BindState::kOut, step);
        entry->retry_at = step.now;  // to be planned afresh
      } else {
        if (step.now >= entry->may_land_until) entry->may_land_until = absl::InfinitePast();
        TryLater(*entry, BindState::kWaiting, reading.retry_after, step);
      }
      break;
    case PodReadingKind::kBound:
      Land(*entry, node, step);
      break;
    case PodReadingKind::kGone:
      LetGo(*entry, BindState::kGone, step);
      break;
    case PodReadingKind::kGated:
      LetGo(*entry, BindState::kOut, step);
      break;
    case PodReadingKind::kUnclear:
      trouble_ = reading.detail;
      TryLater(*entry, confirming ? BindState::kBound : BindState::kReading, reading.retry_after,
               step);
      break;
  }
}

void GangBinding::OnDeleteReply(PodId pod, const DeleteReply& reply, BindStep& step) {
  Entry* entry = Answered(pod, Request::kDelete);
  if (entry == nullptr || entry->state != BindState::kDeleting) return;
  switch (reply.kind) {
    case DeleteReplyKind::kDone:
      entry->state = BindState::kGone;
      entry->stale = true;
      entry->retry_at = step.now + kConfirmAfter;
      ++undone_.deleted;
      break;
    case DeleteReplyKind::kRetry:
      trouble_ = reply.detail;
      TryLater(*entry, BindState::kDeleting, reply.retry_after, step);
      break;
  }
}

// The member is no longer live, or no longer there.
void GangBinding::SeeLost(Entry& entry, const Member* member, BindStep& step) {
  const bool fresh = IsComing(entry.state) || IsBound(entry.state);
  if (entry.state == BindState::kDeleting && entry.asked == Request::kDelete) ++undone_.deleted;
  if (IsComing(entry.state)) LetGo(entry, BindState::kGone, step);
  entry.state = BindState::kGone;
  entry.stale = false;
  entry.retry_at = absl::InfiniteFuture();
  entry.occupied = member != nullptr && member->state == MemberState::kTerminating;
  if (!fresh || member == nullptr || member->state != MemberState::kFailed) return;
  trouble_ = absl::StrCat("pod ", member->name, " failed",
                          member->status_reason.empty() ? "" : ": ", member->status_reason);
  if (IsKubeletRejection(member->status_reason) && entry.node.valid()) {
    entry.unfit = true;
    step.actions.push_back(CoolNode{entry.node});
  }
}

// The member counts towards the quorum by itself, but takes no place any more:
// it needs no repair, and holds no other to its domain.
void GangBinding::SeeSucceeded(Entry& entry, const Member* member, BindStep& step) {
  if (entry.state == BindState::kDeleting || entry.state == BindState::kGone) {
    SeeLost(entry, member, step);
    return;
  }
  if (!IsBound(entry.state)) Land(entry, entry.node, step);
  entry.state = BindState::kOut;
  entry.asked = Request::kNone;
  entry.stale = false;
  entry.retry_at = step.now;  // seen: forget the member
}

void GangBinding::See(Entry& entry, const Member* member, BindStep& step) {
  if (member != nullptr) entry.sub_group = member->rank.sub_group;
  const MemberState seen = member == nullptr ? MemberState::kFailed : member->state;
  switch (seen) {
    case MemberState::kPending:
      return;  // a reply may be ahead of the watch
    case MemberState::kGated:
      if (IsComing(entry.state)) LetGo(entry, BindState::kOut, step);
      if (entry.state == BindState::kOut) entry.retry_at = step.now;  // seen: forget the member
      return;
    case MemberState::kSucceeded:
      SeeSucceeded(entry, member, step);
      return;
    case MemberState::kBound:
      if (entry.state == BindState::kDeleting || entry.state == BindState::kGone) return;
      if (entry.state == BindState::kConfirming) entry.state = BindState::kBound;
      if (!IsBound(entry.state)) {
        Land(entry, member->node.valid() ? std::optional(member->node) : std::nullopt, step);
      } else if (member->node.valid()) {
        entry.node = member->node;
      }
      entry.stale = false;
      entry.retry_at = absl::InfiniteFuture();
      return;
    case MemberState::kTerminating:
    case MemberState::kFailed:
      SeeLost(entry, member, step);
      return;
  }
}

// Gives members back for planning. Their place is no good any more, they lost their gate again,
// were refused long ago, or exist although a reply said they are gone.
void GangBinding::Forget(BindStep& step) {
  const auto forgotten = [this, &step](const Entry& entry) {
    const bool out = entry.state == BindState::kOut || entry.state == BindState::kRefused ||
                     (entry.state == BindState::kGone && phase_ != BindPhase::kUndoing);
    return out && entry.asked == Request::kNone && entry.retry_at <= step.now;
  };
  bool any = false;
  for (Entry& entry : entries_) {
    if (entry.state == BindState::kWaiting && !step.still_reserved(entry.pod, entry.node)) {
      GiveUp(entry, step);
      if (entry.state == BindState::kOut) entry.retry_at = step.now;
    }
    any = any || forgotten(entry);
  }
  if (any) std::erase_if(entries_, forgotten);
}

// Sends the requests that are due.
void GangBinding::CarryOn(BindStep& step) {
  for (Entry& entry : entries_) {
    if (entry.asked != Request::kNone || entry.retry_at > step.now) continue;
    if (entry.state == BindState::kWaiting) {
      Send(entry, step);
    } else if (entry.state == BindState::kReading) {
      Ask(entry, Request::kRead, step);
    } else if (entry.state == BindState::kDeleting) {
      Ask(entry, Request::kDelete, step);
    } else if (entry.state == BindState::kBound) {
      entry.state = BindState::kConfirming;
      Ask(entry, Request::kRead, step);
    } else if (entry.state == BindState::kGone && phase_ == BindPhase::kUndoing) {
      --undone_.deleted;
      entry.state = BindState::kDeleting;
      Ask(entry, Request::kDelete, step);
    }
  }
}

bool GangBinding::done() const {
  if (phase_ == BindPhase::kEnded) return true;
  return phase_ == BindPhase::kBound && !Any([](const Entry& e) {
           return IsComing(e.state) || e.asked != Request::kNone || e.stale;
         });
}

bool GangBinding::Coming() const {
  return Any([](const Entry& e) { return IsComing(e.state); });
}

std::optional<BindState> GangBinding::StateOf(PodId pod) const {
  const Entry* entry = Find(pod);
  return entry == nullptr ? std::nullopt : std::optional(entry->state);
}

void GangBinding::AddStates(std::array<int32_t, kBindStates>& count) const {
  for (const Entry& entry : entries_) ++count[static_cast<size_t>(entry.state)];
}

bool GangBinding::MayPlan(PodId pod) const {
  return phase_ != BindPhase::kUndoing && phase_ != BindPhase::kLeaving &&
         phase_ != BindPhase::kEnded && Find(pod) == nullptr;
}

bool GangBinding::HasLostQuorum() const {
  const bool mends = phase_ == BindPhase::kRepairing || phase_ == BindPhase::kKept;
  return (mends && !stage_is_late_) ||
         (phase_ == BindPhase::kUndoing && undone_.cause == UndoCause::kQuorumLost);
}

bool GangBinding::Stands() const {
  const auto unseen = [](const Entry& e) { return CountsAsBound(e.state) && e.stale; };
  switch (phase_) {
    case BindPhase::kBinding:
      return !Coming() && !Any(unseen);
    case BindPhase::kBound:
    case BindPhase::kGrowing:
    case BindPhase::kRepairing:
    case BindPhase::kKept:
      return !Any(unseen);
    case BindPhase::kUndoing:
    case BindPhase::kLeaving:
    case BindPhase::kEnded:
      return false;
  }
  return false;
}

std::optional<NodeId> GangBinding::PlacedOn(PodId pod) const {
  const Entry* entry = Find(pod);
  if (entry == nullptr || !entry->node.valid()) return std::nullopt;
  return IsComing(entry->state) || IsBound(entry->state) ? std::optional(entry->node)
                                                         : std::nullopt;
}

std::optional<NodeId> GangBinding::LandedOn(PodId pod) const {
  const Entry* entry = Find(pod);
  if (entry == nullptr || !entry->node.valid() || !CountsAsBound(entry->state)) return std::nullopt;
  return entry->node;
}

absl::Time GangBinding::NextDeadline() const {
  absl::Time next = deadline_;
  for (const Entry& entry : entries_) {
    if (entry.asked == Request::kNone) next = std::min(next, entry.retry_at);
  }
  return next;
}

void GangBinding::ForEachShape(absl::FunctionRef<void(ShapeId)> visit) const {
  for (const Entry& entry : entries_) visit(entry.shape);
  for (const Vacancy& vacancy : vacancies_) visit(vacancy.shape);
}

}  // namespace maniple
