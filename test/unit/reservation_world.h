// A cluster whose jobs end by themselves, for tests of reservation and backfill on the real loop.
//
//   ReservationWorld world(4);                                    // n1 … n4 of 8 GPUs
//   world.Queue("q", 32);                                         // GPUs
//   world.Submit({.name = "a", .pods = 2, .queue = "q", .says = absl::Hours(1)});
//   world.Play(absl::Minutes(30));  // stops at every end and every deadline
//   EXPECT_EQ(world.StartOf("a"), world.begin());
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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
             std::optional<int64_t> lends = std::nullopt) {
    maniple::Queue queue;
    queue.meta.name = name;
    queue.meta.uid = absl::StrCat("uid-", name);
    queue.meta.generation = ++generation_;
    queue.cohort = cohort;
    queue.ordering = ordering;
    queue.within_queue = within;
    queue.quotas = {
        {.flavor = "", .resources = {{.resource = "nvidia.com/gpu", .nominal = Amount(gpus)}}}};
    if (lends.has_value()) queue.quotas[0].resources[0].lending_limit = Amount(*lends);
    d.api.Put(queue);
    nominal_[name] = gpus;
  }

  void Submit(const Job& job) {
    d.Submit({.gang = job.name,
              .pods = job.pods,
              .gpu = job.gpu,
              .queue = job.queue,
              .priority = job.priority,
              .expected_runtime = job.says});
    jobs_[job.name] = {.job = job, .submitted = d.now};
  }

  void Play(absl::Duration time) {
    const absl::Time until = d.now + time;
    while (true) {
      Rest();
      if (d.now >= until || testing::Test::HasFailure()) return;
      absl::Time next = until;
      if (d.next() > d.now) next = std::min(next, d.next());
      for (const auto& [name, told] : jobs_) next = std::min(next, EndOf(told));
      d.now = std::max(next, d.now);
    }
  }

  // As their owners would: deletes what has ended.
  void DeleteEnded() {
    for (auto& [name, told] : jobs_) {
      if (told.ended.has_value() && !told.deleted) Delete(name, told);
    }
  }
  // Its owner gives up waiting; nothing if it has started.
  void Withdraw(const std::string& name) {
    Told& told = jobs_.at(name);
    if (told.started.has_value() || told.deleted) return;
    Delete(name, told);
  }
  // Somebody runs, or waits who may start some day.
  [[nodiscard]] bool Busy() const {
    return std::ranges::any_of(jobs_, [](const auto& job) {
      const Told& told = job.second;
      return told.can_start && !told.deleted && !told.ended.has_value() && !told.evicted;
    });
  }
  // When the job ends by itself; never, before it has started.
  static absl::Time EndOf(const Told& told) {
    if (!told.started.has_value() || told.ended.has_value() || told.evicted) {
      return absl::InfiniteFuture();
    }
    const std::optional<absl::Duration> takes =
        told.job.takes.has_value() ? told.job.takes : told.job.says;
    return takes.has_value() ? *told.started + *takes : absl::InfiniteFuture();
  }

  [[nodiscard]] absl::Time begin() const { return begin_; }
  [[nodiscard]] const std::map<std::string, Told>& jobs() const { return jobs_; }
  [[nodiscard]] std::optional<absl::Time> StartOf(const std::string& name) const {
    return jobs_.at(name).started;
  }
  // Since the beginning; -1: not (yet).
  [[nodiscard]] int64_t MinuteOf(const std::string& name) const {
    const std::optional<absl::Time> start = StartOf(name);
    return start.has_value() ? absl::ToInt64Minutes(*start - begin_) : -1;
  }
  [[nodiscard]] std::string ReasonOf(const std::string& name) { return d.ViewOf(name)->reason; }
  [[nodiscard]] std::optional<absl::Time> PlannedStartOf(const std::string& name) {
    const std::optional<PlannedStartView>& start = d.ViewOf(name)->planned_start;
    return start.has_value() ? std::optional(start->at) : std::nullopt;
  }

 private:
  void Delete(const std::string& name, Told& told) {
    told.deleted = true;
    for (int i = 0; i < told.job.pods; ++i) {
      d.api.Delete(ResourceKind::kPod, absl::StrCat(name, "-", i));
    }
    d.api.Delete(ResourceKind::kPodGroup, name);
  }

  // Ends what is due, until nothing moves at this moment.
  void Rest() {
    while (true) {
      d.Settle();
      NoteStarts();
      at_rest();
      bool ended = false;
      for (auto& [name, told] : jobs_) {
        if (EndOf(told) > d.now) continue;
        for (int i = 0; i < told.job.pods; ++i) {
          d.api.SetPhase(absl::StrCat(name, "-", i), PodPhase::kSucceeded);
        }
        told.ended = d.now;
        ended = true;
      }
      if (!ended) return;
    }
  }

  [[nodiscard]] bool WouldBorrow(const Told& told) const {
    const auto own = nominal_.find(told.job.queue);
    if (own == nominal_.end()) return false;
    int64_t used = told.job.pods * told.job.gpu;
    for (const auto& [name, other] : jobs_) {
      const bool runs = other.started.has_value() && !other.ended.has_value() && !other.evicted;
      if (!runs || other.job.queue != told.job.queue) continue;
      if (EndOf(other) > *told.first_promise) used += other.job.pods * other.job.gpu;
    }
    return used > own->second;
  }

  void NoteStarts() {
    const ClusterViewPtr view = d.loop().View(d.now);
    for (const GangView& gang : view->gangs) {
      const auto it = jobs_.find(gang.name);
      if (it == jobs_.end()) continue;
      Told& told = it->second;
      if (gang.reason == "NeverFits" || gang.reason == "ExceedsMaxQuota") told.can_start = false;
      if (told.ended.has_value() || told.evicted) continue;
      const int bound = d.Bound(gang.name);
      if (!told.started.has_value()) {
        if (bound == told.job.pods) told.started = d.now;
      } else if (bound < told.job.pods) {
        told.evicted = true;
      }
    }
    for (const GangView& gang : view->gangs) {
      const auto it = jobs_.find(gang.name);
      if (it == jobs_.end() || !gang.planned_start.has_value()) continue;
      NotePromise(*gang.planned_start, it->second);
    }
  }

  void NotePromise(const PlannedStartView& start, Told& told) {
    if (told.first_promise.has_value()) return;
    if (!told.first_estimate.has_value()) told.promised = d.now;
    if (start.estimated) {
      if (!told.first_estimate.has_value()) told.first_estimate = start.at;
      return;
    }
    told.first_promise = start.at;
    told.would_borrow = WouldBorrow(told);
  }

  absl::Time begin_;
  std::map<std::string, Told> jobs_;
  std::map<std::string, int64_t> nominal_;
  int64_t generation_ = 0;
};

}  // namespace maniple
