// Gangs whose members two constraints spread at once.
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_spread_test {
namespace {

constexpr char kHost[] = "kubernetes.io/hostname";

// By rack, then host: GPUs that are free. Every other host of a rack is in the other zone.
using Racks = std::vector<std::vector<int>>;

Decision DecideSpread(const Racks& racks, int pods, absl::string_view other_key) {
  TestCluster cluster;
  for (size_t rack = 0; rack < racks.size(); ++rack) {
    for (size_t host = 0; host < racks[rack].size(); ++host) {
      const std::string name = absl::StrCat("r", rack, "h", host);
      cluster.Add(MakeNode(name)
                      .Gpu(8)
                      .Label("rack", absl::StrCat("r", rack))
                      .Label("zone", absl::StrCat("z", host % 2))
                      .Label(kHost, name));
      const int used = 8 - racks[rack][host];
      cluster.Add(MakePod(absl::StrCat("other-", name)).Scheduler("other").Gpu(used).On(name));
    }
  }
  cluster.Add(MakePodGroup("x").MinMember(pods));
  for (int i = 0; i < pods; ++i) {
    cluster.Add(MakePod(absl::StrCat("x-", i))
                    .Group("x")
                    .Index(i)
                    .Gpu(1)
                    .Label("app", "x")
                    .Spread("rack", Labelled("app", "x"))
                    .Spread(other_key, Labelled("app", "x")));
  }
  return cluster.Decide("x");
}

// Hosts take one pod each, for some have no room at all. So the first rack takes four, the others
// one more than it.
TEST(Spread, WhatHostsLeaveOfRacksBoundsWhatRacksTakeInAll) {
  Racks racks(9, std::vector<int>(8, 8));
  for (size_t host = 4; host < 8; ++host) racks[0][host] = 0;
  const Decision decision = DecideSpread(racks, 64, kHost);
  ASSERT_TRUE(std::holds_alternative<Rejection>(decision));
  EXPECT_EQ(std::get<Rejection>(decision).code, RejectionCode::kNoFit);
  EXPECT_EQ(std::get<Rejection>(decision).placeable, 4 + 8 * 5);
  EXPECT_TRUE(std::holds_alternative<Plan>(DecideSpread(racks, 44, kHost)));
}

// The best of the scores fill the small hosts first, and then a zone of some rack is full.
TEST(Spread, AGangFitsThatWouldBeHeldUpByHostsWhichFillUpEarly) {
  const Racks racks = {{8, 8}, {8, 5, 8, 3, 2, 8}, {6, 8}};
  EXPECT_TRUE(std::holds_alternative<Plan>(DecideSpread(racks, 25, "zone")));
}

// There are GPUs in one zone alone, so each worker needs a reader in the other before it.
TEST(Spread, UnlikeMembersThatMakeRoomForEachOtherComeInTurn) {
  TestCluster cluster;
  cluster.Add(MakeNode("gpus").Gpu(8).Label("zone", "a"));
  for (int i = 0; i < 4; ++i) cluster.Add(MakeNode(absl::StrCat("plain-", i)).Label("zone", "b"));
  const auto spread = [](MakePod pod) {
    return pod.Group("x").Label("app", "x").Spread("zone", Labelled("app", "x"));
  };
  cluster.Add(MakePodGroup("x").MinMember(8));
  for (int i = 0; i < 4; ++i) {
    cluster.Add(spread(MakePod(absl::StrCat("worker-", i)).Gpu(1)));
    cluster.Add(spread(MakePod(absl::StrCat("reader-", i)).Cpu(1)));
  }
  EXPECT_TRUE(std::holds_alternative<Plan>(cluster.Decide("x")));
  cluster.Add(spread(MakePod("worker-4").Gpu(1)));
  cluster.Add(spread(MakePod("worker-5").Gpu(1)));
  cluster.Add(MakePodGroup("x").MinMember(10));
  const Decision six = cluster.Decide("x");
  ASSERT_TRUE(std::holds_alternative<Rejection>(six));
  EXPECT_NE(std::get<Rejection>(six).code, RejectionCode::kSearchLimitReached);
}

// More states than numbers are packed for: members that come one by one need none of them.
TEST(Spread, SoDoThoseOfLargeGangsOfThreeShapes) {
  TestCluster cluster;
  cluster.Add(MakeNode("gpus").Gpu(140).Pods(500).Label("zone", "a"));
  cluster.Add(MakeNode("plain").Pods(500).Label("zone", "b"));
  cluster.Add(MakePodGroup("x").MinMember(280));
  for (int i = 0; i < 280; ++i) {
    MakePod pod(absl::StrCat("x-", i));
    pod.Group("x").Label("app", "x").Spread("zone", Labelled("app", "x"));
    cluster.Add(i % 2 == 0 ? pod.Gpu(1) : pod.Memory(1 + i % 4));
  }
  EXPECT_TRUE(std::holds_alternative<Plan>(cluster.Decide("x")));
}

}  // namespace
}  // namespace maniple::cycle_spread_test
