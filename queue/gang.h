// A gang as the scheduler knows it: the PodGroup, its members, and nothing that must be asked for
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

// The kind of PodGroup. A pod without a group is a gang of one, keyed by its own name.
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

// Placement order within the gang: smaller ranks first.
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
  bool was_ready = false;          // its condition Ready has been True; a probe may fail again
  bool started_elsewhere = false;  // bound by another than us, as far as we know
  absl::Time started = absl::InfinitePast();  // as its kubelet says; infinite past: it does not
  bool preempts = true;                       // its preemptionPolicy is not Never
  std::string name;
  std::string uid;
  Rank rank;
  std::string status_reason;   // pod status.reason of a failed member, e.g. "OutOfnvidia.com/gpu"
  std::string waiting_reason;  // reason of its condition PodScheduled=False as it stands on the
                               // server, "" = none
  bool nominated = false;      // waits, and a node's name stands in its nominatedNodeName
  bool own_hold = false;       // the pod says so, should it be a gang of one
};

// Pending, gated or bound.
[[nodiscard]] inline bool IsLive(const Member& member) {
  return member.state == MemberState::kPending || member.state == MemberState::kGated ||
         member.state == MemberState::kBound;
}

// Members that succeeded and whose pods have been cleaned away since.
// Each counts on until another member has its rank.
struct CleanedMembers {
  std::vector<Rank> ranks;  // sorted; ranks without an index may repeat
  int32_t unranked = 0;     // cleaned away before we looked: only their number is known
  [[nodiscard]] bool empty() const { return ranks.empty() && unranked == 0; }
  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(ranks.size()) + unranked; }
};

// The PodGroup of ours that stands for a gang which somebody else declares, as the server has it.
struct StandIn {
  std::string uid;
  PodGroupSpec spec;
  friend bool operator==(const StandIn&, const StandIn&) = default;
};

// Whether another object declares the gang for which a PodGroup of ours stands. kUnknown and kGone
// are problems of the gang: nobody declares it.
enum class SourceIs : uint8_t {
  kFine,      // declared; or a user's own PodGroup, which stands for nobody
  kUnknown,   // nobody has declared it since this process began to look
  kGone,      // it was declared, and is no more
  kAsksNone,  // it is there, and asks for no gang: scaled to one pod, say
};

struct Gang {
  GangId id;
  GangKey key;
  // Another object's declaration of the gang; null: a PodGroup of a user declares it,
  // or its only pod.
  std::shared_ptr<const ForeignGang> foreign;
  std::optional<StandIn> stand_in;  // none: it is not made yet, or not needed
  bool name_is_taken = false;       // a PodGroup that does not stand for it has its name
  // A PodGroup of a user, or another object's declaration, is or was there: running pods stay.
  bool declared = false;
  // False: pods name a PodGroup that is not there (yet); singletons: true.
  bool group_exists = false;
  std::string group_uid;               // its identity: another uid is another gang
  std::string group_resource_version;  // "" = there is no PodGroup to write to
  int64_t group_generation = 0;
  absl::Time created = absl::InfinitePast();  // of the PodGroup, or of the pod of a singleton
  bool on_hold = false;  // its PodGroup, or only pod, says that it may not start
  std::string problem;   // not empty: the PodGroup is invalid, and why
  SourceIs source_is = SourceIs::kFine;
  std::string awaited;      // by a member, of a gang that is not declared: "PodGroup train (…)"
  std::string passed_over;  // marks of its pods that name other gangs, for people; "" = none
  // Singletons: minMember 1, queue from the label. If the PodGroup is gone or cannot be read, or a
  // foreign declaration has a problem, its last spec: running pods stay the gang that they were.
  PodGroupSpec spec;
  PodGroupStatus status;      // as it stands, or stood last, on the server
  bool brings_quota = false;  // Kueue's: no default Queue is charged for it
  // The Queue that the gang is charged to and asks of. While a member is placed,
  // it is the one of its admission; else the one that it names,
  // after the namespace label and the configured default. "" = no quota applies.
  std::string queue;
  std::optional<std::string> admitted_queue;  // none: nothing is placed, or it is not known yet
  std::string told_queue;       // … by the annotation of a bound member, of any author
  int32_t ran_alone = 0;        // members that ran by themselves before they were of this gang
  int32_t priority = 0;         // lower of the class's value and the highest member priority
  bool class_missing = false;   // it names a PriorityClass that is not there
  bool preempts = true;         // its PodGroup, its class and its quorum let it
  std::vector<Member> members;  // by (rank, name)
  CleanedMembers cleaned;
};

}  // namespace maniple
