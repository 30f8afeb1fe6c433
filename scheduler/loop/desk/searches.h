// Lengths and times of searches: the scheduling thread is shared by all gangs that wait.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/parking.h"
#include "scheduler/loop/records/search_shares.h"

namespace maniple {

// The outcome of a search.
enum class CameTo : uint8_t { kAPlan, kNothing };

class Searches final {
 public:
  Searches(Desk& desk, Parking& parking) : desk_(desk), parking_(parking) {}

  // The most work of a search for it, now; a long one in any case where room was made …
  [[nodiscard]] SearchWork WorkFor(const Case& c, const GangRequest& request, bool has_room_made);
  // … and for a later start.
  [[nodiscard]] SearchWork WorkForLater(const Case& c) const;
  // The search ended because only a short one was allowed: the answer is unknown.
  [[nodiscard]] bool Unfinished(const SearchWork& work) const;
  // The last search for the gang was long, and it is not its turn.
  [[nodiscard]] bool MustWaitToSearch(const Case& c) const;
  void PutOffSearch(Case& c, QueueItem item);
  // When the next search for the gang may be made. REQUIRES: MustWaitToSearch.
  [[nodiscard]] absl::Time SearchAgainAt(Case& c);
  // Charges the gang's lane for a search in vain.
  void NoteSearch(Case& c, const SearchWork& work, CameTo what);
  // The search gave up: the gang is looked at again later, and later each time.
  void BackOffFromSearch(Case& c, ParkFacts& facts);
  // The gang asks something else now.
  static void ForgetSearch(GangRecord& record);

  // No gang is ready any more: every lane begins anew.
  void AllServed() { lane_steps_.clear(); }

 private:
  [[nodiscard]] bool MaySearchForLong(const Case& c) const;
  absl::Time TakeSearchSlot(Case& c);
  void ChargeInVain(const Case& c, const SearchWork& work);

  Desk& desk_;
  Parking& parking_;
  SearchShares shares_{desk_.options.search.harm};
  absl::btree_map<std::string, int64_t> lane_steps_;  // since the lane let others go first
};

}  // namespace maniple
