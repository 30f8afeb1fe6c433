// Our own PodGroups, for gangs that somebody else declares.
#include <utility>

#include "api/codec/encode.h"
#include "api/codec/json.h"

namespace maniple {
namespace {

Json TextOrNone(const std::string& text) { return text.empty() ? Json() : Json(text); }

// Null where nothing is asked for: so a merge patch takes away what was.
Json Topology(const TopologyRequest& topology) {
  if (topology == TopologyRequest()) return {};
  Json slice;
  if (topology.slice_size > 0) {
    slice = Json::Object({{"size", topology.slice_size}, {"level", topology.slice_level}});
  }
  return Json::Object({{"required", TextOrNone(topology.required)},
                       {"preferred", TextOrNone(topology.preferred)},
                       {"slice", std::move(slice)},
                       {"topologyName", TextOrNone(topology.topology_name)}});
}

Json WithoutNulls(const Json& object) {
  Json out = Json::Object();
  for (const auto& [key, value] : object.members()) {
    if (!value.is_null()) out.Set(key, value.is_object() ? WithoutNulls(value) : value);
  }
  return out;
}

// A patch replaces the list as a whole, so its items hold no nulls.
Json SubGroups(const std::vector<SubGroup>& sub_groups) {
  Json out;
  for (const SubGroup& each : sub_groups) {
    out.Append(WithoutNulls(Json::Object({{"name", each.name},
                                          {"minMember", each.min_member},
                                          {"topology", Topology(each.topology)}})));
  }
  return out;
}

Json Source(const GangSource& source) {
  if (source.empty()) return {};
  return Json::Object({{"apiVersion", source.api_version},
                       {"kind", source.kind},
                       {"name", source.name},
                       {"uid", source.uid},
                       {"part", TextOrNone(source.part)}});
}

// Every field that Maniple knows, null for what it does not ask for.
Json SpecWithNulls(const PodGroupSpec& asked) {
  const PodGroupSpec spec = StorableSpec(asked);
  return Json::Object(
      {{"queue", TextOrNone(spec.queue)},
       {"minMember", spec.min_member},
       {"priorityClassName", TextOrNone(spec.priority_class_name)},
       {"topology", Topology(spec.topology)},
       {"subGroups", SubGroups(spec.sub_groups)},
       {"scheduleTimeoutSeconds", absl::ToInt64Seconds(spec.schedule_timeout)},
       {"expectedRuntimeSeconds", spec.expected_runtime.has_value()
                                      ? Json(absl::ToInt64Seconds(*spec.expected_runtime))
                                      : Json()},
       {"preemption",
        Json::Object({{"policy", spec.preempts ? "PreemptLowerPriority" : "Never"},
                      {"protectedRuntimeSeconds", absl::ToInt64Seconds(spec.protected_runtime)}})},
       {"source", Source(spec.source)},
       {"quorumLoss",
        Json::Object(
            {{"action", spec.quorum_loss_action == QuorumLossAction::kEvict ? "Evict" : "Keep"},
             {"gracePeriodSeconds", absl::ToInt64Seconds(spec.quorum_loss_grace)}})}});
}

Json Owners(const OwnerReference& owner) {
  return Json::Array({Json::Object({{"apiVersion", owner.api_version},
                                    {"kind", owner.kind},
                                    {"name", owner.name},
                                    {"uid", owner.uid},
                                    {"controller", false}})});
}

}  // namespace

std::string EncodePodGroup(const NewPodGroup& group) {
  Json metadata = Json::Object({{"name", group.name}, {"namespace", group.namespace_name}});
  if (!group.labels.empty()) {
    Json labels = Json::Object();
    for (const auto& [key, value] : group.labels.entries()) labels.Set(key, value);
    metadata.Set("labels", std::move(labels));
  }
  if (group.owner.has_value()) metadata.Set("ownerReferences", Owners(*group.owner));
  return Json::Object({{"apiVersion", std::string(kManipleGroup) + "/" + kManipleVersion},
                       {"kind", "PodGroup"},
                       {"metadata", std::move(metadata)},
                       {"spec", WithoutNulls(SpecWithNulls(group.spec))}})
      .Dump();
}

std::string EncodePodGroupSpecPatch(absl::string_view uid, const PodGroupSpec& spec) {
  return Json::Object({{"metadata", Json::Object({{"uid", uid}})}, {"spec", SpecWithNulls(spec)}})
      .Dump();
}

}  // namespace maniple
