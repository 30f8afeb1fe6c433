// Shapes and the numbers they are made of. Fears: equal constraints get two shapes, or different
// ones get one; a shape asks for a resource by a number that nodes do not have it by; a number that
// is in use again names what had it before; a sweep takes a part that some shape still has.
#include "scheduler/state/shape_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/base/random.h"

namespace maniple::state_shape_table_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

const std::vector<std::string> kResources = {"cpu", "memory", "x/a", "x/b", "nvidia.com/gpu"};

class ShapeTableTest : public ::testing::Test {
 protected:
  ShapeTableTest() {
    for (const char* key : {"host", "rack", "zone"}) {
      counts_.push_back(queries_.Intern({PodSelection{}}, PodCountKind::kPresent, key));
    }
  }

  [[nodiscard]] PodConstraints AnyConstraints() {
    PodConstraints any;
    for (const std::string& name : kResources) {
      if (random_.OneIn(3)) any.requests.push_back({name, Amount(int64_t(random_.Below(3)))});
    }
    if (random_.OneIn(3)) any.host_ports.push_back({.port = 1 + int32_t(random_.Below(4))});
    if (random_.OneIn(3)) any.images = {random_.OneIn(2) ? "image-1" : "image-2"};
    if (random_.OneIn(3)) {
      VolumeNeeds needs;
      needs.uses.push_back({.driver = random_.OneIn(2) ? "d" : "e", .name = "v"});
      any.volumes = SharedVolumeNeeds(std::move(needs));
    }
    return any;
  }
  [[nodiscard]] std::vector<PodCountId> AnyMatches() {
    std::vector<PodCountId> matches;
    for (const PodCountId count : counts_) {
      if (random_.OneIn(3)) matches.push_back(count);
    }
    return matches;
  }

  void CheckRequests(const PodShape& shape) {
    std::map<std::string, int64_t> asked, expected = {{"pods", 1}};
    for (const auto& [resource, amount] : shape.requests) {
      const std::string& name = draft_.tables.FactsOf(resource).name;
      asked[name] = amount;
      ASSERT_EQ(IsOnNodes(resource), table_.NodeResource(name).has_value()) << name;
    }
    for (const ResourceAmount& request : shape.constraints.requests) {
      if (request.amount.units() > 0) expected[request.resource] = request.amount.units();
    }
    ASSERT_EQ(asked, expected);
    ASSERT_EQ(shape.wants_gpu, expected.contains("nvidia.com/gpu"));
  }
  void CheckParts(const PodShape& shape) {
    std::vector<std::string> images;
    for (const ImageId image : shape.images) images.emplace_back(table_.ImageName(image));
    ASSERT_EQ(images, shape.constraints.images);
    std::vector<HostPort> ports;
    for (const HostPortId port : shape.host_ports) {
      ports.push_back(draft_.tables.host_ports[port.index()]);
    }
    ASSERT_EQ(ports, shape.constraints.host_ports);
    for (const VolumeUseId use : shape.volume_uses) {
      const auto& facts = draft_.tables.volume_uses[use.index()];
      ASSERT_EQ(facts.use, shape.constraints.volumes.get()->uses[0]);
      ASSERT_EQ(draft_.tables.volume_drivers[facts.driver.index()], facts.use.driver);
    }
    PodConstraints of_room = shape.constraints;
    of_room.images.clear();
    ASSERT_TRUE(table_.Has(shape.room_shape));
    ASSERT_EQ(table_.Of(shape.room_shape).constraints, of_room);
    ASSERT_EQ(table_.Of(shape.room_shape).matches, shape.matches);
  }
  // Every shape is as it was made, and is found again by what it is of.
  void Check() {
    std::set<std::pair<PodConstraints, std::vector<PodCountId>>> seen;
    table_.ForEach([&](const PodShape& shape) {
      ASSERT_TRUE(seen.emplace(shape.constraints, shape.matches).second) << "it is there twice";
      ASSERT_NO_FATAL_FAILURE(CheckRequests(shape));
      ASSERT_NO_FATAL_FAILURE(CheckParts(shape));
    });
    ASSERT_EQ(table_.size(), seen.size());
    for (const auto& [constraints, matches] : seen) {
      ASSERT_FALSE(table_.Intern(constraints, matches).is_new);
    }
  }
  void Sweep() {
    UsedIds used;
    std::set<ShapeId> expected;
    table_.ForEach([&](const PodShape& shape) {
      if (random_.OneIn(2)) return;
      used.Note(shape.id);
      expected.insert({shape.id, shape.room_shape});
    });
    std::set<std::string> images;
    const UsedIds kept = table_.KeepOnly(used);
    table_.ForEach([&](const PodShape& shape) {
      EXPECT_EQ(expected.erase(shape.id), 1u);
      for (const ImageId image : shape.images) EXPECT_TRUE(kept.Has(image));
    });
    EXPECT_THAT(expected, IsEmpty());
  }
  void KeepSomeNodeResources() {
    UsedIds used;
    for (const ResourceId resource : {kPods, kCpu, kMemory}) used.Note(resource);
    for (const std::string& name : kResources) {
      const std::optional<ResourceId> number = table_.NodeResource(name);
      if (number.has_value() && random_.OneIn(2)) used.Note(*number);
    }
    table_.KeepOnlyNodeResources(used);
    for (const std::string& name : kResources) {
      const std::optional<ResourceId> number = table_.NodeResource(name);
      EXPECT_TRUE(!number.has_value() || used.Has(*number));
    }
  }

  Random random_{1};
  GpuRules gpu_rules_;
  PodLabels labels_;
  PodQueries queries_{labels_};
  DraftTables draft_;
  ShapeTable table_{draft_, gpu_rules_, queries_};
  std::vector<PodCountId> counts_;
};

TEST_F(ShapeTableTest, EveryShapeStaysAsItIsWhateverIsNumberedOrSwept) {
  for (int round = 0; round < 800; ++round) {
    SCOPED_TRACE(round);
    if (random_.OneIn(15)) {
      Sweep();
    } else if (random_.OneIn(15)) {
      KeepSomeNodeResources();
    } else if (random_.OneIn(10)) {
      table_.NumberForNodes({kResources[random_.Below(kResources.size())]});
    } else {
      const PodConstraints constraints = AnyConstraints();
      const std::vector<PodCountId> matches = AnyMatches();
      const ShapeId shape = table_.Intern(constraints, matches).id;
      ASSERT_EQ(table_.Of(shape).constraints, constraints);
      ASSERT_EQ(table_.Of(shape).matches, matches);
    }
    ASSERT_NO_FATAL_FAILURE(Check());
  }
}

TEST_F(ShapeTableTest, ShapesThatMatchNoOtherCountsKeepTheirNumbers) {
  std::map<ShapeId, PodConstraints> shapes;
  for (int i = 0; i < 60; ++i) {
    const PodConstraints constraints = AnyConstraints();
    shapes.emplace(table_.Intern(constraints, AnyMatches()).id, constraints);
  }
  UsedIds first;
  first.Note(counts_[0]);
  table_.MatchOnly(first);
  for (const auto& [id, constraints] : shapes) {
    EXPECT_EQ(table_.Of(id).constraints, constraints);
    const std::vector<PodCountId>& matches = table_.Of(id).matches;
    EXPECT_TRUE(matches.empty() || matches == std::vector<PodCountId>{counts_[0]});
    const ShapeTable::Interned again = table_.Intern(constraints, matches);
    EXPECT_FALSE(again.is_new) << "an equal one is listed";
    EXPECT_EQ(table_.Of(again.id).matches, matches);
    EXPECT_EQ(table_.WithMatches(id, matches), again.id);
  }
}

TEST_F(ShapeTableTest, OwnTermsAreFoundByTheConstraintsOfAnyShapeThatHasThem) {
  PodConstraints constraints, other;
  constraints.requests = {{"cpu", Amount(1)}};
  const auto own = std::make_shared<const OwnTerms>();
  EXPECT_EQ(table_.TermsOf(constraints), nullptr);
  const ShapeId shape = table_.Intern(constraints, {counts_[1]}, own).id;
  EXPECT_EQ(table_.TermsOf(constraints), own);
  EXPECT_EQ(table_.TermsOf(other), nullptr);
  EXPECT_EQ(table_.OwnTermsOf(table_.WithMatches(shape, {})), own);
  table_.KeepOnly({});
  EXPECT_EQ(table_.TermsOf(constraints), nullptr);
}

TEST_F(ShapeTableTest, NodesHaveSoManyResourcesAndNoMore) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < kMostResources; ++i) names.push_back(absl::StrCat("x/", i));
  table_.NumberForNodes(names);
  EXPECT_EQ(draft_.tables.resources.size(), kMostResources);
  EXPECT_TRUE(table_.NodeResource(names[kMostResources - 4]).has_value());
  EXPECT_FALSE(table_.NodeResource(names[kMostResources - 3]).has_value());
}

TEST_F(ShapeTableTest, WhatIsScarceIsNamedFirstAndAmountsStayWithinBounds) {
  PodConstraints constraints;
  constraints.requests = {{"cpu", Amount(1)},
                          {"memory", Amount(std::numeric_limits<int64_t>::max())},
                          {"nvidia.com/gpu", Amount(2)},
                          {"x/a", Amount(-1)},
                          {"x/b", Amount(3)}};
  std::vector<std::pair<std::string, int64_t>> named;
  for (const auto& [resource, amount] : table_.Of(table_.Intern(constraints, {}).id).requests) {
    named.emplace_back(draft_.tables.FactsOf(resource).name, amount);
  }
  EXPECT_THAT(named, ElementsAre(std::pair("nvidia.com/gpu", 2), std::pair("x/b", 3),
                                 std::pair("memory", kMostAmount), std::pair("cpu", 1),
                                 std::pair("pods", 1)));
}

}  // namespace
}  // namespace maniple::state_shape_table_test
