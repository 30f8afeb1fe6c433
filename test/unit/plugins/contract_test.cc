// What every policy of plugins/builtin.cc has to keep, whatever it decides. A new row is tested by
// being there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "plugins/builtin.h"
#include "plugins/framework/cluster_filter.h"
#include "test/support/builders.h"
#include "test/support/storage_builders.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

// Nodes and pods of all sorts, so that every policy has something to say.
class Zoo final {
 public:
  explicit Zoo(uint64_t seed) : random_(seed) {
    for (int i = 0; i < 300; ++i) AddNode(i);
    AddStorage();
    for (int i = 0; i < 200; ++i) AddOccupant(i);
    for (int i = 0; i < 40; ++i) AddCandidate(i);
    for (uint32_t i = 0; i < 10; ++i) {
      cluster_.state().CoolDown(NodeId(i * 7), kNow + absl::Seconds(i % 2 == 0 ? 10 : -10));
    }
    snapshot_ = cluster_.state().Publish();
    for (const auto& block : snapshot_->blocks) blocks_.push_back(block.get());
  }

  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
  [[nodiscard]] BlockSpan blocks() const { return blocks_; }
  [[nodiscard]] std::vector<const PodShape*> shapes() const {
    std::vector<const PodShape*> shapes;
    for (size_t i = 0; i < snapshot_->tables->shapes.size(); ++i) {
      shapes.push_back(snapshot_->tables->shapes[i].get());
    }
    return shapes;
  }

 private:
  void AddNode(int i) {
    MakeNode node(absl::StrCat("n", i));
    node.Gpu(static_cast<int64_t>(random_.Below(3)) * 4)
        .Cpu(1 + static_cast<int64_t>(random_.Below(8)));
    node.Pods(1 + static_cast<int64_t>(random_.Below(4)));
    node.Label("zone", absl::StrCat(random_.Below(4))).Label("host", absl::StrCat("h", i));
    if (random_.OneIn(3)) node.Label("gen", absl::StrCat(random_.Below(9)));
    if (random_.OneIn(4)) node.WithTaint(random_.OneIn(2) ? "gpu" : "team", "x");
    if (random_.OneIn(4)) node.WithTaint("soft", "", TaintEffect::kPreferNoSchedule);
    if (random_.OneIn(9)) node.Cordoned();
    if (random_.OneIn(2)) {
      node.Label("topology.kubernetes.io/zone", absl::StrCat(random_.Below(3)));
    }
    node.Image(absl::StrCat("image", random_.Below(4)), 900);
    DescribeGpus(node);
    cluster_.Add(node);
  }
  void DescribeGpus(MakeNode& node) {
    static constexpr const char* kProducts[] = {"NVIDIA-H100-80GB-HBM3",
                                                "NVIDIA-H100-PCIe",
                                                "NVIDIA-L40S",
                                                "NVIDIA-A100-SXM4-MIG-1g.10gb",
                                                "NVIDIA-A100-SXM4-MIG-INVALID",
                                                "NVIDIA-A10-SHARED",
                                                "NVIDIA-GB200"};
    static constexpr const char* kStates[] = {"pending", "failed", "success"};
    if (random_.OneIn(2)) node.Product(kProducts[random_.Below(std::size(kProducts))]);
    if (random_.OneIn(4)) {
      node.Label("nvidia.com/mig.config.state", kStates[random_.Below(std::size(kStates))]);
    }
    if (random_.OneIn(3)) {
      node.Has("nvidia.com/mig-1g.10gb", 7).Has("nvidia.com/mig-3g.40gb", 2);
    }
  }
  void AddOccupant(int i) {
    MakePod pod(absl::StrCat("x", i));
    pod.Scheduler("other").On(absl::StrCat("n", random_.Below(300)));
    pod.Gpu(static_cast<int64_t>(random_.Below(4))).Cpu(static_cast<int64_t>(random_.Below(3000)));
    pod.Wants("nvidia.com/mig-3g.40gb", static_cast<int64_t>(random_.Below(2)));
    if (random_.OneIn(3)) pod.Port(80, random_.OneIn(2) ? "0.0.0.0" : "10.0.0.1");
    pod.Label("app", absl::StrCat(random_.Below(6)));
    AskOfPods(pod);
    AskOfVolumes(pod);
    if (random_.OneIn(2)) pod.Attached("csi", "h0");  // one, so that nobody is beyond the limit
    cluster_.Add(pod);
  }
  void AskOfPods(MakePod& pod) {
    const auto app = [this] { return Labelled("app", absl::StrCat(random_.Below(6))); };
    const auto key = [this] {
      return random_.OneIn(3) ? "host" : random_.OneIn(2) ? "zone" : "gen";
    };
    if (random_.OneIn(6)) pod.Near(key(), app());
    if (random_.OneIn(6)) pod.Apart(key(), app());
    if (random_.OneIn(6)) pod.RatherNear(7, key(), app());
    if (random_.OneIn(6)) pod.RatherApart(9, key(), app());
    if (random_.OneIn(4)) pod.Spread(key(), app(), {.max_skew = 2, .min_domains = 3});
    if (random_.OneIn(4)) {
      pod.Spread(key(), app(), {.when_unsatisfiable = WhenUnsatisfiable::kScheduleAnyway});
    }
  }
  void AddCandidate(int i) {
    MakePod pod(absl::StrCat("p", i));
    pod.Gpu(static_cast<int64_t>(random_.Below(5))).Cpu(static_cast<int64_t>(random_.Below(3000)));
    if (random_.OneIn(3)) pod.RequiresNvlink();
    if (random_.OneIn(4)) pod.AtMostPerContainer(kGpuResource, 1);
    if (random_.OneIn(4)) pod.Wants("nvidia.com/mig-1g.10gb", 1);
    if (random_.OneIn(6)) pod.Selector("nvidia.com/gpu.product", "NVIDIA-A10-SHARED");
    if (random_.OneIn(3)) pod.Selector("zone", absl::StrCat(random_.Below(5)));
    if (random_.OneIn(4)) pod.Affinity({{.expressions = {RandomRequirement()}, .fields = {}}});
    if (random_.OneIn(4)) pod.Prefers(10, {.expressions = {RandomRequirement()}, .fields = {}});
    if (random_.OneIn(3)) pod.Tolerates(random_.OneIn(2) ? "gpu" : "");
    if (random_.OneIn(3)) pod.Port(80, random_.OneIn(2) ? "0.0.0.0" : "10.0.0.1");
    if (random_.OneIn(9)) pod.Unsupported("spec.resourceClaims");
    pod.Label("app", absl::StrCat(random_.Below(6)));
    AskOfPods(pod);
    AskOfVolumes(pod);
    for (int k = 0; k < 2; ++k) {
      if (random_.OneIn(3)) pod.Attached("csi", absl::StrCat("h", random_.Below(4)));
    }
    cluster_.Add(pod);
  }
  // Volumes that some nodes reach, and limits of what nodes attach.
  void AddStorage() {
    for (int i = 0; i < 6; ++i) {
      const std::string volume = absl::StrCat("pv", i);
      cluster_.Add(MakeClaim(absl::StrCat("claim", i)).BoundTo(volume));
      MakeVolume made(volume);
      if (i % 2 == 0) made.Where("zone", {"0", "1"});
      if (i % 3 == 0) made.Label("topology.kubernetes.io/zone", absl::StrCat(i % 2));
      cluster_.Add(made);
    }
    for (int i = 0; i < 300; i += 3) {
      const auto most = 1 + static_cast<int64_t>(random_.Below(2));
      cluster_.Add(AttachLimit(absl::StrCat("n", i), "csi", most));
    }
  }
  void AskOfVolumes(MakePod& pod) {
    if (random_.OneIn(4)) pod.Claim(absl::StrCat("claim", random_.Below(6)));
    if (random_.OneIn(4)) pod.Disk({.name = absl::StrCat("disk", random_.Below(3))});
    if (random_.OneIn(3)) pod.Runs(absl::StrCat("image", random_.Below(4)));
  }
  SelectorRequirement RandomRequirement() {
    switch (random_.Below(6)) {
      case 0:
        return Requires("host", SelectorOperator::kIn, {"h3", "h150", "h299"});
      case 1:
        return Requires("host", SelectorOperator::kNotIn, {"h3"});
      case 2:
        return Requires("gen", SelectorOperator::kGt, {"4"});
      case 3:
        return Requires("gen", SelectorOperator::kLt, {"4"});
      case 4:
        return Requires("gen", SelectorOperator::kDoesNotExist);
      default:
        return Requires("gen", SelectorOperator::kExists);
    }
  }

  Random random_;
  TestCluster cluster_;
  SnapshotPtr snapshot_;
  std::vector<const NodeBlock*> blocks_;
};

template <typename Visit>
void ForEachNode(const Snapshot& snapshot, Visit&& visit) {
  for (const auto& block : snapshot.blocks) {
    block->rows().present.ForEach(
        [&](uint32_t row) { visit(NodeView{.block = *block, .row = row}); });
  }
}

class FilterContract : public ::testing::TestWithParam<size_t> {
 protected:
  // Calls with every shape's bound filter.
  template <typename Test>
  void ForEachBound(const Zoo& zoo, Test&& test) {
    const std::unique_ptr<const FilterPlugin> plugin = BuiltinFilters()[GetParam()].make();
    const CycleInput cycle{.snapshot = zoo.snapshot(), .now = kNow};
    for (const PodShape* shape : zoo.shapes()) {
      const absl::StatusOr<std::unique_ptr<NodeFilter>> bound = plugin->Bind(cycle, *shape);
      if (bound.ok() && *bound != nullptr) {
        LetLookAround(**bound, zoo.blocks());
        test(**bound);
      }
      if (!bound.ok()) {
        EXPECT_FALSE(bound.status().message().empty());
      }
    }
  }
};

TEST_P(FilterContract, IsCalledAsItsRowSays) {
  const FilterRow& row = BuiltinFilters()[GetParam()];
  EXPECT_EQ(row.make()->name(), row.name);
}

TEST_P(FilterContract, NarrowAndCapAgreeWithCheckOnEveryNode) {
  const Zoo zoo(1);
  ForEachBound(zoo, [&](const NodeFilter& filter) {
    for (const auto& block : zoo.snapshot().blocks) {
      NodeMask fits = block->rows().present;
      filter.Narrow(*block, PartialPlan{}, fits);
      EXPECT_TRUE(fits.empty() || filter.MayHelp(*block));
      std::array<int32_t, kBlockNodes> caps;
      caps.fill(kNoCap);
      if (filter.coupling() == FilterCoupling::kPerNodeCap) filter.Cap(*block, fits, caps);
      block->rows().present.ForEach([&](uint32_t row) {
        const NodeView node{.block = *block, .row = row};
        const bool one_fits = filter.Check(node, PartialPlan{}).fits();
        ASSERT_EQ(fits.Test(row), one_fits);
        if (filter.coupling() != FilterCoupling::kPerNodeCap) return;
        ASSERT_EQ(filter.CapOn(node) > 0, one_fits);
        if (one_fits) {
          ASSERT_EQ(filter.CapOn(node), caps[row]);
        }
      });
    }
  });
}

TEST_P(FilterContract, ARefusalHasAReason) {
  const Zoo zoo(2);
  ForEachBound(zoo, [&](const NodeFilter& filter) {
    ForEachNode(zoo.snapshot(), [&](const NodeView& node) {
      const Verdict verdict = filter.Check(node, PartialPlan{});
      EXPECT_EQ(verdict.fits(), verdict.reason.id == kReasonNone);
      EXPECT_FALSE(ReasonText(verdict.reason, *zoo.snapshot().tables).empty());
    });
  });
}

TEST_P(FilterContract, AClassFilterAnswersAlikeForNodesOfOneClass) {
  const Zoo zoo(3);
  ForEachBound(zoo, [&](const NodeFilter& filter) {
    if (filter.scope() != FilterScope::kNodeClass) return;
    std::vector<std::optional<Verdict>> by_class(zoo.snapshot().tables->classes.size());
    ForEachNode(zoo.snapshot(), [&](const NodeView& node) {
      std::optional<Verdict>& known = by_class[node.block.rows().classes[node.row].index()];
      const Verdict verdict = filter.Check(node, PartialPlan{});
      if (known.has_value()) {
        ASSERT_EQ(known->reason, verdict.reason);
      }
      known = verdict;
    });
  });
}

// A node with nothing on it takes whatever it took before.
TEST_P(FilterContract, MoreFreeRoomNeverRefuses) {
  const Zoo zoo(4);
  ForEachBound(zoo, [&](const NodeFilter& filter) {
    for (const auto& block : zoo.snapshot().blocks) {
      const NodeBlock emptied = block->Emptied();
      block->rows().present.ForEach([&](uint32_t row) {
        if (!filter.Check({.block = *block, .row = row}, PartialPlan{}).fits()) return;
        ASSERT_TRUE(filter.Check({.block = emptied, .row = row}, PartialPlan{}).fits());
      });
    }
  });
}

TEST_P(FilterContract, AnswersAlikeFromSeveralThreadsAndTwice) {
  const Zoo zoo(5);
  ForEachBound(zoo, [&](const NodeFilter& filter) {
    std::array<std::vector<Reason>, 3> answers;
    std::vector<std::thread> threads;
    for (std::vector<Reason>& answer : answers) {
      threads.emplace_back([&zoo, &filter, &answer] {
        ForEachNode(zoo.snapshot(), [&](const NodeView& node) {
          answer.push_back(filter.Check(node, PartialPlan{}).reason);
        });
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(answers[0], answers[1]);
    EXPECT_EQ(answers[0], answers[2]);
  });
}

INSTANTIATE_TEST_SUITE_P(Builtin, FilterContract,
                         ::testing::Range<size_t>(0, BuiltinFilters().size()),
                         [](const auto& info) {
                           return std::string(BuiltinFilters()[info.param].name);
                         });

class ScoreContract : public ::testing::TestWithParam<size_t> {
 protected:
  template <typename Test>
  void ForEachBound(const Zoo& zoo, Test&& test) {
    const std::unique_ptr<const ScorePlugin> plugin = BuiltinScores()[GetParam()].make();
    const CycleInput cycle{.snapshot = zoo.snapshot(), .now = kNow};
    for (const PodShape* shape : zoo.shapes()) {
      const std::unique_ptr<NodeScore> bound = plugin->Bind(cycle, *shape);
      if (bound == nullptr) continue;
      NodeSet all;
      for (const auto& block : zoo.snapshot().blocks) all.push_back(block->rows().present);
      bound->Compare(zoo.blocks(), all);
      test(*bound);
    }
  }
};

TEST_P(ScoreContract, IsCalledAsItsRowSays) {
  EXPECT_EQ(BuiltinScores()[GetParam()].make()->name(), BuiltinScores()[GetParam()].name);
}

TEST_P(ScoreContract, StaysBetweenNoughtAndAHundred) {
  const Zoo zoo(6);
  ForEachBound(zoo, [&](const NodeScore& score) {
    ForEachNode(zoo.snapshot(), [&](const NodeView& node) {
      ASSERT_GE(score.Score(node), 0);
      ASSERT_LE(score.Score(node), kMostScore);
    });
  });
}

TEST_P(ScoreContract, AWholeBlockScoresLikeItsNodes) {
  const Zoo zoo(7);
  ForEachBound(zoo, [&](const NodeScore& score) {
    for (const auto& block : zoo.snapshot().blocks) {
      std::array<int64_t, kBlockNodes> totals{};
      score.AddTo(*block, block->rows().present, 3, totals);
      block->rows().present.ForEach([&](uint32_t row) {
        ASSERT_EQ(totals[row], 3 * score.Score({.block = *block, .row = row}));
      });
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Builtin, ScoreContract,
                         ::testing::Range<size_t>(0, BuiltinScores().size()), [](const auto& info) {
                           return std::string(BuiltinScores()[info.param].name);
                         });

// The pods of the zoo ask something of so many: of every one that this was written with.
TEST(Zoo, AsksSomethingOfEachPolicy) {
  const Zoo zoo(1);
  const CycleInput cycle{.snapshot = zoo.snapshot(), .now = kNow};
  const std::vector<const PodShape*> shapes = zoo.shapes();
  const auto filters = std::ranges::count_if(BuiltinFilters(), [&](const FilterRow& row) {
    const std::unique_ptr<const FilterPlugin> plugin = row.make();
    return std::ranges::any_of(shapes, [&](const PodShape* shape) {
      const auto bound = plugin->Bind(cycle, *shape);
      return !bound.ok() || *bound != nullptr;
    });
  });
  EXPECT_GE(filters, 16);
  const auto scores = std::ranges::count_if(BuiltinScores(), [&](const ScoreRow& row) {
    const std::unique_ptr<const ScorePlugin> plugin = row.make();
    return std::ranges::any_of(
        shapes, [&](const PodShape* shape) { return plugin->Bind(cycle, *shape) != nullptr; });
  });
  EXPECT_GE(scores, 11);
}

}  // namespace
}  // namespace maniple
