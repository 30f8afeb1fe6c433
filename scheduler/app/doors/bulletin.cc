#include "scheduler/app/doors/bulletin.h"

#include <utility>

#include "absl/time/clock.h"

namespace maniple {

void Bulletin::Post(const LoopCounters& counters, const Health& health) {
  MutexLock lock(mutex_);
  counters_ = counters;
  health_ = health;
}

void Bulletin::NoteTurn(absl::Duration took) {
  MutexLock lock(mutex_);
  turn_times_.Note(took);
}

void Bulletin::PostForbidden(const ForbiddenCounts& forbidden) {
  if (forbidden.empty()) return;
  MutexLock lock(mutex_);
  forbidden_ = forbidden;
}

void Bulletin::PostTraffic(const Answers& answers, const WriteLines& writes) {
  MutexLock lock(mutex_);
  answers_ = answers;
  writes_ = writes;
}

void Bulletin::PostProblems(std::vector<std::string> problems) {
  MutexLock lock(mutex_);
  problems_ = std::move(problems);
}

std::vector<std::string> Bulletin::problems() {
  MutexLock lock(mutex_);
  return problems_;
}

Answers Bulletin::answers() {
  MutexLock lock(mutex_);
  return answers_;
}

WriteLines Bulletin::writes() {
  MutexLock lock(mutex_);
  return writes_;
}

ForbiddenCounts Bulletin::forbidden() {
  MutexLock lock(mutex_);
  return forbidden_;
}

void Bulletin::NoteAt(const ObjectKey& key) {
  MutexLock lock(mutex_);
  at_ = key;
}

bool Bulletin::ViewWanted() {
  MutexLock lock(mutex_);
  return wanted_;
}

void Bulletin::BeginView(absl::Time now) {
  MutexLock lock(mutex_);
  ++begun_.number;
  begun_.begun = now;
  wanted_ = false;
}

void Bulletin::PostView(std::unique_ptr<ClusterView> view) {
  MutexLock lock(mutex_);
  if (raw_view_ != nullptr) unread_.push_back(std::move(raw_view_));
  posted_ = begun_;
  raw_view_ = std::move(view);
  news_.NotifyAll();
}

// Outside of the lock: nobody waits for it but who reads. Who comes meanwhile gets the one before.
void Bulletin::ArrangeTheLatest() {
  if (raw_view_ == nullptr) return;
  std::unique_ptr<ClusterView> raw = std::move(raw_view_);
  const Number number = posted_;
  std::vector<std::unique_ptr<ClusterView>> unread = std::exchange(unread_, {});
  mutex_.Unlock();
  unread.clear();
  Arrange(*raw);
  ClusterViewPtr other = std::move(raw);
  mutex_.Lock();
  if (number.number > shown_.number) {
    shown_ = number;
    view_.swap(other);
  }
  news_.NotifyAll();
  mutex_.Unlock();
  other.reset();
  mutex_.Lock();
}

LoopCounters Bulletin::counters() {
  MutexLock lock(mutex_);
  return counters_;
}

Bulletin::Health Bulletin::health() {
  MutexLock lock(mutex_);
  Health health = health_;
  health.at = at_;
  return health;
}

TurnTimes Bulletin::turn_times() {
  MutexLock lock(mutex_);
  return turn_times_;
}

void Bulletin::PostFigures(ClusterFiguresPtr figures, absl::Time now) {
  MutexLock lock(mutex_);
  used_.Note(figures, now);
  figures_.swap(figures);  // the old ones are freed after the lock
}

void Bulletin::NoteDecisions(std::vector<DecisionEntry> entries) {
  if (entries.empty()) return;
  MutexLock lock(mutex_);
  for (DecisionEntry& entry : entries) journal_.Add(std::move(entry));
}

std::vector<JournalEntry> Bulletin::DecisionsOf(const std::string& namespace_name,
                                                const std::string& name, size_t most) {
  MutexLock lock(mutex_);
  return journal_.Of(namespace_name, name, most);
}

void Bulletin::NoteViewCost(absl::Duration took) {
  MutexLock lock(mutex_);
  view_cost_ = took;
}

absl::Duration Bulletin::view_cost() {
  MutexLock lock(mutex_);
  return view_cost_;
}

ClusterViewPtr Bulletin::SharedViewSince(absl::Time least) {
  constexpr int kPace = 20;
  return ViewSince(least - view_cost() * kPace);
}

UsagePointPtr Bulletin::UsedBy(absl::Time then) {
  MutexLock lock(mutex_);
  return used_.At(then);
}

ClusterFiguresPtr Bulletin::figures() {
  MutexLock lock(mutex_);
  return figures_;
}

ClusterViewPtr Bulletin::ViewSince(absl::Time least) {
  MutexLock lock(mutex_);
  ArrangeTheLatest();
  if (view_ != nullptr && shown_.begun >= least) return view_;
  wanted_ = true;
  return nullptr;
}

ClusterViewPtr Bulletin::FreshView(absl::Duration wait, const std::function<void()>& wake) {
  uint64_t least = 0;
  {
    MutexLock lock(mutex_);
    wanted_ = true;
    least = begun_.number + 1;
  }
  wake();
  MutexLock lock(mutex_);
  const absl::Time deadline = absl::Now() + wait;
  ArrangeTheLatest();
  while (shown_.number < least && absl::Now() < deadline) {
    news_.WaitFor(mutex_, deadline - absl::Now());
    ArrangeTheLatest();
  }
  return shown_.number < least ? nullptr : view_;
}

}  // namespace maniple
