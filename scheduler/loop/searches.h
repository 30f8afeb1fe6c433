// How long searches may be, and when: the scheduling thread is shared by all who wait.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk.h"
#include "scheduler/loop/parking.h"
#include "scheduler/loop/search_shares.h"

namespace maniple {

// What a search came to.
enum class CameTo : uint8_t { kAPlan, kNothing };

class Searches final {
 public:
  Searches(Desk& desk, Parking& parking) : desk_(desk), parking_(parking) {}

  // How long a search for it may be, now …
  [[nodiscard]] SearchWork WorkFor(const Case& c, const GangRequest& request);
  // … and for a later start.
  [[nodiscard]] SearchWork WorkForLater(const Case& c) const;
  // It ended because only a short search was allowed: nobody knows the answer.
  [[nodiscard]] bool Unfinished(const SearchWork& work) const;
  // Its last search was long, and it is not its turn.
  [[nodiscard]] bool MustWaitToSearch(const Case& c) const;
  void PutOffSearch(Case& c, QueueItem item);
  // When it may be searched for; REQUIRES: MustWaitToSearch.
  [[nodiscard]] absl::Time SearchAgainAt(Case& c);
  // Charges the sharers for what was in vain.
  void NoteSearch(Case& c, const SearchWork& work, CameTo what);
  // It gave up: it is looked at again later, and later each time.
  void BackOffFromSearch(Case& c, ParkFacts& facts);
  // It asks something else now.
  static void ForgetSearch(GangRecord& record);

  // Nobody is ready any more: everybody may begin anew.
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
