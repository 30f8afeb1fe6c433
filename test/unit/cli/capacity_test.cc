// What fits now, as `maniple capacity` tells it from the admin surface.
#include "scheduler/cli/capacity.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

Json Parsed(const std::string& text) {
  absl::StatusOr<Json> json = Json::Parse(text);
  EXPECT_TRUE(json.ok()) << json.status();
  return json.ok() ? *std::move(json) : Json();
}

std::string NodeWithGpus(const std::string& path, int free, const std::string& more = "") {
  return absl::StrCat(R"({"path":[)", path, R"(],"schedulable":true)", more,
                      R"(,"resources":[{"name":"cpu","allocatable":"64","free":"64"},)",
                      R"({"name":"nvidia.com/gpu","allocatable":"8","free":")", free,
                      R"(","gpu":true}]})");
}

TEST(Capacity, CountsPodsOfEachSizeAnywhereAndInTheBestDomain) {
  const Json nodes = Parsed(absl::StrCat(
      R"({"items":[)", NodeWithGpus(R"("east","r1")", 8), ",", NodeWithGpus(R"("east","r2")", 8),
      ",", NodeWithGpus(R"("west","r3")", 7), ",", NodeWithGpus(R"("west","")", 1), "]}"));
  EXPECT_EQ(CapacityTable(CapacityOf(nodes)),
            "RESOURCE        MODEL  PODS OF  ANYWHERE  FREE   IN ONE DOMAIN\n"
            "nvidia.com/gpu  -      1        24        24/32  16 in east, 8 in east/r1\n"
            "nvidia.com/gpu  -      2        11        24/32  8 in east, 4 in east/r1\n"
            "nvidia.com/gpu  -      4        5         24/32  4 in east, 2 in east/r1\n"
            "nvidia.com/gpu  -      8        2         24/32  2 in east, 1 in east/r1\n");
}

// Eight slices that go by the name of a GPU are not eight GPUs, and no pod gets two of them.
TEST(Capacity, CountsEachModelForItselfAndSlicesOneByOne) {
  const std::string slices =
      R"({"schedulable":true,"gpuModel":"H100 MIG 1g.10gb","resources":[{"name":"nvidia.com/gpu",)"
      R"("allocatable":"7","free":"5","gpu":true,"onePerContainer":true}]})";
  const Json nodes =
      Parsed(absl::StrCat(R"({"items":[)", NodeWithGpus("", 2, R"(,"gpuModel":"H100")"), ",",
                          NodeWithGpus("", 1, R"(,"gpuModel":"A100")"), ",", slices, "]}"));
  EXPECT_EQ(CapacityTable(CapacityOf(nodes)),
            "RESOURCE        MODEL             PODS OF  ANYWHERE  FREE  IN ONE DOMAIN\n"
            "nvidia.com/gpu  A100              1        1         1/8   -\n"
            "nvidia.com/gpu  A100              2        0         1/8   -\n"
            "nvidia.com/gpu  A100              4        0         1/8   -\n"
            "nvidia.com/gpu  A100              8        0         1/8   -\n"
            "nvidia.com/gpu  H100              1        2         2/8   -\n"
            "nvidia.com/gpu  H100              2        1         2/8   -\n"
            "nvidia.com/gpu  H100              4        0         2/8   -\n"
            "nvidia.com/gpu  H100              8        0         2/8   -\n"
            "nvidia.com/gpu  H100 MIG 1g.10gb  1        5         5/7   -\n");
}

TEST(Capacity, LeavesOutWhatTakesNoPods) {
  std::string cordoned = NodeWithGpus("", 8);
  cordoned.replace(cordoned.find("true"), 4, "false");
  const Json nodes = Parsed(
      absl::StrCat(R"({"items":[)", cordoned, ",",
                   NodeWithGpus("", 8, R"(,"taints":["node.kubernetes.io/not-ready:NoExecute"])"),
                   ",", NodeWithGpus("", 2, R"(,"taints":["nvidia.com/gpu:NoSchedule"])"), "]}"));
  const Json capacity = CapacityOf(nodes);
  EXPECT_EQ(capacity["items"].items()[0]["pods"].AsInt(), 2) << capacity.Dump();
  EXPECT_EQ(capacity["items"].items()[0]["allocatable"].AsInt(), 8);
}

TEST(Capacity, LeavesOutNodesThatAreClosed) {
  const Json nodes = Parsed(
      absl::StrCat(R"({"items":[)", NodeWithGpus("", 8, R"(,"closed":"no room for another pod")"),
                   ",", NodeWithGpus("", 2, R"(,"closed":"")"), "]}"));
  const Json capacity = CapacityOf(nodes);
  EXPECT_EQ(capacity["items"].items()[0]["pods"].AsInt(), 2) << capacity.Dump();
}

TEST(Capacity, OfACpuClusterIsEmpty) {
  EXPECT_EQ(CapacityOf(Parsed(R"({"items":[{"schedulable":true,"resources":[{"name":"cpu",
      "free":"4","allocatable":"4"}]}]})"))["items"]
                .size(),
            0u);
  EXPECT_EQ(CapacityTable(CapacityOf(Json())),
            "RESOURCE  MODEL  PODS OF  ANYWHERE  FREE  IN ONE DOMAIN\n");
}

}  // namespace
}  // namespace maniple
