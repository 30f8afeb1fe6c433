// The bodies of the writes that the scheduler sends, as JSON, from plain values. Pure functions;
// any thread.
//
//   const std::string body = EncodeBinding("team-a", "train-0", uid, "gpu-17");
//   // POST /api/v1/namespaces/team-a/pods/train-0/binding
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/model/maniple_types.h"
#include "api/model/model.h"

namespace maniple {

using Annotations = std::vector<std::pair<std::string, std::string>>;
// v1 Binding; the uid is a precondition. The Queue under which the pod is bound, if there is
// one, becomes an annotation of the pod, as do the further ones.
[[nodiscard]] std::string EncodeBinding(absl::string_view namespace_name, absl::string_view pod,
                                        absl::string_view uid, absl::string_view node,
                                        absl::string_view admitted_queue,
                                        const Annotations& further = {});

// A strategic merge patch for pods/status; the uid is a precondition.
struct PodScheduledPatch {
  std::string uid;
  PodCondition condition;  // of type PodScheduled
  // lastTransitionTime; absent = the status did not flip, keep it.
  std::optional<absl::Time> flipped_at;
  std::optional<std::string> nominated_node_name;  // absent = keep; "" = clear
};
[[nodiscard]] std::string EncodePodScheduledPatch(const PodScheduledPatch& patch);
// Condition DisruptionTarget=True, reason PreemptionByScheduler, as kube-scheduler sets it.
[[nodiscard]] std::string EncodeDisruptionTargetPatch(absl::string_view uid,
                                                      absl::string_view message, absl::Time since);

// A merge patch for podgroups/status: the whole status, null for what it does not have, so that
// nothing stale is left. `resource_version` is a precondition; "" = none. Condition times are
// written in seconds, the others in microseconds: compare what was read back with that in mind.
[[nodiscard]] std::string EncodePodGroupStatusPatch(const PodGroupStatus& status,
                                                    absl::string_view resource_version);

// A PodGroup of ours for a gang that somebody else declares.
struct NewPodGroup {
  std::string namespace_name, name;
  StringMap labels = {};
  PodGroupSpec spec;
  std::optional<OwnerReference> owner = {};  // goes with it, and is no controller of it
};
[[nodiscard]] std::string EncodePodGroup(const NewPodGroup& group);
// A merge patch of the whole spec, null for what it does not have; the uid is a precondition.
[[nodiscard]] std::string EncodePodGroupSpecPatch(absl::string_view uid, const PodGroupSpec& spec);
// The spec as it is read back: times are whole seconds, and everything is within the bounds of the
// schema, cut or left out. Compare with this one whether a PodGroup says what was written.
[[nodiscard]] PodGroupSpec StorableSpec(PodGroupSpec spec);
// Whom such a spec stands for; of two objects never the same.
[[nodiscard]] GangSource StorableSource(GangSource source);

// A merge patch of a producer's object; the uid is a precondition. Conditions replace the list as a
// whole; without any the list stays as it is.
struct ForeignPhase {
  std::string uid, phase;
  std::vector<Condition> conditions = {};
};
[[nodiscard]] std::string EncodeForeignPhasePatch(const ForeignPhase& phase);

struct QueueUsage {
  std::string flavor, resource;
  Amount used, borrowed, lent;
  friend bool operator==(const QueueUsage&, const QueueUsage&) = default;
};
struct QueueStatus {
  int64_t pending = 0, running = 0;  // gangs
  int64_t pending_pods = 0, running_pods = 0;
  std::vector<QueueUsage> usage;
  std::string summary;     // of the usage, for a column
  int64_t fair_share = 0;  // permille
  UsageRecord used;        // not told: what the server has stays
  std::vector<Condition> conditions;
  friend bool operator==(const QueueStatus&, const QueueStatus&) = default;
};
// A merge patch for queues/status; the uid is a precondition.
[[nodiscard]] std::string EncodeQueueStatusPatch(const QueueStatus& status, absl::string_view uid);

struct CohortStatus {
  std::vector<QueueUsage> usage;
  int64_t fair_share = 0;  // permille
  std::vector<Condition> conditions;
  friend bool operator==(const CohortStatus&, const CohortStatus&) = default;
};
// The same for cohorts/status.
[[nodiscard]] std::string EncodeCohortStatusPatch(const CohortStatus& status,
                                                  absl::string_view uid);

struct EventSubject {
  std::string api_version, kind, namespace_name, name, uid;
};
enum class EventType { kNormal, kWarning };
struct EventRecord {
  EventSubject regarding;
  EventType type = EventType::kNormal;
  std::string reason, action, note;  // cut to what the server takes: 128, 128 and 1024 bytes
  std::string controller, instance;  // reportingController, reportingInstance
  absl::Time at;
};
// "<subject>.<hex of the nanosecond>", at most 253 bytes.
[[nodiscard]] std::string EventName(const EventRecord& event);
// Where the event is posted to: its subject's namespace, "default" for a cluster-scoped one.
[[nodiscard]] absl::string_view EventNamespace(const EventRecord& event);
// events.k8s.io/v1 Event.
[[nodiscard]] std::string EncodeEvent(const EventRecord& event);

// A merge patch of a claim that names the node for its provisioner; "" takes the name back.
[[nodiscard]] std::string EncodeSelectedNodePatch(absl::string_view uid,
                                                  absl::string_view resource_version,
                                                  absl::string_view node);
// A merge patch of a volume that sets it aside for a claim.
struct SetAsidePatch {
  absl::string_view volume_uid, volume_version;
  absl::string_view claim_namespace, claim_name, claim_uid;
};
[[nodiscard]] std::string EncodeSetAsidePatch(const SetAsidePatch& patch);

// The body of a DELETE; the uid is a precondition.
[[nodiscard]] std::string EncodeDeleteOptions(absl::string_view uid);

// policy/v1 Eviction; the uid is a precondition.
[[nodiscard]] std::string EncodeEviction(absl::string_view namespace_name, absl::string_view pod,
                                         absl::string_view uid);

// A merge patch of labels and annotations; "" removes one. The resource version is a precondition.
struct MetadataPatch {
  std::string resource_version;
  StringMap labels, annotations;
};
[[nodiscard]] std::string EncodeMetadataPatch(const MetadataPatch& patch);

}  // namespace maniple
