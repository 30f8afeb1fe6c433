// The dominant resource share of a node: the largest ratio, over resources,
// of its borrowed amount to its parent's lendable amount, divided by its weight.
#pragma once

#include <compare>
#include <cstdint>

#include "api/base/amount.h"

namespace maniple {

// Ordered: nothing borrowed < any share < infinite. Equal shares are equal here,
// whatever amounts they come from.
struct DominantShare {
  bool infinite = false;  // borrows at weight 0; then compared by the unweighted permille
  double permille = 0;    // weighted unless infinite; one correctly rounded division
  friend auto operator<=>(const DominantShare&, const DominantShare&) = default;
  [[nodiscard]] int64_t RoundedUp() const;  // for statuses; int64 max when infinite
};

// The share of one resource. Nothing borrowed, or nothing that could be lent: no share. A weight
// below 0 is one of 0.
[[nodiscard]] DominantShare ShareOf(Amount borrowed, Amount lendable, int64_t weight_milli);

}  // namespace maniple
