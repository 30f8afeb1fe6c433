// The deeds of users and their controllers while the scheduler works: seeded, one action at a time.
// Trouble is in disturbances.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/base/random.h"
#include "test/sim/users.h"

namespace maniple::sim {

class Economy;
class MigUsers;
class Variety;
class VolumeUsers;

class Workload final {
 public:
  Workload(Users& users, Economy& economy, Variety& variety, MigUsers& mig, VolumeUsers& volumes)
      : users_(users),
        economy_(economy),
        variety_(variety),
        mig_(mig),
        volumes_(volumes),
        random_(users.random()),
        one_in_rack_(1 + random_.Below(4)),
        one_elastic_(2 + random_.Below(3)) {}

  // The custom resources, queues and the first nodes.
  void SetUp(const std::vector<Json>& crds);
  // One action of a user.
  void Act();
  // Gangs of one pod.
  void MoveIn();
  // Many small gangs that do not end by themselves; then large ones that need their room,
  // and more small ones that would also like to have it.
  void Crowd();
  void Rush();
  // A controller's turn: deleted or failed pods of incomplete gangs come back,
  // and gangs that have run for their time end.
  void ControllerTurn(absl::Time now);
  // Every gang is over.
  void DeleteAll();

 private:
  void Delete(const std::string& gang, bool group_first);
  void Submit();
  void Create(const GangSpec& spec);
  void AddLateMember();
  void FinishGang();
  void Finish(const std::string& gang);
  void FinishPod(const std::string& gang, const std::string& pod);
  void FinishMember();
  void FinishWhoseTimeIsUp(absl::Time now);
  void Recreate();
  void DeleteGang();
  void AddNode();

  Users& users_;
  Economy& economy_;
  Variety& variety_;
  MigUsers& mig_;
  VolumeUsers& volumes_;
  Random& random_;
  // The kinds of gangs that this history has many of: one in so many.
  const uint64_t one_in_rack_;
  const uint64_t one_elastic_;
  int next_gang_ = 0;
  int next_node_ = 0;
};

}  // namespace maniple::sim
