// Fear: what-if says one thing, and then another happens.
//
// In random worlds a scheduler lives for a while; the objects of its server are asked what a new
// job would do; then the very job is submitted to that scheduler.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "scheduler/replay/what_if.h"
#include "test/oracle/replay/replay_world.h"

namespace maniple {
namespace {

std::vector<std::string> EvictedPods(const Replay& live) {
  std::vector<std::string> pods;
  for (PodDeed& deed : live.Deeds()) {
    if (deed.node.empty()) pods.push_back(std::move(deed.pod));
  }
  return pods;
}

// What has become of the gang "job", in the words of what-if.
GangStart Outcome(Replay& live, size_t evicted_before) {
  GangStart start;
  const ClusterViewPtr view = live.View();
  for (const GangView& gang : view->gangs) {
    if (WithoutDigest(gang.name) != "job") continue;
    const bool started = gang.phase == "Running";
    start.kind = started ? StartKind::kNow : StartKind::kNotSoon;
    start.reason = gang.reason;
    start.message = gang.message;
    start.nodes = gang.nodes;
  }
  if (start.kind != StartKind::kNow) return start;
  std::set<std::string> gangs;
  const std::vector<std::string> pods = EvictedPods(live);
  for (size_t i = evicted_before; i < pods.size(); ++i) {
    gangs.insert(pods[i].substr(0, pods[i].rfind('-')));
  }
  start.evicts.assign(gangs.begin(), gangs.end());
  if (!start.evicts.empty()) start.kind = StartKind::kAfterEvicting;
  return start;
}

bool StartsAtOnce(const GangStart& start) {
  return start.kind == StartKind::kNow || start.kind == StartKind::kAfterEvicting;
}

// As what-if does before the job comes; it matters where nodes may be divided meanwhile.
void ComeToRest(ReplayWorld& world, const LoopOptions& options) {
  if (Divides(options)) world.live().RunUntil(world.live().now() + absl::Seconds(3));
}

TEST(WhatIfOracle, SaysWhatThenHappens) {
  int now = 0, evicting = 0, waiting = 0;
  for (int seed = FirstWorld(); seed < EndOfWorlds(); ++seed) {
    ReplayWorld world(static_cast<uint64_t>(seed), LoopOptionsOf(seed));
    WhatIfQuestion question{.cluster = {.at = world.live().now(), .objects = world.live().Dump()}};
    question.job = world.MakeGang("job");
    question.horizon = absl::ZeroDuration();
    const absl::StatusOr<WhatIfAnswer> answer = AnswerWhatIf(question, LoopOptionsOf(seed));
    ASSERT_TRUE(answer.ok()) << "seed " << seed << ": " << answer.status();
    ASSERT_EQ(answer->gangs.size(), 1u) << "seed " << seed;
    const GangStart& said = answer->gangs[0];

    ComeToRest(world, LoopOptionsOf(seed));
    const size_t evicted = EvictedPods(world.live()).size();
    world.Add(question.job);
    world.live().RunUntil(world.live().now() + absl::Seconds(3));
    const GangStart happened = Outcome(world.live(), evicted);
    EXPECT_EQ(StartsAtOnce(said), StartsAtOnce(happened))
        << "seed " << seed << ": said: " << GangStartText(said)
        << "; happened: " << GangStartText(happened);
    std::set<std::string> evicts;
    for (const std::string& name : said.evicts) evicts.insert(WithoutDigest(name));
    EXPECT_EQ(absl::StrJoin(evicts, ","), absl::StrJoin(happened.evicts, ",")) << "seed " << seed;
    if (!StartsAtOnce(said)) {
      EXPECT_EQ(said.reason, happened.reason) << "seed " << seed;
    }
    if (said.kind == StartKind::kNow && happened.kind == StartKind::kNow) {
      EXPECT_EQ(absl::StrJoin(said.nodes, ","), absl::StrJoin(happened.nodes, ","))
          << "seed " << seed;
    }
    ++(said.kind == StartKind::kNow ? now : StartsAtOnce(said) ? evicting : waiting);
  }
  std::cout << now << " start, " << evicting << " after evicting, " << waiting << " wait\n";
  // The worlds are worth something, where they are not but a few.
  if (now + evicting + waiting < 100) return;
  EXPECT_GT(std::min({now, evicting, waiting}), (now + evicting + waiting) / 50);
}

// Nobody says when it ends, so nothing but divisions lets a gang start later.
TEST(WhatIfOracle, SaysWhenADivisionLetsItStart) {
  constexpr absl::Duration kHorizon = absl::Minutes(30);
  int later = 0, waiting = 0;
  for (int seed = FirstWorld(); seed < EndOfWorlds(); ++seed) {
    const LoopOptions options = LoopOptionsOf(seed);
    if (!Divides(options)) continue;
    ReplayWorld world(static_cast<uint64_t>(seed), LoopOptionsOf(seed), RunTimesTold::kNone);
    WhatIfQuestion question{.cluster = {.at = world.live().now(), .objects = world.live().Dump()}};
    question.job = world.MakeGang("job");
    question.horizon = kHorizon;
    const absl::StatusOr<WhatIfAnswer> answer = AnswerWhatIf(question, LoopOptionsOf(seed));
    ASSERT_TRUE(answer.ok()) << "seed " << seed << ": " << answer.status();
    ASSERT_EQ(answer->gangs.size(), 1u) << "seed " << seed;
    const GangStart& said = answer->gangs[0];
    if (StartsAtOnce(said)) continue;

    ComeToRest(world, options);
    world.Add(question.job);
    const bool starts = said.kind == StartKind::kLater;
    const absl::Time before = starts ? said.at - absl::Seconds(1) : world.live().now() + kHorizon;
    world.live().RunUntil(before);
    EXPECT_FALSE(StartsAtOnce(Outcome(world.live(), EvictedPods(world.live()).size())))
        << "seed " << seed << ": said: " << GangStartText(said);
    ++(starts ? later : waiting);
    if (!starts) continue;
    world.live().RunUntil(said.at + absl::Seconds(1));
    const GangStart happened = Outcome(world.live(), EvictedPods(world.live()).size());
    EXPECT_EQ(happened.kind, StartKind::kNow)
        << "seed " << seed << ": said: " << GangStartText(said)
        << "; happened: " << GangStartText(happened);
    EXPECT_EQ(absl::StrJoin(said.nodes, ","), absl::StrJoin(happened.nodes, ","))
        << "seed " << seed;
  }
  std::cout << later << " start later, " << waiting << " wait\n";
  if (later + waiting > 20) {
    EXPECT_GT(std::min(later, waiting), 2);
  }
}

}  // namespace
}  // namespace maniple
