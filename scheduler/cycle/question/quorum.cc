#include "scheduler/cycle/question/quorum.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace maniple {

int64_t QuorumProblem::CountOf(uint32_t kind) const {
  return std::count(kinds.begin(), kinds.end(), kind);
}

int64_t QuorumProblem::LeastOf(uint32_t kind) const {
  int64_t of_total = total;
  std::vector<int64_t> of_parts(sub_groups.begin(), sub_groups.end());
  for (size_t i = 0; i < wants.size(); ++i) {
    if (kinds[i] == kind) continue;
    --of_total;
    if (const std::optional<size_t> part = SubGroupOf(wants[i])) --of_parts[*part];
  }
  int64_t least = 0;
  for (const int64_t need : of_parts) least += std::max<int64_t>(0, need);
  return std::max(least, of_total);
}

std::optional<size_t> QuorumProblem::SubGroupOf(const Want& want) const {
  const auto index = static_cast<size_t>(want.sub_group);
  if (want.sub_group < 0 || index >= sub_groups.size()) return std::nullopt;
  return index;
}

QuorumProblem ProblemOf(const GangRequest& request, std::vector<uint32_t> kinds,
                        uint32_t kind_count) {
  QuorumProblem problem;
  problem.wants = request.wants;
  problem.kinds = std::move(kinds);
  problem.kind_count = kind_count;
  for (const int32_t need : request.need.sub_groups) {
    problem.sub_groups.push_back(std::max(0, need));
  }
  const int64_t parts =
      std::accumulate(problem.sub_groups.begin(), problem.sub_groups.end(), int64_t{0});
  problem.total = std::max<int64_t>(parts, request.need.total);
  return problem;
}

QuorumPart PartOf(const QuorumProblem& problem, const std::vector<size_t>& wants) {
  QuorumPart part;
  part.problem.kind_count = problem.kind_count;
  part.problem.total = problem.total;
  part.problem.sub_groups = problem.sub_groups;
  part.problem.budget = problem.budget;
  for (const size_t want : wants) {
    part.wants.push_back(problem.wants[want]);
    part.problem.kinds.push_back(problem.kinds[want]);
  }
  part.problem.wants = part.wants;
  return part;
}

namespace {

// The kind that is most lacking when `needed` members have to come from so many of each kind, with
// their limits.
std::optional<Shortage> ShortageAmong(std::span<const int64_t> counts,
                                      std::span<const int64_t> limits, int64_t needed) {
  int64_t placeable = 0;
  size_t worst = 0;
  for (size_t k = 0; k < counts.size(); ++k) {
    placeable += std::min(counts[k], limits[k]);
    if (counts[k] - limits[k] > counts[worst] - limits[worst]) worst = k;
  }
  if (placeable >= needed) return std::nullopt;
  const int64_t others = placeable - std::min(counts[worst], limits[worst]);
  return Shortage{.kind = static_cast<uint32_t>(worst),
                  .wanted = needed - others,
                  .placeable = std::min(counts[worst], limits[worst])};
}

}  // namespace

std::optional<Shortage> ProvenShortage(const QuorumProblem& problem,
                                       std::span<const int64_t> limits) {
  std::vector<int64_t> all(problem.kind_count, 0);
  std::vector<std::vector<int64_t>> parts(problem.sub_groups.size(), all);
  for (size_t i = 0; i < problem.wants.size(); ++i) {
    ++all[problem.kinds[i]];
    const std::optional<size_t> part = problem.SubGroupOf(problem.wants[i]);
    if (part.has_value()) ++parts[*part][problem.kinds[i]];
  }
  for (size_t g = 0; g < parts.size(); ++g) {
    if (auto shortage = ShortageAmong(parts[g], limits, problem.sub_groups[g])) return shortage;
  }
  return ShortageAmong(all, limits, problem.total);
}

std::optional<std::vector<size_t>> SelectQuorum(const QuorumProblem& problem,
                                                std::span<const int64_t> limits) {
  std::vector<int64_t> left(limits.begin(), limits.end());
  QuotaBudget budget = problem.budget;
  std::vector<int32_t> part_left = problem.sub_groups;
  int64_t total_left = problem.total;
  std::vector<bool> taken(problem.wants.size(), false);
  const auto take = [&](size_t i) {
    taken[i] = true;
    --left[problem.kinds[i]];
    budget.Take(problem.kinds[i], 1);
    --total_left;
  };
  const auto has_room = [&](size_t i) {
    return left[problem.kinds[i]] > 0 && budget.CountOf(problem.kinds[i]) > 0;
  };
  for (size_t i = 0; i < problem.wants.size(); ++i) {
    const std::optional<size_t> part = problem.SubGroupOf(problem.wants[i]);
    if (!part.has_value() || part_left[*part] == 0 || !has_room(i)) continue;
    --part_left[*part];
    take(i);
  }
  for (size_t i = 0; i < problem.wants.size() && total_left > 0; ++i) {
    if (!taken[i] && has_room(i)) take(i);
  }
  const bool parts_met =
      std::all_of(part_left.begin(), part_left.end(), [](int32_t n) { return n == 0; });
  if (!parts_met || total_left > 0) return std::nullopt;
  std::vector<size_t> chosen;
  for (size_t i = 0; i < taken.size(); ++i) {
    if (taken[i]) chosen.push_back(i);
  }
  return chosen;
}

namespace {

// Tries how many of each kind to take within the budget, kind by kind, as far as a few steps reach.
class CountsThatFit final {
 public:
  explicit CountsThatFit(const QuorumProblem& problem)
      : problem_(problem), taken_(problem.kind_count) {}

  [[nodiscard]] bool Find() { return From(0, problem_.budget); }
  [[nodiscard]] bool gave_up() const { return steps_ > kMostSteps; }
  // By kind, at most so many. REQUIRES: Find.
  [[nodiscard]] const std::vector<int64_t>& counts() const { return taken_; }

 private:
  static constexpr int64_t kMostSteps = 10'000;

  bool From(uint32_t kind, const QuotaBudget& budget) {
    if (kind == problem_.kind_count) return !ProvenShortage(problem_, taken_).has_value();
    const int64_t most = std::min(problem_.CountOf(kind), budget.CountOf(kind));
    for (int64_t count = most; count >= problem_.LeastOf(kind); --count) {
      if (++steps_ > kMostSteps) return false;
      taken_[kind] = count;
      QuotaBudget left = budget;
      left.Take(kind, count);
      if (From(kind + 1, left)) return true;
    }
    return false;
  }

  const QuorumProblem& problem_;
  std::vector<int64_t> taken_;
  int64_t steps_ = 0;
};

}  // namespace

std::optional<std::vector<size_t>> SelectWithinBudget(const QuorumProblem& problem) {
  const std::vector<int64_t> no_limits(problem.kind_count, std::numeric_limits<int64_t>::max());
  if (auto chosen = SelectQuorum(problem, no_limits)) return chosen;
  if (problem.kind_count == 1 || problem.total == std::ssize(problem.wants)) return std::nullopt;
  CountsThatFit fitting(problem);
  if (!fitting.Find()) return std::nullopt;
  return SelectQuorum(problem, fitting.counts());
}

bool BudgetMayCover(const QuorumProblem& problem) {
  const std::vector<int64_t> no_limits(problem.kind_count, std::numeric_limits<int64_t>::max());
  if (SelectQuorum(problem, no_limits).has_value()) return true;
  // Whoever is chosen, it costs the same.
  if (problem.kind_count == 1 || problem.total == std::ssize(problem.wants)) return false;
  const QuotaBudget& budget = problem.budget;
  for (uint32_t cell = 0; cell < budget.cell_count(); ++cell) {
    // Who costs least comes first: no quorum costs less in this cell than the one that is taken so.
    std::vector<size_t> wants(problem.wants.size());
    std::iota(wants.begin(), wants.end(), size_t{0});
    const auto cost = [&](size_t want) { return budget.CostIn(cell, problem.kinds[want]); };
    std::ranges::stable_sort(wants, {}, cost);
    QuorumPart cheapest = PartOf(problem, wants);
    cheapest.problem.budget = QuotaBudget();
    const auto chosen = SelectQuorum(cheapest.problem, no_limits);
    if (!chosen.has_value()) return false;
    Amount least;
    for (const size_t index : *chosen) least += cost(wants[index]);
    if (least > budget.LeftIn(cell)) return false;
  }
  if (budget.cell_count() < 2) return budget.cell_count() > 0;
  CountsThatFit fitting(problem);
  return fitting.Find() || fitting.gave_up();
}

}  // namespace maniple
