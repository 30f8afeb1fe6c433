// One gang that somebody else declares, and where a pod belongs. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/model/foreign.h"
#include "api/model/maniple_types.h"

namespace maniple {

// From when on the members of a sub-group belong to the quorum.
enum class PartStart : uint8_t {
  kTogether,
  kOnceOneExists,    // its producer makes them after others run: they count once one is there
  kOnceLeadIsBound,  // … after the leader, which is the first sub-group, has a node
};

// Whom a status of the dialect is written to.
struct ForeignStatusTarget {
  enum class Dialect : uint8_t { kXk8s, kVolcano };
  Dialect dialect = Dialect::kXk8s;
  std::string path;   // "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/ns/podgroups/name"
  std::string phase;  // as it stands on the server
  friend bool operator==(const ForeignStatusTarget&, const ForeignStatusTarget&) = default;
};

struct ForeignGang {
  std::string namespace_name;
  // metadata.name of the PodGroup of ours that stands for it: made of the source, so that every
  // leader finds the same.
  std::string group_name;
  PodGroupSpec spec;  // with all parts; its quorum is the one declared, its source says whose it is
  std::vector<PartStart> starts;  // parallel to spec.sub_groups; empty: all together
  // Members beyond the quorum that stand in for it while a part that comes later is not there yet.
  int32_t spare = 0;
  // So many come after each member of the first sub-group once it has a node. Each is like it, and
  // may stand in its domain only. 0: nothing is known of who follows.
  int32_t followers_of_each = 0;
  // Parallel to the first of spec.sub_groups; 1 for the others. So many members of one rank group,
  // the hosts of a replica, start together or not at all, also beyond the quorum.
  std::vector<int32_t> unit_sizes;
  bool brings_quota = false;  // of Kueue: it names no Queue, and no default is charged for it
  std::string problem;        // not empty: it makes no sense, and why
  absl::Time created = absl::InfinitePast();
  // Whom the PodGroup goes with; none: made of marks alone, and ours to delete.
  std::optional<OwnerReference> owner;
  // The owner of the source, as far as its kind is known: "PyTorchJob", "train". "" = none.
  std::string owner_kind, owner_name;
  std::string owner_group;  // the API group of that kind: "kubeflow.org"
  bool is_object = false;   // a group object, which is there without pods, too
  std::optional<ForeignStatusTarget> status;
  friend bool operator==(const ForeignGang&, const ForeignGang&) = default;
};

// Where a pod belongs.
struct PodPlace {
  std::string group_name;  // in the pod's namespace; "" = it is a gang of one
  std::string queue;       // of a gang of one: that of its marks or its owner; "" = none is named
  bool brings_quota = false;  // of a gang of one, as in ForeignGang
  std::string sub_group;      // "" = of none
  std::string passed_over;    // marks that say otherwise and were not heeded, for people; "" = none
  std::string awaited;  // what must be there first, for people: "PodGroup train"; "" = nothing
  friend bool operator==(const PodPlace&, const PodPlace&) = default;
};

}  // namespace maniple
