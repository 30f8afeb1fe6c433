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

struct Lack {
  const HelpQuestion::CellName* name;
  int64_t units;
};

// The cells of which the quorum asks for more than there is.
std::vector<Lack> LacksOf(const HelpQuestion& question, const Hypothesis& from) {
  std::vector<Lack> lacks;
  for (const HelpQuestion::CellName& name : question.cells) {
    const Amount price = PriceIn(from, name.cell);
    const Amount available = from.tree->Available(from.ask.queue, name.cell);
    if (price > available) lacks.push_back({&name, (price - available).units()});
  }
  return lacks;
}

MoreQuota ChangeOf(const HelpQuestion::QuotaPlace& place, const HelpQuestion::CellName& name,
                   int64_t units) {
  return {.at = place.name,
          .at_cohort = place.is_cohort,
          .flavor = name.flavor,
          .resource = name.resource,
          .amount = Amount(units)};
}

}  // namespace

std::vector<FoundChange> FindMoreQuota(const HelpQuestion& question, const Hypothesis& from,
                                       Trials& trials) {
  std::vector<FoundChange> found;
  if (from.tree == nullptr) return found;
  for (const auto& [of, lacks] : LacksOf(question, from)) {
    const HelpQuestion::CellName& name = *of;
    for (const HelpQuestion::QuotaPlace& place : question.quota_path) {
      const auto does = [&](int64_t more) {
        return trials.Starts(RaiseQuota(from, place.node, name.cell, Amount(more)));
      };
      int64_t least = lacks;
      if (!does(lacks)) continue;
      // In most cases the missing amount is exactly what it takes.
      if (lacks > 1 && does(lacks - 1)) least = LeastThatDoes(0, lacks - 1, does);
      if (trials.spent()) return found;
      found.push_back({.change = ChangeOf(place, name, least),
                       .after = RaiseQuota(from, place.node, name.cell, Amount(least))});
    }
  }
  return found;
}

std::vector<std::pair<HelpfulChange, HelpfulChange>> FindTwoQuotas(const HelpQuestion& question,
                                                                   const Hypothesis& from,
                                                                   Trials& trials) {
  std::vector<std::pair<HelpfulChange, HelpfulChange>> found;
  if (from.tree == nullptr) return found;
  const std::vector<Lack> lacks = LacksOf(question, from);
  // With more than two the smallest change is none that people could take in at a glance.
  if (lacks.size() != 2) return found;
  for (const HelpQuestion::QuotaPlace& place : question.quota_path) {
    const auto do_both = [&](int64_t first, int64_t second) {
      const Hypothesis raised = RaiseQuota(from, place.node, lacks[0].name->cell, Amount(first));
      return trials.Starts(RaiseQuota(raised, place.node, lacks[1].name->cell, Amount(second)));
    };
    if (!do_both(lacks[0].units, lacks[1].units)) continue;
    const int64_t first = LeastThatDoes(
        0, lacks[0].units, [&](int64_t more) { return do_both(more, lacks[1].units); });
    const int64_t second =
        LeastThatDoes(0, lacks[1].units, [&](int64_t more) { return do_both(first, more); });
    if (trials.spent()) return found;
    found.emplace_back(ChangeOf(place, *lacks[0].name, first),
                       ChangeOf(place, *lacks[1].name, second));
  }
  return found;
}

}  // namespace maniple
