// Simulated time: closures in order of (time, order of scheduling), run one at a time on one
// thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "api/base/clock.h"

namespace maniple::sim {

class EventQueue final {
 public:
  explicit EventQueue(SimulatedClock& clock) : clock_(clock) {}

  [[nodiscard]] absl::Time Now() const { return clock_.Now(); }
  void At(absl::Time when, std::function<void()> what) {
    heap_.push_back({std::max(when, clock_.Now()), next_++, std::move(what)});
    std::push_heap(heap_.begin(), heap_.end());
  }
  void After(absl::Duration wait, std::function<void()> what) {
    At(clock_.Now() + wait, std::move(what));
  }

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] absl::Time NextTime() const {
    return heap_.empty() ? absl::InfiniteFuture() : heap_.front().when;
  }
  // REQUIRES: !empty().
  void RunNext() {
    std::pop_heap(heap_.begin(), heap_.end());
    const Event event = std::move(heap_.back());
    heap_.pop_back();
    clock_.AdvanceTo(event.when);
    event.what();
  }

 private:
  struct Event {
    absl::Time when;
    uint64_t order;
    std::function<void()> what;
    bool operator<(const Event& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };

  SimulatedClock& clock_;
  std::vector<Event> heap_;  // the next one in front
  uint64_t next_ = 0;
};

}  // namespace maniple::sim
