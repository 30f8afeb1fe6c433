// The search for members that are bound together, against every placement of small gangs. Fears: a
// slice or a sub-group is torn over two domains; a node takes more than it has; too few or too many
// are placed; a lack is called proven where some placement exists; the overlay is left changed.
#include "scheduler/cycle/domains/grouped_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
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

namespace maniple::cycle_grouped_search_test {
namespace {

using Outcome = SearchResult::Outcome;

constexpr size_t kNodes = 4;

// Four nodes in up to three racks, before a gang with slices in racks, or with a sub-group that
// must be in one rack.
struct GroupCase {
  explicit GroupCase(Random& random) {
    const auto below = [&](uint64_t bound) { return static_cast<int64_t>(random.Below(bound)); };
    for (size_t node = 0; node < kNodes; ++node) {
      rack_of.push_back(below(3));
      gpus.push_back(below(5));
    }
    const int64_t shapes[] = {1 + below(3), 1 + below(3)};
    asks.resize(2 + random.Below(3));
    for (int64_t& ask : asks) ask = shapes[random.Below(2)];
    group_of.resize(asks.size(), -1);
    slice_size = below(3);
    part = slice_size > 0 ? 0 : 2 + random.Below(asks.size() - 1);
    for (size_t i = 0; i < asks.size(); ++i) {
      if (slice_size > 0) group_of[i] = static_cast<int64_t>(i) / slice_size;
      if (i < part) group_of[i] = 0;
    }
    part_quorum = part == 0 ? 0 : 1 + random.Below(part);
    quorum = std::max(1 + random.Below(asks.size()), part_quorum);
  }
  void Fill(TestCluster& cluster) const {
    AddLevels(cluster, {"rack"});
    for (size_t node = 0; node < kNodes; ++node) {
      MakeNode made(absl::StrCat("n", node));
      cluster.Add(made.Gpu(gpus[node]).Label("rack", absl::StrCat("r", rack_of[node])));
    }
    MakePodGroup group("g");
    group.MinMember(static_cast<int32_t>(quorum));
    if (slice_size > 0) group.Slice(static_cast<int32_t>(slice_size), "rack");
    if (part > 0) group.SubGroup("part", static_cast<int32_t>(part_quorum), {.required = "rack"});
    cluster.Add(group);
    for (size_t i = 0; i < asks.size(); ++i) {
      MakePod pod(absl::StrCat("g-", i));
      pod.Group("g").Index(static_cast<int64_t>(i)).Gpu(asks[i]);
      if (i < part) pod.SubGroup("part");
      cluster.Add(pod);
    }
  }
  // By want, the node or none.
  using Places = std::vector<std::optional<size_t>>;
  [[nodiscard]] bool Allows(const Places& places) const {
    std::vector<int64_t> left = gpus;
    std::map<int64_t, int64_t> rack_of_group;
    for (size_t i = 0; i < places.size(); ++i) {
      if (!places[i].has_value()) continue;
      if ((left[*places[i]] -= asks[i]) < 0) return false;
      if (group_of[i] < 0) continue;
      const int64_t rack = rack_of[*places[i]];
      if (rack_of_group.try_emplace(group_of[i], rack).first->second != rack) return false;
    }
    return true;
  }
  [[nodiscard]] bool IsQuorum(const Places& places) const {
    const auto placed = [](const std::optional<size_t>& place) { return place.has_value(); };
    const auto of_part = std::count_if(places.begin(), places.begin() + part, placed);
    return std::ranges::count_if(places, placed) == static_cast<int64_t>(quorum) &&
           of_part >= static_cast<int64_t>(part_quorum);
  }
  // Some choice for the wants from `at` on makes a quorum.
  [[nodiscard]] bool NaiveFinds(Places& places, size_t at) const {
    if (!Allows(places)) return false;
    if (at == asks.size()) return IsQuorum(places);
    for (size_t node = 0; node < kNodes; ++node) {
      places[at] = node;
      if (NaiveFinds(places, at + 1)) return true;
    }
    places[at].reset();
    return NaiveFinds(places, at + 1);
  }

  std::vector<int64_t> rack_of, gpus, asks, group_of;
  int64_t slice_size = 0;
  size_t part = 0, part_quorum = 0, quorum = 0;  // `part`: so many members are of the sub-group
};

using Search = SearchResult (*)(const DomainSearch&, Overlay&, const NodeSet*);
SearchResult Answer(const GroupCase& c, DecideScope scope, Search search) {
  TestCluster cluster;
  c.Fill(cluster);
  GangRequest request = cluster.RequestOf("g");
  request.scope = scope;
  const SnapshotPtr snapshot = cluster.state().Publish();
  Overlay now(*snapshot, Overlay::View::kNow);
  const BoundRequest bound({.snapshot = *snapshot, .now = cluster.now, .seed = 1}, request,
                           cluster.profile());
  BoundKinds kinds = bound.Bind(Question::kNow, now);
  GangSearch gang(*snapshot, request, bound.problem());
  LevelStore levels;
  EXPECT_TRUE(gang.Resolve(levels).ok());
  const uint64_t before = now.Fingerprint();
  SearchResult found =
      search({gang.problem(), kinds.kinds, scope, gang.choice(), gang.groups(), {}}, now, nullptr);
  EXPECT_EQ(now.Fingerprint(), before);
  return found;
}
GroupCase::Places PlacesOf(const GroupCase& c, const SearchResult& found) {
  GroupCase::Places places(c.asks.size());
  for (const MemberPlace& place : found.places) places[place.want] = place.node.index();
  EXPECT_TRUE(c.Allows(places));
  return places;
}

TEST(GroupedSearch, AQuorumIsFoundWhereSomePlacementIsOneAndProvenLackingElsewhere) {
  Random random(1);
  for (int round = 0; round < 150; ++round) {
    const GroupCase c(random);
    const SearchResult found = Answer(c, DecideScope::kQuorum, PlaceGroups);
    GroupCase::Places places(c.asks.size());
    const bool some = c.NaiveFinds(places, 0);
    ASSERT_EQ(found.outcome, some ? Outcome::kFound : Outcome::kProven) << round;
    if (!some) continue;
    EXPECT_TRUE(c.IsQuorum(PlacesOf(c, found))) << round;
    EXPECT_TRUE(std::ranges::is_sorted(found.places));
  }
}

TEST(GroupedSearch, SurplusIsPlacedUntilNobodyElseFits) {
  Random random(2);
  for (int round = 0; round < 150; ++round) {
    const GroupCase c(random);
    const SearchResult found = Answer(c, DecideScope::kSurplus, PlaceSurplusOfGroups);
    GroupCase::Places places = PlacesOf(c, found);
    ASSERT_EQ(found.outcome, found.places.empty() ? Outcome::kProven : Outcome::kFound);
    for (size_t i = 0; i < places.size(); ++i) {
      for (size_t node = 0; !places[i].has_value() && node < kNodes; ++node) {
        GroupCase::Places more = places;
        more[i] = node;
        EXPECT_FALSE(c.Allows(more)) << round << ": " << i << " fits on " << node;
      }
    }
  }
}

// The first rack has room for six small pods, of which there is one.
TEST(GroupedSearch, SurplusGoesWhereMostOfItFitsNotWhereMostOfOneKindWould) {
  Random random(3);
  GroupCase c(random);
  c.rack_of = {0, 0, 0, 1};
  c.gpus = {2, 2, 2, 4};
  c.asks = {3, 3, 1};
  c.group_of = {0, 0, 0};
  c.slice_size = 0;
  c.part = 3;
  c.part_quorum = c.quorum = 1;
  const SearchResult found = Answer(c, DecideScope::kSurplus, PlaceSurplusOfGroups);
  EXPECT_THAT(PlacesOf(c, found), ::testing::ElementsAre(3, std::nullopt, 3));
}

}  // namespace
}  // namespace maniple::cycle_grouped_search_test
