// Short plays in an empty cluster, each by the same few steps, for scenes that chance hardly ever
// brings about and keeps until a check. The world says what must hold after them.
//
//   SetPieces pieces(users);
//   pieces.Play({.pass = …, .refuse_binds = …, .look = …, .hold_out = …});
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/time/time.h"
#include "test/sim/users.h"
#include "test/sim/volume_truth.h"

namespace maniple::sim {

class SetPieces final {
 public:
  // Deeds that only the world can do.
  struct Stage {
    std::function<void(absl::Duration)> pass;  // time
    std::function<void(const std::string&, absl::Duration)> refuse_binds,
        delay_binds;                                // of targets that begin so
    std::function<void(absl::Duration)> hold_pods;  // what watches tell of pods comes later
    std::function<void(const std::string&, const std::string&)>
        bind_as_another;             // a pod, to a node
    std::function<void()> look;      // whether gangs are whole
    std::function<void()> hold_out;  // until every gang that may be evicted has left
    std::function<void(const std::string&)> must_run;  // this gang: what there is of it
    absl::Duration reservation_after;                  // of the schedulers
  };
  explicit SetPieces(Users& users) : users_(users) {}

  void Play(const Stage& stage);
  // Gangs that need every disk, and every volume that can be attached: anything that is
  // still kept for a gang that has gone is missed now.
  void UseAllStorage(const VolumeTruth& volumes, const Stage& stage);
  // A pod comes for the whole GPUs of a node that has just been asked to be divided.
  void JoinADivision(const Stage& stage);

 private:
  // Half of a gang is bound when its PodGroup goes for good.
  void OrphanHalf(const Stage& stage);
  // A gang runs under a Queue that no longer lets its namespace in; then it wants to be larger.
  void GrowUnderAClosedQueue(const Stage& stage);
  // Two gangs need the one open node; the gang that has made the other leave becomes
  // the less important one.
  void Reverse(const Stage& stage);
  // Half of the one open node is kept for a gang that needs all of it, and a guest that was to be
  // gone by then stays.
  void Overstay(const Stage& stage);
  // A Queue without quota of its own borrows what another one of its Cohort gives back.
  void Borrow(const Stage& stage);
  // A pod that runs is given the label of another gang: its own goes on.
  void Relabel(const Stage& stage);
  // A gang is undone while one of its binds is still on its way, and others wait for its room.
  void LandLate(const Stage& stage);
  // Another scheduler has bound the pod elsewhere, and the reply to our bind is the first to say
  // so.
  void TakeElsewhere(const Stage& stage);
  // Two gangs name the claim that lets a single pod in.
  void ShareALoneClaim(const Stage& stage);

  void AddQueue(const std::string& name, Json spec);
  // One with eight GPUs, divided by MIG or not.
  enum class GpusAre : uint8_t { kWhole, kDivisible };
  void SetOpen(const std::string& node, bool open);
  [[nodiscard]] bool LeaveOneNodeOpen(GpusAre gpus = GpusAre::kWhole);
  // How many pods with one GPU and one volume each have room.
  [[nodiscard]] int RoomFor(const std::string& storage_class, const VolumeTruth& volumes) const;

  Users& users_;
};

}  // namespace maniple::sim
