// The quota algebra against the closed form, on random forests under random operations. The fear:
// the walk along one path, from usage kept up to date, answers other than the rule. The naive side
// shares no code and no formula with it: it keeps nothing but what each queue was charged, copies
// that for each question, and computes T anew from the leaves up.
//
// The size is in trees; MANIPLE_QUOTA_ORACLE_TREES=20000 is the full one (20 operations each).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "queue/quota_tree.h"
#include "test/support/worlds.h"

namespace maniple::queue_quota_oracle_test {
namespace {

using Exact = __int128;

constexpr int kDefaultTrees = 2000;
constexpr int kOperations = 20;
constexpr uint64_t kMaxNodes = 12;
constexpr int32_t kMaxDepth = 4;  // five levels
constexpr uint32_t kMaxCells = 3;

int Trees() { return static_cast<int>(Worlds("MANIPLE_QUOTA_ORACLE_TREES", kDefaultTrees)); }

Amount Saturated(Exact exact) {
  if (exact > Amount::Max().units()) return Amount::Max();
  if (exact < Amount::Min().units()) return Amount::Min();
  return Amount(static_cast<int64_t>(exact));
}

// ---- the random world

enum class Sizes { kSmall, kBytes, kHostile };

Amount RandomAmount(Random& random, Sizes sizes) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const auto small = static_cast<int64_t>(random.Below(11));
  switch (sizes) {
    case Sizes::kSmall:
      return Amount(small);
    case Sizes::kBytes:
      return Amount((small << 36) + static_cast<int64_t>(random.Below(1000)));
    case Sizes::kHostile:
      break;
  }
  const int64_t any[] = {small, 1'000'000'000'000'000'000, kMax / 3, kMax - small, kMax};
  return Amount(any[random.Below(5)]);
}

std::vector<QuotaLimit> RandomLimits(Random& random, Sizes sizes, uint32_t cells) {
  std::vector<QuotaLimit> limits;
  for (uint32_t cell = 0; cell < cells; ++cell) {
    if (random.OneIn(6)) continue;
    QuotaLimit& limit = limits.emplace_back();
    limit.cell = QuotaCellId(cell);
    if (!random.OneIn(4)) limit.nominal = RandomAmount(random, sizes);
    if (random.OneIn(2)) limit.borrowing = RandomAmount(random, sizes);
    if (random.OneIn(2)) limit.lending = RandomAmount(random, sizes);
  }
  return limits;
}

struct World {
  Sizes sizes = Sizes::kSmall;
  std::vector<QuotaNodeSpec> nodes;
  std::vector<uint32_t> resource_of_cell;
  std::vector<QuotaLimit> limits;  // node by node, each cell by cell, listed or not

  void Tabulate() {
    limits.clear();
    for (const QuotaNodeSpec& node : nodes) {
      for (uint32_t cell = 0; cell < resource_of_cell.size(); ++cell) {
        limits.push_back({.cell = QuotaCellId(cell)});
        for (const QuotaLimit& limit : node.limits) {
          if (limit.cell == QuotaCellId(cell)) limits.back() = limit;
        }
      }
    }
  }
};

World RandomWorld(Random& random) {
  World world;
  if (random.OneIn(4)) world.sizes = random.OneIn(2) ? Sizes::kBytes : Sizes::kHostile;
  const auto cells = static_cast<uint32_t>(1 + random.Below(kMaxCells));
  for (uint32_t cell = 0; cell < cells; ++cell) {
    world.resource_of_cell.push_back(static_cast<uint32_t>(random.Below(2)) * 40);
  }
  const auto count = static_cast<uint32_t>(1 + random.Below(kMaxNodes));
  std::vector<int32_t> depths;
  for (uint32_t i = 0; i < count; ++i) {
    QuotaNodeSpec& node = world.nodes.emplace_back();
    int32_t depth = 0;
    if (i > 0 && !random.OneIn(12)) {
      const auto parent = static_cast<uint32_t>(random.OneIn(2) ? i - 1 : random.Below(i));
      if (depths[parent] < kMaxDepth) {
        node.parent = QuotaNodeId(parent);
        depth = depths[parent] + 1;
      }
    }
    depths.push_back(depth);
    const int64_t weights[] = {0, 1, 333, 1000, 1000, 2000, 1'000'000};
    node.weight_milli = weights[random.Below(7)];
    node.limits = RandomLimits(random, world.sizes, cells);
  }
  world.Tabulate();
  return world;
}

struct Charged {
  QuotaNodeId queue;
  Demand demand;
};

// ---- the naive side

class Naive final {
 public:
  explicit Naive(const World& world) : world_(world), used_(world.limits.size()) {}

  // At a cohort: as if something ran in it directly.
  void Charge(QuotaNodeId node, QuotaCellId cell, Exact amount) { used_[At(node, cell)] += amount; }
  void Charge(const Charged& charged, int sign) {
    for (const CellAmount& part : charged.demand) {
      Charge(charged.queue, part.cell, sign * Exact{part.amount.units()});
    }
  }
  Naive With(QuotaNodeId queue, const Demand& demand) const {
    Naive after = *this;
    after.Charge({queue, demand}, 1);
    return after;
  }
  Naive Emptied() const { return Naive(world_); }

  Exact T(QuotaNodeId node, QuotaCellId cell) const {
    Exact left = Of(node, cell).nominal.units() - used_[At(node, cell)];
    for (uint32_t i = 0; i < world_.nodes.size(); ++i) {
      if (world_.nodes[i].parent != node) continue;
      const Exact below = T(QuotaNodeId(i), cell);
      const std::optional<Amount>& lending = Of(QuotaNodeId(i), cell).lending;
      left += lending.has_value() ? std::min<Exact>(lending->units(), below) : below;
    }
    return left;
  }
  // The worst debt on the path; at least 0: legal.
  Exact Worst(QuotaNodeId node, QuotaCellId cell) const {
    Exact worst = Exact{1} << 100;
    for (; node.valid(); node = Parent(node)) {
      const std::optional<Amount>& borrowing = Of(node, cell).borrowing;
      if (!Parent(node).valid()) {
        worst = std::min(worst, T(node, cell));
      } else if (borrowing.has_value()) {
        worst = std::min(worst, T(node, cell) + borrowing->units());
      }
    }
    return worst;
  }
  bool Admits(QuotaNodeId node, QuotaCellId cell, Exact amount) const {
    Naive after = *this;
    after.Charge(node, cell, amount);
    return after.Worst(node, cell) >= 0;
  }
  // By bisection. REQUIRES: legal as it stands.
  Exact MostAdmitted(QuotaNodeId node, QuotaCellId cell) const {
    Exact low = 0, high = Exact{1} << 80;
    while (high - low > 1) {
      const Exact middle = (low + high) / 2;
      (Admits(node, cell, middle) ? low : high) = middle;
    }
    return low;
  }
  int32_t Height(QuotaNodeId node) const {
    int32_t height = 0;
    for (uint32_t i = 0; i < world_.nodes.size(); ++i) {
      if (world_.nodes[i].parent != node) continue;
      height = std::max(height, 1 + Height(QuotaNodeId(i)));
    }
    return height;
  }
  QuotaNodeId Parent(QuotaNodeId node) const { return world_.nodes[node.index()].parent; }

 private:
  size_t At(QuotaNodeId node, QuotaCellId cell) const {
    return node.index() * world_.resource_of_cell.size() + cell.index();
  }
  const QuotaLimit& Of(QuotaNodeId node, QuotaCellId cell) const {
    return world_.limits[At(node, cell)];
  }

  const World& world_;
  std::vector<Exact> used_;
};

// ---- the comparison

class Comparison final {
 public:
  Comparison(const World& world, Random& random) : world_(world), random_(random), naive_(world_) {
    for (uint32_t i = 0; i < world_.nodes.size(); ++i) {
      if (naive_.Height(QuotaNodeId(i)) == 0) queues_.emplace_back(i);
    }
    Rebuild();
  }

  // One random operation; "" when all answers are right.
  std::string Step() {
    const uint64_t kind = random_.Below(20);
    if (kind == 19) Suppose();
    if (kind == 0) {  // others have other limits now, and all that runs stays
      for (QuotaNodeSpec& node : world_.nodes) {
        if (random_.OneIn(3)) node.limits = RandomLimits(random_, world_.sizes, Cells());
      }
      world_.Tabulate();
      Rebuild();
      return CheckState();
    }
    if (kind == 1 && world_.sizes != Sizes::kHostile) return RaiseSomewhere();
    if (kind < 7 && !running_.empty()) {
      const auto at = running_.begin() + static_cast<ptrdiff_t>(random_.Below(running_.size()));
      const Charged charged = *at;
      running_.erase(at);
      tree_.Remove(charged.queue, charged.demand);
      naive_.Charge(charged, -1);
      return CheckState();
    }
    const Charged charged = {queues_[random_.Below(queues_.size())], RandomDemand()};
    if (kind < 14) {
      if (!tree_.Fits(charged.queue, charged.demand) && !random_.OneIn(6)) return WhatIf(charged);
      tree_.Add(charged.queue, charged.demand);
      naive_.Charge(charged, 1);
      running_.push_back(charged);
      return CheckState();
    }
    return WhatIf(charged);
  }

  // All that runs ends: not a unit may stay behind.
  std::string End() {
    while (!running_.empty()) {
      tree_.Remove(running_.back().queue, running_.back().demand);
      naive_.Charge(running_.back(), -1);
      running_.pop_back();
    }
    const std::string problem = CheckState();
    return problem.empty() ? CheckSupposedOf() : problem;
  }

  struct Seen {
    int questions = 0, suppositions = 0, fit = 0, never_fit = 0, in_debt = 0, borrow = 0,
        shares = 0, infinite = 0;
  };
  const Seen& seen() const { return seen_; }

 private:
  uint32_t Cells() const { return static_cast<uint32_t>(world_.resource_of_cell.size()); }

  // The tree of a what-if is that of the limits which it supposes.
  std::string RaiseSomewhere() {
    const QuotaNodeId node(static_cast<uint32_t>(random_.Below(world_.nodes.size())));
    const QuotaCellId cell(static_cast<uint32_t>(random_.Below(Cells())));
    const Amount more = RandomAmount(random_, world_.sizes);
    std::vector<QuotaLimit>& limits = world_.nodes[node.index()].limits;
    auto limit = std::ranges::find(limits, cell, &QuotaLimit::cell);
    if (limit == limits.end()) limit = limits.insert(limit, {.cell = cell});
    limit->nominal += more;
    world_.Tabulate();
    const QuotaTree before = tree_;
    tree_ = before.WithMore(node, cell, more);
    if (!tree_.CheckInvariants().ok() || !before.CheckInvariants().ok()) return "a raised tree";
    CountMostEver();
    return CheckState();
  }

  // From now on what happens is only supposed.
  void Suppose() {
    ++seen_.suppositions;
    as_it_was_ = supposed_of_ = tree_.Whole();
    tree_ = supposed_of_.Supposed();
  }
  // … and what it is supposed of has not noticed.
  std::string CheckSupposedOf() const {
    for (uint32_t i = 0; i < as_it_was_.node_count(); ++i) {
      for (uint32_t c = 0; c < as_it_was_.cell_count(); ++c) {
        const QuotaNodeId node(i);
        if (supposed_of_.Usage(node, QuotaCellId(c)) != as_it_was_.Usage(node, QuotaCellId(c))) {
          return absl::StrCat("a supposition changed the usage of node ", i, " cell ", c);
        }
      }
    }
    return "";
  }

  void Rebuild() {
    tree_ = QuotaTree(world_.nodes, world_.resource_of_cell);
    for (const Charged& charged : running_) tree_.Add(charged.queue, charged.demand);
    CountMostEver();
  }
  void CountMostEver() {
    most_ever_.assign(world_.nodes.size(), std::vector<Exact>(Cells()));
    for (uint32_t i = 0; i < world_.nodes.size(); ++i) {
      for (uint32_t cell = 0; cell < Cells(); ++cell) {
        most_ever_[i][cell] = naive_.Emptied().MostAdmitted(QuotaNodeId(i), QuotaCellId(cell));
      }
    }
  }

  Demand RandomDemand() {
    Demand demand;
    for (uint32_t cell = 0; cell < Cells(); ++cell) {
      const Amount amount = RandomAmount(random_, world_.sizes);
      if (amount > Amount() && random_.OneIn(2)) demand.push_back({QuotaCellId(cell), amount});
    }
    return demand;
  }

  // Every number of every node and cell.
  std::string CheckState() {
    if (const absl::Status ok = tree_.CheckInvariants(); !ok.ok()) return ok.ToString();
    const Naive empty = naive_.Emptied();
    for (uint32_t i = 0; i < world_.nodes.size(); ++i) {
      const QuotaNodeId node(i);
      bool legal = true;
      for (uint32_t c = 0; c < Cells(); ++c) {
        const QuotaCellId cell(c);
        const std::string where = absl::StrCat(" of node ", i, " cell ", c);
        const Exact quota = empty.T(node, cell);
        if (tree_.Quota(node, cell) != Saturated(quota)) return "quota" + where;
        if (tree_.Usage(node, cell) != Saturated(quota - naive_.T(node, cell))) {
          return "usage" + where;
        }
        if (tree_.Potential(node, cell) != Saturated(most_ever_[i][c])) return "potential" + where;
        if (!AvailableIsRight(node, cell)) return "available" + where;
        legal = legal && naive_.Worst(node, cell) >= 0;
      }
      if (tree_.CheckLegal(node).ok() != legal) return absl::StrCat("legality of node ", i);
      if (tree_.Height(node) != naive_.Height(node)) return absl::StrCat("height of node ", i);
    }
    return "";
  }

  bool AvailableIsRight(QuotaNodeId node, QuotaCellId cell) {
    const Amount available = tree_.Available(node, cell);
    if (available < Amount()) {
      ++seen_.in_debt;
      return available == Saturated(naive_.Worst(node, cell));
    }
    return naive_.Admits(node, cell, available.units()) &&
           (available == Amount::Max() || !naive_.Admits(node, cell, Exact{available.units()} + 1));
  }

  std::string WhatIf(const Charged& asked) {
    const auto& [queue, demand] = asked;
    ++seen_.questions;
    const Naive after = naive_.With(queue, demand);
    bool fits = true, ever = true;
    BorrowHeight worst = {.height = 0, .may_reclaim = naive_.Parent(queue).valid()};
    for (const CellAmount& part : demand) {
      fits = fits && after.Worst(queue, part.cell) >= 0;
      ever = ever && part.amount.units() <= most_ever_[queue.index()][part.cell.index()];
      QuotaNodeId node = queue;
      while (after.T(node, part.cell) < 0 && naive_.Parent(node).valid()) {
        node = naive_.Parent(node);
      }
      worst.height = std::max(worst.height, naive_.Height(node));
      worst.may_reclaim = worst.may_reclaim && naive_.Parent(node).valid();
    }
    seen_.fit += fits;
    seen_.never_fit += !ever;
    seen_.borrow += worst.height > 0;
    if (tree_.Fits(queue, demand) != fits) return "fits";
    if (tree_.FitsEver(queue, demand) != ever) return "fits ever";
    if (tree_.HeightOf(queue, demand) != worst) return "height of what is borrowed";
    for (QuotaNodeId node = queue; node.valid(); node = naive_.Parent(node)) {
      const bool borrows = std::any_of(
          demand.begin(), demand.end(),
          [&, node = node](const CellAmount& part) { return after.T(node, part.cell) < 0; });
      if (tree_.BorrowsWith(node, asked.queue, asked.demand) != borrows) return "borrows";
      if (!SameShare(tree_.ShareWith(node, queue, demand), ShareIn(after, node))) return "share";
      if (!SameShare(tree_.ShareWith(node, queue, {}), ShareIn(naive_, node))) return "share now";
    }
    // What was only asked has changed nothing, and what is done is undone.
    tree_.Add(queue, demand);
    tree_.Remove(queue, demand);
    return CheckState();
  }

  DominantShare ShareIn(const Naive& naive, QuotaNodeId node) {
    const QuotaNodeId parent = naive.Parent(node);
    DominantShare share;
    if (!parent.valid()) return share;
    const double weight = static_cast<double>(world_.nodes[node.index()].weight_milli) / 1000;
    for (const uint32_t resource : {0U, 40U}) {
      Exact borrowed = 0, lendable = 0;
      for (uint32_t cell = 0; cell < Cells(); ++cell) {
        if (world_.resource_of_cell[cell] != resource) continue;
        borrowed += std::max<Exact>(0, -naive.T(node, QuotaCellId(cell)));
        lendable += most_ever_[parent.index()][cell];
      }
      if (borrowed == 0 || lendable == 0) continue;
      const double permille = 1000.0 * static_cast<double>(Saturated(borrowed).units()) /
                              static_cast<double>(Saturated(lendable).units());
      share.infinite = weight == 0;
      share.permille = std::max(share.permille, weight == 0 ? permille : permille / weight);
    }
    ++seen_.shares;
    seen_.infinite += share.infinite;
    return share;
  }
  // Up to the roundings of the naive side; one unit more or less is more than that.
  static bool SameShare(const DominantShare& a, const DominantShare& b) {
    return a.infinite == b.infinite && a.permille <= b.permille * (1 + 1e-15) &&
           b.permille <= a.permille * (1 + 1e-15);
  }

  World world_;
  Random& random_;
  Naive naive_;
  QuotaTree supposed_of_, as_it_was_, tree_;
  std::vector<QuotaNodeId> queues_;
  std::vector<Charged> running_;
  std::vector<std::vector<Exact>> most_ever_;
  Seen seen_;
};

TEST(QuotaOracle, EveryAnswerIsThatOfTheClosedForm) {
  const int trees = Trees();
  Comparison::Seen all;
  for (int seed = 0; seed < trees; ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const World world = RandomWorld(random);
    Comparison comparison(world, random);
    for (int step = 0; step < kOperations; ++step) {
      ASSERT_EQ(comparison.Step(), "") << "seed " << seed << " step " << step;
    }
    ASSERT_EQ(comparison.End(), "") << "seed " << seed << " at the end";
    const Comparison::Seen& seen = comparison.seen();
    all.questions += seen.questions;
    all.suppositions += seen.suppositions;
    all.fit += seen.fit;
    all.never_fit += seen.never_fit;
    all.in_debt += seen.in_debt;
    all.borrow += seen.borrow;
    all.shares += seen.shares;
    all.infinite += seen.infinite;
  }
  // Every kind of answer is common.
  EXPECT_GT(all.questions, trees * 5);
  EXPECT_GT(all.suppositions, trees / 4);
  EXPECT_GT(all.fit, all.questions / 5);
  EXPECT_LT(all.fit, all.questions * 4 / 5);
  EXPECT_GT(all.never_fit, all.questions / 10);
  EXPECT_GT(all.borrow, all.questions / 10);
  EXPECT_GT(all.in_debt, trees);
  EXPECT_GT(all.shares, all.questions / 2);
  EXPECT_GT(all.infinite, all.questions / 50);
  RecordProperty("operations", trees * kOperations);
  RecordProperty("questions", all.questions);
}

}  // namespace
}  // namespace maniple::queue_quota_oracle_test
