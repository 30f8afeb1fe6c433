// Every reason that can rule a node out, in one table. A Reason is a value without strings, cheap
// enough for the hot path; its text is made when a report needs it.
//
//   Reason reason{.id = kReasonInsufficient, .resource = gpu, .want = 8, .have = 2};
//   ReasonText(reason, snapshot.tables)   // "insufficient nvidia.com/gpu (want 8, have 2)"
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "api/base/id.h"
#include "api/gpu/gpu_facts.h"
#include "api/model/ids.h"

namespace maniple {

using ReasonId = Id<struct ReasonTag>;

// In the order in which equal counts are reported.
inline constexpr ReasonId kReasonNone{0};
inline constexpr ReasonId kReasonUnsupported{1};
inline constexpr ReasonId kReasonUnschedulable{2};
inline constexpr ReasonId kReasonTaint{3};
inline constexpr ReasonId kReasonNodeAffinity{4};
inline constexpr ReasonId kReasonInsufficient{5};
inline constexpr ReasonId kReasonHostPort{6};
inline constexpr ReasonId kReasonCoolDown{7};
inline constexpr ReasonId kReasonOutsideDomain{8};
inline constexpr ReasonId kReasonFilledByGang{9};
inline constexpr ReasonId kReasonOutsideFlavor{10};
inline constexpr ReasonId kReasonGpusRepartitioned{11};
inline constexpr ReasonId kReasonMigInvalid{12};
inline constexpr ReasonId kReasonGpuDriverUpgrade{13};
inline constexpr ReasonId kReasonGpusSuspect{14};
inline constexpr ReasonId kReasonGpusSliced{15};
inline constexpr ReasonId kReasonGpusShared{16};
inline constexpr ReasonId kReasonNoNvlink{17};
inline constexpr ReasonId kReasonVolumeOutOfReach{18};
inline constexpr ReasonId kReasonVolumeZone{19};
inline constexpr ReasonId kReasonOtherNodeSelected{20};
inline constexpr ReasonId kReasonNoVolume{21};
inline constexpr ReasonId kReasonStorageFull{22};
inline constexpr ReasonId kReasonAttachLimit{23};
inline constexpr ReasonId kReasonDiskInUse{24};
inline constexpr ReasonId kReasonClaimInUse{25};
inline constexpr ReasonId kReasonPodAffinity{26};
inline constexpr ReasonId kReasonPodAntiAffinity{27};
inline constexpr ReasonId kReasonKeptAway{28};
inline constexpr ReasonId kReasonSpread{29};
inline constexpr ReasonId kReasonSpreadKey{30};

struct ReasonSpec {
  ReasonId id;
  absl::string_view name;      // "InsufficientResource"; for metrics and logs
  absl::string_view sentence;  // with {resource}, {taint}, {want}, {have}
};
// REQUIRES: id is one of the constants above.
[[nodiscard]] const ReasonSpec& SpecOf(ReasonId id);
// Why GPUs in this condition take no pods; kReasonNone: they take some.
[[nodiscard]] ReasonId ReasonOf(GpuCondition condition);

struct Reason {
  ReasonId id = kReasonNone;
  ResourceId resource;          // of kReasonInsufficient
  TaintKeyId taint;             // of kReasonTaint
  int64_t want = 0, have = 0;   // of cpu in milli
  ReasonId then = kReasonNone;  // of kReasonFilledByGang without a resource: why it takes no more
  friend auto operator<=>(const Reason&, const Reason&) = default;
};

struct Tables;  // plugins/framework/tables.h
// Amounts as Kubernetes writes them: "insufficient cpu (want 4500m, have 2)".
[[nodiscard]] std::string ReasonText(const Reason& reason, const Tables& tables);

}  // namespace maniple
