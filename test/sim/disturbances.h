// Trouble in the cluster itself: pods and nodes that go, careless hands, other schedulers.
//
// Each is one small thing that a client of the API server may do at any moment.
// The world strikes with them between two steps of the workload and in the middle of a bind.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "test/sim/faults.h"
#include "test/sim/users.h"

namespace maniple::sim {

class Disturbances final {
 public:
  Disturbances(Users& users, Truth& truth, EventQueue& events, FaultInjector& faults,
               std::vector<Json> crds)
      : users_(users), truth_(truth), events_(events), faults_(faults), crds_(std::move(crds)) {}

  // The faults that strike the cluster or the Lease.
  [[nodiscard]] static std::span<const Fault> Kinds();
  // Strikes, at this gang ("" = any) if the fault is one of gangs.
  // Does nothing when there is nothing to strike.
  void Strike(Fault fault, const std::string& gang);
  // Another scheduler binds every pod that there is room for.
  void BindEverybody();
  // Another scheduler does.
  void BindAsAnother(const std::string& pod, const std::string& node);
  // Takes back changes that would keep gangs from starting for ever: the CRD, stopped Queues.
  void Restore();
  // Takes back cordons and taints, and nothing else.
  void OpenNodes();

 private:
  struct At {
    std::string gang, pod, node;  // "" = there is none
  };
  [[nodiscard]] At Aim(Fault fault, const std::string& gang);
  void StrikePod(Fault fault, const At& at);
  void StrikeNode(Fault fault, const At& at);
  void StrikeGroup(Fault fault, const At& at);
  void StrikeLease(Fault fault);
  void FailPod(Fault fault, const At& at);
  void ReplacePod(const At& at);
  void LoseNode(const std::string& node);
  void Drain(const std::string& node);
  void BindForeignPod(const At& at);
  void BindElsewhere(const At& at);
  [[nodiscard]] bool IsFarFrom(const Truth::PodFacts& member, const std::string& node) const;
  void OverwriteStatus(const At& at);
  void ReinstallCrd();
  void CreateMissingGroups();
  void Patch(const std::string& target, const char* part, Json value);

  Users& users_;
  Truth& truth_;
  EventQueue& events_;
  FaultInjector& faults_;
  const std::vector<Json> crds_;
  int next_foreign_ = 0;
  int next_spare_ = 0;
};

}  // namespace maniple::sim
