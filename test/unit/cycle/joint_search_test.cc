// Several shapes at once in a set of nodes. Fears: a set is struck out though it has a place; a
// place that is found breaks a node, a need or a domain; a later member is placed where an earlier
// one would do; a search that could not look everywhere is called a proof.
#include "scheduler/cycle/search/joint_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "scheduler/cycle/search/bound_request.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_joint_search_test {
namespace {

using Outcome = SearchResult::Outcome;

constexpr size_t kNodes = 4;  // 0 and 1 are one rack, 2 another, 3 is in none

// A few nodes, and a gang of members of up to four sizes in two sub-groups.
class World final {
 public:
  enum class Bound : uint8_t { kNobody, kSlices };
  World(Random& random, Bound bound)
      : racks_{.name = "rack", .paths = {"r0", "r1"}, .domain_of = {0, 0, 1}} {
    for (size_t node = 0; node < kNodes; ++node) {
      gpus_.push_back(static_cast<int64_t>(random.Below(5)));
      cluster_.Add(MakeNode(absl::StrCat("n", node)).Gpu(gpus_.back()));
    }
    cluster_.Add(MakePodGroup("g").MinMember(1));
    for (uint64_t i = 0, members = 2 + random.Below(4); i < members; ++i) {
      sizes_.push_back(static_cast<int64_t>(1 + random.Below(4)));
      cluster_.Add(MakePod(absl::StrCat("g-", i)).Group("g").Gpu(sizes_.back()));
    }
    request_ = cluster_.RequestOf("g");
    for (Want& want : request_.wants) want.sub_group = static_cast<int32_t>(random.Below(3)) - 1;
    for (int32_t part = 0; part < 2; ++part) {
      const auto members =
          static_cast<uint64_t>(std::ranges::count(request_.wants, part, &Want::sub_group));
      request_.need.sub_groups.push_back(static_cast<int32_t>(random.Below(members + 1)));
    }
    request_.need.total = static_cast<int32_t>(1 + random.Below(sizes_.size()));
    if (bound == Bound::kSlices) MakeSlices(random);
    snapshot_ = cluster_.state().Publish();
    bound_.emplace(CycleInput{.snapshot = *snapshot_, .now = cluster_.now}, request_,
                   cluster_.profile());
  }

  [[nodiscard]] JointSearch& Search(SearchWork* work = nullptr) {
    overlay_.emplace(*snapshot_, Overlay::View::kNow, work);
    kinds_ = bound_->Bind(Question::kNow, Overlay(*snapshot_, Overlay::View::kNow));
    return search_.emplace(bound_->problem(), kinds_.kinds, groups_.empty() ? nullptr : &groups_,
                           *overlay_, nullptr);
  }
  [[nodiscard]] const DomainLevel& racks() const { return racks_; }
  [[nodiscard]] bool OverlayIsAsItWas() const {
    return overlay_->Fingerprint() == Overlay(*snapshot_, Overlay::View::kNow).Fingerprint();
  }
  // Nodes by want, of these nodes; none: it is not placed.
  using Places = std::vector<std::optional<size_t>>;
  [[nodiscard]] Places PlacesOf(const SearchResult& result) const {
    Places places(sizes_.size());
    for (const MemberPlace& place : result.places) places[place.want] = place.node.index();
    return places;
  }
  [[nodiscard]] bool IsAnswer(const Places& places) const {
    int64_t missing = bound_->problem().total;
    std::vector<int32_t> needs = bound_->problem().sub_groups;
    std::vector<int64_t> left = gpus_;
    for (size_t i = 0; i < places.size(); ++i) {
      if (!places[i].has_value()) continue;
      --missing;
      left[*places[i]] -= sizes_[i];
      if (request_.wants[i].sub_group >= 0)
        --needs[static_cast<size_t>(request_.wants[i].sub_group)];
    }
    return missing == 0 && std::ranges::all_of(needs, [](int32_t need) { return need <= 0; }) &&
           std::ranges::all_of(left, [](int64_t gpus) { return gpus >= 0; }) && KeepsSlices(places);
  }
  // The first members by rank that some placement on these nodes has; none: there is no placement.
  [[nodiscard]] std::optional<std::vector<size_t>> FirstByRank(
      const std::vector<size_t>& on) const {
    std::optional<std::vector<size_t>> first;
    Try(on, {}, first);
    return first;
  }

 private:
  void MakeSlices(Random& random) {
    for (size_t begin = 0; begin < sizes_.size(); begin += 2) {
      MemberGroup slice{.level = &racks_};
      for (size_t want = begin; want < std::min(begin + 2, sizes_.size()); ++want) {
        slice.wants.push_back(want);
      }
      if (random.OneIn(4)) slice.bound_to = static_cast<uint32_t>(random.Below(2));
      if (!random.OneIn(4)) groups_.slices.push_back(slice);
    }
  }
  [[nodiscard]] bool KeepsSlices(const Places& places) const {
    return std::ranges::all_of(groups_.slices, [&](const MemberGroup& slice) {
      std::optional<uint32_t> domain = slice.bound_to;
      for (const size_t want : slice.wants) {
        if (!places[want].has_value()) continue;
        const uint32_t here = racks_.DomainOf(NodeId(static_cast<uint32_t>(*places[want])));
        if (here == DomainLevel::kOutside || domain.value_or(here) != here) return false;
        domain = here;
      }
      return true;
    });
  }
  void Try(const std::vector<size_t>& on, Places places,
           std::optional<std::vector<size_t>>& first) const {
    if (places.size() == sizes_.size()) {
      std::vector<size_t> wants;
      for (size_t i = 0; i < places.size(); ++i) {
        if (places[i].has_value()) wants.push_back(i);
      }
      if (IsAnswer(places) && (!first.has_value() || wants < *first)) first = std::move(wants);
      return;
    }
    places.emplace_back();
    Try(on, places, first);
    for (const size_t node : on) {
      places.back() = node;
      Try(on, places, first);
    }
  }

  TestCluster cluster_;
  std::vector<int64_t> gpus_, sizes_;  // by node; by want
  DomainLevel racks_;
  MemberGroups groups_;
  GangRequest request_;
  SnapshotPtr snapshot_;
  std::optional<BoundRequest> bound_;
  std::optional<Overlay> overlay_;
  BoundKinds kinds_;
  std::optional<JointSearch> search_;
};

std::vector<size_t> WantsOf(const SearchResult& result) {
  std::vector<size_t> wants;
  for (const MemberPlace& place : result.places) wants.push_back(place.want);
  return wants;
}

TEST(JointSearch, FindsTheFirstMembersByRankOrProvesThatThereIsNoPlace) {
  Random random(1);
  std::map<Outcome, int> outcomes;
  for (int round = 0; round < 100; ++round) {
    World world(random, World::Bound::kNobody);
    const SearchResult result = world.Search().SearchEverywhere();
    const auto first = world.FirstByRank({0, 1, 2, 3});
    ++outcomes[result.outcome];
    ASSERT_EQ(result.outcome, first.has_value() ? Outcome::kFound : Outcome::kProven) << round;
    EXPECT_TRUE(world.OverlayIsAsItWas());
    if (first.has_value()) {
      EXPECT_TRUE(world.IsAnswer(world.PlacesOf(result))) << "round " << round;
      EXPECT_EQ(WantsOf(result), *first) << "by want, each once";
    } else {
      EXPECT_LT(result.shortage.placeable, result.shortage.wanted);
    }
  }
  EXPECT_GT(std::min(outcomes[Outcome::kFound], outcomes[Outcome::kProven]), 10);
}

TEST(JointSearch, WithSlicesAPlaceIsFoundIfAndOnlyIfThereIsOne) {
  Random random(2);
  std::map<Outcome, int> outcomes;
  for (int round = 0; round < 100; ++round) {
    World world(random, World::Bound::kSlices);
    const SearchResult result = world.Search().SearchEverywhere();
    ++outcomes[result.outcome];
    EXPECT_EQ(result.outcome,
              world.FirstByRank({0, 1, 2, 3}).has_value() ? Outcome::kFound : Outcome::kProven)
        << "round " << round;
    if (result.outcome == Outcome::kFound) {
      EXPECT_TRUE(world.IsAnswer(world.PlacesOf(result))) << "round " << round;
    }
    EXPECT_TRUE(world.OverlayIsAsItWas());
  }
  EXPECT_GT(std::min(outcomes[Outcome::kFound], outcomes[Outcome::kProven]), 10);
}

TEST(JointSearch, OneDomainAfterTheOtherIsSearchedAlone) {
  Random random(3);
  for (int round = 0; round < 40; ++round) {
    World world(random, World::Bound::kNobody);
    JointSearch& search = world.Search();
    const auto by_rack = search.ByDomain(world.racks());
    ASSERT_EQ(by_rack.size(), 2u) << "also of racks without room";
    const std::vector<std::vector<size_t>> racks = {{0, 1}, {2}};
    for (size_t rack = 0; rack < racks.size(); ++rack) {
      const SearchResult result = search.Search(by_rack[rack]);
      EXPECT_EQ(result.outcome == Outcome::kFound, world.FirstByRank(racks[rack]).has_value());
      for (const MemberPlace& place : result.places) {
        EXPECT_EQ(world.racks().DomainOf(place.node), rack);
      }
    }
  }
}

TEST(JointSearch, GivesUpWhenTheWorkIsSpent) {
  Random random(4);
  World world(random, World::Bound::kNobody);
  SearchWork none(-1);
  EXPECT_EQ(world.Search(&none).SearchEverywhere().outcome, Outcome::kGaveUp);
  EXPECT_EQ(world.Search().SearchEverywhere().outcome, Outcome::kFound) << "choose another seed";
}

}  // namespace
}  // namespace maniple::cycle_joint_search_test
