// Quota of gpu-milli where nodes differ in their GPUs' worth. Fears: more gangs leave than the
// price of the nodes that a gang may use asks for; a gang that may start some day is told never.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "queue/gpu_milli.h"
#include "test/support/loop_driver.h"

namespace maniple {
namespace {

constexpr char kPool[] = "example.com/pool";

class LoopGpuPricesTest : public ::testing::Test {
 protected:
  // A node with GPUs that so many pods share each, one GPU in all; it is its own pool.
  static MakeNode Shared(const std::string& name, int replicas) {
    return MakeNode(name)
        .Gpu(replicas)
        .Label(kPool, name)
        .Product("NVIDIA-A100-SXM4-80GB-SHARED")
        .Label("nvidia.com/gpu.count", "1")
        .Label("nvidia.com/gpu.replicas", absl::StrCat(replicas))
        .Label("nvidia.com/gpu.sharing-strategy", "time-slicing");
  }
  static MakeNode Whole(const std::string& name) {
    return MakeNode(name).Gpu(8).Label(kPool, name).Product("NVIDIA-A100-SXM4-80GB");
  }
  void PutQueue(const std::string& name, int64_t nominal, const std::string& cohort = "") {
    Queue queue;
    queue.meta.name = name;
    queue.meta.uid = absl::StrCat("uid-", name);
    queue.meta.generation = 1;
    queue.cohort = cohort;
    queue.within_queue = WithinQueuePreemption::kLowerPriority;
    queue.reclaim = ReclaimWithinCohort::kAny;
    queue.quotas = {
        {.flavor = "", .resources = {{.resource = kGpuMilliResource, .nominal = Amount(nominal)}}}};
    d_.api.Put(queue);
  }
  // Pods of one GPU each; `pool`: the only one that they may use, unless that is "".
  void Submit(const std::string& gang, const std::string& queue, int pods, int32_t priority,
              const std::string& pool) {
    PodGroup group = MakePodGroup(gang).MinMember(pods);
    group.spec.queue = queue;
    group.meta.created = d_.now;
    d_.api.Put(group);
    for (int i = 0; i < pods; ++i) {
      MakePod made(absl::StrCat(gang, "-", i));
      made.Group(gang).Gpu(1).Priority(priority);
      if (!pool.empty()) made.Selector(kPool, pool);
      Pod pod = made;
      pod.meta.uid.clear();
      pod.meta.created = d_.now;
      d_.api.Put(pod);
    }
  }
  // Four gangs of one pod each fill the node "four", at 250 each.
  void FillFour(const std::string& queue) {
    for (int i = 1; i <= 4; ++i) Submit(absl::StrCat("low", i), queue, 1, 0, "four");
    d_.Settle();
    for (int i = 1; i <= 4; ++i) ASSERT_EQ(d_.Bound(absl::StrCat("low", i)), 1);
  }
  int Evictions() { return d_.api.Count("/eviction"); }
  // So many leave for a more important gang of a Queue whose quota the node "four" uses up.
  int VictimsOf(int pods, const std::string& pool) {
    PutQueue("q", 1000);
    FillFour("q");
    Submit("high", "q", pods, 5, pool);
    d_.Settle(absl::Minutes(1));
    EXPECT_EQ(d_.Bound("high"), pods);
    return Evictions();
  }

  LoopDriver d_;
};

TEST_F(LoopGpuPricesTest, NobodyLeavesForThePriceOfNodesThatTheGangMayNotUse) {
  d_.Put(Shared("four", 4));
  d_.Put(Whole("whole"));
  EXPECT_EQ(VictimsOf(1, "four"), 1);
}

TEST_F(LoopGpuPricesTest, NoBorrowerLeavesForThePriceOfNodesThatTheGangMayNotUse) {
  d_.Put(Shared("four", 4));
  d_.Put(Whole("whole"));
  PutQueue("owner", 1000, "c");
  PutQueue("guest", 0, "c");
  FillFour("guest");
  Submit("own", "owner", 1, 0, "four");
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.Bound("own"), 1);
  EXPECT_EQ(Evictions(), 1);
}

TEST_F(LoopGpuPricesTest, NobodyLeavesForThePriceOfATaintedNode) {
  d_.Put(Shared("four", 4));
  d_.Put(Shared("two", 2).WithTaint("away"));
  EXPECT_EQ(VictimsOf(2, ""), 2);
}

TEST_F(LoopGpuPricesTest, WhereBothPricesHelpTheOneOfFewerVictimsIsTaken) {
  d_.Put(Shared("four", 4));
  d_.Put(Shared("two", 2));
  EXPECT_EQ(VictimsOf(2, ""), 2);
}

}  // namespace
}  // namespace maniple
