#include "test/oracle/loop/reservation_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace maniple {

void ReservationWorld::Queue(const std::string& name, int64_t gpus, const std::string& cohort,
                             QueueOrdering ordering, WithinQueuePreemption within,
                             std::optional<int64_t> lends) {
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

void ReservationWorld::Submit(const Job& job) {
  d.Submit({.gang = job.name,
            .pods = job.pods,
            .gpu = job.gpu,
            .queue = job.queue,
            .priority = job.priority,
            .expected_runtime = job.says});
  jobs_[job.name] = {.job = job, .submitted = d.now};
}

void ReservationWorld::Play(absl::Duration time) {
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

void ReservationWorld::DeleteEnded() {
  for (auto& [name, told] : jobs_) {
    if (told.ended.has_value() && !told.deleted) Delete(name, told);
  }
}

void ReservationWorld::Withdraw(const std::string& name) {
  Told& told = jobs_.at(name);
  if (told.started.has_value() || told.deleted) return;
  Delete(name, told);
}

bool ReservationWorld::Busy() const {
  return std::ranges::any_of(jobs_, [](const auto& job) {
    const Told& told = job.second;
    return told.can_start && !told.deleted && !told.ended.has_value() && !told.evicted;
  });
}

absl::Time ReservationWorld::EndOf(const Told& told) {
  if (!told.started.has_value() || told.ended.has_value() || told.evicted) {
    return absl::InfiniteFuture();
  }
  const std::optional<absl::Duration> takes =
      told.job.takes.has_value() ? told.job.takes : told.job.says;
  return takes.has_value() ? *told.started + *takes : absl::InfiniteFuture();
}

int64_t ReservationWorld::MinuteOf(const std::string& name) const {
  const std::optional<absl::Time> start = StartOf(name);
  return start.has_value() ? absl::ToInt64Minutes(*start - begin_) : -1;
}

std::optional<absl::Time> ReservationWorld::PlannedStartOf(const std::string& name) {
  const std::optional<PlannedStartView>& start = d.ViewOf(name)->planned_start;
  return start.has_value() ? std::optional(start->at) : std::nullopt;
}

void ReservationWorld::Delete(const std::string& name, Told& told) {
  told.deleted = true;
  for (int i = 0; i < told.job.pods; ++i) {
    d.api.Delete(ResourceKind::kPod, absl::StrCat(name, "-", i));
  }
  d.api.Delete(ResourceKind::kPodGroup, name);
}

void ReservationWorld::Rest() {
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

bool ReservationWorld::WouldBorrow(const Told& told) const {
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

void ReservationWorld::NoteStarts() {
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

void ReservationWorld::NotePromise(const PlannedStartView& start, Told& told) {
  if (told.first_promise.has_value()) return;
  if (!told.first_estimate.has_value()) told.promised = d.now;
  if (start.estimated) {
    if (!told.first_estimate.has_value()) told.first_estimate = start.at;
    return;
  }
  told.first_promise = start.at;
  told.would_borrow = WouldBorrow(told);
}

}  // namespace maniple
