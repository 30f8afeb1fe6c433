// Reservation and backfill over random workloads on the real loop, with jobs that end by
// themselves.
//
// With exact run times: no holder that keeps within nominal quota starts later than it was told
// first. The fears: a gang let into held room stands in the holder's way, quota is lent that does
// not come back in time, a plan made anew is worse than the one before. With wrong run times the
// damage is bounded: a hold ends in time, whoever outstays leaves, and nothing is decided that
// recomputing would not decide.
//
// MANIPLE_RESERVATION_WORKLOADS=5000 is the full size; MANIPLE_RESERVATION_FIRST=N begins with seed
// N.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/random.h"
#include "test/oracle/loop/reservation_world.h"
#include "test/support/worlds.h"

namespace maniple::loop_reservation_oracle_test {
namespace {

constexpr int kDefaultWorkloads = 20;
constexpr int64_t kLongestRunMinutes = 90;

enum class RunTimes : uint8_t { kExact, kWrong };

class Workload final {
 public:
  Workload(uint64_t seed, RunTimes run_times)
      : random_(seed),
        run_times_(run_times),
        nodes_(3 + static_cast<int>(random_.Below(4))),
        world_(nodes_) {
    queues_ = static_cast<int>(random_.Below(4));
    const bool cohort = random_.OneIn(2);
    for (int q = 0; q < queues_; ++q) {
      const QueueOrdering orderings[] = {QueueOrdering::kBestEffortFifo, QueueOrdering::kStrictFifo,
                                         QueueOrdering::kBackfill};
      // Each may have room for all, or less than there is of it.
      const int64_t share = 8 * static_cast<int64_t>(1 + random_.Below(nodes_));
      world_.Queue(QueueName(q), share, cohort && !random_.OneIn(3) ? "all" : "",
                   orderings[random_.Below(3)]);
    }
  }

  void Play() {
    for (int step = 0; step < 60 && !testing::Test::HasFailure(); ++step) {
      const uint64_t submits = random_.Below(3);
      for (uint64_t i = 0; i < submits; ++i) Submit();
      world_.Play(absl::Minutes(static_cast<int64_t>(random_.Below(20))));
      world_.DeleteEnded();
    }
    for (int hour = 0; hour < 40 && world_.Busy() && !testing::Test::HasFailure(); ++hour) {
      world_.Play(absl::Hours(1));
      world_.DeleteEnded();
    }
  }

  [[nodiscard]] ReservationWorld& world() { return world_; }
  [[nodiscard]] std::string History() const {
    return absl::StrCat(absl::StrJoin(told_, "\n"), "\nlog:\n",
                        absl::StrJoin(world_.d.log(), "\n"));
  }

 private:
  [[nodiscard]] std::string QueueName(int queue) const { return absl::StrCat("q", queue); }

  void Submit() {
    const auto minutes = [this] {
      return absl::Minutes(static_cast<int64_t>(1 + random_.Below(kLongestRunMinutes)));
    };
    const int64_t gpus[] = {2, 4, 8};
    ReservationWorld::Job job{
        .name = absl::StrCat("g", 100 + told_.size()),
        .pods = static_cast<int>(1 + random_.Below(random_.OneIn(3) ? nodes_ : 2)),
        .gpu = gpus[random_.Below(3)],
        .says = minutes()};
    if (queues_ > 0) job.queue = QueueName(static_cast<int>(random_.Below(queues_)));
    if (run_times_ == RunTimes::kWrong) {
      job.takes = random_.OneIn(3) ? *job.says : minutes();
      if (random_.OneIn(4)) job.says.reset();
    }
    told_.push_back(
        absl::StrCat(absl::ToInt64Minutes(world_.d.now - world_.begin()), ": ", job.name, " ",
                     job.pods, "x", job.gpu, " in ", job.queue, " says ",
                     job.says.has_value() ? absl::FormatDuration(*job.says) : "nothing"));
    world_.Submit(job);
  }

  Random random_;
  const RunTimes run_times_;
  const int nodes_;
  ReservationWorld world_;
  int queues_ = 0;
  std::vector<std::string> told_;
};

struct Tally {
  int64_t promised = 0, guests = 0, evicted = 0, started = 0;
};

void PlayAll(RunTimes run_times, Tally& tally,
             const std::function<void(const ReservationWorld::Told&)>& check) {
  const auto workloads =
      static_cast<int>(Worlds("MANIPLE_RESERVATION_WORKLOADS", kDefaultWorkloads));
  const auto first = static_cast<int>(Setting("MANIPLE_RESERVATION_FIRST", 1));
  for (int seed = first; seed < first + workloads; ++seed) {
    Workload workload(static_cast<uint64_t>(seed), run_times);
    workload.Play();
    for (const auto& [name, told] : workload.world().jobs()) {
      tally.promised += told.first_promise.has_value() ? 1 : 0;
      tally.evicted += told.evicted ? 1 : 0;
      tally.started += told.started.has_value() ? 1 : 0;
      check(told);
    }
    tally.guests += workload.world().d.loop().counters().backfills;
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed << "\n" << workload.History();
      return;
    }
  }
}

std::string At(const ReservationWorld::Told& told, absl::Time time) {
  return absl::StrCat(absl::ToInt64Minutes(time - told.submitted), " min after it was submitted");
}

TEST(ReservationOracle, WithExactRunTimesNobodyStartsLaterThanToldFirst) {
  Tally tally;
  int64_t judged = 0;
  PlayAll(RunTimes::kExact, tally, [&judged](const ReservationWorld::Told& told) {
    if (!told.first_promise.has_value() || told.would_borrow) return;
    ++judged;
    if (!told.started.has_value()) {
      ADD_FAILURE() << told.job.name << " never started";
    } else if (*told.started > *told.first_promise) {
      ADD_FAILURE() << told.job.name << " started " << At(told, *told.started)
                    << " and was told to start " << At(told, *told.first_promise);
    }
    EXPECT_FALSE(told.evicted) << told.job.name;
  });
  EXPECT_GT(tally.promised, 20);
  EXPECT_GT(judged, 10);
  EXPECT_GT(tally.guests, 5);
  EXPECT_EQ(tally.evicted, 0);
  testing::Test::RecordProperty("promises", static_cast<int>(tally.promised));
  testing::Test::RecordProperty("guests", static_cast<int>(tally.guests));
}

// How much later than told first gangs have started.
class Damage final {
 public:
  void Add(const ReservationWorld::Told& told, absl::Time first) {
    if (told.started.has_value()) late_.push_back(*told.started - first);
  }
  [[nodiscard]] absl::Duration Worst() const {
    return late_.empty() ? absl::ZeroDuration() : *std::ranges::max_element(late_);
  }
  [[nodiscard]] size_t heads() const { return late_.size(); }
  // Percentiles of those who were late at all.
  void Print(absl::string_view whom) {
    std::ranges::sort(late_);
    const auto first_late = std::ranges::upper_bound(late_, absl::ZeroDuration());
    const auto count = static_cast<size_t>(late_.end() - first_late);
    const auto at = [&](int percent) {
      const size_t rank = std::min(count * percent / 100, count - 1);
      return count == 0 ? "-" : absl::FormatDuration(first_late[static_cast<ptrdiff_t>(rank)]);
    };
    std::cout << absl::StrCat(whom, ": ", late_.size(), " heads, ", count,
                              " later than told first; of these by ", at(50), " at the median, ",
                              at(99), " at p99, ", at(100), " at worst\n");
  }

 private:
  std::vector<absl::Duration> late_;
};

// A hold outlives its planned start by at most as long as that
// lay ahead, or its patience; then somebody else's jobs may come first, and it is made anew. Hence
// the damage is counted in generations of jobs, and so many of them is what it is held to.
constexpr int kMostGenerations = 6;

// Everybody starts once all that runs has ended, only guests that outstayed are ever sent away, and
// who keeps within nominal quota is late by the bound at most.
TEST(ReservationOracle, WithWrongRunTimesEverybodyStartsAndOnlyOverstayersLeave) {
  Tally tally;
  Damage within, borrowing, estimated;
  PlayAll(RunTimes::kWrong, tally, [&](const ReservationWorld::Told& told) {
    EXPECT_TRUE(!told.can_start || told.started.has_value()) << told.job.name;
    if (told.first_promise.has_value()) {
      (told.would_borrow ? borrowing : within).Add(told, *told.first_promise);
    } else if (told.first_estimate.has_value()) {
      estimated.Add(told, *told.first_estimate);
    }
    if (!told.evicted) return;
    EXPECT_TRUE(told.job.says.has_value()) << told.job.name;
    EXPECT_GT(*told.job.takes, *told.job.says) << told.job.name;
  });
  EXPECT_GT(tally.guests, 5);
  within.Print("within nominal quota, by what others said");
  borrowing.Print("who would borrow, by what others said");
  estimated.Print("told by estimates");
  const absl::Duration bound = kMostGenerations * absl::Minutes(kLongestRunMinutes);
  std::cout << absl::StrCat("bound within nominal quota: ", absl::FormatDuration(bound), "; ",
                            tally.guests, " guests, ", tally.evicted, " sent away\n");
  EXPECT_LE(within.Worst(), bound);
  EXPECT_GT(within.heads(), 10u);
  EXPECT_GT(tally.evicted, 0) << "nobody outstayed";
  testing::Test::RecordProperty("guests", static_cast<int>(tally.guests));
  testing::Test::RecordProperty("sent_away", static_cast<int>(tally.evicted));
}

}  // namespace
}  // namespace maniple::loop_reservation_oracle_test
