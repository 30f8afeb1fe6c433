// Short plays in an empty cluster, each by the same few steps, for what chance hardly ever brings
// about and lets stand until somebody looks. The world says what must hold after them.
//
//   SetPieces pieces(users);
//   pieces.Play({.pass = …, .refuse_binds = …, .look = …, .hold_out = …});
#pragma once

#include <functional>
#include <string>

#include "absl/time/time.h"
#include "test/sim/users.h"

namespace maniple::sim {

class SetPieces final {
 public:
  // What only the world can do.
  struct Stage {
    std::function<void(absl::Duration)> pass;  // time
    std::function<void(const std::string&, absl::Duration)>
        refuse_binds;                // of targets that begin so
    std::function<void()> look;      // whether gangs are whole
    std::function<void()> hold_out;  // until whoever may be made to leave has left
  };
  explicit SetPieces(Users& users) : users_(users) {}

  void Play(const Stage& stage);

 private:
  // Half of a gang is bound when its PodGroup goes for good.
  void OrphanHalf(const Stage& stage);
  // A gang runs under a Queue that lets its namespace in no more; then it wants to be larger.
  void GrowUnderAClosedQueue(const Stage& stage);
  // Two gangs need the one node that is open; who has made the other leave becomes the less
  // important one.
  void Reverse(const Stage& stage);

  void Create(const std::string& gang, const GangSpec& spec);
  void Delete(const std::string& gang);
  [[nodiscard]] bool LeaveOneNodeOpen();

  Users& users_;
};

}  // namespace maniple::sim
