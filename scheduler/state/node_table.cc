#include "scheduler/state/node_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/base/log.h"

namespace maniple {

namespace {

// So many unknown products are told of; labels are anybody's text.
constexpr size_t kMostStrangeProducts = 64;

NodeMask& RowsOfImage(NodeRows& rows, ImageId image) {
  const auto at = std::ranges::lower_bound(rows.images, image, {}, &ImageRows::image);
  if (at != rows.images.end() && at->image == image) return at->rows;
  return rows.images.insert(at, {.image = image, .rows = {}})->rows;
}

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
  for (const auto& [key, value] : records_[node.index()].labels) {
    labels.Set(label_keys_.Name(key), label_values_.Name(value));
  }
  return labels;
}

const GpuFacts& NodeTable::GpusOf(NodeId node) const {
  static const GpuFacts kNone;
  return Has(node) ? records_[node.index()].gpus : kNone;
}

NodeTable::Change NodeTable::Upsert(const Node& node) {
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
  change.room_grew = SetAllocatable(change.node, node.allocatable);
  SetImages(change.node, images_.SetHeld(change.node, node.images));
  change.facts_changed = SetFacts(record, node) || change.appeared;
  if (change.facts_changed) {
    if (NoteValues(record)) {
      PlaceAll();
    } else {
      Place(change.node);
    }
  }
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

// Whether any amount rose. Free follows allocatable.
bool NodeTable::SetAllocatable(NodeId node, const ResourceAmounts& amounts) {
  std::vector<int64_t> wanted;
  for (const ResourceAmount& entry : amounts) {
    const std::optional<ResourceId> resource = shapes_.NodeResource(entry.resource);
    if (!resource.has_value()) continue;  // beyond kMostResources
    if (resource->index() >= wanted.size()) wanted.resize(resource->index() + 1, 0);
    wanted[resource->index()] = Clamped(entry.amount);
  }
  wanted.resize(std::max<size_t>(wanted.size(), RowsNow(BlockOf(node)).allocatable.limit()), 0);
  bool grew = false;
  for (uint32_t i = 0; i < wanted.size(); ++i) {
    const ResourceId resource(i);
    const int64_t had = Allocatable(node, resource);
    if (had == wanted[i]) continue;
    grew = grew || wanted[i] > had;
    Rows(BlockOf(node)).allocatable.Mutable(resource)[RowOf(node)] = wanted[i];
    Block(node).AddFree(RowOf(node), resource, wanted[i] - had);
  }
  return grew;
}

LabelValueId NodeTable::InternValue(absl::string_view value) {
  const LabelValueId id = label_values_.Intern(value);
  if (id.index() == draft_.tables.label_values.size()) {
    draft_.tables.label_values.PushBack(std::string(value));
    draft_.changed = true;
  }
  return id;
}

// A label that somebody asks for gets its number with the first node that carries it.
NodeTable::LabelKeyId NodeTable::InternKey(const std::string& key) {
  const LabelKeyId id = label_keys_.Intern(key);
  if (id.index() < tracked_by_id_.size()) return id;
  tracked_by_id_.resize(id.index() + 1);
  const auto asked = tracked_.find(key);
  if (asked == tracked_.end()) return id;
  asked->second.id = id;
  tracked_by_id_[id.index()] = &asked->second;
  return id;
}

NodeTable::Tracked& NodeTable::Track(const std::string& key) {
  const auto [it, is_new] = tracked_.try_emplace(key);
  const std::optional<LabelKeyId> id = label_keys_.Find(key);
  if (is_new && id.has_value()) {
    it->second.id = *id;
    tracked_by_id_[id->index()] = &it->second;
  }
  return it->second;
}

// One line per product: what follows from a product's name is then unknown for all its nodes.
void NodeTable::NoteProduct(const Node& node, const GpuFacts& gpus) {
  if (gpus.product.empty() || gpus.known_product) return;
  if (strange_products_.size() >= kMostStrangeProducts) return;
  if (!strange_products_.insert(gpus.product).second) return;
  LOG(WARNING) << "GPU product \"" << gpus.product << "\" (node " << node.meta.name
               << ") is in no table: nothing is promised of links between its GPUs; "
                  "gpu.productTable of the configuration can say";
}

// Whether labels, taints, cordon or facts about GPUs changed.
bool NodeTable::SetFacts(Record& record, const Node& node) {
  std::vector<std::pair<LabelKeyId, LabelValueId>> labels;
  labels.reserve(node.meta.labels.entries().size());
  for (const auto& [key, value] : node.meta.labels.entries()) {
    labels.emplace_back(InternKey(key), InternValue(value));
  }
  std::sort(labels.begin(), labels.end());
  std::vector<Taint> taints = node.taints;
  std::sort(taints.begin(), taints.end());
  GpuFacts gpus = GpuFactsOf(node, gpu_rules_);
  if (labels == record.labels && taints == record.taints &&
      node.unschedulable == record.unschedulable && gpus == record.gpus) {
    return false;
  }
  for (const Taint& taint : taints) {
    if (draft_.tables.TaintKey(taint.key).has_value()) continue;
    draft_.tables.taint_keys.push_back(taint.key);
    draft_.changed = true;
  }
  NoteProduct(node, gpus);
  record.gpus = std::move(gpus);
  record.labels = std::move(labels);
  record.taints = std::move(taints);
  record.unschedulable = node.unschedulable;
  return true;
}

std::optional<LabelValueId> NodeTable::ValueOf(const Record& record, LabelKeyId key) const {
  const auto at = std::lower_bound(record.labels.begin(), record.labels.end(), key,
                                   [](const std::pair<LabelKeyId, LabelValueId>& label,
                                      LabelKeyId id) { return label.first < id; });
  if (at == record.labels.end() || at->first != key) return std::nullopt;
  return at->second;
}

// Remembers the node's values of tracked labels; true when one of these became a column, so every
// node has to be placed again.
bool NodeTable::NoteValues(const Record& record) {
  bool became_column = false;
  for (const auto& [key, value] : record.labels) {
    Tracked* tracked = TrackedAs(key);
    if (tracked == nullptr || tracked->column.has_value()) continue;
    tracked->values.insert(value);
    if (tracked->values.size() <= kMostClassValues && !tracked->wants_column) continue;
    MakeColumn(*tracked, label_keys_.Name(key));
    became_column = true;
  }
  return became_column;
}

void NodeTable::MakeColumn(Tracked& tracked, const std::string& key) {
  tracked.column = draft_.tables.label_columns.size();
  tracked.values.clear();
  draft_.tables.label_columns.push_back(key);
  draft_.changed = true;
  for (uint32_t b = 0; b < rows_.size(); ++b) {
    Rows(b).label_columns.push_back({.key = key, .values = std::vector<LabelValueId>(kBlockNodes)});
  }
}

void NodeTable::ForEachGpu(
    const GpuModels& models,
    absl::FunctionRef<void(uint32_t model, ResourceId, int64_t)> visit) const {
  const std::vector<ResourceFacts>& resources = draft_.tables.resources;
  const std::optional<LabelKeyId> key = label_keys_.Find(models.label);
  for (const auto& [name, node] : by_name_) {
    std::optional<LabelValueId> value;
    if (key.has_value()) value = ValueOf(records_[node.index()], *key);
    const uint32_t model =
        models.IndexOf(value.has_value() ? &label_values_.Name(*value) : nullptr);
    for (uint32_t r = 0; r < resources.size(); ++r) {
      if (!resources[r].gpu) continue;
      const int64_t amount = Allocatable(node, ResourceId(r));
      if (amount > 0) visit(model, ResourceId(r), amount);
    }
  }
}

void NodeTable::TrackLabels(const std::vector<std::string>& keys) {
  bool seen_on_a_node = false;
  for (const std::string& key : keys) {
    if (tracked_.contains(key)) continue;
    Tracked& tracked = Track(key);
    if (!tracked.id.valid()) continue;
    for (const Record& record : records_) {
      const std::optional<LabelValueId> value = ValueOf(record, tracked.id);
      if (!value.has_value()) continue;
      seen_on_a_node = true;
      tracked.values.insert(*value);
    }
    if (tracked.values.size() > kMostClassValues) MakeColumn(tracked, key);
  }
  if (seen_on_a_node) PlaceAll();
}

void NodeTable::TrackColumns(const std::vector<std::string>& keys) {
  bool became_column = false;
  for (const std::string& key : keys) {
    Tracked& tracked = Track(key);
    if (tracked.column.has_value() || std::exchange(tracked.wants_column, true)) continue;
    const bool carried =
        tracked.id.valid() && std::ranges::any_of(records_, [&](const Record& record) {
          return ValueOf(record, tracked.id).has_value();
        });
    if (!carried) continue;
    MakeColumn(tracked, key);
    became_column = true;
  }
  if (became_column) PlaceAll();
}

void NodeTable::TrackImages(const std::vector<ImageId>& images) {
  for (const ImageId image : images) {
    for (const NodeId node : images_.Follow(image, shapes_.ImageName(image))) {
      RowsOfImage(Rows(BlockOf(node)), image).Set(RowOf(node));
    }
  }
}

// `images`: all that it has of those tracked; sorted.
void NodeTable::SetImages(NodeId node, const std::vector<ImageId>& images) {
  const uint32_t row = RowOf(node);
  std::vector<ImageId> had;
  for (const ImageRows& held : RowsNow(BlockOf(node)).images) {
    if (held.rows.Test(row)) had.push_back(held.image);
  }
  if (had == images) return;
  NodeRows& rows = Rows(BlockOf(node));
  for (const ImageId image : had) RowsOfImage(rows, image).Clear(row);
  for (const ImageId image : images) RowsOfImage(rows, image).Set(row);
  std::erase_if(rows.images, [](const ImageRows& held) { return held.rows.empty(); });
}

// ---- sweeps

void NodeTable::KeepOnlyImages(const UsedIds& images) {
  images_.KeepOnly(images);
  for (uint32_t b = 0; b < rows_.size(); ++b) {
    const auto is_gone = [&images](const ImageRows& held) { return !images.Has(held.image); };
    if (std::ranges::any_of(RowsNow(b).images, is_gone)) std::erase_if(Rows(b).images, is_gone);
  }
}

void NodeTable::KeepOnlyCounts(const UsedIds& counts) {
  absl::erase_if(changed_counts_, [&counts](PodCountId count) { return !counts.Has(count); });
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    std::map<uint32_t, PodShape> gone;  // by row: what adds all that nobody counts
    for (const PodCounts::Entry& entry : BlockNow(NodeAt(b, 0)).pod_counts().entries()) {
      if (!counts.Has(entry.count)) gone[entry.row].counts.push_back({entry.count, entry.value});
    }
    for (const auto& [row, shape] : gone) {
      Block(NodeAt(b, row)).Charge(row, shape, NodeBlock::Change::kGive);
    }
  }
}

// Whoever wants them still asks for them again.
void NodeTable::ForgetLabelsOfNoNode() {
  std::erase_if(tracked_, [](const auto& entry) { return !entry.second.id.valid(); });
}

UsedIds NodeTable::ResourcesInUse() const {
  UsedIds used;
  const auto is_some = [](int64_t amount) { return amount != 0; };
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    const NodeBlock& block = BlockNow(NodeAt(b, 0));
    const NodeRows& rows = RowsNow(b);
    for (uint32_t i = 0; i < std::max(block.resource_limit(), rows.allocatable.limit()); ++i) {
      const ResourceId resource(i);
      if (std::ranges::any_of(rows.allocatable.Of(resource), is_some) ||
          std::ranges::any_of(block.Free(resource), is_some)) {
        used.Note(resource);
      }
    }
  }
  return used;
}

void NodeTable::PlaceAll() {
  for (const auto& [name, node] : by_name_) Place(node);
}

// Puts the node into its class and its labels into the columns.
void NodeTable::Place(NodeId node) {
  const Record& record = records_[node.index()];
  SetClass(node, ClassFactsOf(record));
  for (size_t column = 0; column < draft_.tables.label_columns.size(); ++column) {
    const Tracked& tracked = tracked_.at(draft_.tables.label_columns[column]);
    const LabelValueId value = ValueOf(record, tracked.id).value_or(LabelValueId());
    const NodeRows& now = RowsNow(BlockOf(node));
    if (now.label_columns[column].values[RowOf(node)] == value) continue;
    Rows(BlockOf(node)).label_columns[column].values[RowOf(node)] = value;
  }
}

NodeClass NodeTable::ClassFactsOf(const Record& record) const {
  NodeClass facts{.labels = {},
                  .taints = record.taints,
                  .unschedulable = record.unschedulable,
                  .gpus = record.gpus};
  for (const auto& [key, value] : record.labels) {
    const Tracked* tracked = TrackedAs(key);
    if (tracked == nullptr || tracked->column.has_value()) continue;
    facts.labels.Set(label_keys_.Name(key), label_values_.Name(value));
  }
  return facts;
}

void NodeTable::SetClass(NodeId node, std::optional<NodeClass> facts) {
  const NodeClassId had = RowsNow(BlockOf(node)).classes[RowOf(node)];
  auto& classes = draft_.tables.classes;
  if (had.valid() && facts.has_value() && *classes[had.index()] == *facts) return;
  if (had.valid() && --class_sizes_[had.index()] == 0) {
    class_ids_.erase(*classes[had.index()]);
    classes[had.index()] = nullptr;
    vacant_classes_.push_back(had);
    draft_.changed = true;
  }
  NodeClassId now;
  if (facts.has_value()) {
    if (const auto it = class_ids_.find(*facts); it != class_ids_.end()) {
      now = it->second;
    } else {
      if (vacant_classes_.empty()) {
        vacant_classes_.push_back(NodeClassId(static_cast<uint32_t>(classes.size())));
        classes.emplace_back();
        class_sizes_.push_back(0);
      }
      now = vacant_classes_.back();
      vacant_classes_.pop_back();
      class_ids_.emplace(*facts, now);
      classes[now.index()] = std::make_shared<const NodeClass>(*std::move(facts));
      draft_.changed = true;
    }
    ++class_sizes_[now.index()];
  }
  Rows(BlockOf(node)).classes[RowOf(node)] = now;
}

void NodeTable::Charge(NodeId node, const PodShape& shape, NodeBlock::Change change) {
  Block(node).Charge(RowOf(node), shape, change);
  for (const PodCountChange& counted : shape.counts) changed_counts_.insert(counted.count);
}

std::vector<std::pair<PodCountId, int64_t>> NodeTable::CountsOn(NodeId node) const {
  std::vector<std::pair<PodCountId, int64_t>> counts;
  for (const PodCounts::Entry& entry : BlockNow(node).pod_counts().entries()) {
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

bool NodeTable::SetAttachLimits(NodeId node, const std::vector<VolumeLimit>& limits) {
  using AttachLimit = NodeRows::AttachLimit;
  std::vector<AttachLimit> wanted;
  for (const VolumeLimit& limit : limits) {
    wanted.push_back(
        {.row = RowOf(node), .driver = shapes_.DriverOfNode(limit.driver), .most = limit.most});
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

// REQUIRES: Has(node).
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
