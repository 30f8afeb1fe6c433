// Fears: of a gang that a division by MIG would help, what-if says that it waits for ever; a change
// under way when the snapshot was taken never ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "scheduler/replay/what_if.h"
#include "test/unit/replay/replay_objects.h"

namespace maniple::replay_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kSlice[] = "nvidia.com/mig-1g.10gb";
constexpr absl::Duration kAfter = absl::Seconds(30);

LoopOptions Dividing(MigReconfigure reconfigure = MigReconfigure::kOn) {
  LoopOptions options = Options();
  options.mig.reconfigure = reconfigure;
  options.mig.after = kAfter;
  return options;
}

Json MigNode(const std::string& name) {
  Json node = NodeWith(name, 8);
  for (const auto& [key, value] :
       {std::pair{kMigCapableLabel, "true"}, std::pair{kMigStrategyLabel, "mixed"},
        std::pair{kMigConfigLabel, "all-disabled"}, std::pair{kMigConfigStateLabel, kMigSuccess},
        std::pair{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
        std::pair{"nvidia.com/gpu.memory", "81559"}, std::pair{"nvidia.com/gpu.count", "8"}}) {
    node.Mutable("metadata").Mutable("labels").Set(key, value);
  }
  return node;
}

// "default/a", of two pods with three slices each.
WhatIfQuestion AskingForSlices() {
  WhatIfQuestion question{.cluster = {.at = kStart, .objects = {MigNode("m1")}}};
  question.job = {GroupOf("a", 2), PodAsking("a", 0, kSlice, 3), PodAsking("a", 1, kSlice, 3)};
  return question;
}

TEST(WhatIfOfSlices, StartsOnceANodeIsDivided) {
  const GangStart start = OnlyStart(AskingForSlices(), Dividing());
  EXPECT_EQ(start.kind, StartKind::kLater) << GangStartText(start);
  EXPECT_THAT(start.nodes, ElementsAre("m1"));
  ASSERT_THAT(start.divides, SizeIs(1));
  EXPECT_EQ(start.divides[0].node, "m1");
  EXPECT_FALSE(start.after_ends);
  EXPECT_GE(start.at, kStart + kAfter + kDivisionTakes);
  EXPECT_LE(start.at, kStart + kAfter + kDivisionTakes + absl::Seconds(15));
  EXPECT_THAT(GangStartText(start),
              HasSubstr(" on 1 node, after MIG has divided m1 (all-1g.10gb)"));
}

TEST(WhatIfOfSlices, ManyNodesMakeNoLongSentence) {
  WhatIfQuestion question{.cluster = {.at = kStart, .objects = {}}};
  question.job = {GroupOf("a", 5)};
  for (int i = 0; i < 5; ++i) {
    question.cluster.objects.push_back(MigNode(absl::StrCat("m", i)));
    question.job.push_back(PodAsking("a", i, kSlice, 56));
  }
  EXPECT_THAT(GangStartText(OnlyStart(question, Dividing())),
              HasSubstr("divided m0 (all-1g.10gb), m1 (all-1g.10gb), m2 (all-1g.10gb) and 2 more"));
}

TEST(WhatIfOfSlices, NeverWhereNobodyMayDivide) {
  for (const MigReconfigure off : {MigReconfigure::kOff, MigReconfigure::kDryRun}) {
    const GangStart start = OnlyStart(AskingForSlices(), Dividing(off));
    EXPECT_EQ(start.kind, StartKind::kNever) << GangStartText(start);
    EXPECT_EQ(start.reason, "NeverFits");
    EXPECT_THAT(start.divides, IsEmpty());
  }
}

TEST(WhatIfOfSlices, WaitsForTheEndOfWhatRunsOnTheNode) {
  WhatIfQuestion question = AskingForSlices();
  question.cluster.objects.push_back(GroupOf("old", 1, R"(,"expectedRuntimeSeconds":7200)"));
  question.cluster.objects.push_back(Running(PodOf("old", 0, 8), "m1", "2023-11-14T22:00:00Z"));
  const GangStart start = OnlyStart(question, Dividing());
  EXPECT_EQ(start.kind, StartKind::kLater) << GangStartText(start);
  ASSERT_THAT(start.divides, SizeIs(1));
  EXPECT_TRUE(start.after_ends);
  // 2023-11-14 22:13:20 is the question's time.
  const absl::Time end = absl::FromUnixSeconds(1'700'000'000 - 800 + 7200);
  EXPECT_GE(start.at, end + kDivisionTakes);
  EXPECT_LE(start.at, end + kDivisionTakes + absl::Seconds(15));
}

TEST(WhatIfOfSlices, NotWithinAHorizonThatIsTooNear) {
  WhatIfQuestion question = AskingForSlices();
  question.horizon = kAfter;
  const GangStart start = OnlyStart(question, Dividing());
  EXPECT_EQ(start.kind, StartKind::kNotSoon) << GangStartText(start);
}

TEST(WhatIfOfSlices, AConfigurationOfOnesOwnIsKnown) {
  LoopOptions options = Dividing();
  options.mig.defaults = MigPlanInput::Defaults::kNotOffered;
  options.mig.configs = {
      {.name = "one-for-slices", .parts = {{.gpus = 1, .slices = {{"1g.10gb", 7}}}, {}}}};
  const GangStart start = OnlyStart(AskingForSlices(), std::move(options));
  EXPECT_EQ(start.kind, StartKind::kLater) << GangStartText(start);
  ASSERT_THAT(start.divides, SizeIs(1));
  EXPECT_EQ(start.divides[0].config, "one-for-slices");
}

TEST(WhatIfOfSlices, AChangeUnderWayEnds) {
  WhatIfQuestion question = AskingForSlices();
  Json& labels = question.cluster.objects[0].Mutable("metadata").Mutable("labels");
  labels.Set(kMigConfigLabel, "all-1g.10gb");
  labels.Set(kMigConfigStateLabel, kMigPending);
  const GangStart start = OnlyStart(question, Dividing());
  EXPECT_EQ(start.kind, StartKind::kLater) << GangStartText(start);
  EXPECT_THAT(start.divides, IsEmpty()) << "somebody has asked for it before";
  EXPECT_LE(start.at, kStart + kDivisionTakes + absl::Seconds(5));
}

}  // namespace
}  // namespace maniple::replay_test
