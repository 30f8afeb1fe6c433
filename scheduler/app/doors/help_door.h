// The door for "what would help": asked by readers, gathered on the scheduling thread, answered on
// a thread of its own.
//
// One question is under way at a time, so all who ask cost the scheduling thread a small call in
// each turn. Only Wait() blocks, and only its caller. An answer serves every reader who accepts its
// age.
//
//   reader:      door.Look(gang, least) → an answer, or "ask again when one was posted"
//   scheduling:  if (auto gang = door.Wanted()) … loop.MoreHelp(*gang, now) … door.Put(*gang, …);
//   advising:    while (auto work = door.Take()) … AnswerHelp(*work->question) … door.Post(…);
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "queue/gang.h"
#include "scheduler/advice/help.h"

namespace maniple {

using HelpPtr = std::shared_ptr<const Help>;  // null: there is nothing to say

class HelpDoor final {
 public:
  // So many gangs wait for an answer at most; who comes then is told nothing.
  static constexpr size_t kMostWanted = 64;
  static constexpr size_t kMostKept = 256;  // answers

  // The clock that dates the answers which are posted: the wall clock may be set meanwhile.
  explicit HelpDoor(const Clock& clock = RealClock()) : clock_(clock) {}

  // Readers, on any thread. The answer, if it was made since `least`; none: it is being made.
  [[nodiscard]] std::optional<HelpPtr> Look(const GangKey& gang, absl::Time least);
  // Waits for one that is made now; null where none comes in time. `wake` makes the scheduling
  // thread look.
  [[nodiscard]] HelpPtr Wait(const GangKey& gang, absl::Duration wait,
                             const std::function<void()>& wake);

  // The scheduling thread: whom to gather a question for, if the last one has been answered.
  [[nodiscard]] std::optional<GangKey> Wanted();
  // Of what Wanted() named; null: nothing can be asked of it.
  void Put(const GangKey& gang, std::shared_ptr<const HelpQuestion> question, absl::Time now);

  // The advising thread. Waits; none: the door is closed.
  struct Work {
    GangKey gang;
    std::shared_ptr<const HelpQuestion> question;
  };
  [[nodiscard]] std::optional<Work> Take();
  void Post(const GangKey& gang, HelpPtr help, absl::Time now);
  // Any thread.
  void Close();

 private:
  struct Answer {
    absl::Time at;
    HelpPtr help;
  };
  [[nodiscard]] std::optional<HelpPtr> LookLocked(const GangKey& gang, absl::Time least)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Keep(const GangKey& gang, Answer answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock& clock_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<GangKey> wanted_ ABSL_GUARDED_BY(mutex_);  // each once
  // From Wanted() until it is posted.
  std::optional<GangKey> under_way_ ABSL_GUARDED_BY(mutex_);
  std::optional<Work> work_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<GangKey, Answer> answers_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace maniple
