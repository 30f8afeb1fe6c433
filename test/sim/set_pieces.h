// Short plays in an empty cluster, each by the same few steps, for what chance hardly ever brings
// about and lets stand until somebody looks.
//
// The world lets time pass between the steps, and says what must hold after the last one.
//
//   SetPieces pieces(users);
//   pieces.BeginHalf(); … pieces.OrphanHalf(); …
//   pieces.Admit(); … pieces.CloseQueue(); … pieces.Grow(); …
//   if (pieces.Challenge()) { … pieces.Answer(); … pieces.Humble(); … }
//   pieces.Clear();
#pragma once

#include <string>

#include "test/sim/users.h"

namespace maniple::sim {

class SetPieces final {
 public:
  explicit SetPieces(Users& users) : users_(users) {}

  // Half of a gang is bound, …
  static constexpr char kHalf[] = "half";
  void BeginHalf();
  // … which loses its PodGroup for good.
  void OrphanHalf();

  // One node is left open, and a gang that comes back fills it; false: no node is large enough.
  [[nodiscard]] bool Challenge();
  // A more important one needs the same room …
  void Answer();
  // … and becomes less important once it has it.
  void Humble();

  // A gang of two runs under a Queue, …
  void Admit();
  // … which lets its namespace in no more; …
  void CloseQueue();
  // … then it wants to be of four.
  void Grow();

  void Clear();

 private:
  static constexpr char kChallenger[] = "challenger", kAnswerer[] = "answerer", kGuest[] = "guest";
  void Create(const std::string& gang, const GangSpec& spec);
  void Delete(const std::string& gang);

  Users& users_;
};

}  // namespace maniple::sim
