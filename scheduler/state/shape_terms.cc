#include "scheduler/state/shape_terms.h"

#include "api/base/sort_unique.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace maniple {
namespace {

// How much the score of a pod rises by each pod that requires to be near it.
constexpr int64_t kRequiredWeight = 1;

// Invalid: the term selects no pod.
PodCountId CountFor(const PodAffinityTerm& term, PodCountKind kind, PodQueries& queries) {
  std::optional<PodSelection> selection = SelectionOf(term);
  if (!selection.has_value()) return PodCountId();
  const bool pods_themselves = kind == PodCountKind::kPresent || kind == PodCountKind::kLive;
  return queries.Intern({*std::move(selection)}, kind, pods_themselves ? "" : term.topology_key);
}

// Pods that match all of the terms.
PodCountId CountForAll(const std::vector<PodAffinityTerm>& terms, PodQueries& queries) {
  PodQuery query;
  for (const PodAffinityTerm& term : terms) {
    std::optional<PodSelection> selection = SelectionOf(term);
    if (!selection.has_value()) return PodCountId();
    query.push_back(*std::move(selection));
  }
  SortUnique(query);
  return queries.Intern(std::move(query), PodCountKind::kPresent, "");
}

bool Matches(std::span<const PodCountId> matches, PodCountId count) {
  return count.valid() && std::binary_search(matches.begin(), matches.end(), count);
}

// The changes with each count once, and none of them zero.
std::vector<PodCountChange> Summed(std::vector<PodCountChange> changes) {
  std::ranges::stable_sort(changes, {}, &PodCountChange::count);
  std::vector<PodCountChange> sums;
  for (const PodCountChange& change : changes) {
    if (!sums.empty() && sums.back().count == change.count) {
      sums.back().change += change.change;
    } else {
      sums.push_back(change);
    }
  }
  std::erase_if(sums, [](const PodCountChange& sum) { return sum.change == 0; });
  return sums;
}

std::vector<PodCountChange> CarriedBy(const PodTerms& terms, PodQueries& queries) {
  std::vector<PodCountChange> changes;
  const auto carry = [&](const PodAffinityTerm& term, PodCountKind kind, int64_t amount) {
    const PodCountId count = CountFor(term, kind, queries);
    if (count.valid()) changes.push_back({count, amount});
  };
  for (const PodAffinityTerm& term : terms.apart) carry(term, PodCountKind::kApart, 1);
  for (const PodAffinityTerm& term : terms.near) carry(term, PodCountKind::kDrawn, kRequiredWeight);
  for (const WeightedPodTerm& rather : terms.rather_near) {
    carry(rather.term, PodCountKind::kDrawn, rather.weight);
  }
  for (const WeightedPodTerm& rather : terms.rather_apart) {
    carry(rather.term, PodCountKind::kDrawn, -rather.weight);
  }
  return Summed(std::move(changes));
}

}  // namespace

OwnTerms OwnTermsOf(const PodConstraints& constraints, PodQueries& queries) {
  const PodTerms& terms = constraints.pod_terms;
  OwnTerms own{.carried = CarriedBy(terms, queries), .asked = {}};
  ShapeTerms& asked = own.asked;
  const auto present = [&](const PodAffinityTerm& term, int64_t weight) {
    return CountInDomain{.count = CountFor(term, PodCountKind::kPresent, queries),
                         .topology_key = term.topology_key,
                         .weight = weight};
  };
  if (!terms.near.empty()) {
    for (const PodAffinityTerm& term : terms.near) asked.near_keys.push_back(term.topology_key);
    SortUnique(asked.near_keys);
    asked.near = CountForAll(terms.near, queries);
  }
  for (const PodAffinityTerm& term : terms.apart) asked.apart.push_back(present(term, 0));
  for (const WeightedPodTerm& rather : terms.rather_near) {
    asked.drawn.push_back(present(rather.term, rather.weight));
  }
  for (const WeightedPodTerm& rather : terms.rather_apart) {
    asked.drawn.push_back(present(rather.term, -rather.weight));
  }
  for (const TopologySpreadConstraint& constraint : constraints.spread) {
    SpreadCount spread{.constraint = constraint};
    if (std::optional<PodSelection> selection = SelectionOf(constraint)) {
      spread.count = queries.Intern({*std::move(selection)}, PodCountKind::kLive, "");
    } else {
      spread.counts_self = constraint.selector.has_value();
    }
    asked.spread.push_back(std::move(spread));
  }
  return own;
}

void OwnTerms::ForEachCount(absl::FunctionRef<void(PodCountId)> visit) const {
  const auto visit_all = [&visit](const auto& all) {
    for (const auto& one : all) {
      if (one.count.valid()) visit(one.count);
    }
  };
  visit_all(carried);
  visit_all(asked.apart);
  visit_all(asked.drawn);
  visit_all(asked.spread);
  if (asked.near.valid()) visit(asked.near);
}

std::vector<PodCountChange> ChangesBy(const OwnTerms& own, std::span<const PodCountId> matches,
                                      const PodQueries& queries) {
  std::vector<PodCountChange> changes = own.carried;
  for (const PodCountId count : matches) {
    const PodCountKind kind = queries.Of(count).kind;
    if (kind == PodCountKind::kPresent || kind == PodCountKind::kLive) {
      changes.push_back({count, 1});
    }
  }
  return Summed(std::move(changes));
}

std::shared_ptr<const ShapeTerms> TermsOf(const OwnTerms& own, std::span<const PodCountId> matches,
                                          const PodQueries& queries) {
  auto out = std::make_shared<ShapeTerms>(own.asked);
  out->near_self = Matches(matches, out->near);
  for (SpreadCount& spread : out->spread) {
    if (spread.count.valid()) spread.counts_self = Matches(matches, spread.count);
  }
  for (const PodCountId count : matches) {
    const PodQueries::Facts& facts = queries.Of(count);
    if (facts.kind == PodCountKind::kApart) {
      out->kept_away.push_back({.count = count, .topology_key = facts.topology_key});
    } else if (facts.kind == PodCountKind::kDrawn) {
      out->drawn.push_back({.count = count, .topology_key = facts.topology_key, .weight = 1});
    }
  }
  const bool asks_nothing = out->near_keys.empty() && out->apart.empty() &&
                            out->kept_away.empty() && out->drawn.empty() && out->spread.empty();
  return asks_nothing ? nullptr : std::move(out);
}

}  // namespace maniple
