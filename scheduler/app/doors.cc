#include "scheduler/app/doors.h"

#include <utility>

#include "absl/time/clock.h"

namespace maniple {
namespace {

// Each is asked for anew when it is wanted again.
constexpr size_t kMostAnswers = 4000;
// Some seconds of the fastest decisions.
constexpr size_t kMostOnTheirWay = 100'000;

}  // namespace

void Inbox::Push(ClusterNews news) {
  if (news.events.empty() && news.results.empty() && !news.leading.has_value()) return;
  MutexLock lock(mutex_);
  news_.Add(std::move(news));
  awake_ = true;
  arrived_.NotifyAll();
}

void Inbox::RequestDrain() {
  MutexLock lock(mutex_);
  drain_ = true;
  awake_ = true;
  arrived_.NotifyAll();
}

void Inbox::Wake() {
  MutexLock lock(mutex_);
  awake_ = true;
  arrived_.NotifyAll();
}

Inbox::Batch Inbox::Take(absl::Duration wait) {
  MutexLock lock(mutex_);
  if (!awake_ && wait > absl::ZeroDuration()) arrived_.WaitFor(mutex_, wait);
  awake_ = false;
  return {.news = news_.Take(), .drain = std::exchange(drain_, false)};
}

void Outbox::Push(Batch batch) {
  if (batch.writes.empty()) return;
  {
    MutexLock lock(mutex_);
    batches_.push_back(std::move(batch));
  }
  wakeup_();
}

std::vector<Outbox::Batch> Outbox::Take() {
  MutexLock lock(mutex_);
  return std::exchange(batches_, {});
}

std::optional<AccessVerdict> ReviewDoor::Look(const AccessDesk::Question& question,
                                              absl::Time now) {
  const std::string key = AccessKey(question.token, question.wish);
  MutexLock lock(mutex_);
  const auto found = answers_.find(key);
  if (found != answers_.end() && found->second.until > now) return found->second.verdict;
  if (asked_.insert(key).second) questions_.push_back(question);
  return std::nullopt;
}

std::vector<AccessDesk::Question> ReviewDoor::Take() {
  MutexLock lock(mutex_);
  return std::exchange(questions_, {});
}

void ReviewDoor::Post(std::vector<AccessDesk::Answer> answers, absl::Time now) {
  MutexLock lock(mutex_);
  if (answers_.size() + answers.size() > kMostAnswers) {
    absl::erase_if(answers_, [now](const auto& entry) { return entry.second.until <= now; });
    if (answers_.size() + answers.size() > kMostAnswers) answers_.clear();
  }
  for (AccessDesk::Answer& answer : answers) {
    asked_.erase(answer.key);
    std::string key = answer.key;
    answers_.insert_or_assign(std::move(key), std::move(answer));
  }
}

void ReviewDoor::PostForbidden(const ForbiddenCounts& forbidden) {
  MutexLock lock(mutex_);
  forbidden_ = forbidden;
}

ForbiddenCounts ReviewDoor::forbidden() {
  MutexLock lock(mutex_);
  return forbidden_;
}

void DecisionQueue::Push(const std::vector<DecisionEntry>& entries) {
  if (entries.empty()) return;
  MutexLock lock(mutex_);
  for (const DecisionEntry& entry : entries) {
    if (batch_.entries.size() < kMostOnTheirWay) {
      batch_.entries.push_back(entry);
    } else {
      ++batch_.lost;
    }
  }
  arrived_.NotifyAll();
}

void DecisionQueue::Close() {
  MutexLock lock(mutex_);
  batch_.closed = true;
  arrived_.NotifyAll();
}

DecisionQueue::Batch DecisionQueue::Take() {
  MutexLock lock(mutex_);
  while (batch_.entries.empty() && !batch_.closed) arrived_.WaitFor(mutex_, absl::Seconds(60));
  Batch batch = std::exchange(batch_, {});
  batch_.closed = batch.closed;
  return batch;
}

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
