// What Queues, Cohorts and flavors allow, by the objects alone: the closed form of legality from
// first principles, recomputed at every question, for every flavor and resource.
//
// Shares nothing with queue/. T(queue) = N - U and T(cohort) = N + sum of min(L, T) over what is
// below it; legal is T >= -B on the whole path and T >= 0 at its root. What is derived from the
// node (gpu-milli) is not counted here.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "test/support/turn_facts.h"

namespace maniple {

// Counted by the node, so not here.
inline constexpr char kDerivedResource[] = "scheduling.maniple.dev/gpu-milli";

class QuotaFacts final {
 public:
  using Wide = __int128;
  struct Cell {
    std::string flavor, resource;  // flavor "" = nodes that no other entry with the resource names
    friend auto operator<=>(const Cell&, const Cell&) = default;
  };
  using Usage = std::map<std::pair<std::string, Cell>, Wide>;  // by Queue and cell

  explicit QuotaFacts(const Told& told);  // borrowed

  // It exists, its flavors do, and no cycle of Cohorts is above it.
  [[nodiscard]] bool Active(const std::string& queue) const;
  [[nodiscard]] std::string FlavorOf(const std::string& node) const;
  struct Where {
    enum class Rule { kUnlimited, kCounted, kForbidden } rule = Rule::kUnlimited;
    Cell cell;
  };
  // Where a resource is counted for the Queue on nodes of the flavor.
  [[nodiscard]] Where WhereCounted(const std::string& queue, const std::string& resource,
                                   const std::string& flavor) const;
  // Adds what the pod costs the Queue there, so many times.
  void Charge(const std::string& queue, const Pod& pod, const std::string& flavor, Wide times,
              Usage& usage) const;
  [[nodiscard]] Wide Nominal(const std::string& queue, const Cell& cell) const;
  // Why the Queue must not use what it uses; "" = it may.
  [[nodiscard]] std::string Illegal(const std::string& queue, const Cell& cell,
                                    const Usage& usage) const;

 private:
  struct Limits {
    Wide nominal = 0;
    std::optional<Wide> borrowing, lending;
  };
  [[nodiscard]] Limits LimitsIn(const std::vector<FlavorQuota>& quotas, const Cell& cell) const;
  [[nodiscard]] Limits LimitsOfCohort(const std::string& cohort, const Cell& cell) const;
  [[nodiscard]] bool Sound(const std::vector<FlavorQuota>& quotas) const;
  [[nodiscard]] std::string ParentOf(const std::string& cohort) const;  // "" = a root
  [[nodiscard]] Wide LeftOf(const std::string& cohort, const Cell& cell, const Usage& usage) const;

  const Told& told_;
  std::set<std::string> cyclic_;  // Cohorts on a cycle, or below one
};

// By every pod that takes room or is about to, in its gang's Queue.
[[nodiscard]] QuotaFacts::Usage UsageByPods(const TurnFacts& facts, const QuotaFacts& quotas);

}  // namespace maniple
