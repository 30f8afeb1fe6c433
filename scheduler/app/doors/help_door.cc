#include "scheduler/app/doors/help_door.h"

#include <algorithm>
#include <utility>

namespace maniple {

std::optional<HelpPtr> HelpDoor::Look(const GangKey& gang, absl::Time least) {
  MutexLock lock(mutex_);
  return LookLocked(gang, least);
}

std::optional<HelpPtr> HelpDoor::LookLocked(const GangKey& gang, absl::Time least) {
  const auto known = answers_.find(gang);
  if (known != answers_.end() && known->second.at >= least) return known->second.help;
  const bool asked = under_way_ == gang || std::ranges::find(wanted_, gang) != wanted_.end();
  if (!asked && (closed_ || wanted_.size() >= kMostWanted)) return HelpPtr();
  if (!asked) wanted_.push_back(gang);
  return std::nullopt;
}

HelpPtr HelpDoor::Wait(const GangKey& gang, absl::Duration wait,
                       const std::function<void()>& wake) {
  const absl::Time asked_at = clock_.Now();
  if (const std::optional<HelpPtr> known = Look(gang, asked_at)) return *known;
  wake();
  MutexLock lock(mutex_);
  while (clock_.Now() < asked_at + wait && !closed_) {
    if (const std::optional<HelpPtr> help = LookLocked(gang, asked_at)) return *help;
    changed_.WaitFor(mutex_, asked_at + wait - clock_.Now());
  }
  return nullptr;
}

std::optional<GangKey> HelpDoor::Wanted() {
  MutexLock lock(mutex_);
  if (wanted_.empty() || under_way_.has_value()) return std::nullopt;
  under_way_ = std::move(wanted_.front());
  wanted_.pop_front();
  return under_way_;
}

void HelpDoor::Put(const GangKey& gang, std::shared_ptr<const HelpQuestion> question,
                   absl::Time now) {
  if (question == nullptr) return Post(gang, nullptr, now);
  MutexLock lock(mutex_);
  work_ = {.gang = gang, .question = std::move(question)};
  changed_.NotifyAll();
}

std::optional<HelpDoor::Work> HelpDoor::Take() {
  MutexLock lock(mutex_);
  while (!work_.has_value() && !closed_) changed_.WaitFor(mutex_, absl::Minutes(1));
  if (closed_) return std::nullopt;
  return std::exchange(work_, std::nullopt);
}

void HelpDoor::Post(const GangKey& gang, HelpPtr help, absl::Time now) {
  MutexLock lock(mutex_);
  Keep(gang, {.at = now, .help = std::move(help)});
  under_way_.reset();
  changed_.NotifyAll();
}

void HelpDoor::Keep(const GangKey& gang, Answer answer) {
  if (answers_.size() >= kMostKept && !answers_.contains(gang)) {
    // The oldest goes; there are few of them.
    answers_.erase(
        std::ranges::min_element(answers_, {}, [](const auto& entry) { return entry.second.at; }));
  }
  answers_.insert_or_assign(gang, std::move(answer));
}

void HelpDoor::Close() {
  MutexLock lock(mutex_);
  closed_ = true;
  changed_.NotifyAll();
}

}  // namespace maniple
