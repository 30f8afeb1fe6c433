// Volumes, the controllers that attach them, and gangs whose members use them.
// Seeded, with a random stream of its own: one history in seven has some.
//
// Classes: disks of a node, volumes made where the pod is, others made at once,
// and one whose provisioner fails until it is mended. Odd nodes attach two made volumes at most.
// One claim lets a single pod in.
//
//   VolumeUsers volumes(users, seed);
//   volumes.SetUp();
//   volumes.Describe(spec);     // of a new gang
//   volumes.ControllerTurn(in_use);   // disks for new nodes; released ones are offered again
//   volumes.Mend();
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "api/base/random.h"
#include "test/sim/users.h"
#include "test/sim/volume_truth.h"

namespace maniple::sim {

class VolumeUsers final {
 public:
  VolumeUsers(Users& users, uint64_t seed);

  [[nodiscard]] bool exist() const { return exist_; }
  // How long the controllers take for a claim or volume.
  [[nodiscard]] static absl::Duration Delay(uint64_t seed);

  void SetUp();
  void Describe(GangSpec& spec);
  // A used volume gets attached at its node, and detached afterwards, unless that gets stuck.
  void ControllerTurn(const VolumeTruth& truth);
  // Every provisioner works, and nothing is stuck.
  void Mend();

 private:
  [[nodiscard]] static bool Exist(uint64_t seed);
  void AddClass(const std::string& name, const std::string& provisioner, bool waits, bool fails);
  void AddDisks(const std::string& node);
  void EquipNodes();
  void OfferAgain(const VolumeTruth& truth);
  void Attach(const VolumeTruth::Attachments& in_use);

  Users& users_;
  Random random_;
  const bool exist_;
  std::set<std::string> equipped_;  // nodes
  VolumeTruth::Attachments attached_, stuck_;
  bool mended_ = false;
};

}  // namespace maniple::sim
