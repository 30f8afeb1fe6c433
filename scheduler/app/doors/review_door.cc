#include "scheduler/app/doors/review_door.h"

#include <utility>

namespace maniple {
namespace {

// Each is asked for anew when it is wanted again.
constexpr size_t kMostAnswers = 4000;
// More than all places of both listeners can ask for at a time, three wishes each.
constexpr size_t kMostAsked = 512;

}  // namespace

std::optional<AccessVerdict> ReviewDoor::Look(const AccessDesk::Question& question,
                                              absl::Time now) {
  const std::string key = AccessKey(question.token, question.wish);
  MutexLock lock(mutex_);
  const auto found = answers_.find(key);
  if (found != answers_.end() && found->second.until > now) return found->second.verdict;
  if (asked_.size() >= kMostAsked && !asked_.contains(key)) {
    return AccessVerdict{Access::kUnknown,
                         "too many tokens are being reviewed; try again in a few seconds"};
  }
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

}  // namespace maniple
