// The end of a history: no more faults and no more users, and everything must settle by itself.
// Then scenes that chance hardly ever brings about are played, and must settle as well.
//
// Violations go to the Truth. One thread.
//
//   Ending(world).Play();
#pragma once

#include <string>

#include "absl/time/time.h"
#include "test/sim/immunity.h"
#include "test/sim/neighbours.h"
#include "test/sim/process.h"
#include "test/sim/set_pieces.h"
#include "test/sim/siege.h"
#include "test/sim/waiting.h"
#include "test/sim/world_parts.h"

namespace maniple::sim {

class Ending final {
 public:
  explicit Ending(WorldParts& world);

  void Play();

 private:
  void BearTheTenant();
  void CheckMemoryReturns(absl::Time began);
  void StayCalm();
  void EndAll();
  void UseAllStorage();
  void JoinADivision();
  void PlaySetPieces();
  void BesiegeAll();
  void HoldOut();

  // Lets time pass until nothing moves any more, then checks all promises at rest.
  void ComeToRest();
  void LetArrive();
  void CheckAtRest(Process& process);
  void CheckRuns(const std::string& gang);
  [[nodiscard]] bool Settled() const;
  [[nodiscard]] bool Quiet() const;
  [[nodiscard]] bool Idle() const;  // no leader has a write under way that must be answered
  [[nodiscard]] bool NobodyMakesRoom() const;
  [[nodiscard]] HeldNodes Held() const;
  [[nodiscard]] bool SomeHold() const;
  [[nodiscard]] Neighbours::Room RoomIsKept() const;

  [[nodiscard]] SetPieces::Stage Stage();
  [[nodiscard]] absl::Time Now() const { return world_.events.Now(); }

  WorldParts& world_;
  SetPieces pieces_;
  Siege siege_;
  Neighbours neighbours_;
};

}  // namespace maniple::sim
