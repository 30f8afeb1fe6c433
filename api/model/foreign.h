// Objects of other projects that declare gangs, reduced to the few facts that decide: how many
// members, in which parts, which of them come late, whose queue. HyperNodes come the same way.
//
// A kind of theirs is a ResourceKind from kResourceKinds up, by its place in a table of kinds
// (api/producers/kinds.h holds the built-in one). Readers in api/producers fill ForeignSpec from
// JSON, and the directory there makes gangs of it. No other code looks inside.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/model/hyper_node.h"
#include "api/model/maniple_types.h"
#include "api/model/model.h"

namespace maniple {

// How a gang is read from an owner of a kind that needs no code. Paths are member names with dots
// between; of alternatives the first existing one counts.
struct OwnerRule {
  std::vector<std::string> minimums;  // "spec.runPolicy.schedulingPolicy.minAvailable"
  // Summed. A "*" stands for each member, which is a part of that name in small letters;
  // it counts as one if it has no number: "spec.pytorchReplicaSpecs.*.replicas".
  std::vector<std::string> replicas;
  std::vector<std::string> priority_classes, queues;
  std::string part_label;  // by which pods say their part; "": that of Kubeflow
  friend bool operator==(const OwnerRule&, const OwnerRule&) = default;
};

// The collection of one kind of object.
struct ForeignKind {
  std::string group;                   // "scheduling.x-k8s.io"
  std::vector<std::string> versions;   // the first that the server serves is watched
  std::string resource;                // "podgroups"
  std::string kind;                    // "PodGroup"
  std::optional<OwnerRule> rule = {};  // of a kind that is not built in
};
using ForeignKinds = std::vector<ForeignKind>;  // by ResourceKind, from kResourceKinds up

// A replica type, a replicated Job, a group of workers, a task, a sub-group.
struct ForeignPart {
  std::string name;
  int64_t members = 0;  // that have to be there
  int64_t leaders = 0;  // those of them that the others follow
  int64_t unit = 1;     // so many start together or not at all, also beyond the members above
  bool late = false;    // its producer makes it only after other members run
  TopologyRequest topology;
  std::vector<std::string> pods;  // by name, where the object lists them
  friend bool operator==(const ForeignPart&, const ForeignPart&) = default;
};

struct ForeignSpec {
  bool is_gang = true;             // false: no gang is asked for (a plain Job, a basic group)
  std::optional<int64_t> minimum;  // absent: the sum of the parts
  std::optional<int64_t> most;     // that can exist at once; bounds the number in an annotation
  std::optional<int64_t> left;     // … now that some have succeeded; absent: as many
  std::optional<int64_t> asked;    // by an annotation, instead of the minimum
  int64_t given_up = 0;            // of the minimum, for good: its indexes that failed
  std::vector<ForeignPart> parts;
  bool staged = false;         // each part is a gang of its own, in its producer's order
  bool leader_first = false;   // followers are made once their leader is bound or ready
  bool bound_to_lead = false;  // … each like its leader, and only in the leader's domain
  std::string parent_group;    // the group of groups that it is in; "" = of none
  std::string queue;           // of its own field
  std::string own_queue;       // of our label: a Queue of ours; a label of pods takes precedence
  std::string queue_label;     // of the labels and annotations of others; likewise
  std::string priority_class_name;
  TopologyRequest topology;
  std::optional<absl::Duration> schedule_timeout;
  bool preempts = true;
  std::string problem;  // not empty: it makes no sense, and why
  friend bool operator==(const ForeignSpec&, const ForeignSpec&) = default;
};

struct ForeignObject {
  uint8_t kind = 0;  // a ResourceKind from kResourceKinds up
  ObjectMeta meta;
  std::string api_version;  // as it was read: "scheduling.x-k8s.io/v1alpha1"
  ForeignSpec spec;
  std::string phase;  // status.phase as it stands on the server
  // A HyperNode is this, has no spec, and stands in no namespace. Null: it is none.
  std::shared_ptr<const HyperNode> hyper_node = {};
};

}  // namespace maniple
