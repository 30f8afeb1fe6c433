// How a gang stands, as its status, its events and `explain` tell it. Questions only.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/charges.h"
#include "scheduler/loop/desk.h"

namespace maniple {

class Standings final {
 public:
  Standings(Desk& desk, Charges& charges) : desk_(desk), charges_(charges) {}

  // None while nothing is known that would be true: the gang is ready, and not decided yet.
  [[nodiscard]] std::optional<Standing> StandingOf(const Case& c) const;

 private:
  // Whoever is charged for it.
  [[nodiscard]] std::optional<Standing> StandingAsSuch(const Case& c) const;
  [[nodiscard]] std::optional<Standing> BehindAnother(const Case& c) const;
  // Why somebody who should leave for it cannot be evicted; "" = nothing is known to forbid it.
  [[nodiscard]] std::string EvictionTrouble(const Case& c) const;

  Desk& desk_;
  Charges& charges_;
};

}  // namespace maniple
