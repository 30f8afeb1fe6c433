// Before a gang is bound, the claims of its members that waited for a node are bound.
// If not all can be, the members are released and the requests for volumes are taken back.
//
// A state machine without sockets, threads or clock, one per gang. A claim is bound by setting
// a volume aside for it, or by naming its pod's node for the provisioner; the volume controller
// then binds it. Every step is a fact of the API: the next leader finds claims that are bound,
// or wait for their node, and decides with these. Owned by the scheduling loop, on its thread.
//
//   GangVolumes volumes(backoff, placements, goals, now + timeout);
//   volumes.Settle(sights, step);                // step.actions: these writes
//   volumes.OnReply("default/data", reply, step);
//   volumes.Settle(sights, step);                // after every change, and at NextDeadline()
//
// Phases: binding -> ready | undoing; undoing -> failed.
//
// Invariants:
//   1. A claim has at most one write under way.
//   2. A write is sent only over a version that showed it to be needed; its resourceVersion is the
//      precondition.
//   3. In phase undoing nothing is bound. The phase ends when no claim waits any more for
//      a node that we named, or after thirty seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/backoff.h"
#include "api/base/random.h"
#include "api/client/write_command.h"
#include "api/model/claim_binding.h"
#include "scheduler/cycle/question/decision.h"

namespace maniple {

enum class VolumeReplyKind : uint8_t {
  kDone,
  kAgain,    // it may succeed later: 401, 408, 409, 429, 5xx, no reply, not sent
  kRefused,  // it never will: every other 4xx
};
struct VolumeReply {
  VolumeReplyKind kind = VolumeReplyKind::kAgain;
  std::optional<absl::Duration> retry_after;
  std::string detail;
};
[[nodiscard]] VolumeReply ReadVolumeReply(const WriteResult& result);

enum class VolumeWrite : uint8_t {
  kSetAside,    // the volume for the claim
  kSelectNode,  // for the provisioner of the claim
  kTakeBack,    // the node that was selected
};
struct SendVolumeWrite {
  size_t goal = 0;  // index
  VolumeWrite what = VolumeWrite::kSetAside;
};
struct VolumeStep {
  absl::Time now;
  Random& random;
  std::vector<SendVolumeWrite>& actions;
};

enum class VolumePhase : uint8_t { kBinding, kReady, kUndoing, kFailed };

class GangVolumes final {
 public:
  GangVolumes(BackoffPolicy backoff, std::vector<Placement> placements,
              std::vector<ClaimGoal> goals, absl::Time deadline);

  void OnReply(absl::string_view claim_key, const VolumeReply& reply, VolumeStep& step);
  // REQUIRES: sights are parallel to goals().
  void Settle(std::span<const ClaimSight> sights, VolumeStep& step);
  // The gang does not want its volumes any more.
  void Cancel(std::string why, VolumeStep& step);
  // … and is to be decided anew at once: nothing has gone wrong.
  void Withdraw(std::string why, VolumeStep& step);

  [[nodiscard]] VolumePhase phase() const { return phase_; }
  [[nodiscard]] const std::vector<Placement>& placements() const { return placements_; }
  [[nodiscard]] const std::vector<ClaimGoal>& goals() const { return goals_; }
  [[nodiscard]] size_t bound() const;  // claims
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] bool withdrawn() const { return withdrawn_; }
  [[nodiscard]] absl::Time NextDeadline() const;

 private:
  struct Entry {
    bool under_way = false;
    bool told = false;   // our write was sent, with whatever result
    bool done = false;   // … and its reply says so
    bool shown = false;  // the watch has shown it done
    bool bound = false;
    std::string over_version;  // of the last write: the watch must show a later one first
    absl::Time retry_at = absl::InfinitePast();
    Backoff backoff;
  };

  void Fail(std::string why, VolumeStep& step);
  void SettleGoal(size_t goal, const ClaimSight& sight, VolumeStep& step);
  [[nodiscard]] static bool WasDone(const Entry& entry, const std::string& version);
  void SetVolumeAside(size_t goal, const ClaimSight& sight, VolumeStep& step);
  void SelectNode(size_t goal, const ClaimSight& sight, VolumeStep& step);
  void TakeBack(std::span<const ClaimSight> sights, VolumeStep& step);
  void Send(size_t goal, VolumeWrite what, const std::string& version, VolumeStep& step);
  [[nodiscard]] std::string NameOf(size_t goal) const;

  std::vector<Placement> placements_;
  std::vector<ClaimGoal> goals_;
  std::vector<Entry> entries_;  // parallel to goals_
  VolumePhase phase_ = VolumePhase::kBinding;
  absl::Time deadline_;
  std::string trouble_;
  bool withdrawn_ = false;
};

}  // namespace maniple
