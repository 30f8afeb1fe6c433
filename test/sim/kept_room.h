// Room that schedulers keep, by their decision logs, and the promises about it.
// It is kept by claims and by holds for later starts, which guests may use until then.
//
// Knows a process by its life only. Violations go to the Truth. One thread.
//
//   KeptRoom kept(truth);
//   kept.OnDecision({.life = life, .now = now, .skew = skew}, line);   // each line of each log
//   kept.OnHeld({…}, held, patience);                                 // now and then
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/sim/truth.h"

namespace maniple::sim {

// The author of a log line, its time by the server's clock, and the error of the author's clock.
struct Speaker {
  uint64_t life = 0;
  absl::Time now;
  absl::Duration skew;
  [[nodiscard]] absl::Time own_time() const { return now + skew; }
};

// The line of a life that has lost the lead, even if it won it again in the same
// moment: its plans are forgotten.
[[nodiscard]] inline bool EndsLead(absl::string_view line) {
  return line == "leads no more" || line == "leads";
}

class KeptRoom final {
 public:
  explicit KeptRoom(Truth& truth) : truth_(truth) {}

  // Checks GuestsEndInTime, and ClaimKept: no gang is placed where others leave for another gang,
  // before that one has the room or gives it up.
  void OnDecision(const Speaker& speaker, absl::string_view line);
  // `held`: a scheduler's holds for later starts. Checks HoldsEnd and, in the calm, GuestsLeave:
  // a guest that outstays its time leaves soon once the holder could start with its room.
  void OnHeld(const Speaker& speaker, const std::vector<HeldStart>& held, absl::Duration patience);
  // From now on nothing changes but by the schedulers and the pods' controllers.
  void BeginCalm() { calm_ = true; }

  // This life asks the gang to leave, or did a moment ago. The gang has outstayed its word
  // in room that is held for another which waits for it.
  [[nodiscard]] bool SendsGuestAway(uint64_t life, const std::string& gang, absl::Time now) const;
  // The number of holds, and of gangs that were let in.
  [[nodiscard]] uint64_t holds() const { return holds_; }
  [[nodiscard]] uint64_t guests() const { return guests_; }

 private:
  struct Guest {
    std::string name, holder;
    absl::Time came, ends;  // as it said; both by the clock of the scheduler
    absl::Time bound_by;    // by that of the server
    absl::Time in_the_way = absl::InfiniteFuture();  // since when the holder could have its room
  };
  struct SentAway {
    std::string holder;
    absl::Time until = absl::InfiniteFuture();
  };
  struct Claim {
    std::map<std::string, int64_t> gpus;  // by node
    absl::Time since;
  };
  // By pod, "namespace/name".
  using Places = std::vector<std::pair<std::string, std::string>>;
  void OnClaim(const Speaker& speaker, absl::string_view line);
  void OnPlaces(const Speaker& speaker, absl::string_view line);
  [[nodiscard]] std::map<std::string, int64_t> GpusOf(const Places& places) const;
  void CheckClaims(const Speaker& speaker, const std::string& gang, const Places& places) const;
  void OnGuest(const Speaker& speaker, absl::string_view line);
  void OnPreemption(const Speaker& speaker, absl::string_view line);
  // The gang has the room that others left for it, or waits for it no longer.
  void NobodyLeavesFor(const Speaker& speaker, absl::string_view gang);
  void CheckOverstayer(Guest& guest, const std::vector<HeldStart>& held, absl::Time own_time,
                       absl::Time now);

  Truth& truth_;
  uint64_t holds_ = 0, guests_ = 0;
  bool calm_ = false;
  std::map<uint64_t, std::vector<Guest>> guests_of_;                // by the life that let them in
  std::map<std::pair<uint64_t, std::string>, SentAway> sent_away_;  // (the life, the guest)
  std::map<std::pair<uint64_t, std::string>, Claim> claims_;        // (the life, the preemptor)
};

}  // namespace maniple::sim
