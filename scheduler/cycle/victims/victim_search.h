// The choice of victims: the cheapest units (victim_units.h) without which the gang starts.
//
// Of few units every set is looked at, the cheapest first. Of many, units are taken greedily where
// they help, domain by domain where one is required, and given back as far as they can be spared.
// An exact search among the victims and their nearest rivals then improves the result.
// Deterministic; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/cycle/victims/victim_choice.h"
#include "scheduler/cycle/victims/victim_trial.h"

namespace maniple {

class VictimSearch final {
 public:
  explicit VictimSearch(VictimTrial& trial) : trial_(trial) {}

  // Would it help if all units were gone? REQUIRES: asked first.
  enum class Outlook : uint8_t { kMayHelp, kQuotaLacks, kRoomLacks, kUnclear };
  [[nodiscard]] Outlook LookAhead();
  // None: no set is known that is legal in this mode and suffices. REQUIRES: the outlook is good.
  [[nodiscard]] std::optional<VictimChoice> Run(const PreemptionMode& mode);
  // False: the search did not look everywhere.
  [[nodiscard]] bool complete() const { return complete_ && !trial_.gave_up(); }

 private:
  enum class Strictness : uint8_t { kAnyUse, kDirectUse };
  void LearnUses();
  // The units that make as much room together as any of them can: whole gangs,
  // and the surplus of gangs that may not go whole.
  [[nodiscard]] std::vector<size_t> Everything() const;
  // The units that the mode allows and that are of use. Members that are alike are of the same use.
  [[nodiscard]] std::vector<size_t> Useful(const PreemptionMode& mode, Strictness how) const;
  [[nodiscard]] std::vector<int64_t> Weights(std::optional<uint32_t> domain) const;
  [[nodiscard]] std::optional<VictimChoice> RunGreedily(const PreemptionMode& mode,
                                                        const std::vector<size_t>& units);
  // Looks for something cheaper among the chosen units and the next best.
  void Improve(const PreemptionMode& mode, const std::vector<size_t>& units, VictimChoice& choice);

  VictimTrial& trial_;
  bool complete_ = true;
  std::vector<UnitUse> uses_;      // by unit
  std::vector<int64_t> gain_;      // by node index: members more, with all units gone
  std::vector<int64_t> crowd_;     // by node index: pods of units there
  std::vector<uint32_t> domains_;  // that could take the gang; the roomiest as it stands first
};

}  // namespace maniple
