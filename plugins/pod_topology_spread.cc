// PodTopologySpread (DoNotSchedule): with one pod more, a domain may have at most maxSkew matching
// pods more than the emptiest domain. That must hold as things are, and once pods that are yet to
// come are there.
#include "plugins/factories.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "plugins/framework/cluster_filter.h"
#include "plugins/framework/gang_pod_counts.h"
#include "plugins/framework/spread_nodes.h"

namespace maniple {
namespace {

class BoundTopologySpread final : public ClusterFilter {
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
      level.least = LeastOf(constraint, level.sums);
      level.then = SpreadNodes::SumWithPromised(constraint, blocks, level.sums);
      level.least_then = LeastOf(constraint, level.then);
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

  // Members elsewhere may lift the least, and with it the limit of every domain.
  void NarrowForGood(const NodeBlock& block, NodeMask& fits) const override {
    fits.ForEach([&](uint32_t row) {
      if (!nodes_.HasAllKeys(block.rows(), row)) fits.Clear(row);
    });
  }

  // The room that one constraint leaves bounds the others: where hosts take one each,
  // a rack takes as many as it has hosts.
  int64_t Most(std::span<const RoomOnNode> rooms) const override {
    int64_t most = ClusterFilter::Most(rooms);
    std::vector<const Level*> levels;
    for (const Level& level : levels_) {
      if (Bounds(level)) levels.push_back(&level);
    }
    std::vector<Left> left(levels.size());
    for (size_t pass = 0; pass < std::max<size_t>(1, levels.size()); ++pass) {
      for (size_t i = 0; i < levels.size(); ++i) {
        std::vector<int64_t> room_in = RoomIn(*levels[i], rooms);
        for (size_t j = 0; j < levels.size() && pass > 0; ++j) {
          if (j != i) LowerTo(RoomBeside(*levels[i], *levels[j], left[j], rooms), room_in);
        }
        left[i] = LeftIn(*levels[i], room_in);
        most = std::min(most, std::accumulate(left[i].begin(), left[i].end(), int64_t{0}));
      }
    }
    return most;
  }

 private:
  struct Level {
    const SpreadNodes::Constraint* constraint;
    std::vector<int64_t> sums;  // by domain
    int64_t least = 0;          // of all domains
    std::vector<int64_t> then;  // `sums` with the pods that are yet to come; empty: there are none
    int64_t least_then = 0;
  };

  static int64_t LeastOf(const SpreadNodes::Constraint& constraint,
                         const std::vector<int64_t>& sums) {
    if (TooFewDomains(constraint)) return 0;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (size_t d = 0; d < sums.size(); ++d) {
      if (constraint.a_domain[d]) least = std::min(least, sums[d]);
    }
    return least;
  }

  static bool TooFewDomains(const SpreadNodes::Constraint& constraint) {
    const auto domains = std::ranges::count(constraint.a_domain, true);
    return domains == 0 || domains < constraint.count->constraint.min_domains;
  }

  // REQUIRES: the node has all keys.
  [[nodiscard]] bool IsEven(const NodeRows& rows, uint32_t row) const {
    if (!now_) return true;  // members may come elsewhere, and lift the least
    return std::ranges::all_of(levels_, [&](const Level& level) {
      const SpreadCount& count = *level.constraint->count;
      const uint32_t domain = level.constraint->domains.Of(rows, row);
      const int64_t most = int64_t{count.constraint.max_skew} - (count.counts_self ? 1 : 0);
      return level.sums[domain] - level.least <= most &&
             (level.then.empty() || level.then[domain] - level.least_then <= most);
    });
  }

  using Left = std::vector<int64_t>;  // by domain: members that it may still take at most

  // Where members of other shapes are counted as well, there is no bound.
  [[nodiscard]] bool Bounds(const Level& level) const {
    const PodCountId count = level.constraint->count->count;
    return members_.OwnWrite(count) && !members_.OthersWrite(count);
  }

  [[nodiscard]] uint32_t DomainOf(const Level& level, NodeId node) const {
    return static_cast<uint32_t>(
        level.constraint->domains.Of(snapshot_.blocks[BlockOf(node)]->rows(), RowOf(node)));
  }

  [[nodiscard]] std::vector<int64_t> RoomIn(const Level& level,
                                            std::span<const RoomOnNode> rooms) const {
    std::vector<int64_t> room_in(level.constraint->domains.count(), 0);
    for (const RoomOnNode& room : rooms) room_in[DomainOf(level, room.node)] += room.pods;
    return room_in;
  }

  // The same, limited by the room that another constraint leaves in its own domains.
  [[nodiscard]] std::vector<int64_t> RoomBeside(const Level& level, const Level& other,
                                                const Left& left,
                                                std::span<const RoomOnNode> rooms) const {
    std::vector<std::tuple<uint32_t, uint32_t, int64_t>> parts;
    for (const RoomOnNode& room : rooms) {
      parts.emplace_back(DomainOf(level, room.node), DomainOf(other, room.node), room.pods);
    }
    std::ranges::sort(parts);
    std::vector<int64_t> room_in(level.constraint->domains.count(), 0);
    for (size_t i = 0; i < parts.size();) {
      const auto [domain, beside, first] = parts[i];
      int64_t pods = first;
      for (++i;
           i < parts.size() && std::get<0>(parts[i]) == domain && std::get<1>(parts[i]) == beside;
           ++i) {
        pods += std::get<2>(parts[i]);
      }
      room_in[domain] += std::min(pods, left[beside]);
    }
    return room_in;
  }
  static void LowerTo(const std::vector<int64_t>& bounds, std::vector<int64_t>& room_in) {
    for (size_t d = 0; d < room_in.size(); ++d) room_in[d] = std::min(room_in[d], bounds[d]);
  }

  // The least can rise only until some domain runs out of room.
  // No domain is filled further above it than the skew allows.
  [[nodiscard]] Left LeftIn(const Level& level, const std::vector<int64_t>& room_in) const {
    const SpreadNodes::Constraint& constraint = *level.constraint;
    int64_t least = TooFewDomains(constraint) ? 0 : std::numeric_limits<int64_t>::max();
    for (size_t d = 0; d < room_in.size() && !TooFewDomains(constraint); ++d) {
      if (constraint.a_domain[d]) least = std::min(least, level.sums[d] + room_in[d]);
    }
    Left left;
    for (size_t d = 0; d < room_in.size(); ++d) {
      const int64_t top = least + constraint.count->constraint.max_skew;
      left.push_back(std::max<int64_t>(0, std::min(room_in[d], top - level.sums[d])));
    }
    return left;
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

std::unique_ptr<const FilterPlugin> MakePodTopologySpread() {
  return std::make_unique<TopologySpread>();
}

}  // namespace maniple
