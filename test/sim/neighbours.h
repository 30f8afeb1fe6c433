// Well-behaved gangs beside a hostile tenant, in a Queue that only they may use,
// and the promise that they are served whatever the tenant does.
//
//   Neighbours neighbours(users, truth);
//   neighbours.MoveIn();                        // one gang more, and a node that has room for it
//   neighbours.Look(Neighbours::Room::kOpen, now);   // every few seconds
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "test/sim/users.h"

namespace maniple::sim {

class Neighbours final {
 public:
  Neighbours(Users& users, Truth& truth) : users_(users), truth_(truth) {}

  void MoveIn();
  // kMayBeKept: some free room may be kept for others, or no process leads;
  // then nothing is promised.
  enum class Room : uint8_t { kOpen, kMayBeKept };
  // OthersAreServed: a gang that could have started at every look for a while has started.
  void Look(Room room, absl::Time now);

 private:
  Users& users_;
  Truth& truth_;
  int next_ = 0;
  std::map<std::string, absl::Time> could_start_since_;
};

}  // namespace maniple::sim
