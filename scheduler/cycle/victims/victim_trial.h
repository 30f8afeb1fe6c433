// Units taken on trial: the quota and the nodes without them, and whether the gang then starts. One
// thread, for the length of a decision.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/cycle/victims/freed_room.h"
#include "scheduler/cycle/victims/preemption_question.h"
#include "scheduler/cycle/victims/victim_limits.h"
#include "scheduler/cycle/victims/victim_policy.h"
#include "scheduler/cycle/victims/victim_units.h"

namespace maniple {

class VictimTrial final {
 public:
  // Borrows everything. `ask` is restricted to the options that `room` counts for; null: no Queue.
  VictimTrial(const PreemptionInput& input, VictimRules& rules, FreedRoomCount& room,
              std::span<const VictimUnit> units, const QuotaAsk* ask);

  [[nodiscard]] const PreemptionInput& input() const { return input_; }
  [[nodiscard]] VictimRules& rules() { return rules_; }
  [[nodiscard]] const FreedRoomCount& room() const { return room_; }
  [[nodiscard]] std::span<const VictimUnit> units() const { return units_; }
  [[nodiscard]] std::span<const size_t> taken() const { return taken_; }  // in order of taking
  [[nodiscard]] bool IsTaken(size_t unit) const { return limits_.IsTaken(unit); }

  // The limits let the unit be taken next.
  [[nodiscard]] bool MayTake(size_t unit) const { return limits_.MayTake(unit); }
  // REQUIRES: MayTake, or that limits do not matter.
  void Take(size_t unit);
  // REQUIRES: it is taken, and none after it in its chain.
  void GiveBack(size_t unit);
  [[nodiscard]] bool EndsChain(size_t unit) const { return limits_.EndsChain(unit); }
  void GiveBackAll();

  [[nodiscard]] Justification Justify(const PreemptionMode& mode);
  // The whole decision, without the taken units.
  [[nodiscard]] std::optional<Plan> Find();
  [[nodiscard]] int64_t finds() const { return finds_; }
  // For some decision it is unknown whether there is a plan.
  [[nodiscard]] bool gave_up() const { return gave_up_ || spent(); }
  // No more is found.
  [[nodiscard]] bool spent() const {
    const SearchWork* work = input_.decide.request.work;
    return work != nullptr && work->spent();
  }

 private:
  // Positions of units that may pass budgets only to take nominal quota back,
  // and that overdraw them.
  [[nodiscard]] std::vector<size_t> Overdrawing() const;

  const PreemptionInput& input_;
  VictimRules& rules_;
  FreedRoomCount& room_;
  std::span<const VictimUnit> units_;
  std::optional<QuotaAsk> ask_;
  std::vector<size_t> taken_;
  VictimLimits limits_;
  int64_t finds_ = 0;
  bool gave_up_ = false;
};

}  // namespace maniple
