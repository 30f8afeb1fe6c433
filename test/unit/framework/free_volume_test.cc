// Which free volume may serve a claim, and which is preferred. Fears: a volume that is a byte too
// small serves; a mode that it lacks is overlooked, or one that it has beyond the wish is in the
// way; a smaller volume of a later name comes after a larger one.
#include "plugins/framework/free_volume.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "test/support/builders.h"
#include "test/unit/framework/hand_made.h"

namespace maniple::framework_free_volume_test {
namespace {

const FreeVolume kVolume = {.storage_class = "local",
                            .capacity = Amount(10),
                            .name = "v",
                            .modes = kReadWriteOnce | kReadOnlyMany,
                            .block = false,
                            .attributes_class = "",
                            .labels = LabelsOf({{"tier", "fast"}}),
                            .where = std::nullopt};

// The claim that the volume just serves, changed.
bool ServesWith(const std::function<void(UnboundClaim&)>& change) {
  UnboundClaim claim;
  claim.storage_class = "local";
  claim.size = Amount(10);
  claim.modes = kReadWriteOnce;
  change(claim);
  return Serves(kVolume, claim);
}

TEST(FreeVolume, ServesWhatAsksForNoMoreThanItIs) {
  EXPECT_TRUE(ServesWith([](UnboundClaim&) {}));
  EXPECT_FALSE(ServesWith([](UnboundClaim& claim) { claim.size = Amount(11); }));
  EXPECT_TRUE(ServesWith([](UnboundClaim& claim) { claim.size = Amount(0); }));
  EXPECT_FALSE(ServesWith([](UnboundClaim& claim) { claim.storage_class = ""; }));
  EXPECT_FALSE(ServesWith([](UnboundClaim& claim) { claim.block = true; }));
  EXPECT_FALSE(ServesWith([](UnboundClaim& claim) { claim.attributes_class = "gold"; }));
}

TEST(FreeVolume, HasEveryModeThatIsWished) {
  const AccessModes all =
      kReadWriteOnce | kReadOnlyMany | kReadWriteMany | kReadWriteOncePod | kUnknownAccess;
  for (AccessModes modes = 0; modes <= all; ++modes) {
    bool has_each = true;
    for (AccessModes mode = 1; mode <= kUnknownAccess; mode = static_cast<AccessModes>(mode * 2)) {
      const bool wished = (modes & mode) != 0;
      has_each = has_each && (!wished || mode == kReadWriteOnce || mode == kReadOnlyMany);
    }
    EXPECT_EQ(ServesWith([modes](UnboundClaim& claim) { claim.modes = modes; }), has_each)
        << int{modes};
  }
}

TEST(FreeVolume, IsSelectedByItsLabels) {
  const auto selects = [](LabelSelector selector) {
    return ServesWith([&selector](UnboundClaim& claim) { claim.selector = selector; });
  };
  EXPECT_TRUE(selects({}));
  EXPECT_TRUE(selects(Labelled("tier", "fast")));
  EXPECT_FALSE(selects(Labelled("tier", "slow")));
  EXPECT_TRUE(selects({{Requires("zone", SelectorOperator::kDoesNotExist)}}));
}

TEST(FreeVolume, OfAClassTheSmallestIsPreferredAndOfEqualOnesTheFirstName) {
  FreeVolume larger = kVolume, later = kVolume;
  larger.capacity = Amount(11);
  larger.name = "a";
  later.name = "w";
  EXPECT_LT(kVolume, larger);
  EXPECT_LT(kVolume, later);
  EXPECT_LT(later, larger);
}

}  // namespace
}  // namespace maniple::framework_free_volume_test
