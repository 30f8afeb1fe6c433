// The last act of a history. The cluster is full of unimportant gangs, some of them in every state
// that must not make a gang safe. Then more important ones come that need the room of one each.
//
// Queue, priorities and states are drawn from a random stream of its own. The priorities are those
// of an economy.
//
//   Siege siege(users, seed);
//   siege.Settle(); siege.Maim(); siege.Besiege(); siege.Injure(); siege.Humble();
//
// Each with time between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/base/random.h"
#include "test/sim/users.h"

namespace maniple::sim {

class Siege final {
 public:
  Siege(Users& users, uint64_t seed);

  // Makes one of these gangs for every node.
  void Settle();
  // Some lose a member, or their PodGroup.
  void Maim();
  void Besiege();
  // One of the newcomers loses a member, and the node it was on is closed.
  void Injure();
  // The newcomers become less important than the gangs that had to leave.
  void Humble();

 private:
  Users& users_;
  Random random_;
  std::vector<std::string> settlers_, besiegers_;
};

}  // namespace maniple::sim
