#include "plugins/topology_spread.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "plugins/framework/gang_pod_counts.h"
#include "plugins/framework/spread_nodes.h"

namespace maniple {
namespace {

class BoundTopologySpread final : public NodeFilter {
 public:
  BoundTopologySpread(const CycleInput& cycle, const PodShape& shape)
      : snapshot_(cycle.snapshot),
        nodes_(cycle, shape, WhenUnsatisfiable::kDoNotSchedule),
        members_(cycle, shape),
        now_(cycle.question == Question::kNow) {
    for (const SpreadNodes::Constraint& constraint : nodes_.constraints()) {
      levels_.push_back({.constraint = &constraint, .sums = {}});
      members_meet_ = members_meet_ || (now_ && members_.Write(constraint.count->count));
    }
  }

  FilterScope scope() const override { return FilterScope::kDynamic; }
  FilterCoupling coupling() const override {
    return members_meet_ ? FilterCoupling::kAcrossNodes : FilterCoupling::kNone;
  }

  bool looks_around() const override { return now_; }
  void LookAround(BlockSpan blocks) override {
    for (Level& level : levels_) {
      const SpreadNodes::Constraint& constraint = *level.constraint;
      SpreadNodes::Sum(constraint, blocks, level.sums);
      const std::vector<bool>& a_domain = constraint.a_domain;
      level.least = std::numeric_limits<int64_t>::max();
      for (size_t d = 0; d < level.sums.size(); ++d) {
        if (a_domain[d]) level.least = std::min(level.least, level.sums[d]);
      }
      if (TooFewDomains(constraint)) level.least = 0;
    }
  }

  Verdict Check(const NodeView& node, const PartialPlan&) const override {
    if (!nodes_.HasAllKeys(node.block.rows(), node.row)) {
      return {.code = Code::kUnresolvable, .reason = {.id = kReasonSpreadKey}};
    }
    if (IsEven(node.block.rows(), node.row)) return {};
    return {.code = Code::kUnschedulable, .reason = {.id = kReasonSpread}};
  }

  void Narrow(const NodeBlock& block, const PartialPlan&, NodeMask& fits) const override {
    fits.ForEach([&](uint32_t row) {
      if (!nodes_.HasAllKeys(block.rows(), row) || !IsEven(block.rows(), row)) fits.Clear(row);
    });
  }

  // Members elsewhere may lift the least, and with it what every domain may take.
  void NarrowForGood(const NodeBlock& block, NodeMask& fits) const override {
    fits.ForEach([&](uint32_t row) {
      if (!nodes_.HasAllKeys(block.rows(), row)) fits.Clear(row);
    });
  }

  int64_t Most(std::span<const RoomOnNode> rooms) const override {
    int64_t most = NodeFilter::Most(rooms);
    for (const Level& level : levels_) most = std::min(most, MostBy(level, rooms));
    return most;
  }

 private:
  struct Level {
    const SpreadNodes::Constraint* constraint;
    std::vector<int64_t> sums;  // by domain
    int64_t least = 0;          // of all domains
  };

  static bool TooFewDomains(const SpreadNodes::Constraint& constraint) {
    const auto domains = std::ranges::count(constraint.a_domain, true);
    return domains == 0 || domains < constraint.count->constraint.min_domains;
  }

  // REQUIRES: the node has all keys.
  [[nodiscard]] bool IsEven(const NodeRows& rows, uint32_t row) const {
    if (!now_) return true;  // others may come, and lift the least
    return std::ranges::all_of(levels_, [&](const Level& level) {
      const SpreadCount& count = *level.constraint->count;
      const int64_t here = level.sums[level.constraint->domains.Of(rows, row)];
      return here + (count.counts_self ? 1 : 0) - level.least <= count.constraint.max_skew;
    });
  }

  // However they are placed, the least ends at most where the domain ends that runs out of room
  // first, and no domain is filled further above it than the skew. Where members of other shapes
  // are counted as well, that bounds nothing.
  [[nodiscard]] int64_t MostBy(const Level& level, std::span<const RoomOnNode> rooms) const {
    const SpreadNodes::Constraint& constraint = *level.constraint;
    const PodCountId count = constraint.count->count;
    constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max();
    if (!members_.OwnWrite(count) || members_.OthersWrite(count)) return kNoBound;
    std::vector<int64_t> room_in(constraint.domains.count(), 0);
    for (const RoomOnNode& room : rooms) {
      const NodeRows& rows = snapshot_.blocks[BlockOf(room.node)]->rows();
      room_in[constraint.domains.Of(rows, RowOf(room.node))] += room.pods;
    }
    int64_t least = TooFewDomains(constraint) ? 0 : kNoBound;
    for (size_t d = 0; d < room_in.size() && !TooFewDomains(constraint); ++d) {
      if (constraint.a_domain[d]) least = std::min(least, level.sums[d] + room_in[d]);
    }
    int64_t most = 0;
    for (size_t d = 0; d < room_in.size(); ++d) {
      const int64_t top = least + constraint.count->constraint.max_skew;
      most += std::max<int64_t>(0, std::min(room_in[d], top - level.sums[d]));
    }
    return most;
  }

  const Snapshot& snapshot_;
  SpreadNodes nodes_;
  GangPodCounts members_;
  bool now_;
  std::vector<Level> levels_;
  bool members_meet_ = false;
};

class TopologySpread final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "PodTopologySpread"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape& shape) const override {
    if (shape.terms == nullptr) return nullptr;
    const bool any = std::ranges::any_of(shape.terms->spread, [](const SpreadCount& count) {
      return count.constraint.when_unsatisfiable == WhenUnsatisfiable::kDoNotSchedule;
    });
    if (!any) return nullptr;
    return std::make_unique<BoundTopologySpread>(cycle, shape);
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeTopologySpread() {
  return std::make_unique<TopologySpread>();
}

}  // namespace maniple
