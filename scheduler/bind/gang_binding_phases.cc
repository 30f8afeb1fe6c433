// The gang as a whole: the phases of gang_binding.h, drawn from its members.
#include <algorithm>
#include <numeric>
#include <utility>

#include "queue/assembly.h"
#include "scheduler/bind/gang_binding.h"

namespace maniple {
namespace {

std::vector<const Member*> SortedByPod(const Gang& gang) {
  std::vector<const Member*> members;
  members.reserve(gang.members.size());
  for (const Member& member : gang.members) members.push_back(&member);
  if (!std::ranges::is_sorted(members, {}, &Member::pod)) {
    std::ranges::sort(members, {}, &Member::pod);
  }
  return members;
}

bool IsWithin(const QuorumNeed& need, const QuorumNeed& growth) {
  if (need.total > growth.total) return false;
  for (size_t i = 0; i < need.sub_groups.size(); ++i) {
    const int32_t grown = i < growth.sub_groups.size() ? growth.sub_groups[i] : 0;
    if (need.sub_groups[i] > grown) return false;
  }
  return true;
}

}  // namespace

void GangBinding::Settle(const Gang& gang, BindStep& step) {
  const MembersByPod members = SortedByPod(gang);
  SeeAll(members, step);
  Forget(step);
  const Weighed weighed = Weigh(gang, members);
  if (phase_ != BindPhase::kEnded) Conclude(gang, weighed, step);
  CarryOn(step);
  ListVacancies(weighed);
}

void GangBinding::SeeAll(const MembersByPod& members, BindStep& step) {
  bool strangers = false;
  auto member = members.begin();
  const auto pass_over = [&](absl::FunctionRef<bool(PodId)> before) {
    for (; member != members.end() && before((*member)->pod); ++member) {
      strangers = strangers || (*member)->state == MemberState::kBound;
    }
  };
  for (Entry& entry : entries_) {
    pass_over([&entry](PodId pod) { return pod < entry.pod; });
    const bool there = member != members.end() && (*member)->pod == entry.pod;
    See(entry, there ? *member : nullptr, step);
    if (there) ++member;
  }
  pass_over([](PodId) { return true; });
  if (strangers) Adopt(members);
  for (Entry& entry : entries_) Judge(entry, step);
}

// Adds members that others have bound.
void GangBinding::Adopt(const MembersByPod& members) {
  size_t at = 0;  // an index: Insert moves the entries
  for (const Member* member : members) {
    while (at < entries_.size() && entries_[at].pod < member->pod) ++at;
    if (at < entries_.size() && entries_[at].pod == member->pod) continue;
    if (member->state != MemberState::kBound) continue;
    Insert({member->pod, member->node}, member->shape, BindState::kBound);
    any_bound_ = true;
  }
}

GangBinding::Progress GangBinding::ProgressOf(const Entry* entry, const Member& member) {
  if (entry == nullptr) {
    switch (member.state) {
      case MemberState::kBound:
      case MemberState::kSucceeded:
        return Progress::kPlaced;
      case MemberState::kPending:
        return Progress::kSpare;
      case MemberState::kGated:
      case MemberState::kTerminating:
      case MemberState::kFailed:
        return Progress::kNone;
    }
    return Progress::kNone;
  }
  if (CountsAsBound(entry->state)) return Progress::kPlaced;
  return IsComing(entry->state) ? Progress::kComing : Progress::kNone;
}

GangBinding::Weighed GangBinding::Weigh(const Gang& gang, const MembersByPod& members) const {
  QuorumCount placed(gang), coming(gang), spare(gang);
  Weighed weighed;
  auto entry = entries_.begin();
  for (const Member* member : members) {
    while (entry != entries_.end() && entry->pod < member->pod) ++entry;
    const bool known = entry != entries_.end() && entry->pod == member->pod;
    switch (ProgressOf(known ? &*entry : nullptr, *member)) {
      case Progress::kPlaced:
        placed.Add(*member);
        [[fallthrough]];
      case Progress::kComing:
        coming.Add(*member);
        spare.Add(*member);
        break;
      case Progress::kSpare:
        spare.Add(*member);
        weighed.has_spare = true;
        break;
      case Progress::kNone:
        break;
    }
  }
  weighed.placed = std::move(placed).Need();
  weighed.coming = std::move(coming).Need();
  weighed.spare = std::move(spare).Need();
  return weighed;
}

QuorumNeed GangBinding::NeedOf(const Gang& gang) const {
  return NeedWith(gang, [this](const Member& member) {
    const Progress progress = ProgressOf(Find(member.pod), member);
    return progress == Progress::kPlaced || progress == Progress::kComing;
  });
}

// Is the quorum out of reach without the refused members, even if every lost one were replaced?
bool GangBinding::RefusalIsFatal(const Gang& gang, const Weighed& weighed) const {
  if (!Any([](const Entry& e) {
        return e.state == BindState::kRefused || e.state == BindState::kMisplaced;
      })) {
    return false;
  }
  // While its declaration makes no sense, nobody else of it starts.
  int32_t lacking = gang.problem.empty() ? weighed.spare.total : weighed.coming.total;
  for (const Entry& entry : entries_) {
    if (entry.state == BindState::kGone) --lacking;
  }
  // Lost members may have left the gang's list, and their sub-groups with them:
  // they are weighed against the total only.
  return lacking > 0;
}

void GangBinding::Conclude(const Gang& gang, const Weighed& weighed, BindStep& step) {
  if (phase_ == BindPhase::kUndoing) {
    CarryOnUndo(step);
    return;
  }
  wants_repair_ = false;
  if (phase_ == BindPhase::kLeaving) {
    GiveUpWaiting(step);
    ComeToRest();
    return;
  }
  // A user who deletes the PodGroup in mid-burst takes the whole gang back.
  if (!gang.group_exists && phase_ == BindPhase::kBinding) {
    BeginUndo(UndoCause::kGroupGone, "", step);
    return;
  }
  // What runs stays; whoever is not bound yet waits for a PodGroup, as new members do.
  if (!gang.group_exists) {
    GiveUpWaiting(step);
    ComeToRest();
    return;
  }
  if (phase_ == BindPhase::kBinding) {
    ConcludeBinding(gang, weighed, step);
  } else {
    ConcludeRepair(gang, weighed, step);
  }
}

void GangBinding::ComeToRest() {
  deadline_ = absl::InfiniteFuture();
  if (!Any([](const Entry& e) { return IsComing(e.state) || e.stale; })) {
    phase_ = BindPhase::kEnded;
  }
}

void GangBinding::Leave(BindStep& step) {
  if (phase_ == BindPhase::kUndoing || phase_ == BindPhase::kEnded) return;
  phase_ = BindPhase::kLeaving;
  wants_repair_ = false;
  vacancies_.clear();
  GiveUpWaiting(step);
}

void GangBinding::GiveUpWaiting(BindStep& step) {
  for (Entry& entry : entries_) {
    if (entry.state == BindState::kWaiting) GiveUp(entry, step);
  }
}

void GangBinding::ConcludeBinding(const Gang& gang, const Weighed& weighed, BindStep& step) {
  deadline_ = since_ + gang.spec.schedule_timeout;
  if (weighed.placed.Met()) {
    phase_ = BindPhase::kBound;
    deadline_ = absl::InfiniteFuture();
    step.actions.push_back(QuorumBound{});
    return;
  }
  const bool coming = weighed.coming.Met();
  if (!coming && RefusalIsFatal(gang, weighed)) {
    BeginUndo(UndoCause::kRefused, trouble_, step);
  } else if (step.now >= deadline_) {
    BeginUndo(UndoCause::kTimeout, trouble_, step);
  } else if (!Any(
                 [](const Entry& e) { return IsComing(e.state) || IsBound(e.state) || e.stale; })) {
    phase_ = BindPhase::kEnded;
  } else {
    // Until enough members exist, one more would only wait with the others.
    wants_repair_ = !coming && weighed.has_spare && weighed.spare.Met();
  }
}

void GangBinding::ConcludeRepair(const Gang& gang, const Weighed& weighed, BindStep& step) {
  if (weighed.placed.Met()) {
    if (phase_ != BindPhase::kBound) step.actions.push_back(QuorumBound{});
    phase_ = BindPhase::kBound;
    deadline_ = absl::InfiniteFuture();
    return;
  }
  const bool grows = IsWithin(weighed.placed, growth_);
  if (!grows) NoteLoss(weighed, step);
  if (!Any([](const Entry& e) { return IsComing(e.state) || IsBound(e.state) || e.stale; })) {
    phase_ = BindPhase::kEnded;
    return;
  }
  wants_repair_ = !weighed.coming.Met() && weighed.has_spare;
  if (grows) {
    phase_ = BindPhase::kGrowing;
    deadline_ = absl::InfiniteFuture();
    return;
  }
  // A user may take Keep back; since_ is that of the loss still.
  const bool evicts = gang.spec.quorum_loss_action == QuorumLossAction::kEvict;
  if (phase_ == BindPhase::kKept && evicts) phase_ = BindPhase::kRepairing;
  if (phase_ == BindPhase::kRepairing) {
    deadline_ = since_ + gang.spec.quorum_loss_grace;
    if (step.now >= deadline_) {
      if (evicts) {
        BeginUndo(stage_is_late_ ? UndoCause::kStageLate : UndoCause::kQuorumLost, trouble_, step);
        return;
      }
      phase_ = BindPhase::kKept;
      deadline_ = absl::InfiniteFuture();
    }
  }
}

void GangBinding::KnowGrowth(QuorumNeed growth, QuorumNeed stage) {
  growth_ = std::move(growth);
  stage_ = std::move(stage);
}

// Members of a later stage have the same time as replacements of lost ones; only, nobody is told of
// a loss before there is one.
void GangBinding::NoteLoss(const Weighed& weighed, BindStep& step) {
  const bool stood = phase_ == BindPhase::kBound || phase_ == BindPhase::kGrowing;
  const bool was_late = stage_is_late_;
  stage_is_late_ = IsWithin(weighed.placed, stage_) &&
                   !Any([](const Entry& e) { return e.state == BindState::kGone; });
  if (stood) {
    phase_ = BindPhase::kRepairing;
    since_ = step.now;
  }
  if ((stood || was_late) && !stage_is_late_) step.actions.push_back(QuorumLost{});
}

void GangBinding::BeginUndo(UndoCause cause, std::string detail, BindStep& step) {
  phase_ = BindPhase::kUndoing;
  deadline_ = absl::InfiniteFuture();
  wants_repair_ = false;
  undone_ = {.cause = cause, .detail = std::move(detail), .deleted = 0};
  for (Entry& entry : entries_) {
    if (entry.state == BindState::kRefused || entry.state == BindState::kGone) {
      entry.retry_at = absl::InfiniteFuture();
      entry.stale = false;
    }
  }
  CarryOnUndo(step);
}

void GangBinding::CarryOnUndo(BindStep& step) {
  for (Entry& entry : entries_) {
    if (!IsBound(entry.state)) continue;
    entry.state = BindState::kDeleting;
    Ask(entry, Request::kDelete, step);
  }
  GiveUpWaiting(step);
  const bool under_way = Any([](const Entry& e) {
    return IsComing(e.state) || e.state == BindState::kDeleting ||
           (e.state == BindState::kGone && e.stale);
  });
  if (under_way) return;
  phase_ = BindPhase::kEnded;
  step.actions.push_back(undone_);
}

void GangBinding::ListVacancies(const Weighed& weighed) {
  vacancies_.clear();
  if (phase_ != BindPhase::kBinding && phase_ != BindPhase::kRepairing) return;
  // A lost surplus member leaves no vacancy: only as many as the quorum lacks, of sub-groups that
  // lack some first.
  std::vector<int32_t> of_parts = weighed.coming.sub_groups;
  int32_t of_any = weighed.coming.total - std::accumulate(of_parts.begin(), of_parts.end(), 0);
  const auto is_lacked = [&](const Entry& entry) {
    const auto part = static_cast<size_t>(entry.sub_group);
    const bool in_part = entry.sub_group >= 0 && part < of_parts.size() && of_parts[part] > 0;
    int32_t& lacking = in_part ? of_parts[part] : of_any;
    return lacking-- > 0;
  };
  for (const Entry& entry : entries_) {
    if (entry.state != BindState::kGone && entry.state != BindState::kRefused) continue;
    if (!is_lacked(entry)) continue;
    vacancies_.push_back({.pod = entry.pod,
                          .node = entry.node,
                          .shape = entry.shape,
                          .sub_group = entry.sub_group,
                          .occupied = entry.occupied,
                          .unfit = entry.unfit});
  }
}

}  // namespace maniple
