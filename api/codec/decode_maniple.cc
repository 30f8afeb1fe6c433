// The kinds of our own API group.
#include <algorithm>
#include <limits>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "api/codec/decode_parts.h"

namespace maniple {
namespace {

constexpr int64_t kMostInt32 = std::numeric_limits<int32_t>::max();
constexpr size_t kMostLevels = 16;
constexpr Cursor::Bounds kResourceSeconds{0, kMostResourceSeconds};

int32_t ReadCount(const Cursor& field, int64_t least) {
  return static_cast<int32_t>(field.Int({least, kMostInt32}));
}

void ReadSlice(const Cursor& slice, TopologyRequest& topology) {
  for (const Cursor& field : slice.Members()) {
    if (field.key() == "size") topology.slice_size = ReadCount(field, 1);
    if (field.key() == "level") topology.slice_level = field.Text();
  }
  if (topology.slice_size == 0) slice.Refuse("has no size");
  if (topology.slice_level.empty()) slice.Refuse("has no level");
}

TopologyRequest ReadTopologyRequest(const Cursor& topology) {
  TopologyRequest out;
  for (const Cursor& field : topology.Members()) {
    const absl::string_view key = field.key();
    if (key == "required") out.required = field.Text();
    if (key == "preferred") out.preferred = field.Text();
    if (key == "topologyName") out.topology_name = field.Text();
    if (key == "slice") ReadSlice(field, out);
  }
  return out;
}

SubGroup ReadSubGroup(const Cursor& sub_group) {
  SubGroup out;
  out.min_member = 1;  // the default of the resource's schema
  for (const Cursor& field : sub_group.Members()) {
    const absl::string_view key = field.key();
    if (key == "name") out.name = field.Text();
    if (key == "minMember") out.min_member = ReadCount(field, 0);
    if (key == "topology") out.topology = ReadTopologyRequest(field);
  }
  if (out.name.empty()) sub_group.Refuse("has no name");
  return out;
}

// Refuses the item when its name came before.
class DistinctNames final {
 public:
  void Check(const Cursor& item, absl::string_view name) {
    if (!seen_.insert(std::string(name)).second) {
      item.Refuse(absl::StrCat("\"", name, "\" stands twice"));
    }
  }

 private:
  absl::flat_hash_set<std::string> seen_;
};

// The items of a list, no two of one name.
template <typename Item>
std::vector<Item> ReadNamed(const Cursor& list, Item (*read)(const Cursor&),
                            std::string Item::*name) {
  std::vector<Item> out;
  DistinctNames names;
  for (const Cursor& item : list.Items()) {
    out.push_back(read(item));
    names.Check(item, out.back().*name);
  }
  return out;
}

void ReadGangPreemption(const Cursor& preemption, PodGroupSpec& spec) {
  for (const Cursor& field : preemption.Members()) {
    if (field.key() == "policy") {
      spec.preempts =
          ReadWord<bool>(field, {{"PreemptLowerPriority", true}, {"Never", false}}, true);
    }
    if (field.key() == "protectedRuntimeSeconds") spec.protected_runtime = field.Seconds();
  }
}

void ReadQuorumLoss(const Cursor& quorum_loss, PodGroupSpec& spec) {
  for (const Cursor& field : quorum_loss.Members()) {
    if (field.key() == "action") {
      spec.quorum_loss_action = ReadWord<QuorumLossAction>(
          field, {{"Evict", QuorumLossAction::kEvict}, {"Keep", QuorumLossAction::kKeep}},
          QuorumLossAction::kEvict);
    }
    if (field.key() == "gracePeriodSeconds") spec.quorum_loss_grace = field.Seconds();
  }
}

GangSource ReadSource(const Cursor& source) {
  GangSource out;
  for (const Cursor& field : source.Members()) {
    const absl::string_view key = field.key();
    if (key == "apiVersion") out.api_version = field.Text();
    if (key == "kind") out.kind = field.Text();
    if (key == "name") out.name = field.Text();
    if (key == "uid") out.uid = field.Text();
    if (key == "part") out.part = field.Text();
  }
  return out;
}

PodGroupSpec ReadPodGroupSpec(const Cursor& cursor) {
  PodGroupSpec spec;
  for (const Cursor& field : cursor.Members()) {
    const absl::string_view key = field.key();
    if (key == "queue") {
      spec.queue = field.Text();
    } else if (key == "minMember") {
      spec.min_member = ReadCount(field, 1);
    } else if (key == "priorityClassName") {
      spec.priority_class_name = field.Text();
    } else if (key == "topology") {
      spec.topology = ReadTopologyRequest(field);
    } else if (key == "subGroups") {
      spec.sub_groups = ReadNamed(field, ReadSubGroup, &SubGroup::name);
    } else if (key == "scheduleTimeoutSeconds") {
      spec.schedule_timeout = field.Seconds();
    } else if (key == "expectedRuntimeSeconds") {
      spec.expected_runtime = field.Seconds();
    } else if (key == "preemption") {
      ReadGangPreemption(field, spec);
    } else if (key == "quorumLoss") {
      ReadQuorumLoss(field, spec);
    } else if (key == "source") {
      spec.source = ReadSource(field);
    }
  }
  return spec;
}

MemberCounts ReadMembers(const Cursor& members) {
  MemberCounts out;
  for (const Cursor& field : members.Members()) {
    const absl::string_view key = field.key();
    if (key == "total") out.total = ReadCount(field, 0);
    if (key == "pending") out.pending = ReadCount(field, 0);
    if (key == "bound") out.bound = ReadCount(field, 0);
    if (key == "running") out.running = ReadCount(field, 0);
    if (key == "succeeded") out.succeeded = ReadCount(field, 0);
    if (key == "failed") out.failed = ReadCount(field, 0);
  }
  return out;
}

Condition ReadCondition(const Cursor& condition) {
  Condition out;
  for (const Cursor& field : condition.Members()) {
    const absl::string_view key = field.key();
    if (key == "type") out.type = field.Text();
    if (key == "status") out.status = field.Text();
    if (key == "reason") out.reason = field.Text();
    if (key == "message") out.message = field.Text();
    if (key == "lastTransitionTime") out.last_transition = field.Time();
    if (key == "observedGeneration") {
      out.observed_generation = field.Int({0, std::numeric_limits<int64_t>::max()});
    }
  }
  return out;
}

std::vector<Condition> ReadConditions(const Cursor& list) {
  std::vector<Condition> out;
  for (const Cursor& item : list.Items()) out.push_back(ReadCondition(item));
  std::stable_sort(out.begin(), out.end(),
                   [](const Condition& a, const Condition& b) { return a.type < b.type; });
  return out;
}

void ReadPlacement(const Cursor& placement, PodGroupStatus& status) {
  for (const Cursor& field : placement.Members()) {
    if (field.key() == "nodes") {
      status.placement_nodes = field.Texts();
      std::sort(status.placement_nodes.begin(), status.placement_nodes.end());
    }
    if (field.key() == "domains") status.placement_domains = field.Texts();
  }
}

PodGroupStatus ReadPodGroupStatus(const Cursor& cursor) {
  PodGroupStatus status;
  for (const Cursor& field : cursor.Members()) {
    const absl::string_view key = field.key();
    if (key == "phase") {
      status.phase = field.Text();
    } else if (key == "members") {
      status.members = ReadMembers(field);
    } else if (key == "conditions") {
      status.conditions = ReadConditions(field);
    } else if (key == "reason") {
      status.reason = field.Text();
    } else if (key == "message") {
      status.message = field.Text();
    } else if (key == "placement") {
      ReadPlacement(field, status);
    } else if (key == "quorumReachedAt") {
      status.quorum_reached_at = field.Time();
    } else if (key == "quorumMet") {
      status.quorum_met = ReadCount(field, 0);
    } else if (key == "lastUndoneAt") {
      status.last_undone_at = field.Time();
    } else if (key == "initialSharePreemptionUsed") {
      status.initial_share_preemption_used = field.Bool();
    } else if (key == "preemptedBy") {
      status.preempted_by = field.Text();
    } else if (key == "admittedQueue") {
      status.admitted_queue = field.Text();
    }
  }
  return status;
}

Amount ReadQuotaAmount(const Cursor& field, absl::string_view resource) {
  const Quantity quantity = field.Amount();
  if (quantity < Quantity()) field.Refuse("must not be negative");
  return resource == "cpu" ? quantity.Milli() : quantity.Units();
}

QuotaAmount ReadQuotaResource(const Cursor& item) {
  QuotaAmount out;
  // How the amounts are counted depends on the name, which may come after them.
  for (const Cursor& field : item.Members()) {
    if (field.key() == "name") out.resource = field.Text();
  }
  if (out.resource.empty()) item.Refuse("has no name");
  for (const Cursor& field : item.Members()) {
    const absl::string_view key = field.key();
    if (key == "nominal") out.nominal = ReadQuotaAmount(field, out.resource);
    if (key == "borrowingLimit") out.borrowing_limit = ReadQuotaAmount(field, out.resource);
    if (key == "lendingLimit") out.lending_limit = ReadQuotaAmount(field, out.resource);
  }
  return out;
}

FlavorQuota ReadFlavorQuota(const Cursor& item) {
  FlavorQuota out;
  for (const Cursor& field : item.Members()) {
    if (field.key() == "flavor") out.flavor = field.Text();
    if (field.key() != "resources") continue;
    DistinctNames names;
    for (const Cursor& resource : field.Items()) {
      out.resources.push_back(ReadQuotaResource(resource));
      names.Check(resource, out.resources.back().resource);
    }
  }
  return out;
}

int64_t ReadWeight(const Cursor& fair_share, int64_t otherwise) {
  int64_t weight = otherwise;
  for (const Cursor& field : fair_share.Members()) {
    if (field.key() == "weight") weight = ReadQuotaAmount(field, "cpu").units();
  }
  return weight;
}

void ReadBorrowing(const Cursor& borrowing, Queue& queue) {
  for (const Cursor& field : borrowing.Members()) {
    if (field.key() == "policy") {
      queue.borrow_preempts_lower_priority =
          ReadWord<bool>(field, {{"Never", false}, {"LowerPriority", true}}, false);
    }
    if (field.key() == "maxPriorityThreshold") queue.borrow_priority_threshold = field.Int32();
  }
}

void ReadQueuePreemption(const Cursor& preemption, Queue& queue) {
  for (const Cursor& field : preemption.Members()) {
    if (field.key() == "withinQueue") {
      using enum WithinQueuePreemption;
      queue.within_queue = ReadWord<WithinQueuePreemption>(
          field,
          {{"Never", kNever},
           {"LowerPriority", kLowerPriority},
           {"LowerOrNewerEqualPriority", kLowerOrNewerEqualPriority}},
          kNever);
    }
    if (field.key() == "reclaimWithinCohort") {
      using enum ReclaimWithinCohort;
      queue.reclaim = ReadWord<ReclaimWithinCohort>(
          field, {{"Never", kNever}, {"LowerPriority", kLowerPriority}, {"Any", kAny}}, kNever);
    }
    if (field.key() == "borrowWithinCohort") ReadBorrowing(field, queue);
    if (field.key() == "minRuntimeSeconds") queue.min_runtime = field.Seconds();
    if (field.key() == "maxProtectedRuntimeSeconds") queue.most_protected_runtime = field.Seconds();
  }
}

void ReadQueueSpec(const Cursor& spec, Queue& queue) {
  for (const Cursor& field : spec.Members()) {
    const absl::string_view key = field.key();
    if (key == "cohort") {
      queue.cohort = field.Text();
    } else if (key == "namespaceSelector") {
      queue.namespace_selector = ReadLabelSelector(field);
    } else if (key == "quotas") {
      queue.quotas = ReadNamed(field, ReadFlavorQuota, &FlavorQuota::flavor);
    } else if (key == "ordering") {
      using enum QueueOrdering;
      queue.ordering = ReadWord<QueueOrdering>(field,
                                               {{"BestEffortFIFO", kBestEffortFifo},
                                                {"StrictFIFO", kStrictFifo},
                                                {"Backfill", kBackfill}},
                                               kBestEffortFifo);
    } else if (key == "preemption") {
      ReadQueuePreemption(field, queue);
    } else if (key == "fairShare") {
      queue.fair_share_weight_milli = ReadWeight(field, queue.fair_share_weight_milli);
    } else if (key == "stopPolicy") {
      using enum StopPolicy;
      queue.stop = ReadWord<StopPolicy>(
          field, {{"None", kNone}, {"Hold", kHold}, {"HoldAndDrain", kHoldAndDrain}}, kNone);
    }
  }
}

TopologyLevel ReadLevel(const Cursor& level) {
  TopologyLevel out;
  for (const Cursor& field : level.Members()) {
    if (field.key() == "name") out.name = field.Text();
    if (field.key() == "nodeLabel") out.node_label = field.Text();
  }
  if (out.name.empty()) level.Refuse("has no name");
  if (out.node_label.empty()) level.Refuse("has no nodeLabel");
  return out;
}

std::vector<TopologyLevel> ReadLevels(const Cursor& list) {
  std::vector<TopologyLevel> out;
  DistinctNames names;
  DistinctNames labels;
  for (const Cursor& item : list.Items()) {
    if (out.size() == kMostLevels) {
      list.Refuse(absl::StrCat("has more than ", kMostLevels, " levels"));
      break;
    }
    out.push_back(ReadLevel(item));
    names.Check(item, out.back().name);
    labels.Check(item, out.back().node_label);
  }
  return out;
}

}  // namespace

PodGroup ReadPodGroup(const Cursor& root) {
  PodGroup group;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") group.meta = ReadMeta(field);
    if (field.key() == "spec") group.spec = ReadPodGroupSpec(field);
    if (field.key() == "status") group.status = ReadPodGroupStatus(field);
  }
  return group;
}

ResourceSeconds ReadResourceSeconds(const Cursor& item) {
  ResourceSeconds row;
  for (const Cursor& field : item.Members()) {
    const absl::string_view key = field.key();
    if (key == "namespace") row.namespace_name = field.Text();
    if (key == "flavor") row.flavor = field.Text();
    if (key == "name") row.resource = field.Text();
    if (key == "total") row.total = field.Int(kResourceSeconds);
    if (key == "recent") row.recent = field.Int(kResourceSeconds);
  }
  return row;
}

UsageRecord ReadUsageRecord(const Cursor& record) {
  UsageRecord out;
  for (const Cursor& field : record.Members()) {
    if (field.key() == "asOf") out.as_of = field.Time();
    if (field.key() != "items") continue;
    for (const Cursor& item : field.Items()) out.rows.push_back(ReadResourceSeconds(item));
  }
  return out;
}

Queue ReadQueue(const Cursor& root) {
  Queue queue;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") queue.meta = ReadMeta(field);
    if (field.key() == "spec") ReadQueueSpec(field, queue);
    if (field.key() != "status") continue;
    for (const Cursor& part : field.Members()) {
      if (part.key() == "resourceSeconds") queue.used = ReadUsageRecord(part);
      if (part.key() == "conditions") queue.conditions = ReadConditions(part);
    }
  }
  return queue;
}

Cohort ReadCohort(const Cursor& root) {
  Cohort cohort;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") cohort.meta = ReadMeta(field);
    if (field.key() == "status") {
      for (const Cursor& part : field.Members()) {
        if (part.key() == "conditions") cohort.conditions = ReadConditions(part);
      }
    }
    if (field.key() != "spec") continue;
    for (const Cursor& part : field.Members()) {
      const absl::string_view key = part.key();
      if (key == "parent") cohort.parent = part.Text();
      if (key == "quotas") cohort.quotas = ReadNamed(part, ReadFlavorQuota, &FlavorQuota::flavor);
      if (key == "fairShare") {
        cohort.fair_share_weight_milli = ReadWeight(part, cohort.fair_share_weight_milli);
      }
    }
  }
  return cohort;
}

ResourceFlavor ReadResourceFlavor(const Cursor& root) {
  ResourceFlavor flavor;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") flavor.meta = ReadMeta(field);
    if (field.key() != "spec") continue;
    for (const Cursor& part : field.Members()) {
      if (part.key() == "nodeLabels") flavor.node_labels = ReadStringMap(part);
      if (part.key() == "priority") flavor.priority = part.Int32();
    }
  }
  return flavor;
}

Topology ReadTopology(const Cursor& root) {
  Topology topology;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") topology.meta = ReadMeta(field);
    if (field.key() != "spec") continue;
    for (const Cursor& part : field.Members()) {
      if (part.key() == "levels") topology.levels = ReadLevels(part);
    }
  }
  return topology;
}

}  // namespace maniple
