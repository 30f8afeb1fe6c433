// The choice of free volumes for claims, against a look at each volume and node. Fears: a short cut
// by a label's column leaves out a node, or lists a volume twice; a taken volume is given again; a
// claim that takes none counts as one that does; volumes come in an order that is not that of size.
#include "plugins/framework/volume_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/unit/framework/hand_made.h"

namespace maniple::framework_volume_choice_test {
namespace {

using enum SelectorOperator;
using Volumes = std::vector<VolumeChoice::VolumeIndex>;

SelectorRequirement SomePlace(Random& random) {
  const std::string key = random.OneIn(2) ? "zone" : "pool";  // a column, and one of the class
  if (random.OneIn(4)) return Requires(key, kNotIn, {absl::StrCat(random.Below(3))});
  std::vector<std::string> values = {"0"};
  if (random.OneIn(2)) values = {"2", "1"};
  if (random.OneIn(4)) values = {"1", "1"};
  return Requires(key, kIn, std::move(values));
}

std::optional<NodeTerms> SomeWhere(Random& random) {
  if (random.OneIn(5)) return std::nullopt;
  NodeTerms terms(random.Below(3));
  for (NodeSelectorTerm& term : terms) {
    for (uint64_t i = random.Below(3); i > 0; --i) term.expressions.push_back(SomePlace(random));
  }
  return terms;
}

UnboundClaim SomeClaim(Random& random) {
  UnboundClaim claim;
  claim.storage_class = random.OneIn(2) ? "a" : "b";
  claim.size = Amount(static_cast<int64_t>(random.Below(6)));
  claim.provision_only = random.OneIn(5);
  if (random.OneIn(5)) claim.reserved_where.emplace();
  return claim;
}

class VolumeCase final {
 public:
  explicit VolumeCase(Random& random) : made(RandomNodes(random, {"zone", "pool"}), {"zone"}) {
    for (uint64_t i = random.Below(8); i > 0; --i) {
      volumes.push_back({.storage_class = random.OneIn(2) ? "a" : "b",
                         .capacity = Amount(static_cast<int64_t>(random.Below(6))),
                         .name = absl::StrCat("v", i),
                         .where = SomeWhere(random)});
    }
    std::ranges::sort(volumes);
    made.tables().free_volumes = std::make_shared<const std::vector<FreeVolume>>(volumes);
    for (uint64_t i = random.Below(4); i > 0; --i) claims.push_back(SomeClaim(random));
    auto shape = std::make_shared<PodShape>();
    shape->id = ShapeId(0);
    VolumeNeeds needs;
    needs.unbound = claims;
    if (!random.OneIn(8)) shape->constraints.volumes = SharedVolumeNeeds(needs);
    made.tables().shapes.PushBack(shape);
  }

  [[nodiscard]] bool Reaches(const FreeVolume& volume, const HandMadeNode& node) const {
    if (!volume.where.has_value()) return true;
    return std::ranges::any_of(*volume.where, [&](const NodeSelectorTerm& term) {
      return BoundTerm(*made.Make().tables, term).Matches(made.View(node));
    });
  }
  [[nodiscard]] Volumes On(const HandMadeNode& node) const {
    Volumes out;
    for (uint32_t i = 0; i < volumes.size(); ++i) {
      const bool asked = std::ranges::any_of(claims, [&](const UnboundClaim& claim) {
        return !claim.provision_only && claim.storage_class == volumes[i].storage_class;
      });
      if (asked && Reaches(volumes[i], node)) out.push_back(i);
    }
    return out;
  }
  // The first that serves it and is free.
  [[nodiscard]] std::optional<uint32_t> Choose(const UnboundClaim& claim, const HandMadeNode& node,
                                               const Volumes& taken) const {
    for (const uint32_t i : On(node)) {
      if (Serves(volumes[i], claim) && std::ranges::count(taken, i) == 0) return i;
    }
    return std::nullopt;
  }

  HandMade made;
  std::vector<FreeVolume> volumes;
  std::vector<UnboundClaim> claims;
};

TEST(VolumeChoice, EachNodeHasTheVolumesThatItReachesInTheirOrder) {
  Random random(1);
  for (int round = 0; round < 1'000; ++round) {
    const VolumeCase the(random);
    const Snapshot snapshot = the.made.Make();
    const VolumeChoice choice(snapshot, the.claims);
    bool any = false;
    for (const HandMadeNode& node : the.made.nodes()) {
      const auto on = choice.On(node.name);
      ASSERT_EQ(Volumes(on.begin(), on.end()), the.On(node)) << round << " " << node.name;
      any = any || !on.empty();
    }
    ASSERT_EQ(choice.empty(), !any) << round;
    ASSERT_TRUE(choice.On("no such node").empty());
  }
}

TEST(VolumeChoice, MembersTakeTheFirstVolumeThatIsLeftToEachClaim) {
  Random random(2);
  for (int round = 0; round < 1'000; ++round) {
    const VolumeCase the(random);
    if (the.made.nodes().empty()) continue;
    const Snapshot snapshot = the.made.Make();
    const VolumeChoice choice(snapshot, the.claims);
    std::vector<PlacedMember> placed;
    Volumes taken;
    for (uint64_t i = random.Below(4); i > 0; --i) {
      const HandMadeNode& node = the.made.nodes()[random.Below(the.made.nodes().size())];
      placed.push_back({.shape = ShapeId(0), .node = node.at});
      if (snapshot.tables->ShapeOf(ShapeId(0)).constraints.volumes.get() == nullptr) continue;
      for (const UnboundClaim& claim : the.claims) {
        if (claim.provision_only || claim.reserved_where.has_value()) continue;
        const std::optional<uint32_t> want = the.Choose(claim, node, taken);
        std::ranges::sort(taken);
        ASSERT_EQ(choice.Choose(claim, node.name, taken), want) << round;
        if (want.has_value()) taken.push_back(*want);
      }
    }
    std::ranges::sort(taken);
    ASSERT_EQ(choice.TakenBy(placed), taken) << round;
  }
}

TEST(VolumeChoice, NoTermsAtAllMatchNothing) {
  const HandMade made({{.at = NodeId(0), .name = "n", .labels = {}}}, {});
  const BoundTerms none(*made.Make().tables, {});
  EXPECT_FALSE(none.Matches(made.View(made.nodes()[0])));
  EXPECT_TRUE(none.of_class_only());
}

}  // namespace
}  // namespace maniple::framework_volume_choice_test
