// No starvation within nominal quota: a large gang against an endless stream of small ones starts
// within the time to its reservation and the longest run time of what is in its way, whatever the
// sizes, for every ordering, with fair sharing and without.
//
// The fears: small gangs of its own Queue pass it again and again; those of another Queue borrow
// its quota, or take the room, whenever some comes free; it is held room that never comes together.
// MANIPLE_STARVATION_STREAMS=N plays N streams of each kind instead of a few.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/oracle/loop/reservation_world.h"
#include "test/support/worlds.h"

namespace maniple {
namespace {

constexpr int kDefaultStreams = 3;
// Until what has ended is known to have.
constexpr absl::Duration kSlack = absl::Minutes(1);

enum class From : uint8_t { kItsQueue, kABorrower };
enum class Ends : uint8_t { kTold, kUntold };

struct Kind {
  QueueOrdering ordering;
  FairSharing fair_sharing;
  From from;
  Ends ends;
};

class Stream final {
 public:
  Stream(const Kind& kind, uint64_t seed, const LoopDriver::Settings& settings)
      : kind_(kind),
        patience_(settings.reservation_after),
        random_(seed),
        nodes_(2 + static_cast<int>(random_.Below(5))),
        world_(nodes_ + (random_.OneIn(3) ? 6 : 0), settings) {
    const int64_t gpus[] = {4, 8};
    big_.gpu = gpus[random_.Below(2)];
    const int64_t room = nodes_ * 8 / big_.gpu;
    big_.pods = static_cast<int>(2 + random_.Below(static_cast<uint64_t>(room) - 1));
    longest_ = absl::Minutes(static_cast<int64_t>(5 + random_.Below(60)));
    // Where its own Queue streams, the quota is short, or the nodes.
    world_.Queue("q", nodes_ * int64_t{8}, "all", kind.ordering);
    world_.Queue("borrows", 0, "all",
                 random_.OneIn(2) ? QueueOrdering::kBestEffortFifo : QueueOrdering::kBackfill);
  }

  // How long the big one has waited; none: it waits still, long after it ought to have started.
  std::optional<absl::Duration> Wait() {
    Flow(world_.d.now + longest_);
    big_.name = "big";
    big_.queue = "q";
    big_.says = absl::Hours(1);
    world_.Submit(big_);
    const absl::Time submitted = world_.d.now;
    Flow(submitted + Bound() + absl::Minutes(5));
    const std::optional<absl::Time> start = world_.StartOf("big");
    return start.has_value() ? std::optional(*start - submitted) : std::nullopt;
  }

  [[nodiscard]] absl::Duration Bound() const {
    const bool at_once = kind_.ordering == QueueOrdering::kBackfill;
    return (at_once ? absl::ZeroDuration() : patience_) + longest_ + kSlack;
  }
  [[nodiscard]] std::string Text() const {
    return absl::StrCat(big_.pods, " x ", big_.gpu, " on ", nodes_, " nodes, runs of up to ",
                        absl::FormatDuration(longest_));
  }

 private:
  // Never so many before it that they wait for each other: who is before it in its Queue goes
  // first. Afterwards always more than there is room for.
  void Flow(absl::Time until) {
    while (world_.d.now < until && !testing::Test::HasFailure()) {
      const bool before = !world_.jobs().contains("big");
      for (int waiting = Waiting(); waiting < (before ? 1 : 4); ++waiting) Submit();
      world_.Play(absl::Minutes(static_cast<int64_t>(1 + random_.Below(3))));
      world_.DeleteEnded();
      if (!before && world_.StartOf("big").has_value()) return;
    }
    if (!world_.jobs().contains("big")) WithdrawWaiting();
  }

  [[nodiscard]] int Waiting() const {
    return static_cast<int>(std::ranges::count_if(world_.jobs(), [](const auto& job) {
      return job.first != "big" && !job.second.started.has_value() && !job.second.deleted;
    }));
  }
  void WithdrawWaiting() {
    for (const std::string& name : submitted_) world_.Withdraw(name);
  }
  void Submit() {
    const int64_t sizes[] = {1, 2, 4, 8};
    const auto most = static_cast<uint64_t>(absl::ToInt64Minutes(longest_));
    const absl::Duration takes = absl::Minutes(static_cast<int64_t>(1 + random_.Below(most)));
    submitted_.push_back(absl::StrCat("s", submitted_.size()));
    world_.Submit({.name = submitted_.back(),
                   .gpu = sizes[random_.Below(4)],
                   .queue = kind_.from == From::kItsQueue ? "q" : "borrows",
                   .says = kind_.ends == Ends::kTold ? std::optional(takes) : std::nullopt,
                   .takes = takes});
  }

  const Kind kind_;
  const absl::Duration patience_;
  Random random_;
  const int nodes_;
  ReservationWorld world_;
  ReservationWorld::Job big_;
  absl::Duration longest_;
  std::vector<std::string> submitted_;
};

int Streams() { return static_cast<int>(Worlds("MANIPLE_STARVATION_STREAMS", kDefaultStreams)); }

struct Outcome {
  int late = 0, waited = 0;  // waited: it did not start at once
};

Outcome PlayStreams(const Kind& kind) {
  const LoopDriver::Settings settings{.fair_sharing = kind.fair_sharing};
  Outcome outcome;
  for (int seed = 1; seed <= Streams() && !testing::Test::HasFailure(); ++seed) {
    Stream stream(kind, static_cast<uint64_t>(seed), settings);
    const std::optional<absl::Duration> wait = stream.Wait();
    if (!wait.has_value() || *wait > absl::Minutes(2)) ++outcome.waited;
    if (wait.has_value() && *wait <= stream.Bound()) continue;
    ++outcome.late;
    std::cout << absl::StrCat("stream ", seed, ": ", stream.Text(), ", bound ",
                              absl::FormatDuration(stream.Bound()), ", waited ",
                              wait.has_value() ? absl::FormatDuration(*wait) : "for ever", "\n");
  }
  return outcome;
}

class NoStarvationInStreams : public ::testing::TestWithParam<Kind> {};

TEST_P(NoStarvationInStreams, ALargeGangStartsWithinTheTimeToItsReservationAndTheLongestRun) {
  const Outcome outcome = PlayStreams(GetParam());
  EXPECT_EQ(outcome.late, 0);
  EXPECT_GT(outcome.waited, 0) << "nothing was in its way";
}

std::vector<Kind> Kinds() {
  std::vector<Kind> kinds;
  for (const QueueOrdering ordering :
       {QueueOrdering::kBestEffortFifo, QueueOrdering::kStrictFifo, QueueOrdering::kBackfill}) {
    for (const FairSharing fair : {FairSharing::kOn, FairSharing::kOff}) {
      for (const From from : {From::kItsQueue, From::kABorrower}) {
        for (const Ends ends : {Ends::kTold, Ends::kUntold}) {
          kinds.push_back({ordering, fair, from, ends});
        }
      }
    }
  }
  return kinds;
}

std::string KindName(const testing::TestParamInfo<Kind>& info) {
  const Kind& kind = info.param;
  const char* ordering = kind.ordering == QueueOrdering::kBestEffortFifo ? "BestEffortFifo"
                         : kind.ordering == QueueOrdering::kStrictFifo   ? "StrictFifo"
                                                                         : "Backfill";
  return absl::StrCat(ordering, kind.fair_sharing == FairSharing::kOn ? "Fair" : "Unfair",
                      kind.from == From::kItsQueue ? "AgainstItsQueue" : "AgainstABorrower",
                      kind.ends == Ends::kTold ? "WithEndsTold" : "WithEndsUntold");
}

INSTANTIATE_TEST_SUITE_P(Streams, NoStarvationInStreams, testing::ValuesIn(Kinds()), KindName);

// Such streams once made a holder late: where it has ends to guess, another node promised more
// every time, and somebody else took the one that it let go.
TEST(HoldersInStreams, DoNotFollowEstimatesToWhoBeganAfterThem) {
  const std::pair<uint64_t, From> streams[] = {{10, From::kItsQueue}, {51, From::kABorrower}};
  for (const auto& [seed, from] : streams) {
    Stream stream({QueueOrdering::kBestEffortFifo, FairSharing::kOn, from, Ends::kUntold}, seed,
                  {});
    const std::optional<absl::Duration> wait = stream.Wait();
    ASSERT_TRUE(wait.has_value());
    EXPECT_LE(*wait, stream.Bound()) << stream.Text();
  }
}

// What the promise above is worth: without a reservation it does not hold.
TEST(WithoutReservations, ALargeGangStarves) {
  const LoopDriver::Settings settings{.reservation_after = absl::Hours(3)};
  Kind kind{QueueOrdering::kBestEffortFifo, FairSharing::kOn, From::kItsQueue, Ends::kTold};
  for (const From from : {From::kItsQueue, From::kABorrower}) {
    kind.from = from;
    int starved = 0;
    for (uint64_t seed = 1; seed <= 2; ++seed) {
      Stream stream(kind, seed, settings);
      const std::optional<absl::Duration> wait = stream.Wait();
      const absl::Duration bound = stream.Bound() - settings.reservation_after + absl::Minutes(10);
      if (!wait.has_value() || *wait > bound) ++starved;
    }
    EXPECT_GT(starved, 0);
  }
}

}  // namespace
}  // namespace maniple
