// A gang as the scheduler knows it: the PodGroup, its members, and nothing that has to be asked
// elsewhere.
//
// Plain values, owned by ClusterState (scheduler/state), changed on the scheduling thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/model/ids.h"
#include "api/model/maniple_types.h"
#include "api/producers/foreign_gang.h"

namespace maniple {

// Whose PodGroup it is. A pod without a group is a gang of one, keyed by its own name.
enum class GangDialect : uint8_t { kManiple, kSingleton };

struct GangKey {
  GangDialect dialect = GangDialect::kManiple;
  std::string namespace_name;
  std::string name;
  friend auto operator<=>(const GangKey&, const GangKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const GangKey& key) {
    return H::combine(std::move(h), key.dialect, key.namespace_name, key.name);
  }
};

enum class MemberState : uint8_t {
  kPending,      // live, on no node
  kGated,        // scheduling gates: exists, not live
  kBound,        // live, spec.nodeName set
  kTerminating,  // deletionTimestamp: takes room on its node, no longer a live member
  kSucceeded,
  kFailed,
};

// Placement order within the gang (semantics.md §6): smaller ranks first.
struct Rank {
  int32_t sub_group = 0;  // position in spec.subGroups; members of none come last
  std::string job;        // job index or role
  int64_t index = -1;     // completion, replica, worker or pod index; -1 = none
  friend auto operator<=>(const Rank&, const Rank&) = default;
};

struct Member {
  PodId pod;
  ShapeId shape;
  NodeId node;  // where it is bound; invalid while pending, or when that node is unknown to us
  int32_t priority = 0;
  std::optional<absl::Duration> deadline;  // activeDeadlineSeconds: it fails after so long
  absl::Time created;
  MemberState state = MemberState::kPending;
  bool running = false;            // phase Running
  bool started_elsewhere = false;  // bound by somebody else than us, as far as we know
  bool preempts = true;            // its preemptionPolicy is not Never
  std::string name;
  std::string uid;
  Rank rank;
  std::string status_reason;   // pod status.reason of a failed member, e.g. "OutOfnvidia.com/gpu"
  std::string waiting_reason;  // reason of its condition PodScheduled=False as it stands on the
                               // server, "" = none
  bool nominated = false;      // waits, and a node's name stands in its nominatedNodeName
};

// Members that succeeded and whose pods have been cleaned away since. They count on, each until
// another member has its rank.
struct CleanedMembers {
  std::vector<Rank> ranks;  // sorted; those without an index may repeat
  int32_t unranked = 0;     // cleaned away before anybody of us looked: only their number is known
  [[nodiscard]] bool empty() const { return ranks.empty() && unranked == 0; }
  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(ranks.size()) + unranked; }
};

// The PodGroup of ours that stands for a gang which somebody else declares, as the server has it.
struct StandIn {
  std::string uid;
  PodGroupSpec spec;
  friend bool operator==(const StandIn&, const StandIn&) = default;
};

struct Gang {
  GangId id;
  GangKey key;
  // Somebody else declares it, and this says what; null: a PodGroup of a user does, or its only
  // pod.
  std::shared_ptr<const ForeignGang> foreign;
  std::optional<StandIn> stand_in;  // none: it is not made yet, or not needed
  // A PodGroup of a user, or somebody else's word for it, is or was there: pods that run stay.
  bool declared = false;
  bool group_exists =
      false;              // false: pods name a PodGroup that is not there (yet); singletons: true
  std::string group_uid;  // who it is: another uid is another gang
  std::string group_resource_version;  // "" = there is no PodGroup to write to
  int64_t group_generation = 0;
  absl::Time created = absl::InfinitePast();  // of the PodGroup, or of the pod of a singleton
  bool on_hold = false;  // its PodGroup, or only pod, says that it may not start
  std::string problem;   // not empty: the PodGroup is invalid, and why
  std::string awaited;   // by a member, of a gang that nobody has declared: "PodGroup train (…)"
  std::string passed_over;  // marks of its pods that name other gangs, for people; "" = none
  // Singletons: minMember 1, queue from the label. Of a PodGroup that is gone, or cannot be read,
  // what stood there last: pods that run stay the gang that they were.
  PodGroupSpec spec;
  PodGroupStatus status;  // as it stands, or stood last, on the server
  // The Queue that it is charged to and asks of: while something of it is placed, the one under
  // which it was admitted; else what it names, after the namespace label and the configured
  // default. "" = no quota applies.
  std::string queue;
  std::optional<std::string> admitted_queue;  // none: nothing is placed, or it is not known yet
  std::string told_queue;  // … as the annotation of a bound member says, whoever wrote it
  int32_t priority = 0;    // lower of the class's value and the highest member priority
  bool preempts = true;    // neither the PodGroup nor its class, else a quorum member, says Never
  std::vector<Member> members;  // by (rank, name)
  CleanedMembers cleaned;
};

}  // namespace maniple
