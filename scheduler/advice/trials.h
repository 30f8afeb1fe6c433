// Tries hypotheses, and keeps count of the cost. One thread, for the length of an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "scheduler/advice/help_question.h"
#include "scheduler/cycle/room/search_work.h"

namespace maniple {

class Trials final {
 public:
  // Borrows the question.
  Trials(const HelpQuestion& question, int64_t steps);

  // The gangs that run, by name.
  [[nodiscard]] const std::vector<const RunningGang*>& running() const { return running_; }

  // The gang's plan under the hypothesis. None: there is none, or it is not known.
  [[nodiscard]] std::optional<Plan> Start(const Hypothesis& hypothesis);
  [[nodiscard]] bool Starts(const Hypothesis& hypothesis) { return Start(hypothesis).has_value(); }
  // The gangs that it would evict at that priority, as indices of running().
  [[nodiscard]] std::optional<PreemptionPlan> Evicts(const Hypothesis& hypothesis,
                                                     int32_t priority);

  // Nothing more can be tried.
  [[nodiscard]] bool spent() const { return work_.spent(); }
  void NoteUntried() { gave_up_ = true; }
  [[nodiscard]] bool gave_up() const { return gave_up_ || spent(); }

 private:
  [[nodiscard]] GangRequest RequestOf(const Hypothesis& hypothesis);

  const HelpQuestion& question_;
  std::vector<const RunningGang*> running_;
  SearchWork work_;
  bool gave_up_ = false;
};

// The least number in (too_few, enough] that will do, where every larger one does as well.
// REQUIRES: `enough` does, `too_few` does not.
[[nodiscard]] int64_t LeastThatDoes(int64_t too_few, int64_t enough,
                                    absl::FunctionRef<bool(int64_t)> does);

}  // namespace maniple
