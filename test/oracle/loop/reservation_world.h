// A cluster whose jobs end by themselves, for tests of reservation and backfill on the real loop.
//
//   ReservationWorld world(4);                                    // n1 … n4 of 8 GPUs
//   world.Queue("q", 32);                                         // GPUs
//   world.Submit({.name = "a", .pods = 2, .queue = "q", .says = absl::Hours(1)});
//   world.Play(absl::Minutes(30));  // stops at every end and every deadline
//   EXPECT_EQ(world.StartOf("a"), world.begin());
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "test/support/loop_driver.h"

namespace maniple {

class ReservationWorld final {
 public:
  explicit ReservationWorld(int nodes, const LoopDriver::Settings& settings = {})
      : d(settings), begin_(d.now) {
    d.Nodes(nodes, 8);
  }

  struct Job {
    std::string name;
    int pods = 1;
    int64_t gpu = 8;
    std::string queue = {};
    int32_t priority = 0;
    std::optional<absl::Duration> says = {};   // its expected run time
    std::optional<absl::Duration> takes = {};  // its real one; none: what it says, else for ever
  };
  struct Told {
    Job job;
    absl::Time submitted;
    std::optional<absl::Time> started, ended;
    bool evicted = false, deleted = false;
    bool can_start = true;      // on an empty cluster, within its quota at the most
    bool would_borrow = false;  // more than its Queue's own, beside what still runs there then
    std::optional<absl::Time> first_promise;   // the first start that was told, if known
    std::optional<absl::Time> first_estimate;  // the same, if only estimated, and told before
    absl::Time promised;                       // when either was told first
  };

  LoopDriver d;
  // Called at rest, at every moment that something ends or begins.
  std::function<void()> at_rest = [] {};

  void Queue(const std::string& name, int64_t gpus, const std::string& cohort = "",
             QueueOrdering ordering = QueueOrdering::kBestEffortFifo,
             WithinQueuePreemption within = WithinQueuePreemption::kNever,
             std::optional<int64_t> lends = std::nullopt);

  void Submit(const Job& job);

  void Play(absl::Duration time);

  // As their owners would: deletes what has ended.
  void DeleteEnded();
  // Its owner gives up waiting; nothing if it has started.
  void Withdraw(const std::string& name);
  // Somebody runs, or waits who may start some day.
  [[nodiscard]] bool Busy() const;
  // When the job ends by itself; never, before it has started.
  static absl::Time EndOf(const Told& told);

  [[nodiscard]] absl::Time begin() const { return begin_; }
  [[nodiscard]] const std::map<std::string, Told>& jobs() const { return jobs_; }
  [[nodiscard]] std::optional<absl::Time> StartOf(const std::string& name) const {
    return jobs_.at(name).started;
  }
  // Since the beginning; -1: not (yet).
  [[nodiscard]] int64_t MinuteOf(const std::string& name) const;
  [[nodiscard]] std::string ReasonOf(const std::string& name) { return d.ViewOf(name)->reason; }
  [[nodiscard]] std::optional<absl::Time> PlannedStartOf(const std::string& name);

 private:
  void Delete(const std::string& name, Told& told);

  // Ends what is due, until nothing moves at this moment.
  void Rest();

  [[nodiscard]] bool WouldBorrow(const Told& told) const;

  void NoteStarts();

  void NotePromise(const PlannedStartView& start, Told& told);

  absl::Time begin_;
  std::map<std::string, Told> jobs_;
  std::map<std::string, int64_t> nominal_;
  int64_t generation_ = 0;
};

}  // namespace maniple
