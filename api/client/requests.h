// Every request that the scheduler makes on its own behalf, as data. Each write carries
// a precondition (uid or resourceVersion), so that a late one cannot overwrite a newer leader's.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/codec/encode.h"
#include "api/codec/provisioning.h"
#include "api/http/http.h"
#include "api/model/claim_binding.h"
#include "api/model/maniple_types.h"

namespace maniple {

struct PodReference {
  std::string namespace_name, name, uid;
};

// POST …/pods/NAME/binding with the uid as precondition. An annotation tells the pod
// under which Queue it is bound.
[[nodiscard]] HttpRequest BindRequest(const PodReference& pod, absl::string_view node_name,
                                      absl::string_view admitted_queue,
                                      const Annotations& further = {});
[[nodiscard]] HttpRequest ReadPodRequest(const PodReference& pod);
// With the uid as precondition and the pod's own grace period.
[[nodiscard]] HttpRequest DeletePodRequest(const PodReference& pod);
// The same, where PodDisruptionBudgets may refuse (429).
[[nodiscard]] HttpRequest EvictPodRequest(const PodReference& pod);
// Condition DisruptionTarget, before a preempted pod is deleted without asking its budgets.
[[nodiscard]] HttpRequest PodIsPreemptedRequest(const PodReference& pod, absl::string_view why,
                                                absl::Time since);

// Condition PodScheduled=False.
struct PodWaits {
  std::string reason, message;
  // The time at which the condition became False; none: it is False already, and keeps its time.
  std::optional<absl::Time> since;
  std::optional<std::string> nominated = {};  // nominatedNodeName: "" clears it, none keeps it
};
[[nodiscard]] HttpRequest PodWaitsRequest(const PodReference& pod, const PodWaits& waits);

// A merge patch of the whole status; a resourceVersion that is not the server's fails with 409.
[[nodiscard]] HttpRequest PodGroupStatusRequest(absl::string_view namespace_name,
                                                absl::string_view name,
                                                absl::string_view resource_version,
                                                const PodGroupStatus& status);

// Makes the PodGroup of ours that stands for a gang which somebody else declares; 409 when it is
// there already.
[[nodiscard]] HttpRequest MakePodGroupRequest(const NewPodGroup& group);
// With the uid as precondition: its spec follows the declared one.
[[nodiscard]] HttpRequest PodGroupSpecRequest(absl::string_view namespace_name,
                                              absl::string_view name, absl::string_view uid,
                                              const PodGroupSpec& spec);
// Sent with the uid as precondition.
[[nodiscard]] HttpRequest DeletePodGroupRequest(absl::string_view namespace_name,
                                                absl::string_view name, absl::string_view uid);
// `path` is that of the object, or of its subresource if it has one:
// "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/ns/podgroups/name/status".
[[nodiscard]] HttpRequest ForeignPhaseRequest(absl::string_view path, const ForeignPhase& phase);

// 409 when it is there already.
[[nodiscard]] HttpRequest MakeProvisioningRequest(const NewProvisioningRequest& request);
[[nodiscard]] HttpRequest ReadProvisioningRequest(absl::string_view namespace_name,
                                                  absl::string_view name);
// Sent with the uid as precondition.
[[nodiscard]] HttpRequest DeleteProvisioningRequest(absl::string_view namespace_name,
                                                    absl::string_view name, absl::string_view uid);
// `body` is EncodePodTemplate's; 409 when it is there already.
[[nodiscard]] HttpRequest MakePodTemplateRequest(absl::string_view namespace_name,
                                                 std::string body);
// Sent with the uid as precondition.
[[nodiscard]] HttpRequest DeletePodTemplateRequest(absl::string_view namespace_name,
                                                   absl::string_view name, absl::string_view uid);

// With the uid as precondition: only leaders write it, and a late write is mended within a second.
[[nodiscard]] HttpRequest QueueStatusRequest(const ObjectMeta& queue, const QueueStatus& status);
[[nodiscard]] HttpRequest CohortStatusRequest(const ObjectMeta& cohort, const CohortStatus& status);

// A resourceVersion that is not the server's fails with 409.
[[nodiscard]] HttpRequest NodeMetadataRequest(absl::string_view node, const MetadataPatch& patch);

// Names the node for the provisioner of the goal's claim, or takes the name back ("").
[[nodiscard]] HttpRequest SelectNodeRequest(const ClaimGoal& goal, absl::string_view claim_version,
                                            absl::string_view node);
// Sets the goal's volume aside for its claim.
[[nodiscard]] HttpRequest SetAsideRequest(const ClaimGoal& goal, const ClaimSight& sight);

struct EventNote {
  std::string api_version, kind, namespace_name, name, uid;  // the object that it is about
  EventType type = EventType::kNormal;
  std::string reason, action;
  std::string note;  // cut at 1 KiB, between characters
};
// `serial` makes the event's name unique together with the time.
[[nodiscard]] HttpRequest EventRequest(const EventNote& note, absl::string_view reporting_instance,
                                       absl::Time now, uint64_t serial);

}  // namespace maniple
