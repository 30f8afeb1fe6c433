// A block of nodes against plain sums. Fears: what a pod takes is not given back to the last bit,
// or is taken from the neighbour; a port of two pods is free when one leaves; the largest free
// amount is told too small, and a search skips a node; an emptied block still shows its pods; a
// change shows in a copy that was handed out before.
#include "plugins/framework/node_block.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "api/base/random.h"
#include "plugins/framework/tables.h"

namespace maniple::framework_node_block_test {
namespace {

constexpr uint32_t kRows[] = {0, 1, 100, kBlockNodes - 1};
constexpr uint32_t kResources = 4;
// A pod may ask for what no node has.
constexpr ResourceId kOfPodsOnly{kFirstPodResource + 2};

struct Model {
  std::map<std::pair<uint32_t, uint32_t>, int64_t> free;  // row, resource
  std::multiset<std::pair<uint32_t, uint32_t>> ports, volumes;
  std::map<std::pair<uint32_t, uint32_t>, int64_t> counts, promised;
  std::map<uint32_t, absl::Time> cool_downs;
};

std::shared_ptr<const NodeRows> RowsWith(int64_t amount) {
  NodeRows rows;
  for (const uint32_t row : kRows) {
    rows.present.Set(row);
    for (uint32_t r = 0; r < kResources; ++r) {
      rows.allocatable.Mutable(ResourceId(r))[row] = amount + row + r;
    }
  }
  rows.RecomputeMaxima();
  return std::make_shared<const NodeRows>(std::move(rows));
}

PodShape RandomShape(Random& random) {
  PodShape shape;
  for (uint32_t r = 0; r < kResources; ++r) {
    if (random.OneIn(2)) shape.requests.emplace_back(ResourceId(r), 1 + random.Below(5));
  }
  shape.requests.emplace_back(kOfPodsOnly, 1);
  for (uint32_t i = 0; i < 3; ++i) {
    if (random.OneIn(2)) shape.host_ports.emplace_back(i);
    if (random.OneIn(2)) shape.volume_uses.insert(shape.volume_uses.end(), 2, VolumeUseId(i));
    if (random.OneIn(2)) shape.counts.push_back({PodCountId(i), random.OneIn(2) ? 3 : -2});
  }
  return shape;
}

class BlockAndModel final {
 public:
  explicit BlockAndModel(uint64_t seed) : random_(seed), block_(NodeBlock(RowsWith(50)).Emptied()) {
    for (const uint32_t row : kRows) {
      for (uint32_t r = 0; r < kResources; ++r) model_.free[{row, r}] = 50 + row + r;
    }
  }

  void Step() {
    const uint32_t row = kRows[random_.Below(std::size(kRows))];
    switch (random_.Below(5)) {
      case 0:
      case 1:
        return Come(row);
      case 2:
        return Leave();
      case 3:
        if (random_.OneIn(2)) block_.RecomputeMaxima();
        return;
      default:
        Cool(row);
    }
  }
  void LeaveAll() {
    while (!there_.empty()) Leave();
  }

  void Compare() const {
    for (uint32_t r = 0; r < kResources; ++r) {
      int64_t most = 0;
      for (const uint32_t row : kRows) {
        const int64_t free = model_.free.at({row, r});
        most = std::max(most, free);
        EXPECT_EQ(block_.Free(ResourceId(r))[row], free);
        EXPECT_EQ(block_.Allocatable(ResourceId(r))[row], 50 + row + r);
      }
      EXPECT_GE(block_.MaxFree(ResourceId(r)), most);
      EXPECT_EQ(block_.Free(ResourceId(r))[2], 0) << "of a row without a node";
    }
    EXPECT_LE(block_.resource_limit(), kResources);
    std::multiset<std::pair<uint32_t, uint32_t>> ports, volumes;
    for (const auto& used : block_.used_ports()) ports.emplace(used.row, used.port.index());
    for (const uint32_t row : kRows) {
      for (const auto& used : block_.UsedVolumesOn(row)) volumes.emplace(row, used.use.index());
    }
    EXPECT_EQ(ports, model_.ports);
    EXPECT_EQ(volumes, model_.volumes);
    EXPECT_TRUE(std::ranges::is_sorted(block_.used_ports()));
    EXPECT_EQ(Listed(block_.pod_counts()), model_.counts);
    EXPECT_EQ(Listed(block_.promised_counts()), model_.promised);
    std::map<uint32_t, absl::Time> cool_downs;
    for (const auto& cool : block_.cool_downs()) cool_downs[cool.row] = cool.until;
    EXPECT_EQ(cool_downs, model_.cool_downs);
  }

  [[nodiscard]] const NodeBlock& block() const { return block_; }

 private:
  struct There {
    uint32_t row;
    PodShape shape;
    bool to_come;
  };

  void Come(uint32_t row) {
    there_.push_back({row, RandomShape(random_), random_.OneIn(3)});
    const There& pod = there_.back();
    block_.Charge(row, pod.shape,
                  pod.to_come ? NodeBlock::Change::kTakePromised : NodeBlock::Change::kTake);
    Note(pod, -1);
  }
  void Leave() {
    if (there_.empty()) return;
    std::swap(there_[random_.Below(there_.size())], there_.back());
    const There pod = std::move(there_.back());
    there_.pop_back();
    block_.Charge(pod.row, pod.shape,
                  pod.to_come ? NodeBlock::Change::kGivePromised : NodeBlock::Change::kGive);
    Note(pod, 1);
  }
  void Note(const There& pod, int64_t sign) {
    for (const auto& [resource, amount] : pod.shape.requests) {
      if (resource != kOfPodsOnly) model_.free[{pod.row, resource.index()}] += sign * amount;
    }
    const auto note = [&](auto& used, uint32_t id) {
      const std::pair<uint32_t, uint32_t> one(pod.row, id);
      sign < 0 ? void(used.insert(one)) : void(used.erase(used.find(one)));
    };
    for (const HostPortId port : pod.shape.host_ports) note(model_.ports, port.index());
    for (const VolumeUseId use : pod.shape.volume_uses) note(model_.volumes, use.index());
    auto& counts = pod.to_come ? model_.promised : model_.counts;
    for (const PodCountChange& change : pod.shape.counts) {
      counts[{pod.row, change.count.index()}] -= sign * change.change;
    }
    std::erase_if(counts, [](const auto& entry) { return entry.second == 0; });
  }
  static std::map<std::pair<uint32_t, uint32_t>, int64_t> Listed(const PodCounts& counts) {
    std::map<std::pair<uint32_t, uint32_t>, int64_t> listed;
    for (const auto& entry : counts.entries()) {
      listed[{entry.row, entry.count.index()}] = entry.value;
    }
    return listed;
  }
  void Cool(uint32_t row) {
    if (random_.OneIn(2)) {
      model_.cool_downs.erase(row);
      return block_.SetCoolDown(row, std::nullopt);
    }
    const absl::Time until = absl::FromUnixSeconds(static_cast<int64_t>(random_.Below(99)));
    model_.cool_downs[row] = until;
    block_.SetCoolDown(row, until);
  }

  Random random_;
  NodeBlock block_;
  Model model_;
  std::vector<There> there_;
};

TEST(NodeBlockModel, AgreesWithPlainSumsAndGivesAllBack) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    BlockAndModel both(seed);
    for (int step = 0; step < 80; ++step) {
      both.Step();
      both.Compare();
      ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << " step " << step;
    }
    both.LeaveAll();
    both.Compare();
  }
}

TEST(NodeBlockModel, LeavesACopyAsItWas) {
  BlockAndModel both(1);
  for (int step = 0; step < 100; ++step) {
    const NodeBlock copy = both.block();
    const uint64_t was = copy.Fingerprint();
    both.Step();
    ASSERT_EQ(copy.Fingerprint(), was);
  }
}

TEST(NodeBlockModel, IsAsNewWhenEmptied) {
  BlockAndModel both(2);
  for (int step = 0; step < 100; ++step) both.Step();
  const NodeBlock emptied = both.block().Emptied();
  EXPECT_EQ(emptied.Fingerprint(), BlockAndModel(2).block().Fingerprint());
  EXPECT_EQ(emptied.MaxFree(ResourceId(0)), 50 + kBlockNodes - 1);
  EXPECT_EQ(emptied.shared_rows(), both.block().shared_rows());
}

TEST(NodeBlockModel, TellsTheLargestExactlyOnceAskedTo) {
  NodeBlock block(RowsWith(50));
  block.AddFree(7, ResourceId(0), 9);
  block.AddFree(7, ResourceId(0), -5);
  EXPECT_EQ(block.MaxFree(ResourceId(0)), 9);
  block.RecomputeMaxima();
  EXPECT_EQ(block.MaxFree(ResourceId(0)), 4);
  EXPECT_EQ(block.MaxFree(ResourceId(9)), 0) << "of a resource that nobody has";
}

}  // namespace
}  // namespace maniple::framework_node_block_test
