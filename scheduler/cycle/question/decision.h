// The question put to the pure decision, and its answer. Plain values; see decide.h for the
// function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/model/ids.h"
#include "plugins/framework/verdict.h"
#include "queue/assembly.h"
#include "queue/gang.h"
#include "queue/quota_tree.h"
#include "scheduler/state/pod_facts.h"

namespace maniple {

class SearchWork;

struct Placement {
  PodId pod;
  NodeId node;
  friend auto operator<=>(const Placement&, const Placement&) = default;
};

// A member's place among the members that slices count through.
struct RankPlace {
  int32_t group = 0;   // a number for its sub-group and job or role together
  int64_t index = -1;  // -1: it carries no rank
  friend auto operator<=>(const RankPlace&, const RankPlace&) = default;
};

// An unbound live member that may be placed.
struct Want {
  PodId pod;
  ShapeId shape;
  int32_t sub_group = -1;  // position in spec.subGroups
  RankPlace rank = {};
  // The shape with its images, for scores. Members of one shape count as
  // equals whatever images they run, and the first of them speaks for all.
  // None: `shape` has the images, or there are none.
  ShapeId scored_as = {};
  // A number for those that start together or not at all, beyond the quorum; -1: it goes alone.
  // Who asks sees to it (scheduler/loop/records/whole_units.h).
  int32_t unit = -1;
};
// A member that is on its node already, bound or reserved.
struct Pinned {
  PodId pod;
  NodeId node;
  ShapeId shape;
  int32_t sub_group = -1;
  absl::string_view name = {};  // of the pod, for messages; must outlive the decision
  RankPlace rank = {};
};

enum class DecideScope : uint8_t {
  kQuorum,   // place at least `need`, all or nothing; more than needed is not placed
  kSurplus,  // place as many wants as fit, at least one
};

struct GangRequest {
  GangId gang;
  std::string name;         // for ties and logs
  std::string queue;        // "" = none
  std::vector<Want> wants;  // in rank order
  std::vector<Pinned> pinned;
  QuorumNeed need;  // still to be placed
  // Members that do not exist yet and will be bound to the domains of the wants; no pods of theirs.
  std::vector<Want> followers;
  DecideScope scope = DecideScope::kQuorum;
  TopologyRequest topology;
  std::vector<TopologyRequest> sub_group_topologies;  // parallel to spec.subGroups
  std::vector<std::string> sub_group_names;           // parallel to them, for messages
  std::vector<HoldId> own_holds;                      // room held for this gang: free to it alone
  std::vector<PromisedRoom> outranked;  // promised to pods of lower priority: free to it as well
  // The work that all searches for it may spend together; null: without limit. Borrowed.
  SearchWork* work = nullptr;
};

// A choice of flavors that was tried before the one of a plan, and what it lacked.
struct RefusedFlavors {
  std::vector<std::string> flavors;  // each once, in the order of the shapes
  enum class Lacks : uint8_t { kQuota, kRoom } lacks = Lacks::kQuota;
};

// Everything is placed; take it as a whole or not at all.
struct Plan {
  std::vector<Placement> placements;  // in rank order
  std::vector<std::string> domains;
  std::vector<RefusedFlavors> refused;  // the first kMostRefusedTold
};
inline constexpr size_t kMostRefusedTold = 8;

enum class RejectionCode : uint8_t {
  kQuotaExceeded,       // proven: the queue's quota does not cover it now
  kExceedsMaxQuota,     // proven: it would not even if nobody used any
  kNoFit,               // proven: no room now
  kTopologyNoFit,       // proven: room, but not in one domain
  kNeverFits,           // proven: not even on the empty cluster
  kSearchLimitReached,  // a bounded search gave up; no proof
  kVolumesNotReady,     // a volume of a pod lets no node be chosen yet
  kUnsupported,         // the spec asks for something that this version refuses
  kInvalidSpec,         // unknown topology level and the like
};

// Nodes by the first reason that ruled them out; counts add up to `nodes`.
struct NodeReasonCount {
  Reason reason;  // want and have of the best such node; ReasonText (plugins/framework/reasons.h)
                  // makes it a sentence
  int64_t nodes = 0;
};

// The first cell of the quota tree that can never cover the quorum; else the first that does not
// cover it now; else the first that it needs.
struct QuotaShortage {
  QuotaNodeId queue;
  QuotaCellId cell;
  Amount needs, available, potential;
  Amount used;  // by others than the gang: its own holds are not charged, as in the question
};

struct Rejection {
  RejectionCode code = RejectionCode::kNoFit;
  ShapeId shape;                         // of the member that could not be placed
  int64_t wanted = 0;                    // members of that shape asked for
  int64_t placeable = 0;                 // the members of these that could be placed
  bool of_some = false;                  // the quorum takes members of other shapes as well
  int64_t nodes = 0;                     // in the cluster
  std::vector<NodeReasonCount> reasons;  // by count descending, then id
  // kUnsupported, kInvalidSpec: the path and why. Where a domain is required: the closest domain,
  // of which `reasons` speak; or that members which stand already are not in one domain.
  std::string detail;
  // kQuotaExceeded, kExceedsMaxQuota; of kNeverFits, where quota would be short as well.
  std::optional<QuotaShortage> quota;
  bool quota_in_the_way = false;  // with more quota some other flavor could have been tried
  // kExceedsMaxQuota: with larger nodes some other flavor could; kQuotaExceeded: with more room.
  bool nodes_in_the_way = false;
};

using Decision = std::variant<Plan, Rejection>;

}  // namespace maniple
