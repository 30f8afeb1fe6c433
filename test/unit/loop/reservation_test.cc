// Reservation and backfill as users meet them. The fears: a large gang waits for ever behind small
// ones; a hold idles what others could use, lets in who delays the holder, or stays for good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/oracle/loop/reservation_world.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kAfter = absl::Minutes(10);  // LoopOptions::reservation_after

// Two nodes, one of them busy for an hour and one for half; "big" wants both.
class HeldRoom : public ::testing::Test {
 protected:
  explicit HeldRoom(QueueOrdering ordering = QueueOrdering::kBestEffortFifo) : w_(2) {
    w_.Queue("q", 1000, "", ordering);
    w_.Submit({.name = "long", .queue = "q", .says = absl::Hours(1)});
    w_.Submit({.name = "half", .queue = "q", .says = absl::Minutes(30)});
    w_.Play(absl::ZeroDuration());
    w_.Submit({.name = "big", .pods = 2, .queue = "q", .says = absl::Hours(1)});
    w_.Play(absl::Minutes(1));
  }
  ReservationWorld w_;
};

TEST_F(HeldRoom, IsHeldFromTheTimeThatIsConfiguredAndNotBefore) {
  EXPECT_EQ(w_.PlannedStartOf("big"), std::nullopt);
  w_.Play(kAfter - absl::Minutes(2));
  EXPECT_EQ(w_.PlannedStartOf("big"), std::nullopt);
  w_.Play(absl::Minutes(2));
  EXPECT_EQ(w_.PlannedStartOf("big"), w_.begin() + absl::Hours(1));
  EXPECT_THAT(w_.d.ViewOf("big")->message, HasSubstr("2023-11-14 23:13:20 UTC"));
}

TEST_F(HeldRoom, LetsNobodyInWhoWouldBeInTheWay) {
  w_.Play(kAfter);
  w_.Submit({.name = "too-long", .queue = "q", .says = absl::Hours(2)});
  w_.Submit({.name = "says-nothing", .queue = "q", .takes = absl::Minutes(1)});
  w_.Play(absl::Minutes(40));
  for (const char* gang : {"too-long", "says-nothing"}) {
    EXPECT_EQ(w_.ReasonOf(gang), "HeldByReservation") << gang;
    EXPECT_EQ(w_.d.ViewOf(gang)->stage, "hold");
    EXPECT_THAT(w_.d.ViewOf(gang)->message, HasSubstr("held for default/big"));
  }
  w_.Play(absl::Hours(3));
  EXPECT_EQ(w_.MinuteOf("big"), 60);
  EXPECT_EQ(w_.MinuteOf("too-long"), 120);
}

TEST_F(HeldRoom, LetsInWhoEndsBeforeTheHolderStarts) {
  w_.Play(kAfter);
  w_.Submit({.name = "short", .queue = "q", .says = absl::Minutes(30)});
  w_.Submit({.name = "then", .queue = "q", .says = absl::Minutes(1)});
  w_.Play(absl::Hours(3));
  EXPECT_EQ(w_.MinuteOf("short"), 30);
  EXPECT_EQ(w_.MinuteOf("big"), 60);
  EXPECT_EQ(w_.MinuteOf("then"), 120) << "there was no room beside short";
}

TEST_F(HeldRoom, LetsInWhosePodsMayNotRunForLonger) {
  w_.Play(kAfter);
  w_.d.Submit({.gang = "limited", .pods = 1, .queue = "q", .deadline = absl::Minutes(20)});
  w_.Play(absl::Minutes(25));
  EXPECT_EQ(w_.d.Bound("limited"), 1);
  EXPECT_EQ(w_.PlannedStartOf("big"), w_.begin() + absl::Hours(1));
}

TEST_F(HeldRoom, DoesNotKeepAnybodyFromOtherRoom) {
  w_.Play(kAfter);
  w_.d.Nodes(1, 4, "other");
  w_.Submit({.name = "for-ever", .gpu = 4, .queue = "q"});
  w_.Play(absl::Minutes(1));
  EXPECT_EQ(w_.d.NodeOf("for-ever-0"), "other1");
}

TEST_F(HeldRoom, IsGivenBackWhenTheHolderIsDeleted) {
  w_.Play(kAfter);
  w_.Submit({.name = "too-long", .queue = "q", .says = absl::Hours(2)});
  w_.Play(absl::Minutes(25));
  EXPECT_EQ(w_.MinuteOf("too-long"), -1);
  w_.d.api.Delete(ResourceKind::kPodGroup, "big");
  for (const char* pod : {"big-0", "big-1"}) w_.d.api.Delete(ResourceKind::kPod, pod);
  w_.Play(absl::Minutes(1));
  EXPECT_GE(w_.MinuteOf("too-long"), 0);
}

TEST_F(HeldRoom, IsGivenBackByAHolderThatGoesToAnotherQueueAndHeldAnewThere) {
  w_.Play(kAfter);
  w_.Queue("r", 1000);
  for (const char* queue : {"r", "unknown", ""}) {
    PodGroup group = *w_.d.api.FindGroup("big");
    group.spec.queue = queue;
    ++group.meta.generation;
    w_.d.api.Put(group);
    w_.Play(absl::Minutes(1));
    EXPECT_EQ(w_.PlannedStartOf("big"), std::nullopt) << queue;
    EXPECT_TRUE(w_.d.loop().CheckInvariants().ok()) << w_.d.loop().CheckInvariants();
  }
  w_.Play(kAfter);
  EXPECT_EQ(w_.PlannedStartOf("big"), w_.begin() + absl::Hours(1));
  w_.Play(absl::Hours(1));
  EXPECT_EQ(w_.MinuteOf("big"), 60);
}

TEST_F(HeldRoom, MovesWhenItsNodeGoes) {
  w_.d.Nodes(1, 8, "spare");
  w_.Submit({.name = "spare", .queue = "q", .says = absl::Minutes(100)});
  w_.Play(kAfter);
  EXPECT_EQ(w_.PlannedStartOf("big"), w_.begin() + absl::Hours(1));
  w_.d.api.Delete(ResourceKind::kNode, "n1", "");
  w_.Play(absl::Minutes(1));
  EXPECT_EQ(w_.PlannedStartOf("big"), w_.begin() + absl::Minutes(1) + absl::Minutes(100));
  EXPECT_EQ(w_.d.ViewOf("big")->planned_start->first_at, w_.begin() + absl::Hours(1));
  EXPECT_THAT(w_.d.ViewOf("big")->message, HasSubstr("first planned for 2023-11-14 23:13:20 UTC"));
}

TEST_F(HeldRoom, IsPlannedAnewByTheNextLeader) {
  w_.Play(kAfter);
  w_.d.Restart();
  w_.Play(absl::Minutes(1));
  EXPECT_EQ(w_.PlannedStartOf("big"), std::nullopt);
  w_.Play(kAfter);
  EXPECT_EQ(w_.PlannedStartOf("big"), w_.begin() + absl::Hours(1));
}

// It crashed: a member that had succeeded was made anew, and no status that says so was taken. The
// old one, taken for an earlier leader's word, made its quorum whole while it was planned for.
TEST(WaitingLine, WhoseStatusIsRefusedIsPlannedForAsItIs) {
  LoopDriver d;
  Topology topology;
  topology.meta.name = "default";
  topology.levels = {{.name = "rack", .node_label = "example.com/rack"}};
  d.Put(ObjectUpserted{topology});
  d.Put(MakeNode("n1").Gpu(8).Label("example.com/rack", "r1"));
  d.Submit({.gang = "long", .pods = 1, .expected_runtime = absl::Hours(1)});
  d.Settle();
  ASSERT_EQ(d.Bound("long"), 1);
  d.Put(MakePodGroup("again").MinMember(2).Required("rack"));
  for (int i = 0; i < 2; ++i) {
    d.Put(MakePod(absl::StrCat("again-", i))
              .Group("again")
              .Index(i)
              .Gpu(8)
              .On("n1")
              .Phase(PodPhase::kSucceeded));
  }
  d.Put(MakePod("again-2").Group("again").Index(2).Gpu(8));
  d.Settle();
  ASSERT_EQ(d.StatusOf("again").members.succeeded, 2);
  d.api.Break({.on = "podgroups/again/status", .times = -1, .code = 500});
  d.api.Delete(ResourceKind::kPod, "again-1");
  d.Settle();
  d.Put(MakePod("again-1").Uid("anew").Group("again").Index(1).Gpu(8));
  d.Settle(absl::Minutes(1));
  EXPECT_EQ(d.ViewOf("again")->stage, "nodes");
  d.Settle(kAfter);
  EXPECT_TRUE(d.ViewOf("again")->planned_start.has_value()) << d.ViewOf("again")->message;
}

TEST_F(HeldRoom, IsUsedAtOnceWhenOthersEndEarly) {
  w_.Play(kAfter);
  w_.d.api.SetPhase("long-0", PodPhase::kSucceeded);
  w_.d.api.SetPhase("half-0", PodPhase::kSucceeded);
  w_.Play(absl::ZeroDuration());
  EXPECT_EQ(w_.MinuteOf("big"), 11);
}

TEST_F(HeldRoom, GoesToTheNextAfterATime) {
  w_.Play(absl::Minutes(25));
  w_.Submit({.name = "next", .pods = 2, .queue = "q", .says = absl::Minutes(5)});
  // Said an hour, takes for ever.
  ReservationWorld world(1);
  world.Submit({.name = "liar", .says = absl::Minutes(20), .takes = absl::Hours(100)});
  world.Play(absl::ZeroDuration());
  world.Submit({.name = "first", .says = absl::Minutes(5)});
  world.Submit({.name = "second", .says = absl::Minutes(5)});
  world.Play(kAfter);
  EXPECT_TRUE(world.PlannedStartOf("first").has_value());
  EXPECT_FALSE(world.PlannedStartOf("second").has_value());
  world.Play(absl::Minutes(21));
  EXPECT_FALSE(world.PlannedStartOf("first").has_value());
  EXPECT_TRUE(world.PlannedStartOf("second").has_value());
}

class HeldRoomOfABackfillQueue : public HeldRoom {
 protected:
  HeldRoomOfABackfillQueue() : HeldRoom(QueueOrdering::kBackfill) {}
};

TEST_F(HeldRoomOfABackfillQueue, IsHeldAtOnce) {
  EXPECT_EQ(w_.PlannedStartOf("big"), w_.begin() + absl::Hours(1));
}

TEST_F(HeldRoomOfABackfillQueue, IsHeldBeforeTheNextIsDecided) {
  ReservationWorld world(2);
  world.Queue("q", 1000, "", QueueOrdering::kBackfill);
  world.Submit({.name = "a", .queue = "q", .says = absl::Hours(1)});
  world.Play(absl::ZeroDuration());
  world.Submit({.name = "b", .pods = 2, .queue = "q", .says = absl::Hours(1)});
  world.Submit({.name = "c", .queue = "q", .says = absl::Hours(2)});
  world.Submit({.name = "d", .queue = "q", .says = absl::Minutes(59)});
  world.Play(absl::Hours(5));
  EXPECT_EQ(world.MinuteOf("d"), 0);
  EXPECT_EQ(world.MinuteOf("b"), 60);
  EXPECT_EQ(world.MinuteOf("c"), 120);
}

// Nobody within nominal quota starves: small gangs come for ever, as many as find room.
void StreamOfSmallOnes(ReservationWorld& world, const std::string& queue, absl::Duration time,
                       int interval = 4) {
  int made = static_cast<int>(world.jobs().size());
  const absl::Time until = world.d.now + time;
  while (world.d.now < until && !testing::Test::HasFailure()) {
    world.Submit({.name = absl::StrCat("small-", made),
                  .queue = queue,
                  .says = absl::Minutes(20 + made % 3 * 5)});
    ++made;
    world.Play(absl::Minutes(interval));
  }
}

// How long "big" of queue "q" waits, which comes in the midst of a stream; for ever: it starved.
absl::Duration WaitBesideSmallOnes(ReservationWorld& world, const std::string& queue,
                                   int interval = 4) {
  StreamOfSmallOnes(world, queue, absl::Minutes(40), interval);
  world.Submit({.name = "big", .pods = 4, .queue = "q", .says = absl::Hours(1)});
  const absl::Time submitted = world.d.now;
  StreamOfSmallOnes(world, queue, absl::Hours(2), interval);
  const std::optional<absl::Time> start = world.StartOf("big");
  return start.has_value() ? *start - submitted : absl::InfiniteDuration();
}

TEST(NoStarvation, ALargeGangPassesAStreamOfSmallOnesOfItsQueue) {
  ReservationWorld world(4);
  world.Queue("q", 32);
  // Fewer than there is room for: those before it in its Queue are served first.
  EXPECT_LE(WaitBesideSmallOnes(world, "q", 7), kAfter + absl::Minutes(30));
}

TEST(NoStarvation, ALargeGangPassesAStreamOfSmallOnesThatBorrowItsQuota) {
  ReservationWorld world(4);
  world.Queue("q", 32, "all");
  world.Queue("borrows", 0, "all");
  EXPECT_LE(WaitBesideSmallOnes(world, "borrows"), kAfter + absl::Minutes(30));
}

TEST(NoStarvation, WhatIsHeldOfTheQuotaIsTold) {
  ReservationWorld world(4);
  world.Queue("q", 32);
  const auto usage = [&world] { return world.d.Figures()->queues.front().usage.front(); };
  world.Submit({.name = "runs", .pods = 3, .queue = "q", .says = absl::Hours(1)});
  world.Play(absl::Minutes(1));
  world.Submit({.name = "big", .pods = 4, .queue = "q", .says = absl::Hours(1)});
  world.Play(kAfter + absl::Minutes(5));
  EXPECT_EQ(usage().held, Amount(8));
  EXPECT_EQ(usage().used, Amount(32));
  world.Play(absl::Hours(1));
  ASSERT_TRUE(world.StartOf("big").has_value());
  EXPECT_EQ(usage().held, Amount());
}

// Room there is enough: it is the quota that the small ones would take, again and again.
TEST(NoStarvation, QuotaAloneIsHeldAsWell) {
  ReservationWorld world(20);
  world.Queue("q", 32, "all");
  world.Queue("borrows", 0, "all");
  EXPECT_LE(WaitBesideSmallOnes(world, "borrows"), kAfter + absl::Minutes(30));
}

TEST(NoStarvation, GangsWithoutAQueueHaveOneReservationTogether) {
  ReservationWorld world(4);
  StreamOfSmallOnes(world, "", absl::Minutes(40), 7);
  world.Submit({.name = "big", .pods = 4, .says = absl::Hours(1)});
  const absl::Time submitted = world.d.now;
  StreamOfSmallOnes(world, "", absl::Hours(2), 7);
  ASSERT_TRUE(world.StartOf("big").has_value());
  EXPECT_LE(*world.StartOf("big") - submitted, kAfter + absl::Minutes(30));
}

TEST(NoStarvation, RoomHeldForAGangWithoutAQueueStopsNobodyWithinNominal) {
  ReservationWorld world(2);
  world.Queue("red", 16, "all");
  world.Queue("blue", 0, "all");
  world.Submit({.name = "runs", .queue = "red", .says = absl::Hours(1)});
  world.Play(absl::ZeroDuration());
  world.Submit({.name = "holder", .pods = 2});
  world.Play(kAfter + absl::Minutes(1));
  ASSERT_TRUE(world.PlannedStartOf("holder").has_value());
  world.Submit({.name = "borrows", .queue = "blue"});
  world.Play(absl::Minutes(1));
  EXPECT_EQ(world.ReasonOf("borrows"), "HeldByReservation");
  world.Submit({.name = "own", .queue = "red"});
  world.Play(absl::Minutes(1));
  EXPECT_TRUE(world.StartOf("own").has_value());
  EXPECT_FALSE(world.StartOf("borrows").has_value());
}

TEST(NoStarvation, WhatIsNominalIsPlannedAsIfNothingWereHeldWithoutAQueue) {
  ReservationWorld world(2);
  world.Queue("red", 16);
  world.Submit({.name = "runs", .says = absl::Hours(2)});
  world.Play(absl::ZeroDuration());
  world.Submit({.name = "holder", .pods = 2});
  world.Play(kAfter + absl::Minutes(1));
  ASSERT_TRUE(world.PlannedStartOf("holder").has_value());
  world.Submit({.name = "own", .pods = 2, .queue = "red", .says = absl::Hours(1)});
  world.Play(kAfter + absl::Minutes(1));
  EXPECT_TRUE(world.PlannedStartOf("own").has_value());
  world.Play(absl::Hours(3));
  EXPECT_EQ(world.MinuteOf("own"), 120);
}

// A tree in debt lets nobody start, also not within what it keeps for itself.
TEST(HeldQuota, NeverPutsOthersInDebt) {
  ReservationWorld world(20);
  world.Queue("q", 16, "all");
  world.Queue("other", 16, "all");
  world.Queue("keeps", 8, "all", QueueOrdering::kBestEffortFifo, WithinQueuePreemption::kNever, 0);
  world.Submit({.name = "borrows", .pods = 3, .queue = "other", .says = absl::Hours(1)});
  world.Play(absl::ZeroDuration());
  world.Submit({.name = "big", .pods = 2, .queue = "q", .says = absl::Hours(1)});
  world.Play(kAfter + absl::Minutes(1));
  EXPECT_TRUE(world.PlannedStartOf("big").has_value());
  world.Submit({.name = "own", .queue = "keeps", .says = absl::Hours(9)});
  world.Play(absl::Minutes(1));
  EXPECT_GE(world.MinuteOf("own"), 0);
  world.Play(absl::Hours(1));
  EXPECT_EQ(world.MinuteOf("big"), 60);
}

TEST(HeldQuota, IsLentToWhoEndsInTimeAndTakenBackFirst) {
  ReservationWorld world(20);
  world.Queue("q", 16);
  world.Submit({.name = "first", .queue = "q", .says = absl::Hours(1)});
  world.Play(absl::ZeroDuration());
  world.Submit({.name = "big", .pods = 2, .queue = "q", .says = absl::Hours(1)});
  world.Play(kAfter + absl::Minutes(1));
  world.Submit({.name = "long", .queue = "q", .says = absl::Hours(9)});
  world.Play(absl::Minutes(1));
  EXPECT_EQ(world.ReasonOf("long"), "HeldByReservation");
  world.Submit({.name = "short", .queue = "q", .says = absl::Minutes(30)});
  world.Play(absl::Minutes(1));
  EXPECT_EQ(world.MinuteOf("short"), 12);
  EXPECT_EQ(world.ReasonOf("long"), "QuotaExceeded") << "as long as short uses the rest";
  world.Play(absl::Hours(1));
  EXPECT_EQ(world.MinuteOf("big"), 60);
  EXPECT_EQ(world.MinuteOf("long"), -1);
}

// With held room it would be let into "half", and stand in the holder's way there.
TEST(HeldQuota, IsLentToWhoFindsRoomThatNobodyHolds) {
  ReservationWorld world(1);
  world.Queue("q", 12);
  world.Submit({.name = "run", .pods = 2, .gpu = 4, .queue = "q", .says = absl::Hours(1)});
  world.Play(absl::ZeroDuration());
  world.d.Nodes(1, 6, "half");
  world.d.Nodes(1, 8, "spare");
  world.Submit({.name = "big", .gpu = 6, .queue = "q", .says = absl::Hours(1)});
  world.Play(kAfter + absl::Minutes(1));
  ASSERT_TRUE(world.PlannedStartOf("big").has_value());
  world.Submit({.name = "beside", .gpu = 4, .queue = "q", .says = absl::Hours(9)});
  world.Play(absl::Minutes(1));
  EXPECT_EQ(world.d.NodeOf("beside-0"), "spare1");
  world.Play(absl::Hours(1));
  EXPECT_EQ(world.MinuteOf("big"), 60);
  EXPECT_EQ(world.d.NodeOf("big-0"), "half1") << absl::StrJoin(world.d.log(), "\n");
}

TEST(Holders, ThatWouldBorrowGiveWayToWhoWouldNot) {
  ReservationWorld world(4);
  world.Queue("owns", 32, "all");
  world.Queue("borrows", 0, "all");
  world.Submit({.name = "run", .pods = 4, .queue = "borrows", .says = absl::Hours(1)});
  world.Play(absl::ZeroDuration());
  world.Submit({.name = "poor", .pods = 4, .queue = "borrows", .says = absl::Hours(1)});
  world.Play(kAfter);
  ASSERT_TRUE(world.PlannedStartOf("poor").has_value());
  world.Submit({.name = "rich", .pods = 4, .queue = "owns", .says = absl::Hours(1)});
  world.Play(kAfter);
  EXPECT_TRUE(world.PlannedStartOf("rich").has_value());
  EXPECT_FALSE(world.PlannedStartOf("poor").has_value());
  world.Play(absl::Hours(1));
  EXPECT_EQ(world.MinuteOf("rich"), 60);
}

TEST(Holders, AreAsManyPerCohortAsConfigured) {
  ReservationWorld world(2);
  world.Queue("a", 16, "all");
  world.Queue("b", 16, "all");
  world.Queue("alone", 16);
  for (const char* queue : {"a", "b"}) {
    world.Submit({.name = absl::StrCat("run-", queue), .queue = queue, .says = absl::Hours(1)});
  }
  world.Play(absl::ZeroDuration());
  for (const char* queue : {"a", "b", "alone"}) {
    world.Submit({.name = absl::StrCat("wait-", queue), .queue = queue, .says = absl::Minutes(1)});
    world.Play(absl::Minutes(1));
  }
  world.Play(kAfter + absl::Minutes(5));
  EXPECT_TRUE(world.PlannedStartOf("wait-a").has_value());
  EXPECT_FALSE(world.PlannedStartOf("wait-b").has_value());
  EXPECT_TRUE(world.PlannedStartOf("wait-alone").has_value());
}

TEST(Holders, YieldToWhomTheirQueueLetsPreemptThem) {
  for (const auto within : {WithinQueuePreemption::kNever, WithinQueuePreemption::kLowerPriority}) {
    ReservationWorld world(2);
    world.Queue("q", 1000, "", QueueOrdering::kBackfill, within);
    world.Submit({.name = "run", .queue = "q", .priority = 9, .says = absl::Hours(1)});
    world.Play(absl::ZeroDuration());
    world.Submit({.name = "big", .pods = 2, .queue = "q", .says = absl::Hours(1)});
    world.Play(absl::Minutes(1));
    ASSERT_TRUE(world.PlannedStartOf("big").has_value());
    world.Submit({.name = "boss", .queue = "q", .priority = 1});
    world.Play(absl::Minutes(1));
    EXPECT_EQ(world.StartOf("boss").has_value(), within != WithinQueuePreemption::kNever);
  }
}

TEST(Guests, ThatOutstayTheirTimeLeaveOnceTheirRoomIsEnough) {
  ReservationWorld world(2);
  world.Queue("q", 1000, "", QueueOrdering::kBackfill);
  world.Submit({.name = "run", .queue = "q", .says = absl::Hours(1)});
  world.Play(absl::ZeroDuration());
  world.Submit({.name = "big", .pods = 2, .queue = "q", .says = absl::Hours(1)});
  world.Submit({.name = "guest",
                .queue = "q",
                .priority = -1,
                .says = absl::Minutes(10),
                .takes = absl::Hours(50)});
  world.Play(absl::Minutes(59));
  EXPECT_EQ(world.MinuteOf("guest"), 0);
  EXPECT_FALSE(world.jobs().at("guest").evicted) << "it is in nobody's way yet";
  world.Play(absl::Minutes(3));
  EXPECT_TRUE(world.jobs().at("guest").evicted);
  ASSERT_TRUE(world.StartOf("big").has_value());
  EXPECT_LE(*world.StartOf("big") - world.begin(), absl::Minutes(61));
  EXPECT_EQ(world.d.loop().counters().preemption_reversals, 0);
}

TEST(Guests, OnlyThoseWhoWereLetInAreSentAway) {
  ReservationWorld world(2);
  world.Queue("q", 1000, "", QueueOrdering::kBackfill);
  world.Submit({.name = "run", .queue = "q", .says = absl::Hours(1), .takes = absl::Hours(50)});
  world.Play(absl::ZeroDuration());
  world.Submit({.name = "big", .pods = 2, .queue = "q", .says = absl::Hours(1)});
  world.Play(absl::Hours(5));
  EXPECT_FALSE(world.jobs().at("run").evicted);
  EXPECT_EQ(world.MinuteOf("big"), -1);
}

}  // namespace
}  // namespace maniple
