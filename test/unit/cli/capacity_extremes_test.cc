// Capacity of nodes that say anything. Fears: a node with an absurd number of devices stops the
// command, or makes the totals negative; a size is left out, or comes twice.
#include "scheduler/cli/capacity.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace maniple::cli_capacity_extremes_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Json NodeWith(int64_t gpus) {
  Json resource = Json::Object({{"name", "nvidia.com/gpu"}, {"gpu", true}});
  resource.Set("allocatable", absl::StrCat(gpus));
  resource.Set("free", absl::StrCat(gpus));
  return Json::Object({{"schedulable", true},
                       {"path", Json::Array({Json("rack")})},
                       {"resources", Json::Array({std::move(resource)})}});
}

Json Capacity(const std::vector<int64_t>& nodes) {
  Json items = Json::Array();
  for (const int64_t gpus : nodes) items.Append(NodeWith(gpus));
  return CapacityOf(Json::Object({{"items", std::move(items)}}));
}

TEST(CapacityExtremes, EachPowerOfTwoUpToTheLargestNodeIsARow) {
  for (const int64_t gpus : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}, int64_t{7}, int64_t{8},
                             int64_t{1000}, kMost / 2 + 1, kMost - 1, kMost}) {
    const Json capacity = Capacity({gpus});
    uint64_t size = 1;
    for (const Json& row : capacity["items"].items()) {
      EXPECT_EQ(row["size"].AsInt(), static_cast<int64_t>(size)) << gpus;
      EXPECT_EQ(row["pods"].AsInt(), gpus / static_cast<int64_t>(size)) << gpus;
      size *= 2;
    }
    EXPECT_GT(size, static_cast<uint64_t>(gpus));
    EXPECT_LE(size / 2, static_cast<uint64_t>(gpus));
  }
  EXPECT_EQ(Capacity({0})["items"].size(), 0u);
  EXPECT_EQ(Capacity({-5})["items"].size(), 0u);
}

TEST(CapacityExtremes, TotalsStopAtTheLargestNumber) {
  const Json row = Capacity({kMost, kMost})["items"].items().at(0);
  EXPECT_EQ(row["free"].AsInt(), kMost);
  EXPECT_EQ(row["allocatable"].AsInt(), kMost);
  EXPECT_EQ(row["pods"].AsInt(), kMost);
  EXPECT_EQ(row["domains"].items().at(0)["pods"].AsInt(), kMost);
}

}  // namespace
}  // namespace maniple::cli_capacity_extremes_test
