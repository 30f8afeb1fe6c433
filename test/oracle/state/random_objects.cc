#include "test/oracle/state/random_objects.h"

#include <memory>
#include <utility>

#include "api/producers/kinds.h"
#include "test/support/builders.h"
#include "test/support/storage_builders.h"

namespace maniple {

ResourceKind RandomObjects::UpstreamGroups() {
  return KindNamed("scheduling.k8s.io/v1beta1", "PodGroup");
}

ResourceKind RandomObjects::HyperNodes() {
  return KindNamed("topology.volcano.sh/v1alpha1", "HyperNode");
}

ObjectEvent RandomObjects::AnyNode() {
  MakeNode node(NodeName());
  node.Gpu(static_cast<int64_t>(random_.Below(3) * 4)).Cpu(static_cast<int64_t>(random_.Below(9)));
  if (random_.OneIn(2)) node.Has(Numbered(3, "made.up/r"), 4);
  if (random_.OneIn(2)) node.Product(random_.OneIn(2) ? "NVIDIA-H100-80GB-HBM3" : "Tesla-T4");
  if (!random_.OneIn(4)) node.Label("zone", Numbered(2, "z"));
  if (random_.OneIn(2)) node.Label("rack", Numbered(3, "r"));
  for (int image = 0; image < 4; ++image) {
    if (random_.OneIn(2))
      node.Image(absl::StrCat("image-", image), 50 + static_cast<int64_t>(random_.Below(3)));
  }
  if (random_.OneIn(4)) node.WithTaint("t", Numbered(2, ""));
  if (random_.OneIn(6)) node.Cordoned();
  if (random_.OneIn(6)) node.Uid("uid-anew");
  return node;
}

ObjectEvent RandomObjects::AnyGroup() {
  MakePodGroup group(Numbered(3, "g"));
  group.In(NamespaceName()).MinMember(static_cast<int32_t>(1 + random_.Below(3)));
  if (random_.OneIn(2)) group.Queue(Numbered(2, "queue-"));
  if (random_.OneIn(2)) group.PriorityClass(Numbered(2, "priority-"));
  if (random_.OneIn(3)) group.Required("zone");
  if (random_.OneIn(3)) group.Uid("uid-group-anew");
  for (const char* part : {"a", "b", "c"}) {
    if (random_.OneIn(3)) group.SubGroup(part, 1);
  }
  PodGroup made = group;
  if (random_.OneIn(4)) made.meta.annotations.Set(kHoldAnnotation, "true");
  if (random_.OneIn(4)) made.spec.preempts = false;
  if (random_.OneIn(4)) made.status.admitted_queue = "queue-0";
  made.meta.generation = static_cast<int64_t>(random_.Below(3));
  made.meta.created = absl::FromUnixSeconds(made.meta.uid == "uid-group-anew" ? 2 : 1);
  made.meta.resource_version = Numbered(100, "");
  return ObjectUpserted{std::move(made)};
}

ObjectEvent RandomObjects::AnyUpstreamGroup() {
  ForeignObject made;
  made.kind = static_cast<uint8_t>(UpstreamGroups());
  made.api_version = "scheduling.k8s.io/v1beta1";
  made.meta.name = Numbered(2, "u");
  made.meta.namespace_name = NamespaceName();
  made.meta.uid = absl::StrCat("uid-upstream-", made.meta.name);
  // Its policy is immutable, and pods that run stay in the gang that they started in.
  made.spec.is_gang = made.meta.name == "u0" || made.meta.namespace_name == "other";
  made.spec.minimum = static_cast<int64_t>(1 + random_.Below(3));
  if (random_.OneIn(2)) made.spec.priority_class_name = Numbered(2, "priority-");
  return ObjectUpserted{std::move(made)};
}

ObjectEvent RandomObjects::AnyHyperNode() {
  ForeignObject made;
  made.kind = static_cast<uint8_t>(HyperNodes());
  const int32_t tier = 1 + static_cast<int32_t>(random_.Below(2));
  made.meta.name = Numbered(3, "tier-", tier, "-");
  made.meta.uid = absl::StrCat("uid-", made.meta.name);
  HyperNode what{.tier = tier, .tier_name = "", .members = {}};
  for (int i = 0; i < 2; ++i) {
    if (tier == 1) what.members.push_back({.name = NodeName()});
    if (tier == 2) {
      what.members.push_back(
          {.type = HyperNodeMember::Type::kHyperNode, .name = Numbered(3, "tier-1-")});
    }
  }
  made.hyper_node = std::make_shared<const HyperNode>(std::move(what));
  return ObjectUpserted{std::move(made)};
}

ObjectEvent RandomObjects::AnyNamespace() {
  Namespace made;
  made.meta.name = NamespaceName();
  if (random_.OneIn(2)) made.meta.labels.Set("team", Numbered(2, ""));
  if (random_.OneIn(2)) made.meta.labels.Set(kDefaultQueueLabel, Numbered(2, "queue-"));
  return ObjectUpserted{std::move(made)};
}

ObjectEvent RandomObjects::AnyPriorityClass() {
  PriorityClass made;
  made.meta.name = Numbered(2, "priority-");
  made.value = static_cast<int32_t>(random_.Below(4));
  made.preempts = random_.OneIn(2);
  return ObjectUpserted{std::move(made)};
}

ObjectEvent RandomObjects::AnyBudget() {
  PodDisruptionBudget made;
  made.meta.name = Numbered(3, "budget-");
  made.meta.namespace_name = NamespaceName();
  if (!random_.OneIn(4)) made.selector = AnySelector();
  made.disruptions_allowed = static_cast<int32_t>(random_.Below(3));
  made.meta.generation = static_cast<int64_t>(random_.Below(2));
  made.observed_generation = 1;
  return ObjectUpserted{std::move(made)};
}

ObjectEvent RandomObjects::AnyTopology() {
  Topology made;
  made.meta.name = Numbered(2, "topology-");
  made.levels.push_back({.name = "zone", .node_label = "zone"});
  if (random_.OneIn(2)) made.levels.push_back({.name = "rack", .node_label = "rack"});
  return ObjectUpserted{std::move(made)};
}

ObjectEvent RandomObjects::AnyClaim() {
  MakeClaim claim(ClaimName());
  claim.In(NamespaceName()).Class(ClassName()).Size(static_cast<int64_t>(1 + random_.Below(3)));
  if (random_.OneIn(4)) claim.Modes(kReadWriteOncePod);
  if (random_.OneIn(2)) claim.BoundTo(VolumeName());
  if (random_.OneIn(6)) claim.Names(VolumeName());
  if (random_.OneIn(6)) claim.Selected(NodeName());
  if (random_.OneIn(9)) claim.Lost();
  if (random_.OneIn(9)) claim.Deleting();
  return claim;
}

ObjectEvent RandomObjects::AnyVolume() {
  MakeVolume volume(VolumeName());
  volume.Class(ClassName()).Size(static_cast<int64_t>(1 + random_.Below(4)));
  if (!random_.OneIn(3)) volume.Csi(DriverName(), Numbered(4, "handle-"));
  if (random_.OneIn(3)) volume.Label("topology.kubernetes.io/zone", Numbered(2, "z"));
  if (random_.OneIn(3)) volume.Where("zone", {"z0"});
  if (random_.OneIn(3)) volume.For(ClaimName());
  if (random_.OneIn(4)) volume.Unavailable();
  return volume;
}

ObjectEvent RandomObjects::AnyClass() {
  MakeClass made(ClassName(), random_.OneIn(3) ? "" : DriverName());
  if (random_.OneIn(4)) made.Immediate();
  if (random_.OneIn(4)) made.Where("zone", {"z0"});
  return made;
}

ObjectEvent RandomObjects::CsiNodeLimits() {
  return AttachLimit(NodeName(), DriverName(), static_cast<int64_t>(random_.Below(4)));
}

ObjectEvent RandomObjects::AnyDriver() {
  CsiDriver made;
  made.meta.name = DriverName();
  made.tracks_capacity = random_.OneIn(2);
  return ObjectUpserted{std::move(made)};
}

ObjectEvent RandomObjects::AnyCapacity() {
  return CapacityOf(ClassName(), static_cast<int64_t>(random_.Below(4)), "zone", "z0");
}

ObjectEvent RandomObjects::AnyAttachment() {
  return Attachment(Numbered(4, "attachment-"), VolumeName(), NodeName());
}

LabelSelector RandomObjects::AnySelector() {
  LabelSelector selector;
  if (random_.OneIn(4)) return selector;
  const char* key = random_.OneIn(2) ? "app" : "tier";
  switch (random_.Below(3)) {
    case 0:
      selector.requirements.push_back(Requires(key, SelectorOperator::kIn, {"0", "1"}));
      break;
    case 1:
      selector.requirements.push_back(Requires(key, SelectorOperator::kNotIn, {"0"}));
      break;
    default:
      selector.requirements.push_back(Requires(key, SelectorOperator::kExists));
  }
  return selector;
}

PodTerms RandomObjects::AnyTerms(const std::string& in) {
  PodAffinityTerm term{.topology_key = random_.OneIn(2) ? "zone" : "rack"};
  term.selector = AnySelector();
  if (random_.OneIn(2)) term.namespace_selector = Labelled("team", Numbered(2, ""));
  if (random_.OneIn(4)) term.namespace_selector = LabelSelector{};
  if (!random_.OneIn(3)) term.namespaces = {in};
  PodTerms terms;
  switch (random_.Below(4)) {
    case 0:
      terms.near.push_back(term);
      break;
    case 1:
      terms.apart.push_back(term);
      break;
    case 2:
      terms.rather_near.push_back({.weight = 5, .term = term});
      break;
    default:
      terms.rather_apart.push_back({.weight = 5, .term = term});
  }
  return terms;
}

ResourceKind RandomObjects::KindNamed(absl::string_view api_version, absl::string_view kind) {
  return ForeignResource(KindIndexOf(BuiltinForeignKinds(), api_version, kind).value());
}

}  // namespace maniple
