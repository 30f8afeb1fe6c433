// What a pod says of itself that decides where it belongs: labels, annotations, its controller.
//
// Equal marks are equal bytes: pods of one replica type of one owner have the same. Plain values;
// any thread.
//
//   std::string packed;
//   PackMarks(pod, kinds, packed);              // the same bytes for each pod of one kind
//   const PodMarks marks(packed);
//   marks.Get(MarkField::kXk8s);                // "train"
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "api/model/foreign.h"
#include "api/model/model.h"

namespace maniple {

// In the order of precedence as far as they name a group.
enum class MarkField : uint8_t {
  kOwnGroup,
  kXk8s,
  kVolcano,
  kUpstream,
  kKai,
  kGrove,
  kYunikorn,  // the application; a group only together with kTaskGroup
  kKoordinator,
  kKueue,
  kNamespace,
  kAnchor,  // not of a pod: stands for the group object that is named
  // The controller; its kind by place in the table of kinds, as one byte, or in words.
  kOwnerKind,
  kOwnerApiVersion,
  kOwnerWord,
  kOwnerName,
  kOwnerUid,
  // Which part of the gang.
  kOwnSubGroup,
  kTask,
  kReplicatedJob,
  kReplicaType,
  kJobRole,
  kRayGroup,
  kKaiSubGroup,
  kTaskGroup,
  kPodName,  // where an object lists its pods
  kLeads,    // "1": has index 0
  // Whose, where the controller is not the owner that counts.
  kJobSet,
  kJobSetUid,
  kRestartAttempt,
  kKubeflowJob,
  kLws,
  kLwsGroup,
  kLwsRevision,
  kLwsSize,
  // How many.
  kMinimum,
  kKaiMinimum,
  kVolcanoMinimum,
  kTaskGroups,
  kKoordinatorMinimum,
  kKoordinatorGroups,  // gangs that start together, as a JSON list
  kKueueTotal,
  kKueueServing,
  kKueueFast,
  kKueueParent,  // the kind of whom Kueue knows to own the pod
  // Whose quota, in the order of precedence.
  kOwnQueue,
  kKaiQueue,
  kVolcanoQueue,
  kVolcanoQueueName,
  kYunikornQueue,
  kYunikornBareQueue,  // heeded of pods in task groups alone
  kKueueQueue,
  kKueueAdmitted,  // "1": Kueue says that it has admitted the pod
  // Where.
  kKueueRequired,
  kKueuePreferred,
  kKueueSlice,
  kKueueSliceSize,
};
inline constexpr int kMarkFields = static_cast<int>(MarkField::kKueueSliceSize) + 1;

// "label scheduling.x-k8s.io/pod-group"
[[nodiscard]] absl::string_view MarkWords(MarkField field);

// A label or annotation with this key is a mark.
[[nodiscard]] bool IsMarkKey(absl::string_view key);

// Replaces `packed`. A pod that belongs to nobody has only its namespace and queues for marks.
void PackMarks(const Pod& pod, const ForeignKinds& kinds, std::string& packed);
// Of the group object that `field` would name.
void PackAnchor(MarkField field, absl::string_view namespace_name, absl::string_view name,
                std::string& packed);

// A view of packed marks; borrows them.
class PodMarks final {
 public:
  explicit PodMarks(absl::string_view packed) : packed_(packed) {}
  // "" when absent.
  [[nodiscard]] absl::string_view Get(MarkField field) const;
  [[nodiscard]] bool Has(MarkField field) const { return !Get(field).empty(); }

 private:
  absl::string_view packed_;
};

}  // namespace maniple
