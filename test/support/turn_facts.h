// What is known after one turn of the scheduling loop: what the loop has been told, what it shows,
// and what it has just done. Plain data for test/support/invariants.h, gathered by TurnAudit.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/client/write_command.h"
#include "api/model/object.h"
#include "scheduler/report/view.h"

namespace maniple {

// The newest of every object that the loop has heard of. What lives in a namespace goes by
// "namespace/name", the rest by name; what could not be read is not here.
struct Told {
  std::map<std::string, Node> nodes;
  std::map<std::string, Pod> pods;
  std::map<std::string, PodGroup> groups;
  std::map<std::string, Queue> queues;
  std::map<std::string, Cohort> cohorts;
  std::map<std::string, ResourceFlavor> flavors;
  std::map<std::string, Topology> topologies;
  std::map<std::string, Namespace> namespaces;
  std::map<std::string, Node> lost_nodes;       // gone, as they were last: pods may outlive them
  std::map<std::string, int64_t> cleaned_away;  // by gang: members that had succeeded

  void Hear(const ObjectEvent& event);

 private:
  void Forget(const ObjectKey& key);
};

// A line "place default/a quorum: a-0=n1 a-1=n2" of the decision log.
struct PlacedItem {
  std::string gang, item;
  std::map<std::string, std::string> node_of;  // by "namespace/name" of the pod
  // Later in the turn: what others could use when it was placed is not what is free in the end.
  bool held_room_moved = false;
};

// `victim` was made to leave as a whole. Gangs go by name and uid.
struct Preempted {
  std::string victim, preemptor;
  int64_t limits = 0;  // rises with every change of a quota, a weight or a flavor
  int32_t victim_priority = 0, preemptor_priority = 0;
};

struct TurnFacts {
  Told told;
  ClusterView view;   // after the turn
  bool more = false;  // the loop has not come to rest
  std::vector<PlacedItem> placed;
  std::vector<WriteCommand> writes;

  // What is remembered of earlier turns.
  std::map<std::string, std::string> charged_to;  // gang → the Queue that it last named
  std::map<std::string, std::string> first_node;  // uid of a pod → where it was first seen bound
  std::set<std::string> doubtful_nodes;           // that the kubelet has once rejected a pod on
  std::set<std::string> troubled;                 // gangs of which a bind has once failed
  std::vector<Preempted> preempted;
  std::set<std::string> made_room;     // gangs that others were once made to leave for
  std::set<std::string> in_held_room;  // gangs that room was held for, or that were let into it
  int64_t reversals = 0;               // as the loop has counted them
};

// A pod that takes room, or is about to.
struct PodOnNode {
  std::string key, gang, node;  // gang "" = it belongs to none of ours
  const Pod* pod = nullptr;     // borrowed from the facts
};
[[nodiscard]] std::vector<PodOnNode> PodsOnNodes(const TurnFacts& facts);
// What a pod asks for: its requests, and one of "pods".
[[nodiscard]] std::map<std::string, int64_t> RequestsOf(const Pod& pod);
// What it takes of a node, and what a node offers: counted up to kMostAmount, as the snapshot does.
[[nodiscard]] std::map<std::string, int64_t> RoomOf(const Pod& pod);
[[nodiscard]] int64_t OfferOf(const Node& node, absl::string_view resource);
// Some gang is short of members that it had, is being bound, has others leave for it, or has a
// start planned: room and quota may be held that no pod takes.
[[nodiscard]] bool SomebodyMayHold(const TurnFacts& facts);
[[nodiscard]] std::string GangName(const GangView& gang);  // "default/a"
[[nodiscard]] bool Ended(const Pod& pod);

}  // namespace maniple
