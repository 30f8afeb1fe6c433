#include "scheduler/loop/scheduling_loop.h"

#include <deque>
#include <utility>

#include "api/base/thread_owner.h"
#include "scheduler/loop/cluster_views.h"
#include "scheduler/loop/desk/warm_state.h"
#include "scheduler/loop/leadership.h"

namespace maniple {

class SchedulingLoop::Impl final {
 public:
  explicit Impl(LoopOptions options) : warm_(std::move(options)), views_(warm_) {}

  void Accept(ObjectEvent event) { events_.push_back(std::move(event)); }
  void Accept(WriteResult result) { results_.push_back(std::move(result)); }
  void Hear(ClusterNews news);
  void SetRole(Role role);
  void Drain() { warm_.draining = true; }
  [[nodiscard]] bool Idle() const;
  [[nodiscard]] bool Synced() const { return warm_.state.AllSynced(); }
  [[nodiscard]] TurnOutput Turn(absl::Time now);

  [[nodiscard]] WarmState& warm() { return warm_; }
  [[nodiscard]] ClusterViews& views() { return views_; }
  // Null on a standby.
  [[nodiscard]] Leadership* leader() { return leader_.get(); }

 private:
  void ApplyEvents(absl::Time now);
  void Apply(const ObjectEvent& event, absl::Time now);
  // Drops nodes that are gone from all books before their ids are given to others.
  void ForgetNodesGone();
  void Sweep();
  void TellLeader();

  const ThreadOwner owner_;
  WarmState warm_;
  ClusterViews views_;
  // Set while the role is leader and everything has been listed.
  std::unique_ptr<Leadership> leader_;
  Role role_ = Role::kStandby;
  uint64_t lead_ = 0;  // ClusterNews::lead, as last told

  std::deque<ObjectEvent> events_;  // not applied yet
  // So many events must be applied before anything else: the ones that had come when the last
  // turn was whole, or when the role changed. Later events cannot put the turn off.
  size_t owed_ = 0;
  std::vector<WriteResult> results_;
};

TurnOutput SchedulingLoop::Impl::Turn(absl::Time now) {
  owner_.Check();
  ++warm_.counters.turns;
  ApplyEvents(now);
  if (owed_ > 0) return {.writes = {}, .next = now, .more = true};
  if (role_ != Role::kLeader || !Synced()) return {.writes = {}, .more = !events_.empty()};
  if (leader_ == nullptr) leader_ = std::make_unique<Leadership>(warm_);
  TurnOutput out = leader_->Turn(std::exchange(results_, {}), now);
  out.lead = lead_;
  out.more = out.more || !events_.empty();
  return out;
}

void SchedulingLoop::Impl::Apply(const ObjectEvent& event, absl::Time now) {
  // Only an object that appears may take over an id.
  if (!std::holds_alternative<ObjectDeleted>(event)) ForgetNodesGone();
  warm_.Apply(event, now);
  if (leader_ != nullptr) leader_->NoteForMig();
}

// Applies as many as the turn's work allows; the work grows with the pods that an event touches.
void SchedulingLoop::Impl::ApplyEvents(absl::Time now) {
  ClusterState& state = warm_.state;
  LoopCounters& counters = warm_.counters;
  if (owed_ == 0) {
    Sweep();
    owed_ = events_.size();
  }
  state.FileMoved(warm_.news);
  const auto work = [&] { return counters.events + state.counters().pods_matched_anew; };
  const int64_t enough = work() + warm_.options.apply_work_per_turn;
  for (; owed_ > 0 && work() < enough; --owed_) {
    Apply(events_.front(), now);
    events_.pop_front();
  }
  ForgetNodesGone();
  counters.pod_parts_left_out = state.counters().pod_parts_left_out;
  counters.sweeps = state.counters().sweeps;
  TellLeader();
}

void SchedulingLoop::Impl::TellLeader() {
  const WarmState::QuotaChange quota = warm_.FollowQuota();
  if (leader_ == nullptr) {  // a standby keeps only the state warm
    results_.clear();
    warm_.news = {};
    (void)warm_.state.TakeChangedCounts();
    return;
  }
  leader_->QuotaChanged(quota);
  leader_->Touch(std::exchange(warm_.news.gangs_changed, {}));
  leader_->Touch(std::exchange(warm_.news.gangs_gone, {}));
}

void SchedulingLoop::Impl::ForgetNodesGone() {
  if (warm_.news.nodes_gone.empty()) return;
  const absl::btree_set<NodeId> gone(warm_.news.nodes_gone.begin(), warm_.news.nodes_gone.end());
  warm_.news.nodes_gone.clear();
  for (const NodeId node : gone) {
    warm_.ledger.NodeGone(node);
    warm_.cool_downs.NodeGone(node);
  }
  if (leader_ != nullptr) leader_->NodesGone(gone);
}

// Tables whose size depends on tenants give back entries that are no longer used.
void SchedulingLoop::Impl::Sweep() {
  if (!warm_.state.WantsSweep()) return;
  warm_.state.Sweep(leader_ != nullptr ? leader_->ShapesKept() : std::vector<ShapeId>());
  warm_.directory.ForgetUnusedNames();
  if (leader_ != nullptr) leader_->ForgetUnusedNotes();
}

void SchedulingLoop::Impl::Hear(ClusterNews news) {
  owner_.Check();
  for (ObjectEvent& event : news.events) Accept(std::move(event));
  for (WriteResult& result : news.results) Accept(std::move(result));
  // A process that lost the lead and has it again knows no more than any other new leader.
  if (news.lost_lead) SetRole(Role::kStandby);
  if (news.leading == true) SetRole(Role::kLeader);
  lead_ = news.lead;
}

void SchedulingLoop::Impl::SetRole(Role role) {
  if (role == role_) return;
  role_ = role;
  owed_ = events_.size();  // a leader knows all that it was told before it leads
  if (role == Role::kLeader) return;
  if (leader_ != nullptr) leader_->Resign();
  leader_.reset();
  warm_.counters.EndOfLead();
  views_.BeginAnew();
  warm_.ForgetLead();
}

bool SchedulingLoop::Impl::Idle() const {
  return warm_.errands.awaited() == 0 && results_.empty() &&
         (leader_ == nullptr || !leader_->Binds());
}

SchedulingLoop::SchedulingLoop(LoopOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
SchedulingLoop::~SchedulingLoop() = default;

void SchedulingLoop::Accept(ObjectEvent event) { impl_->Accept(std::move(event)); }
void SchedulingLoop::Accept(WriteResult result) { impl_->Accept(std::move(result)); }
void SchedulingLoop::Hear(ClusterNews news) { impl_->Hear(std::move(news)); }
void SchedulingLoop::SetRole(Role role) { impl_->SetRole(role); }
void SchedulingLoop::Drain() { impl_->Drain(); }
bool SchedulingLoop::Idle() const { return impl_->Idle(); }
bool SchedulingLoop::Synced() const { return impl_->Synced(); }
TurnOutput SchedulingLoop::Turn(absl::Time now) { return impl_->Turn(now); }
ClusterViewPtr SchedulingLoop::View(absl::Time now) const {
  return impl_->views().View(impl_->leader(), now);
}
std::unique_ptr<ClusterView> SchedulingLoop::MoreView(absl::Time now) {
  return impl_->views().MoreView(impl_->leader(), now);
}
ClusterFiguresPtr SchedulingLoop::MoreFigures(absl::Time now) {
  return impl_->views().MoreFigures(impl_->leader(), now);
}
std::optional<HelpQuestionPtr> SchedulingLoop::MoreHelp(const GangKey& key, absl::Time now) {
  if (impl_->leader() == nullptr) return HelpQuestionPtr();
  return impl_->leader()->help_questions().More(key, now);
}
HelpQuestionPtr SchedulingLoop::HelpFor(const GangKey& key, absl::Time now) {
  std::optional<HelpQuestionPtr> question;
  while (!question.has_value()) question = MoreHelp(key, now);
  return *std::move(question);
}
std::optional<GangKey> SchedulingLoop::TakeHelpDue(absl::Time now) {
  return impl_->leader() == nullptr ? std::nullopt : impl_->leader()->help_notes().TakeDue(now);
}
absl::Time SchedulingLoop::NextHelpDue() const {
  return impl_->leader() == nullptr ? absl::InfiniteFuture()
                                    : impl_->leader()->help_notes().NextDue();
}
void SchedulingLoop::TellHelp(const GangKey& key, const std::string& change, absl::Time now) {
  if (impl_->leader() != nullptr) impl_->leader()->help_notes().Tell(key, change, now);
}
const LoopCounters& SchedulingLoop::counters() const { return impl_->warm().counters; }
std::vector<DecisionEntry> SchedulingLoop::TakeDecisions() {
  return std::exchange(impl_->warm().log, {});
}
std::vector<std::string> SchedulingLoop::TakeDecisionLog() {
  std::vector<std::string> lines;
  for (const DecisionEntry& entry : TakeDecisions()) lines.push_back(LineOf(entry));
  return lines;
}

absl::Status SchedulingLoop::CheckInvariants() const {
  if (absl::Status status = impl_->warm().state.CheckInvariants(); !status.ok()) return status;
  if (absl::Status status = impl_->warm().ledger.CheckInvariants(); !status.ok()) return status;
  return impl_->leader() == nullptr ? absl::OkStatus() : impl_->leader()->CheckInvariants();
}
absl::Status SchedulingLoop::CheckParkedCannotStart(absl::Time now) const {
  return impl_->leader() == nullptr ? absl::OkStatus()
                                    : impl_->leader()->CheckParkedCannotStart(now);
}
absl::Status SchedulingLoop::CheckNothingHeld() const {
  if (impl_->leader() != nullptr) {
    if (absl::Status status = impl_->leader()->CheckNothingHeld(); !status.ok()) return status;
  }
  if (!impl_->warm().ledger.NothingCharged()) {
    return absl::InternalError("quota is still charged");
  }
  const auto& holds = impl_->warm().Picture().holds;
  if (holds != nullptr && !holds->empty()) return absl::InternalError("room is still held");
  return absl::OkStatus();
}
std::vector<HeldStart> SchedulingLoop::HeldStarts() const {
  return impl_->leader() == nullptr ? std::vector<HeldStart>() : impl_->leader()->HeldStarts();
}
std::array<int32_t, kBindStates> SchedulingLoop::MemberStates() const {
  return impl_->leader() == nullptr ? std::array<int32_t, kBindStates>()
                                    : impl_->leader()->MemberStates();
}

}  // namespace maniple
