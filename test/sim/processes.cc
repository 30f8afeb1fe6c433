#include "test/sim/processes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace maniple::sim {

void Processes::Start(size_t count) {
  processes_.resize(count);
  left_behind_.resize(count);
  for (size_t slot = 0; slot < count; ++slot) StartOne(slot);
}

void Processes::StartOne(size_t slot) {
  ProcessOptions options = hooks_.options();
  // Its predecessor's members are what a wrong clock would be wrong about.
  inherited_ = std::exchange(left_behind_[slot], {});
  const bool steps = faults_.Strikes(Fault::kClockStep);
  inherited_ = {};
  if (steps) {
    options.skew = faults_.Between(Fault::kClockStep, -absl::Minutes(10), absl::Minutes(10));
  }
  processes_[slot] =
      std::make_unique<Process>(network_, events_, options,
                                [this, life = options.life, skew = options.skew](
                                    const std::string& line) { hooks_.on_line(life, skew, line); });
}

void Processes::Kill(Process& process) {
  if (!process.alive()) return;
  process.Kill();
  hooks_.on_strike(absl::StrCat("killed #", process.life()));
  for (size_t slot = 0; slot < processes_.size(); ++slot) {
    if (processes_[slot].get() != &process) continue;
    left_behind_[slot] = process.loop().MemberStates();
    const absl::Duration wait = absl::Milliseconds(200 + faults_.Draw(Fault::kCrash, 4000));
    events_.After(wait, [this, slot] { StartOne(slot); });
  }
}

void Processes::Pause(Process& process) {
  const absl::Duration time =
      faults_.Between(Fault::kPaused, absl::Milliseconds(100), absl::Seconds(40));
  hooks_.on_strike(absl::StrCat("paused #", process.life(), " for ", absl::FormatDuration(time)));
  process.Pause(time);
}

void Processes::HoldUp(Process& process) {
  const absl::Duration time =
      faults_.Between(Fault::kHeldUp, absl::Milliseconds(1), absl::Seconds(25));
  hooks_.on_strike(absl::StrCat("holds up #", process.life(), " for ", absl::FormatDuration(time)));
  process.HoldUp(time);
  hooks_.on_held_up();
}

void Processes::Disturb() {
  for (const auto& process : processes_) {
    if (!process->alive()) continue;
    if (faults_.Strikes(Fault::kCrash)) {
      Kill(*process);
    } else if (faults_.Strikes(Fault::kPaused)) {
      Pause(*process);
    } else if (faults_.Strikes(Fault::kHeldUp)) {
      HoldUp(*process);
    }
  }
}

Process* Processes::Of(uint64_t life) const {
  for (const auto& process : processes_) {
    if (process != nullptr && process->life() == life) return process.get();
  }
  return nullptr;
}

int64_t Processes::Leaders() const {
  return std::ranges::count_if(processes_, [](const auto& process) {
    return process != nullptr && process->alive() && process->leading();
  });
}

bool Processes::Leads(uint64_t life) const {
  const Process* process = Of(life);
  return process != nullptr && process->alive() && process->leading();
}

absl::Time Processes::LedSince() const {
  for (const auto& process : processes_) {
    if (process->alive() && process->leading()) return process->led_since();
  }
  return absl::InfiniteFuture();
}

StateSet Processes::StatesNow() const {
  StateSet set = 0;
  const auto add = [&set](const MemberStates& states) {
    for (int state = 0; state < kBindStates; ++state) {
      if (states[state] > 0) set |= SetOf(static_cast<BindState>(state));
    }
  };
  add(inherited_);
  for (const auto& process : processes_) {
    if (process != nullptr && process->alive()) add(process->loop().MemberStates());
  }
  return set;
}

}  // namespace maniple::sim
