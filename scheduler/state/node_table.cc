#include "scheduler/state/node_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/base/log.h"

namespace maniple {

namespace {

bool HandsOutGpus(const GpuFacts& gpus) {
  return gpus.condition == GpuCondition::kReady || gpus.condition == GpuCondition::kSuspect;
}

}  // namespace

NodeTable::NodeTable(DraftTables& draft, ShapeTable& shapes, const GpuRules& gpu_rules)
    : draft_(draft),
      shapes_(shapes),
      gpu_rules_(gpu_rules),
      order_(std::make_shared<const NodeOrder>()) {}

NodeBlock& NodeTable::Block(NodeId node) {
  const uint32_t b = BlockOf(node);
  changed_ = true;
  if (block_drafts_[b] == nullptr) block_drafts_[b] = std::make_unique<NodeBlock>(*blocks_[b]);
  return *block_drafts_[b];
}

NodeRows& NodeTable::Rows(uint32_t block) {
  changed_ = true;
  if (row_drafts_[block] == nullptr) row_drafts_[block] = std::make_unique<NodeRows>(*rows_[block]);
  return *row_drafts_[block];
}

const NodeBlock& NodeTable::BlockNow(NodeId node) const {
  const uint32_t b = BlockOf(node);
  return block_drafts_[b] != nullptr ? *block_drafts_[b] : *blocks_[b];
}

const NodeRows& NodeTable::RowsNow(uint32_t block) const {
  return row_drafts_[block] != nullptr ? *row_drafts_[block] : *rows_[block];
}

NodeId NodeTable::TakeRow() {
  if (!vacant_.empty()) {
    const uint32_t index = *vacant_.begin();
    vacant_.erase(vacant_.begin());
    return NodeId(index);
  }
  const NodeId node(static_cast<uint32_t>(records_.size()));
  records_.emplace_back();
  if (BlockOf(node) == blocks_.size()) {
    NodeRows rows;
    for (const std::string& key : draft_.tables.label_columns) {
      rows.label_columns.push_back({.key = key, .values = std::vector<LabelValueId>(kBlockNodes)});
    }
    rows_.push_back(std::make_shared<const NodeRows>(std::move(rows)));
    blocks_.push_back(std::make_shared<const NodeBlock>(rows_.back()));
    row_drafts_.emplace_back();
    block_drafts_.emplace_back();
  }
  return node;
}

std::optional<NodeId> NodeTable::Find(absl::string_view name) const {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return std::nullopt;
  return it->second;
}

bool NodeTable::Has(NodeId node) const {
  return node.index() < records_.size() && !records_[node.index()].name.empty();
}

absl::string_view NodeTable::NameOf(NodeId node) const {
  return Has(node) ? absl::string_view(records_[node.index()].name) : absl::string_view();
}

absl::string_view NodeTable::UidOf(NodeId node) const {
  return Has(node) ? absl::string_view(records_[node.index()].uid) : absl::string_view();
}

StringMap NodeTable::LabelsOf(NodeId node) const {
  StringMap labels;
  if (!Has(node)) return labels;
  const Record& record = records_[node.index()];
  for (const auto& label : record.labels) {
    if (std::ranges::binary_search(record.places, label)) continue;
    labels.Set(label_keys_.Name(label.first), label_values_.Name(label.second));
  }
  return labels;
}

const GpuFacts& NodeTable::GpusOf(NodeId node) const {
  static const GpuFacts kNone;
  return Has(node) ? records_[node.index()].gpus : kNone;
}

NodeTable::Change NodeTable::Upsert(const Node& node, const StringMap& hyper_nodes) {
  Change change;
  if (const std::optional<NodeId> known = Find(node.meta.name)) {
    change.node = *known;
  } else {
    change.node = TakeRow();
    change.appeared = true;
    set_changed_ = true;
    by_name_.emplace(node.meta.name, change.node);
    records_[change.node.index()].name = node.meta.name;
    NodeRows& rows = Rows(BlockOf(change.node));
    rows.names[RowOf(change.node)] = node.meta.name;
    rows.present.Set(RowOf(change.node));
  }
  Record& record = records_[change.node.index()];
  if (record.uid != node.meta.uid && record.cooled) SetCoolDown(change.node, absl::InfinitePast());
  record.uid = node.meta.uid;
  const RoomChange room = SetAllocatable(change.node, node.allocatable);
  change.room_grew = room.grew;
  SetImages(change.node, images_.SetHeld(change.node, node.images));
  const FactsChange facts = SetFacts(record, node, hyper_nodes);
  change.facts_changed = facts != FactsChange::kNone || change.appeared;
  change.lost = !change.appeared && (room.fell || facts == FactsChange::kLabels);
  if (change.facts_changed) PlaceByFacts(change.node);
  return change;
}

NodeTable::Change NodeTable::Disable(NodeId node) {
  Change change{.node = node, .facts_changed = true};
  SetAllocatable(node, {});
  return change;
}

void NodeTable::Remove(NodeId node) {
  SetAllocatable(node, {});
  SetAttachLimits(node, {});
  SetImages(node, images_.SetHeld(node, {}));
  SetClass(node, std::nullopt);
  Block(node).SetCoolDown(RowOf(node), std::nullopt);
  NodeRows& rows = Rows(BlockOf(node));
  rows.present.Clear(RowOf(node));
  rows.names[RowOf(node)].clear();
  for (LabelColumn& column : rows.label_columns) column.values[RowOf(node)] = LabelValueId();
  by_name_.erase(records_[node.index()].name);
  records_[node.index()] = Record{};
  vacant_.insert(node.index());
  set_changed_ = true;
}

// Whether some amount rose, and whether some fell. Free follows allocatable.
NodeTable::RoomChange NodeTable::SetAllocatable(NodeId node, const ResourceAmounts& amounts) {
  std::vector<int64_t> wanted;
  for (const ResourceAmount& entry : amounts) {
    const std::optional<ResourceId> resource = shapes_.NodeResource(entry.resource);
    if (!resource.has_value()) continue;  // beyond kMostResources
    if (resource->index() >= wanted.size()) wanted.resize(resource->index() + 1, 0);
    wanted[resource->index()] = Clamped(entry.amount);
  }
  wanted.resize(std::max<size_t>(wanted.size(), RowsNow(BlockOf(node)).allocatable.limit()), 0);
  RoomChange change;
  for (uint32_t i = 0; i < wanted.size(); ++i) {
    const ResourceId resource(i);
    const int64_t had = Allocatable(node, resource);
    if (had == wanted[i]) continue;
    (wanted[i] > had ? change.grew : change.fell) = true;
    Rows(BlockOf(node)).allocatable.Mutable(resource)[RowOf(node)] = wanted[i];
    Block(node).AddFree(RowOf(node), resource, wanted[i] - had);
  }
  return change;
}

void NodeTable::Charge(NodeId node, const PodShape& shape, NodeBlock::Change change) {
  Block(node).Charge(RowOf(node), shape, change);
  for (const PodCountChange& counted : shape.counts) changed_counts_.insert(counted.count);
}

std::vector<std::pair<PodCountId, int64_t>> NodeTable::CountsOn(NodeId node, bool later) const {
  const NodeBlock& block = BlockNow(node);
  const PodCounts& all = later ? block.promised_counts() : block.pod_counts();
  std::vector<std::pair<PodCountId, int64_t>> counts;
  for (const PodCounts::Entry& entry : all.entries()) {
    if (entry.row == RowOf(node)) counts.emplace_back(entry.count, entry.value);
  }
  return counts;
}

std::vector<PodCountId> NodeTable::TakeChangedCounts() {
  std::vector<PodCountId> changed(changed_counts_.begin(), changed_counts_.end());
  changed_counts_.clear();
  std::sort(changed.begin(), changed.end());
  return changed;
}

void NodeTable::SetCoolDown(NodeId node, absl::Time until) {
  const bool cooled = until != absl::InfinitePast();
  records_[node.index()].cooled = cooled;
  Block(node).SetCoolDown(RowOf(node), cooled ? std::optional(until) : std::nullopt);
}

bool NodeTable::SetAttachLimits(NodeId node, const std::vector<NodeAttachments>& limits) {
  using AttachLimit = NodeRows::AttachLimit;
  std::vector<AttachLimit> wanted;
  for (const NodeAttachments& limit : limits) {
    wanted.push_back({.row = RowOf(node),
                      .driver = shapes_.DriverOfNode(limit.driver),
                      .most = limit.most,
                      .unused = limit.unused});
  }
  std::sort(wanted.begin(), wanted.end());
  const auto of_node = [node](const std::vector<AttachLimit>& all) {
    return std::pair(std::ranges::lower_bound(all, RowOf(node), {}, &AttachLimit::row),
                     std::ranges::upper_bound(all, RowOf(node), {}, &AttachLimit::row));
  };
  const auto known = of_node(RowsNow(BlockOf(node)).attach_limits);
  if (std::equal(known.first, known.second, wanted.begin(), wanted.end())) return false;
  std::vector<AttachLimit>& all = Rows(BlockOf(node)).attach_limits;
  const auto old = of_node(all);
  const auto at = all.erase(old.first, old.second);
  all.insert(at, wanted.begin(), wanted.end());
  return true;
}

int64_t NodeTable::Free(NodeId node, ResourceId resource) const {
  return BlockNow(node).Free(resource)[RowOf(node)];
}

int64_t NodeTable::Allocatable(NodeId node, ResourceId resource) const {
  return RowsNow(BlockOf(node)).allocatable.Of(resource)[RowOf(node)];
}

int64_t NodeTable::UnusedAttachments(NodeId node) const {
  if (!Has(node)) return 0;
  int64_t unused = 0;
  for (const NodeRows::AttachLimit& limit : RowsNow(BlockOf(node)).attach_limits) {
    if (limit.row == RowOf(node)) unused += limit.unused;
  }
  return unused;
}

bool NodeTable::MayFit(NodeId node, const PodShape& shape) const {
  if (!Has(node)) return false;
  for (const auto& [resource, amount] : shape.requests) {
    if (Free(node, resource) < amount) return false;
  }
  return LetsIn(node, shape);
}

bool NodeTable::StillFits(NodeId node, const PodShape& shape,
                          std::span<const PodShape* const> held) const {
  if (!Has(node)) return false;
  for (const auto& [resource, amount] : shape.requests) {
    int64_t free = Free(node, resource);
    for (const PodShape* other : held) {
      for (const auto& [theirs, taken] : other->requests) {
        if (theirs == resource) free += taken;
      }
    }
    if (free < 0) return false;
  }
  return LetsIn(node, shape);
}

bool NodeTable::LetsIn(NodeId node, const PodShape& shape) const {
  const Record& record = records_[node.index()];
  const auto keeps_out = [&](const Taint& taint) {
    return taint.effect != TaintEffect::kPreferNoSchedule &&
           !Tolerates(shape.constraints.tolerations, taint);
  };
  if (std::any_of(record.taints.begin(), record.taints.end(), keeps_out)) return false;
  if (shape.wants_gpu && !HandsOutGpus(record.gpus)) return false;
  const Taint cordon{.key = "node.kubernetes.io/unschedulable", .value = ""};
  return !record.unschedulable || Tolerates(shape.constraints.tolerations, cordon);
}

void NodeTable::PublishInto(Snapshot& snapshot) {
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    if (row_drafts_[b] != nullptr) {
      row_drafts_[b]->RecomputeMaxima();
      rows_[b] = std::move(row_drafts_[b]);
      if (block_drafts_[b] == nullptr) block_drafts_[b] = std::make_unique<NodeBlock>(*blocks_[b]);
      block_drafts_[b]->SetRows(rows_[b]);
    }
    if (block_drafts_[b] != nullptr) {
      block_drafts_[b]->RecomputeMaxima();
      blocks_[b] = std::move(block_drafts_[b]);
    }
  }
  if (set_changed_) {
    NodeOrder order;
    order.rank.resize(records_.size(), 0);
    for (const auto& [name, node] : by_name_) {
      order.rank[node.index()] = static_cast<uint32_t>(order.by_name.size());
      order.by_name.push_back(node);
    }
    order_ = std::make_shared<const NodeOrder>(std::move(order));
  }
  changed_ = false;
  set_changed_ = false;
  snapshot.blocks = blocks_;
  snapshot.images = images_.Publish();
  snapshot.order = order_;
}

absl::Status NodeTable::CheckInvariants() const {
  std::vector<int32_t> sizes(class_sizes_.size(), 0);
  for (uint32_t i = 0; i < records_.size(); ++i) {
    const NodeId node(i);
    const NodeRows& rows = RowsNow(BlockOf(node));
    const auto wrong = [&](absl::string_view what) {
      return absl::InternalError(absl::StrCat("node row ", i, " (", NameOf(node), "): ", what));
    };
    if (rows.present.Test(RowOf(node)) != Has(node)) return wrong("presence differs");
    if (rows.names[RowOf(node)] != NameOf(node)) return wrong("name differs");
    if (!Has(node)) {
      if (rows.classes[RowOf(node)].valid()) return wrong("vacant, yet of a class");
      for (uint32_t r = 0; r < draft_.tables.resources.size(); ++r) {
        if (Free(node, ResourceId(r)) != 0 || Allocatable(node, ResourceId(r)) != 0) {
          return wrong("vacant, yet with amounts");
        }
      }
      continue;
    }
    const NodeClassId id = rows.classes[RowOf(node)];
    if (!id.valid() || *draft_.tables.classes[id.index()] != ClassFactsOf(records_[i])) {
      return wrong("class differs from its facts");
    }
    ++sizes[id.index()];
  }
  if (sizes != class_sizes_) return absl::InternalError("node classes are miscounted");
  return absl::OkStatus();
}

}  // namespace maniple
