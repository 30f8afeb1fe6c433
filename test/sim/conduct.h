// What the schedulers send and are told, as it passes on the wire, and the promises that it must
// keep: those that the server's objects alone do not show.
//
// Knows a process by its life only. Violations go to the Truth. One thread.
//
//   Conduct conduct(truth);
//   conduct.OnSent(life, request, now);          // each write that leaves a process
//   conduct.OnReply(life, request, body, now);   // each answer that reaches one
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/http/http.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/sim/truth.h"

namespace maniple::sim {

// "default/g0-1" of the target of a bind, a read, a delete, …; "" when it is about no single pod.
[[nodiscard]] std::string PodOf(const HttpRequest& request);
// "" when the request is no bind.
[[nodiscard]] std::string BoundPod(const HttpRequest& request);
// "" when the request is no eviction.
[[nodiscard]] std::string EvictedPod(const HttpRequest& request);

class Conduct final {
 public:
  explicit Conduct(Truth& truth) : truth_(truth) {}

  // Checks EveryWriteHasAPrecondition and NoUndoWithoutCause.
  void OnSent(uint64_t life, const HttpRequest& request, absl::Time now);
  void OnReply(uint64_t life, const HttpRequest& request, absl::string_view body, absl::Time now);
  // A line of a scheduler's decision log, and how wrong its clock is. Checks GuestsEndInTime.
  void OnDecision(uint64_t life, absl::string_view line, absl::Time now, absl::Duration skew);
  // What a scheduler holds for later starts, by its own clock. Checks HoldsEnd and, in the calm,
  // GuestsLeave: who outstays its time does not stay for long once the holder could start with its
  // room.
  void OnHeld(uint64_t life, const std::vector<HeldStart>& held, absl::Duration patience,
              absl::Time now);
  // How many holds there were, and gangs that were let in.
  [[nodiscard]] uint64_t holds() const { return holds_; }
  [[nodiscard]] uint64_t guests() const { return guests_; }
  // From now on nobody changes anything any more but the schedulers and the pods' controllers.
  void BeginCalm() {
    calm_ = true;
    preempted_.clear();
  }
  // Since then nobody made those leave who made it leave, nor the same ones again and again.
  void CheckNoPreemptionLoop(absl::Time now);
  // When this life sent this very bind for the first time. REQUIRES: it did.
  [[nodiscard]] absl::Time FirstSent(uint64_t life, const HttpRequest& bind) const;

 private:
  struct Attempt {
    absl::Time began;          // the first bind was sent
    std::set<uint64_t> lives;  // … and who has bound, or written its status, since
    bool refused = false;      // the server will not have one of its members
  };
  struct Guest {
    std::string name, holder;
    absl::Time came, ends;  // as it said; both by the clock of the scheduler
    absl::Time bound_by;    // by that of the server
    absl::Time in_the_way = absl::InfiniteFuture();  // since when the holder could have its room
  };
  void CheckGuest(uint64_t life, absl::string_view line, absl::Time now, absl::Duration skew);
  void CheckOverstayer(Guest& guest, const std::vector<HeldStart>& held, absl::Time now);
  void CheckUndo(uint64_t life, const std::string& pod, absl::Time now);

  Truth& truth_;
  std::map<std::string, Attempt> attempts_;  // by "namespace/name" of the gang
  std::map<std::pair<uint64_t, std::string>, absl::Time> first_sent_;
  uint64_t holds_ = 0, guests_ = 0;
  std::set<std::string> were_guests_;  // "namespace/name"
  bool calm_ = false;
  std::map<uint64_t, std::vector<Guest>> guests_of_;              // by the life that let them in
  std::map<std::pair<std::string, std::string>, int> preempted_;  // (victim, for whom), whole gangs
};

}  // namespace maniple::sim
