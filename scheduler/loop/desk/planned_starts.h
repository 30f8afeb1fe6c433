// Questions on gangs that hold room for a later start: what they do not need until then, and
// whether they still start as planned beside another gang's plan. It keeps nothing and changes
// nothing.
//
// Owned by YieldingHolds; one thread.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/room_holders.h"

namespace maniple {

class PlannedStarts final {
 public:
  PlannedStarts(Desk& desk, RoomHolders& room_holders, Charges& charges)
      : desk_(desk), room_holders_(room_holders), charges_(charges) {}

  // Room that is held, and that the holders do not need of what is free now: as much is given back
  // on the same node, by known ends, before the first of them starts there.
  [[nodiscard]] std::vector<FreedRoom> FreeUntilThen(std::span<const GangId> holders,
                                                     absl::Time now);

  // The holders whose nodes or quota the plan uses, up to the first that could not start as planned
  // beside it, by the known ends in its room and in its tree of Cohorts.
  // REQUIRES: the holders' quota is supposed to be free.
  struct Met {
    std::vector<GangId> holders;
    std::optional<GangId> harmed;
  };
  [[nodiscard]] Met MetBy(const Case& c, const Plan& plan, Supposition supposition,
                          std::span<const GangId> holders);

 private:
  [[nodiscard]] bool MeetsIn(GangId holder, const std::vector<FreedRoom>& taken,
                             const Supposition& beside) const;
  void SupposeQuotaOf(const Case& holder, Supposition& then) const;
  [[nodiscard]] bool StartsBeside(const Case& other, const std::vector<FreedRoom>& taken,
                                  const Supposition& beside);

  Desk& desk_;
  RoomHolders& room_holders_;
  Charges& charges_;
};

}  // namespace maniple
