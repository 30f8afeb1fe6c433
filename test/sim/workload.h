// What users, controllers and machines do to the cluster while the scheduler works: seeded, one
// action at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/base/random.h"
#include "test/sim/network.h"
#include "test/sim/truth.h"

namespace maniple::sim {

class Workload final {
 public:
  Workload(SimNetwork& network, const Truth& truth, Random& random)
      : network_(network), truth_(truth), random_(random) {}

  // The custom resources and the first nodes.
  void SetUp(const std::vector<Json>& crds);
  // One action of a user or a machine.
  void Act();
  // A controller's turn: pods of gangs that are not complete come back when they were deleted or
  // failed.
  void Recreate();

 private:
  struct GangSpec {
    int pods = 0;
    int64_t gpus = 0;
    bool recreated = false;  // owned by a controller
  };

  void Submit();
  void AddLateMember();
  void FinishGang();
  void DeletePod();
  void DeleteGang();
  void FailPod();
  void Cordon();
  void AddNode();
  void DeleteNode();
  void EditMinMember();
  void CreatePod(const std::string& gang, int index, int64_t gpus);
  void Call(absl::string_view method, absl::string_view target, const Json& body);
  [[nodiscard]] std::string AnyGang();
  [[nodiscard]] std::string AnyNode();
  [[nodiscard]] std::vector<std::string> PodsOf(const std::string& gang) const;

  SimNetwork& network_;
  const Truth& truth_;
  Random& random_;
  int next_gang_ = 0;
  int next_node_ = 0;
  std::map<std::string, GangSpec> gangs_;
};

}  // namespace maniple::sim
