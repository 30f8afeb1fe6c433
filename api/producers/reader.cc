#include "api/producers/reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "api/codec/decode_parts.h"
#include "api/producers/fields.h"
#include "api/producers/hyper_node_reader.h"
#include "api/producers/kind_readers.h"
#include "api/producers/kinds.h"
#include "api/producers/owner_rules.h"

namespace maniple {
namespace {

ForeignSpec ReadSpec(const ForeignKind& kind, const Cursor& root) {
  switch (RoleOf(kind)) {
    case ProducerRole::kXk8s:
    case ProducerRole::kKoordinator:
      return ReadXk8sGroup(root);
    case ProducerRole::kVolcano:
      return ReadVolcanoGroup(root);
    case ProducerRole::kUpstream:
      return ReadUpstreamGroup(root);
    case ProducerRole::kKai:
      return ReadKaiGroup(root);
    case ProducerRole::kGrove:
      return ReadGroveGroup(root);
    case ProducerRole::kJob:
      return ReadJob(root);
    case ProducerRole::kStatefulSet:
      return ReadStatefulSet(root);
    case ProducerRole::kJobSet:
      return ReadJobSet(root);
    case ProducerRole::kLeaderWorkerSet:
      return ReadLeaderWorkerSet(root);
    case ProducerRole::kRayCluster:
      return ReadRayCluster(root);
    case ProducerRole::kMpiJob:
      return ReadMpiJob(root);
    case ProducerRole::kTrainJob:
    case ProducerRole::kHyperNode:
      return {};
    case ProducerRole::kComposite:
      return ReadCompositeGroup(root);
    case ProducerRole::kRule:
      return ReadByRule(RuleOf(kind), root);
  }
  return {};
}

// An annotation that asks for a quorum. The first one that is there stands.
void ReadAsked(ProducerRole role, const ObjectMeta& meta, ForeignSpec& spec) {
  static constexpr absl::string_view kKeys[] = {"scheduling.maniple.dev/min-member",
                                                "kai.scheduler/batch-min-member",
                                                "scheduling.volcano.sh/group-min-member"};
  // KAI counts replicated Jobs there, not pods.
  const size_t count = role == ProducerRole::kJobSet ? 1 : std::size(kKeys);
  for (const absl::string_view key : absl::MakeConstSpan(kKeys, count)) {
    const std::string* text = meta.annotations.Find(key);
    if (text == nullptr) continue;
    spec.asked = ParseCount(*text);
    if (!spec.asked.has_value()) {
      NoteProblem(spec, absl::StrCat("metadata.annotations[", key, "]: must be a whole number"));
    }
    return;
  }
}

constexpr absl::string_view kOurQueue[] = {kQueueLabel};
constexpr absl::string_view kTheirQueues[] = {"kai.scheduler/queue", "volcano.sh/queue-name",
                                              "scheduling.volcano.sh/queue-name",
                                              "yunikorn.apache.org/queue"};

// Whose quota it is charged to by labels and annotations that people write on an owner.
std::string QueueLabelOf(const ObjectMeta& meta, absl::Span<const absl::string_view> keys) {
  for (const absl::string_view key : keys) {
    for (const StringMap* map : {&meta.labels, &meta.annotations}) {
      if (!map->Get(key).empty()) return std::string(map->Get(key));
    }
  }
  return "";
}

// What people who come from KAI write on an owner.
TopologyRequest TopologyOf(const ObjectMeta& meta) {
  TopologyRequest topology;
  topology.topology_name = std::string(meta.annotations.Get("kai.scheduler/topology"));
  topology.required =
      std::string(meta.annotations.Get("kai.scheduler/topology-required-placement"));
  topology.preferred =
      std::string(meta.annotations.Get("kai.scheduler/topology-preferred-placement"));
  return topology;
}

class Reader final : public ForeignReader {
 public:
  explicit Reader(ForeignKinds kinds) : kinds_(std::move(kinds)) {}
  [[nodiscard]] absl::string_view KindName(ResourceKind kind) const override {
    return kinds_.at(ForeignIndex(kind)).kind;
  }
  // A path of a rule may lead through anything.
  [[nodiscard]] bool HasNamesOfUsers(ResourceKind kind) const override {
    return kinds_.at(ForeignIndex(kind)).rule.has_value();
  }
  [[nodiscard]] ForeignObject Read(ResourceKind kind, const Cursor& root) const override {
    const ForeignKind& known = kinds_.at(ForeignIndex(kind));
    ForeignObject object{.kind = static_cast<uint8_t>(kind)};
    for (const Cursor& field : root.Members()) {
      if (field.key() == "apiVersion") object.api_version = field.Text();
      if (field.key() == "metadata") object.meta = ReadMeta(field);
    }
    // The items of a list say no version of their own.
    if (object.api_version.empty()) {
      object.api_version = absl::StrCat(known.group, "/", known.versions.front());
    }
    const ProducerRole role = RoleOf(known);
    if (role == ProducerRole::kHyperNode) {
      object.hyper_node = std::make_shared<const HyperNode>(ReadHyperNode(root));
      return object;
    }
    object.spec = ReadSpec(known, root);
    object.spec.own_queue = QueueLabelOf(object.meta, kOurQueue);
    object.spec.queue_label = QueueLabelOf(object.meta, kTheirQueues);
    if (IsOwner(role)) {
      ReadAsked(role, object.meta, object.spec);
      object.spec.topology = TopologyOf(object.meta);
      // As KAI reads it; what the kind itself says of its class stands.
      if (object.spec.priority_class_name.empty()) {
        object.spec.priority_class_name = std::string(object.meta.labels.Get("priorityClassName"));
      }
    } else {
      ForMember(root, "status", [&](const Cursor& status) {
        ForMember(status, "phase", [&](const Cursor& phase) { object.phase = phase.Text(); });
      });
    }
    return object;
  }

 private:
  ForeignKinds kinds_;
};

}  // namespace

std::unique_ptr<const ForeignReader> MakeForeignReader(ForeignKinds kinds) {
  return std::make_unique<Reader>(std::move(kinds));
}

}  // namespace maniple
