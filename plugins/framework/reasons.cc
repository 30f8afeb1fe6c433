#include "plugins/framework/reasons.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/base/check.h"
#include "api/codec/quantity.h"
#include "plugins/framework/tables.h"

namespace maniple {
namespace {

constexpr ReasonSpec kReasons[] = {
    {kReasonNone, "Fits", "fits"},
    {kReasonUnsupported, "Unsupported", "the pod asks for what this version refuses"},
    {kReasonUnschedulable, "NodeUnschedulable", "cordoned"},
    {kReasonTaint, "UntoleratedTaint", "untolerated taint {taint}"},
    {kReasonNodeAffinity, "NodeAffinity", "does not match the pod's node selector or affinity"},
    {kReasonInsufficient, "InsufficientResource",
     "insufficient {resource} (want {want}, have {have})"},
    {kReasonHostPort, "HostPortTaken", "a host port of the pod is taken"},
    {kReasonCoolDown, "CoolingDown", "cooling down after it rejected a pod"},
    {kReasonOutsideDomain, "OutsideDomain", "outside the topology domain that was tried"},
    {kReasonFilledByGang, "FilledByGang", "{resource} for only {have} of this gang's pods"},
    {kReasonOutsideFlavor, "OutsideFlavor", "not of the flavor that the queue has quota for"},
    {kReasonGpusRepartitioned, "GpusRepartitioned", "its GPUs are being repartitioned"},
    {kReasonMigInvalid, "MigInvalid", "its GPUs are sliced in a way that their plugin refuses"},
    {kReasonGpuDriverUpgrade, "GpuDriverUpgrade", "its GPU driver is being upgraded"},
    {kReasonGpusSuspect, "GpusSuspect", "the last change of its GPUs failed"},
    {kReasonGpusSliced, "GpusSliced",
     "its GPUs are MIG slices, and one container asks for {want} GPUs"},
    {kReasonGpusShared, "GpusShared", "its GPUs are shared, and one container asks for {want}"},
    {kReasonNoNvlink, "NoNvlink", "NVLink between {want} of its free GPUs cannot be promised"},
    {kReasonVolumeOutOfReach, "VolumeOutOfReach", "cannot reach a volume of the pod"},
    {kReasonVolumeZone, "VolumeZone", "in another zone than a volume of the pod"},
    {kReasonOtherNodeSelected, "OtherNodeSelected",
     "a volume of the pod is being made for another node"},
    {kReasonNoVolume, "NoVolume", "no volume there for a claim of the pod, and none can be made"},
    {kReasonStorageFull, "StorageFull", "not enough storage for a claim of the pod"},
    {kReasonAttachLimit, "AttachLimit", "can attach no more volumes"},
    {kReasonDiskInUse, "DiskInUse", "a disk of the pod is in use there"},
    {kReasonClaimInUse, "ClaimInUse",
     "a ReadWriteOncePod claim of the pod is in use by another pod"},
    {kReasonPodAffinity, "PodAffinity", "not near the pods that the pod wants to be near"},
    {kReasonPodAntiAffinity, "PodAntiAffinity",
     "too near pods that the pod wants to be apart from"},
    {kReasonKeptAway, "KeptAway", "too near pods that want to be apart from the pod"},
    {kReasonSpread, "TopologySpread", "the pod would be spread more unevenly than its skew allows"},
    {kReasonSpreadKey, "TopologySpreadKey", "lacks a label over which the pod is spread"},
};

}  // namespace

const ReasonSpec& SpecOf(ReasonId id) {
  CHECK_LT(id.index(), std::size(kReasons));
  CHECK_EQ(kReasons[id.index()].id, id);
  return kReasons[id.index()];
}

ReasonId ReasonOf(GpuCondition condition) {
  switch (condition) {
    case GpuCondition::kReady:
    case GpuCondition::kSuspect:
      return kReasonNone;
    case GpuCondition::kFailed:
      return kReasonGpusSuspect;
    case GpuCondition::kRepartitioned:
      return kReasonGpusRepartitioned;
    case GpuCondition::kMigInvalid:
      return kReasonMigInvalid;
    case GpuCondition::kDriverUpgrade:
      return kReasonGpuDriverUpgrade;
  }
  return kReasonNone;
}

std::string ReasonText(const Reason& reason, const Tables& tables) {
  const auto resource = [&]() -> absl::string_view {
    return reason.resource.valid() ? absl::string_view(tables.FactsOf(reason.resource).name)
                                   : "room";
  };
  const auto taint = [&]() -> absl::string_view {
    if (reason.taint.index() >= tables.taint_keys.size()) return "";
    return tables.taint_keys[reason.taint.index()];
  };
  // Of other reasons these are counts of GPUs or pods.
  const bool of_resource = reason.id == kReasonInsufficient;
  const auto amount = [&](int64_t number) {
    return FormatAmount(of_resource ? resource() : "", Amount(number));
  };
  std::string text(SpecOf(reason.id).sentence);
  if (reason.then != kReasonNone) {
    absl::StrAppend(&text, ", then ", SpecOf(reason.then).sentence);
  }
  return absl::StrReplaceAll(text, {{"{resource}", resource()},
                                    {"{taint}", taint()},
                                    {"{want}", amount(reason.want)},
                                    {"{have}", amount(reason.have)}});
}

}  // namespace maniple
