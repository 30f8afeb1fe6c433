// The less usual gangs of a history: unlike members, parts with racks of their own, gangs that
// stay below their quorum. Their pods may take minutes to leave, or are cleaned away after success.
// Seeded, with a random stream of its own.
//
//   Variety variety(users, seed);
//   variety.SetUp();                  // nodes that a history may have too many of
//   variety.Describe(spec);           // of a new gang
//   variety.ControllerTurn(now);      // cleans up
//   variety.Maim();                   // gangs that run lose a member, for good
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "api/base/random.h"
#include "test/sim/users.h"

namespace maniple::sim {

class Variety final {
 public:
  Variety(Users& users, uint64_t seed);

  // The number of racks that the nodes of the history are spread over.
  [[nodiscard]] static int RacksOf(uint64_t seed);

  void SetUp();
  void Describe(GangSpec& spec);
  void ControllerTurn(absl::Time now);
  // Lets go of pods that have stopped at last.
  void LetGo();
  void Maim();

 private:
  void DescribeParts(GangSpec& spec);
  void CleanUp(absl::Time now);

  Users& users_;
  Random random_;
  const bool poor_;  // most racks have next to nothing
  // The kinds of gangs that this history has many of: one in so many; 0 = none.
  const uint64_t one_unlike_, one_slow_, one_cleaned_, one_patient_;
};

}  // namespace maniple::sim
