// Fears: what is replayed is not what the live scheduler would have done; a new leader decides
// otherwise than the old one would have; a redacted snapshot is decided of otherwise than the
// cluster.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/replay/redacted_snapshot.h"
#include "scheduler/replay/what_if.h"
#include "test/oracle/replay/replay_world.h"

namespace maniple {
namespace {

// Since when a gang stands at the head of its Queue no object tells: who begins then counts anew.
LoopOptions WithoutReservations(int seed) {
  LoopOptions options = LoopOptionsOf(seed);
  options.reservation_after = absl::Hours(1000);
  return options;
}

// The same names of the same gangs, nodes and queues, as far as they are told.
void ExpectAlike(const GangStart& plain, const GangStart& redacted, const Redaction& redaction,
                 int seed) {
  const auto renamed = [&redaction](const std::vector<std::string>& names) {
    std::vector<std::string> after;
    for (const std::string& name : names) after.push_back(redaction.NameOf(WithoutDigest(name)));
    return absl::StrJoin(after, ",");
  };
  EXPECT_EQ(plain.kind, redacted.kind)
      << "seed " << seed << ": " << GangStartText(plain) << "; " << GangStartText(redacted);
  EXPECT_EQ(renamed(plain.nodes), absl::StrJoin(redacted.nodes, ",")) << "seed " << seed;
  std::vector<std::string> evicts;
  for (const std::string& name : redacted.evicts) evicts.push_back(WithoutDigest(name));
  EXPECT_EQ(renamed(plain.evicts), absl::StrJoin(evicts, ",")) << "seed " << seed;
  EXPECT_EQ(plain.reason, redacted.reason) << "seed " << seed;
  EXPECT_EQ(plain.at, redacted.at) << "seed " << seed;
  std::vector<std::string> divided, renamed_divided;
  for (const NodeDivision& division : plain.divides) divided.push_back(division.node);
  for (const NodeDivision& division : redacted.divides) renamed_divided.push_back(division.node);
  EXPECT_EQ(renamed(divided), absl::StrJoin(renamed_divided, ",")) << "seed " << seed;
}

TEST(ReplayOracle, IsAnsweredOfARedactedSnapshotAsOfTheTrueOne) {
  for (int seed = FirstWorld(); seed < EndOfWorlds(); ++seed) {
    ReplayWorld world(static_cast<uint64_t>(seed), LoopOptionsOf(seed));
    WhatIfQuestion question{.cluster = {.at = world.live().now(), .objects = world.live().Dump()}};
    question.job = world.MakeGang("job");
    const absl::StatusOr<WhatIfAnswer> plain = AnswerWhatIf(question, LoopOptionsOf(seed));

    std::vector<Json> all = question.cluster.objects;
    all.insert(all.end(), question.job.begin(), question.job.end());
    const Redaction redaction(all, {});
    absl::StatusOr<ClusterSnapshot> cluster =
        RedactedSnapshot(question.cluster, redaction, [seed] { return LoopOptionsOf(seed); });
    ASSERT_TRUE(cluster.ok()) << seed << cluster.status();
    question.cluster = *std::move(cluster);
    for (Json& object : question.job) object = redaction.Of(object);
    const absl::StatusOr<WhatIfAnswer> redacted = AnswerWhatIf(question, LoopOptionsOf(seed));
    ASSERT_TRUE(plain.ok() && redacted.ok()) << seed << plain.status() << redacted.status();
    ASSERT_EQ(redacted->gangs.size(), 1u) << seed;
    ExpectAlike(plain->gangs[0], redacted->gangs[0], redaction, seed);
  }
}

// "nobody" where none does.
std::string SomePodThatRuns(const ClusterView& view, Random& random) {
  std::vector<std::string> pods;
  for (const GangView& gang : view.gangs) {
    for (const GangMemberView& member : gang.pods) {
      if (member.state == "running" || member.state == "bound") pods.push_back(member.pod);
    }
  }
  return pods.empty() ? "nobody" : pods[random.Below(pods.size())];
}

// Whom it asks first of those that leave in one moment is no decision.
std::string TextOf(std::vector<PodDeed> deeds) {
  std::ranges::sort(deeds, {}, [](const PodDeed& deed) { return std::tie(deed.at, deed.pod); });
  std::string text;
  for (const PodDeed& deed : deeds) {
    absl::StrAppend(&text, "\n  ", absl::FormatTime("%H:%M:%E3S ", deed.at, absl::UTCTimeZone()),
                    deed.pod, deed.node.empty() ? " leaves" : " on ", deed.node);
  }
  return text;
}

// The same happens in both.
void Disturb(ReplayWorld& world, Replay& replay, int step, Random& random) {
  Replay& live = world.live();
  const ClusterViewPtr view = live.View();
  switch (random.Below(4)) {
    case 0:
    case 1: {
      const std::vector<Json> gang = world.MakeGang(absl::StrCat("late", step));
      world.Add(gang);
      ASSERT_TRUE(replay.Load(gang).ok());
      return;
    }
    case 2: {
      const std::string pod = SomePodThatRuns(*view, random);
      live.Succeed("default", pod);
      replay.Succeed("default", pod);
      return;
    }
    default: {
      if (view->nodes.size() < 3) return;
      const std::string& node = view->nodes[random.Below(view->nodes.size())].name;
      live.Delete(absl::StrCat("/api/v1/nodes/", node));
      replay.Delete(absl::StrCat("/api/v1/nodes/", node));
      return;
    }
  }
}

TEST(ReplayOracle, AReplayGoesOnAsTheLiveSchedulerDoes) {
  int deeds = 0;
  for (int seed = FirstWorld(); seed < EndOfWorlds(); ++seed) {
    ReplayWorld world(static_cast<uint64_t>(seed), WithoutReservations(seed));
    Replay replay(WithoutReservations(seed), world.live().now());
    ASSERT_TRUE(replay.Load(world.live().Dump()).ok()) << seed;
    (void)world.live().TakeDeeds();
    Random random(static_cast<uint64_t>(seed) + 1);
    std::string live_did, replay_did;
    for (int step = 0; step < 8; ++step) {
      if (step > 0) Disturb(world, replay, step, random);
      const absl::Time until =
          world.live().now() + absl::Seconds(1 + random.Below(random.OneIn(4) ? 1200 : 60));
      world.live().RunUntil(until);
      replay.RunUntil(until);
      const std::vector<PodDeed> live = world.live().TakeDeeds();
      deeds += static_cast<int>(live.size());
      live_did += TextOf(live);
      replay_did += TextOf(replay.TakeDeeds());
    }
    EXPECT_EQ(live_did, replay_did) << "seed " << seed;
  }
  std::cout << deeds << " deeds\n";
  EXPECT_GT(deeds, EndOfWorlds() - FirstWorld());
}

}  // namespace
}  // namespace maniple
