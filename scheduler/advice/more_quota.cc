// More quota at its Queue or at a Cohort above it.
#include <algorithm>

#include "scheduler/advice/changes.h"

namespace maniple {
namespace {

// The cost of the quorum in the cell, if every member is charged there that may be.
Amount PriceIn(const Hypothesis& from, QuotaCellId cell) {
  Amount sum;
  const auto members = static_cast<size_t>(std::max(0, from.request.need.total));
  for (size_t i = 0; i < std::min(members, from.request.wants.size()); ++i) {
    const auto options = from.ask.options.find(from.request.wants[i].shape);
    if (options == from.ask.options.end()) continue;
    Amount dearest;
    for (const QuotaOption& option : options->second) {
      for (const CellAmount& part : option.each) {
        if (part.cell == cell) dearest = std::max(dearest, part.amount);
      }
    }
    sum += dearest;
  }
  return sum;
}

}  // namespace

std::vector<FoundChange> FindMoreQuota(const HelpQuestion& question, const Hypothesis& from,
                                       Trials& trials) {
  std::vector<FoundChange> found;
  if (from.tree == nullptr) return found;
  for (const HelpQuestion::CellName& name : question.cells) {
    const Amount price = PriceIn(from, name.cell);
    const Amount available = from.tree->Available(from.ask.queue, name.cell);
    if (price <= available) continue;
    const int64_t lacks = (price - available).units();
    for (const HelpQuestion::QuotaPlace& place : question.quota_path) {
      const auto does = [&](int64_t more) {
        return trials.Starts(RaiseQuota(from, place.node, name.cell, Amount(more)));
      };
      int64_t least = lacks;
      if (!does(lacks)) continue;
      // In most cases the missing amount is exactly what it takes.
      if (lacks > 1 && does(lacks - 1)) least = LeastThatDoes(0, lacks - 1, does);
      if (trials.spent()) return found;
      found.push_back({.change = MoreQuota{.at = place.name,
                                           .at_cohort = place.is_cohort,
                                           .flavor = name.flavor,
                                           .resource = name.resource,
                                           .amount = Amount(least)},
                       .after = RaiseQuota(from, place.node, name.cell, Amount(least))});
    }
  }
  return found;
}

}  // namespace maniple
