// Facts of nodes: labels, images, GPU facts, and the classes that follow from them.
#include <algorithm>
#include <iterator>
#include <map>

#include "api/base/log.h"
#include "plugins/framework/place_label.h"
#include "scheduler/state/node_table.h"

namespace maniple {
namespace {

// At most so many unknown products are logged: labels are anybody's text.
constexpr size_t kMostStrangeProducts = 64;

NodeMask& RowsOfImage(NodeRows& rows, ImageId image) {
  const auto at = std::ranges::lower_bound(rows.images, image, {}, &ImageRows::image);
  if (at != rows.images.end() && at->image == image) return at->rows;
  return rows.images.insert(at, {.image = image, .rows = {}})->rows;
}

}  // namespace

LabelValueId NodeTable::InternValue(absl::string_view value) {
  const LabelValueId id = label_values_.Intern(value);
  if (id.index() == draft_.tables.label_values.size()) {
    draft_.tables.label_values.PushBack(std::string(value));
    draft_.changed = true;
  }
  return id;
}

// A label that a shape asks for gets its number with the first node that carries it.
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

// Logs one line per product: all that follows from its name is unknown for all its nodes.
void NodeTable::NoteProduct(const Node& node, const GpuFacts& gpus) {
  if (gpus.product.empty() || gpus.known_product) return;
  if (strange_products_.size() >= kMostStrangeProducts) return;
  if (!strange_products_.insert(gpus.product).second) return;
  LOG(WARNING) << "GPU product \"" << gpus.product << "\" (node " << node.meta.name
               << ") is in no table: nothing is promised of links between its GPUs; "
                  "gpu.productTable of the configuration can say";
}

// Whether labels, taints, cordon or facts about GPUs changed.
NodeTable::FactsChange NodeTable::SetFacts(Record& record, const Node& node,
                                           const StringMap& hyper_nodes) {
  LabelIds labels;
  labels.reserve(node.meta.labels.entries().size());
  for (const auto& [key, value] : node.meta.labels.entries()) {
    labels.emplace_back(InternKey(key), InternValue(value));
  }
  std::sort(labels.begin(), labels.end());
  record.places = AddPlaces(labels, hyper_nodes);
  std::vector<Taint> taints = node.taints;
  std::sort(taints.begin(), taints.end());
  GpuFacts gpus = GpuFactsOf(node, gpu_rules_);
  if (labels == record.labels && taints == record.taints &&
      node.unschedulable == record.unschedulable && gpus == record.gpus) {
    return FactsChange::kNone;
  }
  const bool same_labels = labels == record.labels;
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
  return same_labels ? FactsChange::kOthers : FactsChange::kLabels;
}

// What levels read: what the node says itself, else the HyperNode that it is in.
NodeTable::LabelIds NodeTable::AddPlaces(LabelIds& labels, const StringMap& hyper_nodes) {
  StringMap places = hyper_nodes;
  for (const auto& [key, value] : labels) {
    const std::string& name = label_keys_.Name(key);
    if (IsTierLabel(name)) places.Set(name, label_values_.Name(value));
  }
  LabelIds added;
  for (const auto& [key, value] : places.entries()) {
    added.emplace_back(InternKey(PlaceLabel(key)), InternValue(value));
  }
  std::sort(added.begin(), added.end());
  labels.insert(labels.end(), added.begin(), added.end());
  std::inplace_merge(labels.begin(), labels.end() - static_cast<ptrdiff_t>(added.size()),
                     labels.end());
  return added;
}

bool NodeTable::SetHyperNodes(NodeId node, const StringMap& hyper_nodes) {
  Record& record = records_[node.index()];
  LabelIds labels;
  std::ranges::set_difference(record.labels, record.places, std::back_inserter(labels));
  record.places = AddPlaces(labels, hyper_nodes);
  if (labels == record.labels) return false;
  record.labels = std::move(labels);
  PlaceByFacts(node);
  return true;
}

// After its labels, taints, cordon or GPUs changed.
void NodeTable::PlaceByFacts(NodeId node) {
  if (NoteValues(records_[node.index()])) {
    PlaceAll();
  } else {
    Place(node);
  }
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

// `images`: all tracked images of the node; sorted.
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

// ---- entries that no node and no pod needs any more

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
    const auto drop = [&](const PodCounts& all, NodeBlock::Change give) {
      std::map<uint32_t, PodShape> gone;  // by row: the sum of counts that are no longer used
      for (const PodCounts::Entry& entry : all.entries()) {
        if (!counts.Has(entry.count)) gone[entry.row].counts.push_back({entry.count, entry.value});
      }
      for (const auto& [row, shape] : gone) Block(NodeAt(b, row)).Charge(row, shape, give);
    };
    drop(BlockNow(NodeAt(b, 0)).pod_counts(), NodeBlock::Change::kGive);
    drop(BlockNow(NodeAt(b, 0)).promised_counts(), NodeBlock::Change::kGivePromised);
  }
}

// A shape that still needs such labels asks for them again.
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

}  // namespace maniple
