// Random small worlds with a scheduler that lives in them, for the oracles of replay and what-if.
//
//   ReplayWorld world(seed, LoopOptionsOf(seed));
//   world.Add(world.MakeGang("job"));
//   world.live().RunUntil(world.live().now() + absl::Seconds(3));
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/base/random.h"
#include "api/codec/json.h"
#include "scheduler/replay/replay.h"

namespace maniple {

// As a scheduler has them where nobody says anything.
[[nodiscard]] LoopOptions DefaultLoopOptions();
// They may divide nodes by MIG in one world of four.
[[nodiscard]] LoopOptions LoopOptionsOf(int seed);
[[nodiscard]] bool Divides(const LoopOptions& options);
// MANIPLE_WHAT_IF_WORLDS asks for so many worlds, MANIPLE_WHAT_IF_FIRST for others.
[[nodiscard]] int FirstWorld();
[[nodiscard]] int EndOfWorlds();
// The name of a gang as its maker calls it: that of a PodGroup of ours which stands for another
// ends with a digest.
[[nodiscard]] std::string WithoutDigest(const std::string& gang);

enum class RunTimesTold : uint8_t { kSome, kNone };
class ReplayWorld final {
 public:
  // With nodes that can be divided by MIG, and gangs that ask for slices, where that is allowed.
  ReplayWorld(uint64_t seed, LoopOptions options, RunTimesTold told = RunTimesTold::kSome);

  Replay& live() { return live_; }
  // A PodGroup and its pods, of any Queue or of none; of three gangs one has a PodGroup of x-k8s,
  // and another of ours stands for it.
  [[nodiscard]] std::vector<Json> MakeGang(const std::string& name);
  void Add(const std::vector<Json>& objects);

 private:
  std::vector<Json> MakeNode(int i);
  std::vector<Json> MakeQueue(int i);

  Random random_;
  const bool divides_;
  const RunTimesTold told_;
  Replay live_;
  int queues_ = 0;
};

}  // namespace maniple
