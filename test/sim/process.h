// One life of the scheduler process in simulated time: client machine and loop, as the real process
// composes them, on one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/client/cluster_client.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/sim/event_queue.h"
#include "test/sim/network.h"

namespace maniple::sim {

struct ProcessOptions {
  uint64_t seed = 1;
  enum class Election { kOn, kOff } election = Election::kOn;
};

class Process final {
 public:
  // Decisions are appended to `log`. Everything borrowed must outlive the process.
  Process(SimNetwork& network, EventQueue& events, const ProcessOptions& options,
          std::vector<std::string>& log);
  ~Process();  // as kill -9: nothing is finished, nothing is given back

  [[nodiscard]] const SchedulingLoop& loop() const { return loop_; }

 private:
  void Receive(HttpInput input);
  // What the two threads of the real process do between two waits.
  void Work();
  void Sleep();

  EventQueue& events_;
  std::vector<std::string>& log_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  SchedulingLoop loop_;
  SimTransport transport_;
  ClusterClient client_;
  absl::Time next_ = absl::InfiniteFuture();
  absl::Time wake_ = absl::InfiniteFuture();
};

}  // namespace maniple::sim
