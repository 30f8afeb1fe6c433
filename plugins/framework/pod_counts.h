// Counts for affinity, anti-affinity and topology spread: pods by the selectors that match them,
// node by node.
//
// Each question of some pod's term is one count with an id: pods that match a selector,
// or pods with a term that other pods match. A shape tells the counts that one pod of it adds to.
// A block of nodes holds the sums of the pods charged there. So to place or free pods,
// in truth or on an overlay, changes the counts along with the room.
//
// PodCounts is part of a NodeBlock: only the owner writes it,
// and only before the block is published.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "api/base/id.h"
#include "api/model/pod_terms.h"

namespace maniple {

using PodCountId = Id<struct PodCountTag>;

// The change of a count by one pod where it stands.
struct PodCountChange {
  PodCountId count;
  int64_t change = 0;
  friend auto operator<=>(const PodCountChange&, const PodCountChange&) = default;
};

// The counts of the nodes of one block. Most are zero, and take no space.
class PodCounts final {
 public:
  struct Entry {
    PodCountId count;
    uint32_t row = 0;
    int64_t value = 0;  // never zero
  };
  // By row.
  [[nodiscard]] std::span<const Entry> Of(PodCountId count) const;
  [[nodiscard]] int64_t At(PodCountId count, uint32_t row) const;
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }  // by count and row

  // Adds every change, times `factor`, to the row. REQUIRES: by count, each once.
  void Add(uint32_t row, std::span<const PodCountChange> changes, int64_t factor);

 private:
  void AddOne(uint32_t row, PodCountChange change);

  std::vector<Entry> entries_;
};

// A count that a pod of a shape looks at, in the topology domain that it would stand in.
struct CountInDomain {
  PodCountId count;  // invalid: no pod is ever counted
  std::string topology_key;
  int64_t weight = 0;  // of a preference; below zero: rather apart
  friend auto operator<=>(const CountInDomain&, const CountInDomain&) = default;
};

struct SpreadCount {
  TopologySpreadConstraint constraint;
  PodCountId count;          // pods that match and are not about to end; invalid: none
  bool counts_self = false;  // a pod of the shape matches as well
};

// The terms of a pod of a shape on the pods around it, as counts.
struct ShapeTerms {
  // Required affinity: in the domain of each key stands a pod that matches all the terms. A pod
  // that matches itself may be the first.
  std::vector<std::string> near_keys;  // sorted, each once
  PodCountId near;                     // invalid: no pod matches
  bool near_self = false;
  std::vector<CountInDomain> apart;      // required anti-affinity of its own: none of these
  std::vector<CountInDomain> kept_away;  // that of others, which it matches: none of these
  std::vector<CountInDomain> drawn;      // preferences, its own and others'
  std::vector<SpreadCount> spread;
};

// Whether the count decides where a pod with these terms may stand; preferences aside.
[[nodiscard]] bool LooksAtCount(const ShapeTerms& terms, PodCountId count);

}  // namespace maniple
