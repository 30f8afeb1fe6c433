// The scheduler's processes: one, or two that contend; started, killed, paused, and started again.
//
//   Processes processes(network, events, faults, {…});
//   processes.Start(2);
//   processes.Kill(*processes.Of(life));   // another takes its place a little later
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/bind/bind_state.h"
#include "test/sim/event_queue.h"
#include "test/sim/faults.h"
#include "test/sim/network.h"
#include "test/sim/process.h"

namespace maniple::sim {

class Processes final {
 public:
  struct Hooks {
    std::function<ProcessOptions()> options;  // of the next one
    // A line of its log; `skew`: how far its clock is off.
    std::function<void(uint64_t life, absl::Duration skew, const std::string& line)> on_line;
    std::function<void()> on_held_up;
    std::function<void(const std::string& what)> on_strike;  // killed, paused, held up
  };
  // Everything borrowed must outlive this.
  Processes(SimNetwork& network, EventQueue& events, FaultInjector& faults, Hooks hooks)
      : network_(network), events_(events), faults_(faults), hooks_(std::move(hooks)) {}

  void Start(size_t count);
  // Kills it at this instruction; another is started in its place a little later.
  void Kill(Process& process);
  void Pause(Process& process);
  void HoldUp(Process& process);
  // Kills some, pauses some or holds them up, by chance.
  void Disturb();
  // Null: it is gone.
  [[nodiscard]] Process* Of(uint64_t life) const;
  [[nodiscard]] int64_t Leaders() const;
  [[nodiscard]] bool Leads(uint64_t life) const;
  // When the leading process began to lead; never, when none leads.
  [[nodiscard]] absl::Time LedSince() const;
  // The states of members of all living processes, as these see them.
  [[nodiscard]] StateSet StatesNow() const;

  [[nodiscard]] size_t size() const { return processes_.size(); }
  [[nodiscard]] auto begin() const { return processes_.begin(); }
  [[nodiscard]] auto end() const { return processes_.end(); }

 private:
  using MemberStates = std::array<int32_t, kBindStates>;
  void StartOne(size_t slot);

  SimNetwork& network_;
  EventQueue& events_;
  FaultInjector& faults_;
  const Hooks hooks_;
  std::vector<std::unique_ptr<Process>> processes_;  // by slot
  std::vector<MemberStates> left_behind_;            // by slot, when its process was killed
  MemberStates inherited_{};
};

}  // namespace maniple::sim
