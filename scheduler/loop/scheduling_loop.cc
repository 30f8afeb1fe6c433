#include "scheduler/loop/scheduling_loop.h"

#include <utility>

#include "scheduler/loop/loop_impl.h"

namespace maniple {

SchedulingLoop::SchedulingLoop(LoopOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
SchedulingLoop::~SchedulingLoop() = default;

void SchedulingLoop::Accept(ObjectEvent event) { impl_->Accept(std::move(event)); }
void SchedulingLoop::Accept(WriteResult result) { impl_->Accept(std::move(result)); }
void SchedulingLoop::Hear(ClusterNews news, absl::Time) { impl_->Hear(std::move(news)); }
void SchedulingLoop::SetRole(Role role, absl::Time) { impl_->SetRole(role); }
void SchedulingLoop::Drain() { impl_->Drain(); }
bool SchedulingLoop::Idle() const { return impl_->Idle(); }
bool SchedulingLoop::Synced() const { return impl_->Synced(); }
TurnOutput SchedulingLoop::Turn(absl::Time now) { return impl_->Turn(now); }
ClusterViewPtr SchedulingLoop::View(absl::Time now) const { return impl_->View(now); }
std::unique_ptr<ClusterView> SchedulingLoop::MoreView(absl::Time now) {
  return impl_->MoreView(now);
}
ClusterFiguresPtr SchedulingLoop::MoreFigures(absl::Time now) { return impl_->MoreFigures(now); }
std::shared_ptr<const HelpQuestion> SchedulingLoop::HelpFor(const GangKey& key,
                                                            absl::Time now) const {
  return impl_->HelpFor(key, now);
}
const LoopCounters& SchedulingLoop::counters() const { return impl_->counters(); }
absl::Status SchedulingLoop::CheckInvariants() const { return impl_->CheckInvariants(); }
absl::Status SchedulingLoop::CheckParkedCannotStart(absl::Time now) const {
  return impl_->CheckParkedCannotStart(now);
}
absl::Status SchedulingLoop::CheckNothingHeld() const { return impl_->CheckNothingHeld(); }
std::vector<DecisionEntry> SchedulingLoop::TakeDecisions() { return impl_->TakeDecisions(); }
std::vector<std::string> SchedulingLoop::TakeDecisionLog() {
  std::vector<std::string> lines;
  for (const DecisionEntry& entry : TakeDecisions()) lines.push_back(LineOf(entry));
  return lines;
}
std::vector<HeldStart> SchedulingLoop::HeldStarts() const { return impl_->HeldStarts(); }
std::array<int32_t, kBindStates> SchedulingLoop::MemberStates() const {
  return impl_->MemberStates();
}

}  // namespace maniple
