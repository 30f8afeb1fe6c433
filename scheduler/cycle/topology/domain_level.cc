#include "scheduler/cycle/topology/domain_level.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

// The most levels that are kept: those of a few topologies, with their combinations.
constexpr size_t kMostKnown = 64;

// The value of one label, node by node.
class LabelReader final {
 public:
  LabelReader(const Snapshot& snapshot, absl::string_view label)
      : snapshot_(snapshot), label_(label) {
    const std::vector<std::string>& columns = snapshot.tables->label_columns;
    const auto at = std::find(columns.begin(), columns.end(), label);
    if (at != columns.end()) column_ = static_cast<size_t>(at - columns.begin());
  }

  // "" when the node lacks it; a label without a value names no domain.
  [[nodiscard]] absl::string_view ValueOn(NodeId node) const {
    const NodeRows& rows = snapshot_.blocks[BlockOf(node)]->rows();
    if (!column_.has_value()) {
      const NodeClassId node_class = rows.classes[RowOf(node)];
      return snapshot_.tables->classes[node_class.index()]->labels.Get(label_);
    }
    if (*column_ >= rows.label_columns.size()) return "";
    const LabelValueId value = rows.label_columns[*column_].values[RowOf(node)];
    return value.valid() ? absl::string_view(snapshot_.tables->label_values[value.index()]) : "";
  }

 private:
  const Snapshot& snapshot_;
  absl::string_view label_;
  std::optional<size_t> column_;
};

// The first of the step's labels that the node has: its position, and its value.
struct StepValue {
  size_t label = 0;
  absl::string_view value;
};
std::optional<StepValue> ValueOf(const std::vector<LabelReader>& step, NodeId node) {
  for (size_t i = 0; i < step.size(); ++i) {
    const absl::string_view value = step[i].ValueOn(node);
    if (!value.empty()) return StepValue{.label = i, .value = value};
  }
  return std::nullopt;
}

std::vector<LabelReader> ReadersOf(const Snapshot& snapshot,
                                   const std::vector<std::string>& labels) {
  std::vector<LabelReader> readers;
  for (const std::string& label : labels) readers.emplace_back(snapshot, label);
  return readers;
}

}  // namespace

NodeSet DomainLevel::NodesOf(const Snapshot& snapshot, uint32_t domain) const {
  NodeSet nodes(snapshot.blocks.size());
  for (uint32_t i = 0; i < domain_of.size(); ++i) {
    if (domain_of[i] == domain) nodes[BlockOf(NodeId(i))].Set(RowOf(NodeId(i)));
  }
  return nodes;
}

DomainLevel LevelOf(const Snapshot& snapshot, const LevelKey& key) {
  DomainLevel level{.name = key.name, .paths = {""}, .domain_of = {}};
  level.domain_of.assign(snapshot.blocks.size() * kBlockNodes, DomainLevel::kOutside);
  for (const NodeId node : snapshot.order->by_name) level.domain_of[node.index()] = 0;
  for (const std::vector<std::string>& labels : key.steps) {
    const std::vector<LabelReader> step = ReadersOf(snapshot, labels);
    absl::flat_hash_map<std::tuple<uint32_t, size_t, absl::string_view>, uint32_t> ids;
    std::vector<std::string> paths;
    for (const NodeId node : snapshot.order->by_name) {
      uint32_t& domain = level.domain_of[node.index()];
      if (domain == DomainLevel::kOutside) continue;
      const std::optional<StepValue> value = ValueOf(step, node);
      if (!value.has_value()) {
        domain = DomainLevel::kOutside;
        continue;
      }
      const auto [it, is_new] = ids.try_emplace({domain, value->label, value->value},
                                                static_cast<uint32_t>(paths.size()));
      if (is_new) {
        const std::string& parent = level.paths[domain];
        paths.push_back(absl::StrCat(parent, parent.empty() ? "" : "/", value->value));
      }
      domain = it->second;
    }
    level.paths = std::move(paths);
  }
  std::vector<uint32_t> order(level.paths.size());
  std::iota(order.begin(), order.end(), 0);
  // Equal paths, of two labels of one step, keep the order of their first nodes.
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return level.paths[a] < level.paths[b]; });
  std::vector<uint32_t> place(order.size());
  std::vector<std::string> sorted;
  for (uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(std::move(level.paths[order[i]]));
  }
  level.paths = std::move(sorted);
  for (uint32_t& domain : level.domain_of) {
    if (domain != DomainLevel::kOutside) domain = place[domain];
  }
  return level;
}

NodeLayout LayoutOf(const Snapshot& snapshot, const LevelKey& key) {
  // Narrowest step first: each sort keeps the order of nodes that the broader steps
  // do not tell apart.
  std::vector<NodeId> nodes = snapshot.order->by_name;
  for (size_t i = key.steps.size(); i-- > 0;) {
    const std::vector<LabelReader> step = ReadersOf(snapshot, key.steps[i]);
    std::vector<std::pair<absl::string_view, NodeId>> values;
    values.reserve(nodes.size());
    for (const NodeId node : nodes) {
      const std::optional<StepValue> value = ValueOf(step, node);
      values.emplace_back(value.has_value() ? value->value : absl::string_view(), node);
    }
    std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) {
      return std::make_pair(a.first.empty(), a.first) < std::make_pair(b.first.empty(), b.first);
    });
    for (size_t n = 0; n < nodes.size(); ++n) nodes[n] = values[n].second;
  }
  NodeLayout layout(snapshot.order->rank.size(), 0);
  for (uint32_t place = 0; place < nodes.size(); ++place) layout[nodes[place].index()] = place;
  return layout;
}

LevelStore::Known& LevelStore::EntryOf(const Snapshot& snapshot, const LevelKey& key) {
  const auto at =
      std::ranges::find_if(known_, [&](const auto& known) { return known->key == key; });
  if (at == known_.end()) {
    known_.insert(known_.begin(), std::make_unique<Known>());
    known_.front()->key = key;
    if (known_.size() > kMostKnown) known_.pop_back();
  } else {
    std::rotate(known_.begin(), at, at + 1);
  }
  Known& entry = *known_.front();
  bool same = entry.order == snapshot.order && entry.rows.size() == snapshot.blocks.size();
  for (size_t b = 0; same && b < entry.rows.size(); ++b) {
    const std::shared_ptr<const NodeRows>& rows = snapshot.blocks[b]->shared_rows();
    same = !entry.rows[b].owner_before(rows) && !rows.owner_before(entry.rows[b]);
  }
  if (same) return entry;
  entry.level.reset();
  entry.layout.reset();
  entry.order = snapshot.order;
  entry.rows.clear();
  for (const auto& block : snapshot.blocks) entry.rows.emplace_back(block->shared_rows());
  return entry;
}

DomainLevelPtr LevelStore::Level(const Snapshot& snapshot, const LevelKey& key) {
  Known& entry = EntryOf(snapshot, key);
  if (entry.level == nullptr) {
    entry.level = std::make_shared<const DomainLevel>(LevelOf(snapshot, key));
  }
  return entry.level;
}

std::shared_ptr<const NodeLayout> LevelStore::Layout(const Snapshot& snapshot,
                                                     const LevelKey& key) {
  Known& entry = EntryOf(snapshot, key);
  if (entry.layout == nullptr) {
    entry.layout = std::make_shared<const NodeLayout>(LayoutOf(snapshot, key));
  }
  return entry.layout;
}

}  // namespace maniple
