// Every set of victims of a small world, in every order: what is legal and suffices, and what it
// costs, written down from the rules. Shares the quota tree and FindPlan with what it tests.
//
//   NaivePreemption naive(world, options);
//   for (const auto& [set, cost] : naive.Good(reach)) …   // bits: pods of those who may be victims
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "scheduler/cycle/victims/preemption.h"
#include "test/oracle/cycle/preemption_case.h"

namespace maniple {

using NaiveCost = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                             std::vector<int>, int64_t, std::vector<size_t>, std::vector<size_t>>;

// For one way of charging each shape.
class NaivePreemption final {
 public:
  using Options = absl::flat_hash_map<ShapeId, std::vector<QuotaOption>>;  // one for each shape

  NaivePreemption(PreemptionCase& world, const Options& options);
  ~NaivePreemption();

  // Who may be a victim: only gangs that use what is fought over, or anybody. The share of a Queue
  // may fall with others too.
  enum class Reach : uint8_t { kContested, kAnybody };
  // All sets that are legal and suffice, in the first mode that has any.
  [[nodiscard]] std::map<uint32_t, NaiveCost> Good(Reach reach);
  // None: somebody goes who may never go.
  [[nodiscard]] std::optional<uint32_t> SetOf(const PreemptionPlan& plan) const;

 private:
  class Search;
  std::unique_ptr<Search> search_;
};

}  // namespace maniple
