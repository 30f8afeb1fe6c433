// Topology domains as a gang asks for them: which sets of nodes may hold it, in order of
// preference.
//
// A domain is the whole path of label values down to its level, so the same rack name under two
// blocks is two racks. A node that lacks a label of the path is outside the level. Pure functions
// of snapshot and request.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugins/framework/snapshot.h"
#include "scheduler/cycle/bound_shape.h"
#include "scheduler/cycle/decision.h"

namespace maniple {

// All domains of one level.
struct DomainLevel {
  static constexpr uint32_t kOutside = ~uint32_t{0};

  std::string name;                 // of the level: "rack"
  std::vector<std::string> paths;   // of its domains: "block-1/rack-7"; sorted
  std::vector<uint32_t> domain_of;  // by node index; kOutside = in none

  [[nodiscard]] NodeSet NodesOf(const Snapshot& snapshot, uint32_t domain) const;
};

struct DomainChoice {
  std::vector<DomainLevel> levels;  // to be tried one after the other; the required one last
  bool required = false;  // false: when no single domain takes the gang, any nodes will do
};

// kInvalidArgument: the request names what does not exist; kUnimplemented: it asks for what this
// version refuses. The message names the field. No topology asked for: no levels.
[[nodiscard]] absl::StatusOr<DomainChoice> ResolveTopology(const Snapshot& snapshot,
                                                           const GangRequest& gang);

// Where members that stand already bind the rest: the one domain they are in; kOutside when they
// are in none or in several; none when there are no such members.
[[nodiscard]] std::optional<uint32_t> DomainOfPinned(const Snapshot& snapshot,
                                                     const DomainLevel& level,
                                                     std::span<const Pinned> pinned);

}  // namespace maniple
