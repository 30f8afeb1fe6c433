// Changes of what has been decided already: users who scale what runs, up and down, and
// administrators who edit a Queue while others leave for a gang of it.
//
// Every deed is a kind of Fault and draws from that kind's stream.
//
//   LateChanges changes(users, producers, faults);
//   changes.Strike(fault, "g3");   // one of Kinds(); at this gang, "" = at any
//   changes.Restore();             // opens Queues that shut out their gangs
#pragma once

#include <set>
#include <span>
#include <string>

#include "test/sim/faults.h"
#include "test/sim/producers.h"
#include "test/sim/users.h"

namespace maniple::sim {

class LateChanges final {
 public:
  LateChanges(Users& users, Producers& producers, FaultInjector& faults)
      : users_(users), producers_(producers), faults_(faults) {}

  [[nodiscard]] static std::span<const Fault> Kinds();
  // Does nothing when there is nothing that could be changed.
  void Strike(Fault fault, const std::string& gang);
  void Restore();

 private:
  // Below `bound`.
  [[nodiscard]] int Draw(Fault fault, int bound) {
    return static_cast<int>(faults_.Draw(fault, static_cast<uint64_t>(bound)));
  }
  void ScaleUp(const std::string& gang);
  void ScaleDown(const std::string& gang);
  void ScaleOwner();
  void EditClaimedQueue();
  void EditQuotas(const std::string& queue);
  void LetInOrShutOut(const std::string& queue);
  void PatchMinimum(const std::string& gang);
  void CreatePods(const std::string& gang, int first, int end);
  void DeletePodsFrom(const std::string& gang, int first);

  Users& users_;
  Producers& producers_;
  FaultInjector& faults_;
  std::set<std::string> shut_;  // Queues that admit nobody
};

}  // namespace maniple::sim
