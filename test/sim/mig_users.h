// Nodes whose GPUs can be divided by MIG, and gangs that ask for slices of them.
// Seeded, with a random stream of its own: one history in five has some.
//
// The API server's mig-manager divides the nodes, and only the scheduler asks it to.
//
//   MigUsers mig(users, seed);
//   mig.SetUp();          // after the usual nodes
//   mig.Describe(spec);   // of a new gang, after all other descriptions
#pragma once

#include <cstdint>

#include "api/base/random.h"
#include "test/sim/users.h"

namespace maniple::sim {

class MigUsers final {
 public:
  MigUsers(Users& users, uint64_t seed);

  [[nodiscard]] bool exist() const { return exist_; }
  void SetUp();
  void Describe(GangSpec& spec);

 private:
  Users& users_;
  Random random_;
  const bool exist_;
};

}  // namespace maniple::sim
