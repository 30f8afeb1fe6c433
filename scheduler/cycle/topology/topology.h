// Topology domains as a gang asks for them: sets of nodes that may hold it, in order of preference,
// and domains for its slices and sub-groups.
//
// The NVLink domain is a dimension of its own that need not nest with the levels of a Topology; the
// word "nvlink", or a label that is configured for it, may stand wherever a level may. The tiers of
// HyperNodes are levels of a Topology without a name. Pure functions of snapshot and request.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugins/framework/snapshot.h"
#include "scheduler/cycle/question/decision.h"
#include "scheduler/cycle/topology/domain_level.h"

namespace maniple {

// The topology request of a gang, or of one of its sub-groups.
struct DomainWish {
  // Broadest first, each a refinement of the one before. Where a domain is required,
  // the first level requires it; the last is the preferred one.
  std::vector<DomainLevelPtr> levels;
  bool required = false;
  DomainLevelPtr slice;  // null: no slices
  int32_t slice_size = 0;

  [[nodiscard]] const DomainLevel* required_level() const {
    return required ? levels.front().get() : nullptr;
  }
};

struct DomainChoice {
  DomainWish gang;
  std::vector<DomainWish> sub_groups;  // by sub-group; empty: none has a wish of its own
  // Consecutive ranks go to neighbours in this order; null: in the order of names.
  std::shared_ptr<const NodeLayout> layout;

  // Some nodes with room are better together than others, or are refused.
  [[nodiscard]] bool wishes() const;
  // Some choice of nodes with room would be refused.
  [[nodiscard]] bool binding() const;
  // The same without preferences.
  [[nodiscard]] DomainChoice OnlyBinding() const;
};

// The Topology of that name; without a name the only one, or the one named "default". Where none
// has a name it is the tiers of HyperNodes. Null: none.
[[nodiscard]] const Topology* FindTopology(const Tables& tables, absl::string_view name);

// The place of a level by its name, its label or its tier; none: the Topology has no such level.
[[nodiscard]] std::optional<size_t> LevelIndex(const Topology& topology, absl::string_view word);

struct LevelPlace {
  const Topology* topology = nullptr;
  size_t index = 0;
  // The word is of a tier above the highest that HyperNodes have. As in Volcano, any nodes will do
  // then. The place is that of the highest tier.
  bool beyond = false;
};
// The level that a word of a request names in the Topology of that name (see FindTopology), or,
// without a name, among the tiers of HyperNodes. A tier's word names the HyperNodes of that tier
// before it counts the levels of a Topology. None: nobody has such a level.
[[nodiscard]] std::optional<LevelPlace> FindLevel(const Tables& tables,
                                                  absl::string_view topology_name,
                                                  absl::string_view word);

// The labels down to that level, from the broadest.
[[nodiscard]] LevelKey PathTo(const LevelPlace& place);

// kInvalidArgument: the request names something that does not exist, or contradicts itself. The
// message names the field. No topology asked for: no levels.
[[nodiscard]] absl::StatusOr<DomainChoice> ResolveTopology(const Snapshot& snapshot,
                                                           const GangRequest& gang,
                                                           LevelStore& store);

// The one domain of the members that stand already, which binds the rest; kOutside when they are in
// none or in several; none when there are no such members.
[[nodiscard]] std::optional<uint32_t> DomainOfPinned(const Snapshot& snapshot,
                                                     const DomainLevel& level,
                                                     std::span<const Pinned> pinned);

// The nodes of all domains of the level in which such members stand.
[[nodiscard]] NodeSet NodesBesidePinned(const Snapshot& snapshot, const DomainLevel& level,
                                        std::span<const Pinned> pinned);

}  // namespace maniple
