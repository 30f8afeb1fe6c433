// What Queues and namespaces have used of GPUs, by time. Fears: a job that only runs is counted for
// nothing; a new leader counts anew, twice, or not at all; a relabelled pod or a deleted Queue
// leaves its bill to somebody else; telling it costs a write for each pod.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/loop/quota/usage_meter.h"
#include "test/support/loop_driver.h"

namespace maniple::loop_usage_test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;

std::string Text(const ResourceSeconds& row) {
  return absl::StrCat(row.namespace_name, " ", row.flavor, " ", row.resource, " ", row.total);
}
std::vector<std::string> Text(const std::vector<ResourceSeconds>& rows) {
  std::vector<std::string> out;
  for (const ResourceSeconds& row : rows) out.push_back(Text(row));
  return out;
}

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

TEST(UsageMeter, CountsAmountByTimeForWhoeverPays) {
  UsageMeter meter;
  meter.Set(GangId(1), {"team", "a"}, {{"h100", kGpuResource, 8}}, kStart);
  meter.Set(GangId(2), {"team", "b"}, {{"", kGpuResource, 1}}, kStart);
  meter.Set(GangId(1), {"team", "a"}, {{"h100", kGpuResource, 2}}, kStart + absl::Seconds(10));
  meter.Set(GangId(2), {"other", "b"}, {{"", kGpuResource, 1}}, kStart + absl::Seconds(15));
  const absl::Time now = kStart + absl::Seconds(20);
  EXPECT_THAT(Text(meter.RecordOf("team", now).rows),
              ElementsAre("a h100 nvidia.com/gpu 100", "b  nvidia.com/gpu 15"));
  EXPECT_THAT(Text(meter.RecordOf("other", now).rows), ElementsAre("b  nvidia.com/gpu 5"));
  meter.Set(GangId(1), {}, {}, now);
  EXPECT_THAT(Text(meter.RecordOf("team", now + absl::Hours(1)).rows),
              ElementsAre("a h100 nvidia.com/gpu 100", "b  nvidia.com/gpu 15"));
  EXPECT_THAT(Text(meter.RecordOf("nobody", now).rows), IsEmpty());
}

TEST(UsageMeter, WhatIsUsedAtACertainTimeIsHalfOfItAWeekLater) {
  UsageMeter meter;
  meter.Set(GangId(1), {"team", "a"}, {{"", kGpuResource, 100}}, kStart);
  meter.Set(GangId(1), {}, {}, kStart + absl::Hours(1));
  const auto recent = [&](absl::Duration later) {
    return static_cast<double>(meter.RecordOf("team", kStart + later).rows.at(0).recent);
  };
  EXPECT_NEAR(recent(absl::Hours(1)), 360'000, 1'000);
  EXPECT_NEAR(recent(absl::Hours(1) + kUsageHalfLife), 180'000, 500);
  EXPECT_NEAR(recent(absl::Hours(1) + 2 * kUsageHalfLife), 90'000, 250);
  // In small steps it is the same.
  UsageMeter steps;
  for (int second = 0; second < 3600; second += 60) {
    steps.Set(GangId(1), {"team", "a"}, {{"", kGpuResource, 100 + (second / 60) % 2}},
              kStart + absl::Seconds(second));
  }
  const UsageRecord record = steps.RecordOf("team", kStart + absl::Hours(1));
  EXPECT_EQ(record.rows.at(0).total, 100 * 3600 + 1800);
  EXPECT_NEAR(static_cast<double>(record.rows.at(0).recent), recent(absl::Hours(1)) * 1.005, 100);
}

// Against a list of every second.
TEST(UsageMeter, EqualsASumOverEverySecond) {
  std::mt19937 random(17);
  for (int history = 0; history < 50; ++history) {
    UsageMeter meter;
    std::map<std::tuple<std::string, std::string, std::string>, int64_t> sums;
    struct Holding {
      std::string queue, space, flavor;
      int64_t amount = 0;
    };
    std::map<int, Holding> gangs;
    absl::Time now = kStart;
    for (int step = 0; step < 60; ++step) {
      const int gang = static_cast<int>(random() % 5);
      Holding& held = gangs[gang];
      held = {absl::StrCat("q", random() % 2), absl::StrCat("n", random() % 2),
              absl::StrCat("f", random() % 2), static_cast<int64_t>(random() % 4)};
      std::vector<UsageMeter::Use> uses;
      if (held.amount > 0) uses.push_back({held.flavor, kGpuResource, held.amount});
      meter.Set(GangId(static_cast<uint32_t>(gang)), {held.queue, held.space}, uses, now);
      const auto seconds = static_cast<int64_t>(random() % 100);
      for (const auto& [id, of] : gangs)
        sums[{of.queue, of.space, of.flavor}] += of.amount * seconds;
      now += absl::Seconds(seconds);
    }
    for (const char* queue : {"q0", "q1"}) {
      for (const ResourceSeconds& row : meter.RecordOf(queue, now).rows) {
        EXPECT_EQ(row.total, (sums[{queue, row.namespace_name, row.flavor}])) << Text(row);
        sums.erase({queue, row.namespace_name, row.flavor});
      }
    }
    for (const auto& [key, sum] : sums) EXPECT_EQ(sum, 0) << std::get<0>(key);
  }
}

TEST(UsageMeter, ManySmallNamespacesShareARow) {
  UsageMeter meter;
  for (uint32_t i = 0; i < 500; ++i) {
    meter.Set(GangId(i), {"team", absl::StrCat("n", i)}, {{"", kGpuResource, i + 1}}, kStart);
  }
  const UsageRecord record = meter.RecordOf("team", kStart + absl::Seconds(10));
  ASSERT_LE(record.rows.size(), UsageMeter::kMostRows + 1);
  EXPECT_EQ(record.rows.front().namespace_name, "");
  int64_t sum = 0;
  for (const ResourceSeconds& row : record.rows) sum += row.total;
  EXPECT_EQ(sum, 10 * 500 * 501 / 2);
  UsageMeter next;
  next.Recall("team", record);
  EXPECT_EQ(Text(next.RecordOf("team", record.as_of).rows), Text(record.rows));
}

TEST(UsageMeter, IsToldAnewOnlyOnceInAWhileAndOnlyWhenMoreWasUsed) {
  UsageMeter meter;
  const auto tell = [&](absl::Duration after) {
    return meter.ToTell("team", absl::Minutes(1), kStart + after).as_of - kStart;
  };
  EXPECT_EQ(meter.ToTell("team", absl::Minutes(1), kStart).as_of, absl::InfinitePast());
  meter.Set(GangId(1), {"team", "a"}, {{"", kGpuResource, 1}}, kStart);
  EXPECT_EQ(tell(absl::Seconds(5)), absl::Seconds(5));
  EXPECT_EQ(tell(absl::Seconds(50)), absl::Seconds(5));
  EXPECT_EQ(tell(absl::Seconds(65)), absl::Seconds(65));
  meter.Set(GangId(1), {}, {}, kStart + absl::Seconds(65));
  EXPECT_EQ(tell(absl::Hours(5)), absl::Seconds(65));
}

class LoopUsage : public ::testing::Test {
 protected:
  void SetUp() override {
    ResourceFlavor flavor;
    flavor.meta.name = "h100";
    flavor.node_labels.Set("gpu", "h100");
    d_.Put(ObjectUpserted{flavor});
    d_.Put(ObjectUpserted{Team()});
    d_.Put(MakeNode("n1").Gpu(8).Label("gpu", "h100"));
    d_.Put(MakeNode("n2").Gpu(8));
    d_.Settle();
  }
  static Queue Team() {
    Queue queue;
    queue.meta.name = "team";
    queue.meta.uid = "uid-team";
    queue.quotas = {
        {.flavor = "h100", .resources = {{.resource = kGpuResource, .nominal = Amount(16)}}}};
    return queue;
  }
  void Run(absl::string_view gang, absl::string_view queue, int pods, int64_t gpus) {
    d_.Submit({.gang = std::string(gang), .pods = pods, .gpu = gpus, .queue = std::string(queue)});
    d_.Settle();
    ASSERT_EQ(d_.Bound(gang), pods);
    began_ = d_.now;
  }
  [[nodiscard]] int64_t SecondsSinceItBegan() const {
    return absl::ToInt64Seconds(d_.now - began_);
  }
  std::vector<std::string> Used(absl::string_view queue) {
    const ClusterFiguresPtr figures = d_.Figures();
    for (const QueueView& view : figures->queues) {
      if (view.name == queue) return Text(view.used);
    }
    return {};
  }
  // As the status of the Queue has it.
  UsageRecord Told() {
    const Json& status = d_.api.QueueStatus("team")["resourceSeconds"];
    UsageRecord record;
    EXPECT_TRUE(
        absl::ParseTime(absl::RFC3339_full, status["asOf"].AsString(), &record.as_of, nullptr));
    for (const Json& row : status["items"].items()) {
      record.rows.push_back({.namespace_name = std::string(row["namespace"].AsString()),
                             .flavor = std::string(row["flavor"].AsString()),
                             .resource = std::string(row["name"].AsString()),
                             .total = row["total"].AsInt(),
                             .recent = row["recent"].AsInt()});
    }
    return record;
  }

  LoopDriver d_;
  absl::Time began_;
};

TEST_F(LoopUsage, AGangThatOnlyRunsIsCountedAndTold) {
  Run("a", "team", 2, 4);
  d_.Settle(absl::Seconds(100));
  EXPECT_THAT(Used("team"),
              ElementsAre(absl::StrCat("default h100 nvidia.com/gpu ", 8 * SecondsSinceItBegan())));
  d_.Settle(absl::Minutes(21));
  const UsageRecord told = Told();
  EXPECT_THAT(Text(told.rows),
              ElementsAre(absl::StrCat("default h100 nvidia.com/gpu ",
                                       8 * absl::ToInt64Seconds(told.as_of - began_))));
  EXPECT_LE(d_.now - told.as_of, absl::Minutes(10));
}

TEST_F(LoopUsage, AGangWithoutAQueueIsCountedToo) {
  Run("a", "", 1, 8);
  d_.Settle(absl::Seconds(10));
  EXPECT_THAT(Used(""), ElementsAre(EndsWith(absl::StrCat("gpu ", 8 * SecondsSinceItBegan()))));
  EXPECT_THAT(Used("team"), IsEmpty());
}

TEST_F(LoopUsage, ANameThatNoNodeHasIsNoGpuThatIsUsed) {
  d_.Put(MakePod("odd").Wants("made-up.example.com/gpu", 8).On("n1"));
  d_.Settle(absl::Seconds(10));
  EXPECT_THAT(Used(""), IsEmpty());
}

TEST_F(LoopUsage, WhoHasEndedIsCountedNoMore) {
  Run("a", "team", 2, 4);
  d_.Settle(absl::Seconds(100));
  const std::vector<std::string> used = Used("team");
  d_.api.Delete(ResourceKind::kPod, "a-0");
  d_.api.Delete(ResourceKind::kPod, "a-1");
  d_.Settle(absl::Hours(1));
  EXPECT_EQ(Used("team"), used);
}

// Against the pods that the API shows on nodes, added up between any two changes.
TEST(LoopUsageHistories, EqualWhatTheApiShows) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    std::mt19937 random(seed);
    // Nobody starts but when somebody comes or goes.
    LoopDriver d({.reservation_after = absl::Hours(10'000)});
    d.Nodes(4, 8);
    for (const char* name : {"a", "b"}) {
      Queue queue;
      queue.meta.name = name;
      queue.meta.uid = absl::StrCat("uid-", name);
      queue.quotas = {
          {.flavor = "", .resources = {{.resource = kGpuResource, .nominal = Amount(16)}}}};
      d.Put(ObjectUpserted{queue});
    }
    std::map<std::string, std::string> queue_of;  // by gang
    std::map<std::string, int64_t> sums;          // by Queue
    for (int step = 0; step < 40; ++step) {
      if (random() % 2 == 0) {
        const std::string gang = absl::StrCat("g", step), queue = random() % 2 == 0 ? "a" : "b";
        queue_of[gang] = queue;
        d.Submit({.gang = gang,
                  .pods = static_cast<int>(1 + random() % 3),
                  .gpu = static_cast<int64_t>(1 + random() % 8),
                  .queue = queue});
      } else if (!queue_of.empty()) {
        const auto gone =
            std::next(queue_of.begin(), static_cast<ptrdiff_t>(random() % queue_of.size()));
        d.api.Delete(ResourceKind::kPodGroup, gone->first);
        for (int i = 0; i < 3; ++i) {
          d.api.Delete(ResourceKind::kPod, absl::StrCat(gone->first, "-", i));
        }
        queue_of.erase(gone);
      }
      d.Settle();
      const auto seconds = static_cast<int64_t>(random() % 3000);
      for (const Pod* pod : d.api.Pods()) {
        if (pod->node_name.empty()) continue;
        const std::string gang = pod->meta.name.substr(0, pod->meta.name.rfind('-'));
        for (const ResourceAmount& request : pod->constraints.requests) {
          if (request.resource == kGpuResource) {
            sums[queue_of.at(gang)] += request.amount.units() * seconds;
          }
        }
      }
      d.Settle(absl::Seconds(seconds));
    }
    const ClusterFiguresPtr figures = d.Figures();
    for (const QueueView& view : figures->queues) {
      int64_t used = 0;
      for (const ResourceSeconds& row : view.used) used += row.total;
      EXPECT_EQ(used, sums[view.name]) << "seed " << seed << ", queue " << view.name;
    }
    EXPECT_GT(sums["a"] + sums["b"], 0);
  }
}

// "h100: 8 used" and so on, of whole GPUs; zeros are left out.
std::vector<std::string> GpusOf(LoopDriver& driver) {
  std::vector<std::string> out;
  const ClusterFiguresPtr figures = driver.Figures();
  for (const GpuTotalView& total : figures->gpus) {
    std::string text = absl::StrCat(total.flavor, ":");
    for (size_t i = 0; i < kGpuStates.size(); ++i) {
      if (total.amounts[i] != 0) absl::StrAppend(&text, " ", total.amounts[i], " ", kGpuStates[i]);
    }
    out.push_back(std::move(text));
  }
  return out;
}

TEST_F(LoopUsage, EachGpuIsUsedOrFreeOrItsNodeTakesNobody) {
  EXPECT_THAT(GpusOf(d_), ElementsAre(": 8 free", "h100: 8 free"));
  Run("a", "team", 1, 4);
  d_.Put(MakePod("theirs").Gpu(1).On("n2").Scheduler("other").Phase(PodPhase::kRunning));
  d_.Settle();
  EXPECT_THAT(GpusOf(d_), ElementsAre(": 1 used 7 free", "h100: 4 used 4 free"));
  d_.Put(MakeNode("n1").Gpu(8).Label("gpu", "h100").Cordoned());
  d_.Put(MakeNode("n2").Gpu(8).WithTaint("node.kubernetes.io/not-ready"));
  d_.Settle();
  EXPECT_THAT(GpusOf(d_), ElementsAre(": 1 used 7 unreachable", "h100: 4 used 4 cordoned"));
}

TEST(LoopGpus, WhatIsKeptForALaterStartIsHeldWhileNobodyUsesIt) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Submit({.gang = "runs", .pods = 1, .expected_runtime = absl::Hours(1)});
  d.Settle();
  d.Submit({.gang = "waits", .pods = 2});
  d.Settle(absl::Minutes(11));
  EXPECT_THAT(GpusOf(d), ElementsAre(": 8 used 8 held"));
}

TEST_F(LoopUsage, ANewLeaderGoesOnFromWhatWasTold) {
  Run("a", "team", 2, 4);
  d_.Settle(absl::Minutes(15));
  Queue told = Team();
  told.used = Told();
  d_.Put(ObjectUpserted{told});
  d_.Restart();
  d_.Settle(absl::Minutes(5));
  EXPECT_THAT(Used("team"),
              ElementsAre(absl::StrCat("default h100 nvidia.com/gpu ", 8 * SecondsSinceItBegan())));
}

TEST_F(LoopUsage, WhatOnlyRunsCostsAWriteInTenMinutes) {
  Run("a", "team", 2, 4);
  d_.Settle(absl::Minutes(1));
  const int before = d_.api.Count("/queues/team/status");
  d_.Settle(absl::Hours(2));
  const int writes = d_.api.Count("/queues/team/status") - before;
  EXPECT_LE(writes, 13);
  EXPECT_GE(writes, 11);
}

TEST_F(LoopUsage, AQueueMadeAnewBeginsAtNothing) {
  Run("a", "team", 2, 4);
  d_.Settle(absl::Seconds(100));
  d_.api.Delete(ResourceKind::kQueue, "team");
  d_.Settle(absl::Seconds(10));
  EXPECT_THAT(Used("team"), IsEmpty());
  const absl::Time anew = d_.now;
  Queue queue = Team();
  queue.meta.uid = "uid-another";
  d_.Put(ObjectUpserted{queue});
  d_.Settle(absl::Seconds(10));
  for (const ResourceSeconds& row : Told().rows) {
    EXPECT_LE(row.total, 8 * absl::ToInt64Seconds(d_.now - anew + absl::Seconds(10)));
  }
}

TEST_F(LoopUsage, AQueueMadeAnewCountsWhatRunsOnFromThenOn) {
  Run("a", "team", 2, 4);
  d_.api.Delete(ResourceKind::kQueue, "team");
  d_.Settle(absl::Seconds(100));
  const absl::Time anew = d_.now;
  Queue queue = Team();
  queue.meta.uid = "uid-another";
  d_.Put(ObjectUpserted{queue});
  d_.Settle(absl::Seconds(1000));
  EXPECT_THAT(Used("team"), ElementsAre(absl::StrCat("default h100 nvidia.com/gpu ",
                                                     8 * absl::ToInt64Seconds(d_.now - anew))));
}

// A counter that falls is taken for one that began anew, and all that it shows for new use.
TEST_F(LoopUsage, WhatRunsInADeletedQueueIsUsedWithoutOneAndStaysSoWhenTheQueueIsBack) {
  Run("a", "team", 2, 4);
  d_.Settle(absl::Seconds(100));
  const absl::Time deleted = d_.now;
  d_.api.Delete(ResourceKind::kQueue, "team");
  d_.Settle(absl::Seconds(50));
  const int64_t orphaned = 8 * absl::ToInt64Seconds(d_.now - deleted);
  const auto is_orphaned = ElementsAre(absl::StrCat("default h100 nvidia.com/gpu ", orphaned));
  EXPECT_THAT(Used(""), is_orphaned);
  Queue queue = Team();
  queue.meta.uid = "uid-another";
  d_.Put(ObjectUpserted{queue});
  d_.Settle(absl::Seconds(1000));
  EXPECT_THAT(Used(""), is_orphaned);
}

}  // namespace
}  // namespace maniple::loop_usage_test
