// Gangs that wait, and whether one could start: a naive search over the server's objects
// that shares nothing with the scheduler's.
//
// It says yes only when it has found a place for every pod: first fit, the largest first,
// rack by rack and flavor by flavor. A no proves nothing.
//
//   for (const Wanting& gang : WholeGangsWaiting(truth)) {
//     if (CouldStart(truth, gang, "default/g3")) …   // if that one left
//   }
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "test/sim/free_room.h"
#include "test/sim/truth.h"

namespace maniple::sim {

// The rack that pods must share: none, some one rack (""), or this one.
using Rack = std::optional<std::string>;

// A waiting gang, and the pods that it needs to be whole.
struct Wanting {
  struct Pod {
    int64_t gpus = 0;
    std::string sub_group;
  };
  std::string key;
  std::vector<Pod> pods;
  Rack rack;
  std::map<std::string, Rack> sub_group_racks;
};

// Gangs with enough members. Gangs with wishes that are not understood here are left
// out: nearness of pods, slices, and pins that span racks.
[[nodiscard]] std::vector<Wanting> WholeGangsWaiting(const Truth& truth);
// Its Queue is away or stopped, or serves another gang first.
[[nodiscard]] bool MayBeHeldUp(const Truth& truth, const std::string& gang);
struct ForWhom {
  std::string gang;   // that and …
  GangNames gone;     // … these hold nothing against it
  std::string queue;  // "" = it has none
};
// The sets of nodes of which one is kept for others: for lost members of gangs,
// which may be anywhere, and for preemptors. None: too little is known.
[[nodiscard]] std::vector<std::set<std::string>> WaysToKeepRoom(const Truth& truth,
                                                                const ForWhom& whom);
// There are places for all of its pods, and its Queue lets it have them, once the pods of `gone`
// have left. Room that is held for a later start looks free here; room that may be held for lost
// members does not, nor does any on these nodes.
[[nodiscard]] bool CouldStart(const Truth& truth, const Wanting& gang, const GangNames& gone = {},
                              const std::set<std::string>& held = {});
// The waiting gang could start if this one, which runs, left.
[[nodiscard]] bool CouldStartWithout(const Truth& truth, const std::string& waiting,
                                     const std::string& runs);

// At quiescence: NothingRunnableWaits.
enum class Holds : uint8_t { kNone, kSome };
void CheckNothingRunnableWaits(Truth& truth, Holds holds, absl::Time now);

}  // namespace maniple::sim
