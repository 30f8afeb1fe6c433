// The search by counting for a gang of one shape, against sums by hand. Fears: a broader domain is
// taken where a narrower one does; one domain too many, or one with more room, is used; all members
// would fit and only the quorum is looked at; a lack is called proven where slices cut short fit.
#include "scheduler/cycle/domains/counted_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "scheduler/cycle/domains/gang_search.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"
#include "test/unit/cycle/bound_gang.h"

namespace maniple::cycle_counted_search_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Outcome = SearchResult::Outcome;

// With a gang whose members want one GPU each.
class World final : public RackedWorld {
 public:
  void Submit(MakePodGroup group, size_t members) {
    cluster_.Add(group);
    for (size_t i = 0; i < members; ++i) Member(i);
  }
  void Member(size_t index, absl::string_view node = "") {
    MakePod pod(absl::StrCat("g-", index));
    pod.Group("g").Index(static_cast<int64_t>(index)).Gpu(1);
    if (!node.empty()) pod.On(node);
    cluster_.Add(pod);
  }
  DomainResult Search(SearchGoal goal) {
    BoundGang made(cluster_, "g");
    auto& [request, snapshot, now, bound, kinds] = made;
    GangSearch search(*snapshot, request, bound.problem());
    EXPECT_TRUE(search.Resolve(levels_).ok());
    const uint64_t before = now.Fingerprint();
    DomainResult result = SearchByCount({search.problem(), kinds.kinds, request.scope,
                                         search.choice(), search.groups(), request.pinned},
                                        0, now, goal);
    EXPECT_EQ(now.Fingerprint(), before);
    return result;
  }

 private:
  LevelStore levels_;
};

// A set of racks, one bit for each.
using Racks = uint32_t;

// Six nodes in up to six racks, two to a block, before a gang that prefers a rack.
struct RackCase {
  explicit RackCase(Random& random) : required(random.OneIn(2)) {
    for (size_t node = 0; node < 6; ++node) {
      rack_of.push_back(random.Below(6));
      gpus.push_back(static_cast<int64_t>(random.Below(4)));
    }
    members = static_cast<int64_t>(1 + random.Below(9));
    quorum = static_cast<int64_t>(1 + random.Below(static_cast<uint64_t>(members)));
  }
  void Fill(World& world) const {
    for (size_t node = 0; node < 6; ++node) {
      const size_t rack = rack_of[node];
      world.Node(absl::StrCat("b", rack / 2), absl::StrCat("r", rack), gpus[node]);
    }
    MakePodGroup group("g");
    group.MinMember(static_cast<int32_t>(quorum)).Preferred("rack");
    if (required) group.Required("block");
    world.Submit(group, static_cast<size_t>(members));
  }
  [[nodiscard]] int64_t RoomIn(Racks some) const {
    int64_t room = 0;
    for (size_t node = 0; node < 6; ++node) {
      if ((some >> rack_of[node] & 1) != 0) room += gpus[node];
    }
    return room;
  }
  // The least room of those that take so many.
  [[nodiscard]] std::optional<int64_t> Least(const std::vector<Racks>& choices,
                                             int64_t pods) const {
    std::optional<int64_t> least;
    for (const Racks racks : choices) {
      const int64_t room = RoomIn(racks);
      if (room >= pods) least = std::min(least.value_or(room), room);
    }
    return least;
  }
  // What the search should use: how many domains, and their room. None: it finds nothing.
  using Use = std::pair<size_t, int64_t>;
  [[nodiscard]] std::optional<Use> NaiveUse() const {
    const std::vector<Racks> racks = {1, 2, 4, 8, 16, 32}, blocks = {3, 12, 48};
    for (const std::vector<Racks>& level : {racks, blocks}) {
      for (const int64_t pods : {members, quorum}) {
        if (const auto room = Least(level, pods)) return Use(1, *room);
      }
    }
    if (required) return std::nullopt;
    for (const int64_t pods : {members, quorum}) {
      if (const auto room = Least({15, 51, 60}, pods)) return Use(2, *room);
      if (RoomIn(63) >= pods) return Use(3, RoomIn(63));
    }
    return std::nullopt;
  }
  [[nodiscard]] int64_t MostInABlock() const {
    return std::max({RoomIn(3), RoomIn(12), RoomIn(48)});
  }

  std::vector<size_t> rack_of;
  std::vector<int64_t> gpus;
  int64_t members = 0, quorum = 0;
  bool required;
};

Racks RacksOf(const std::vector<std::string>& paths) {
  Racks racks = 0;
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    const bool is_block = path.find('/') == std::string::npos;
    racks |= is_block ? 3U << 2 * (path.back() - '0') : 1U << (path.back() - '0');
  }
  return racks;
}

TEST(CountedSearch, TheNarrowestThenFewestThenTightestDomainsAreUsed) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const RackCase c(random);
    World world;
    c.Fill(world);
    const DomainResult result = world.Search(SearchGoal::kNodes);
    const DomainResult answer = world.Search(SearchGoal::kAnswerOnly);
    EXPECT_EQ(answer.search.outcome, result.search.outcome);
    EXPECT_THAT(answer.search.places, IsEmpty());
    const std::optional<RackCase::Use> use = c.NaiveUse();
    ASSERT_EQ(result.search.outcome, use.has_value() ? Outcome::kFound : Outcome::kProven) << round;
    if (!use.has_value()) {
      const int64_t placeable = c.required ? c.MostInABlock() : c.RoomIn(63);
      EXPECT_EQ(result.search.shortage.wanted, c.quorum);
      EXPECT_EQ(result.search.shortage.placeable, placeable) << round;
      EXPECT_EQ(c.RoomIn(RacksOf({result.best_path})), c.required ? placeable : 0);
      continue;
    }
    EXPECT_EQ(RackCase::Use(result.paths.size(), c.RoomIn(RacksOf(result.paths))), *use) << round;
    EXPECT_THAT(result.search.places, SizeIs(c.quorum));
    std::vector<int64_t> left = c.gpus;
    for (const MemberPlace& place : result.search.places) {
      const size_t node = place.node.index();
      EXPECT_GE(--left[node], 0);
      EXPECT_NE(RacksOf(result.paths) >> c.rack_of[node] & 1, 0) << round;
    }
  }
}

TEST(CountedSearch, AMemberThatStandsBindsTheOthersToItsRack) {
  World world;
  world.Node("b", "tight", 1);
  world.Node("b", "wide", 4);
  world.Submit(MakePodGroup("g").MinMember(2).Required("rack"), 2);
  world.Member(0, "n1");
  EXPECT_THAT(world.Search(SearchGoal::kNodes).paths, ElementsAre("b/wide"));
}

TEST(CountedSearch, AQuorumThatStandsAlreadyNeedsNobody) {
  World world;
  world.Node("b", "r", 1);
  world.Submit(MakePodGroup("g").MinMember(1).Required("rack"), 2);
  world.Member(0, "n0");
  const DomainResult result = world.Search(SearchGoal::kNodes);
  EXPECT_EQ(result.search.outcome, Outcome::kFound);
  EXPECT_THAT(result.search.places, IsEmpty());
}

// The first four by rank are a whole slice and one more, which two racks of two cannot take.
TEST(CountedSearch, WhereTheFirstByRankDoNotFitSlicesAreCutShort) {
  World world;
  world.Node("b", "r0", 2);
  world.Node("b", "r1", 2);
  world.Submit(MakePodGroup("g").MinMember(4).Slice(3, "rack"), 6);
  std::vector<size_t> wants;
  for (const MemberPlace& place : world.Search(SearchGoal::kNodes).search.places) {
    wants.push_back(place.want);
  }
  EXPECT_THAT(wants, ElementsAre(0, 1, 3, 4));
}

TEST(CountedSearch, TooManySlicesForTheRacksAreAProvenLack) {
  World world;
  world.Node("b", "r0", 3);
  world.Node("b", "r1", 1);
  world.Submit(MakePodGroup("g").MinMember(4).Slice(2, "rack"), 4);
  const DomainResult result = world.Search(SearchGoal::kNodes);
  EXPECT_EQ(result.search.outcome, Outcome::kProven);
  EXPECT_EQ(result.search.shortage.placeable, 3);
}

}  // namespace
}  // namespace maniple::cycle_counted_search_test
