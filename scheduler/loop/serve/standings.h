// The standing of a gang, for its status, its events and `explain`. Questions only.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/desk/desk.h"

namespace maniple {

class Standings final {
 public:
  Standings(Desk& desk, Charges& charges) : desk_(desk), charges_(charges) {}

  // None: the gang is ready and not decided yet, so that nothing true can be said.
  [[nodiscard]] std::optional<Standing> StandingOf(const Case& c) const;
  // Why members beyond the quorum wait. None: nothing is known, or none do.
  [[nodiscard]] std::optional<Standing> StandingOfSurplus(const Case& c) const;

 private:
  // Members are placed, and no Queue is charged: none lets the gang in, or it is gone that did.
  [[nodiscard]] bool RunsUncharged(const Case& c) const;
  // The standing without regard to which Queue is charged.
  [[nodiscard]] std::optional<Standing> StandingAsSuch(const Case& c) const;
  // REQUIRES: volumes are being bound.
  [[nodiscard]] static Standing StandingOfVolumes(const Case& c);
  [[nodiscard]] std::optional<Standing> BehindAnother(const Case& c, ItemKind kind) const;
  // What else has to do with the lack of quota that the gang is told of; "" = nothing known.
  [[nodiscard]] std::string QuotaTrouble(const Case& c, WaitReason reason) const;
  // Why a gang that should leave for it cannot be evicted; "" = nothing known forbids it.
  [[nodiscard]] std::string EvictionTrouble(const Case& c) const;

  Desk& desk_;
  Charges& charges_;
};

}  // namespace maniple
