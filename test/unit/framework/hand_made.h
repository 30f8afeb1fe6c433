// A snapshot made by hand: nodes at any places, whose labels are in classes or in columns.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "plugins/framework/snapshot.h"
#include "plugins/framework/tables.h"

namespace maniple {

inline StringMap LabelsOf(std::vector<std::pair<std::string, std::string>> entries) {
  return StringMap(std::move(entries));
}

struct HandMadeNode {
  NodeId at;
  std::string name;
  StringMap labels;
  std::vector<Taint> taints = {};
};

class HandMade final {
 public:
  HandMade(std::vector<HandMadeNode> nodes, std::vector<std::string> columns)
      : nodes_(std::move(nodes)), tables_(std::make_shared<Tables>()) {
    tables_->label_columns = std::move(columns);
    for (const HandMadeNode& node : nodes_) Put(node);
    for (const std::shared_ptr<NodeRows>& rows : rows_) {
      blocks_.push_back(std::make_shared<NodeBlock>(rows));
    }
  }

  [[nodiscard]] const std::vector<HandMadeNode>& nodes() const { return nodes_; }
  [[nodiscard]] Tables& tables() { return *tables_; }
  [[nodiscard]] NodeView View(const HandMadeNode& node) const {
    return {.block = *blocks_[BlockOf(node.at)], .row = RowOf(node.at)};
  }
  // Charges the node with that many pods that add one to the count.
  void Count(NodeId node, PodCountId count, int pods) {
    PodShape shape;
    shape.counts = {{.count = count, .change = 1}};
    for (int i = 0; i < pods; ++i) {
      blocks_[BlockOf(node)]->Charge(RowOf(node), shape, NodeBlock::Change::kTake);
    }
  }
  [[nodiscard]] Snapshot Make() const {
    Snapshot out;
    out.blocks.assign(blocks_.begin(), blocks_.end());
    out.tables = tables_;
    auto order = std::make_shared<NodeOrder>();
    std::vector<HandMadeNode> sorted = nodes_;
    std::ranges::sort(sorted, {}, &HandMadeNode::name);
    for (const HandMadeNode& node : sorted) order->by_name.push_back(node.at);
    out.order = std::move(order);
    return out;
  }
  [[nodiscard]] std::vector<const NodeBlock*> Blocks() const {
    std::vector<const NodeBlock*> out;
    for (const std::shared_ptr<NodeBlock>& block : blocks_) out.push_back(block.get());
    return out;
  }

 private:
  void Put(const HandMadeNode& node) {
    while (rows_.size() <= BlockOf(node.at)) {
      rows_.push_back(std::make_shared<NodeRows>());
      for (const std::string& key : tables_->label_columns) {
        rows_.back()->label_columns.push_back(
            {.key = key, .values = std::vector<LabelValueId>(kBlockNodes)});
      }
    }
    NodeRows& rows = *rows_[BlockOf(node.at)];
    rows.present.Set(RowOf(node.at));
    rows.names[RowOf(node.at)] = node.name;
    rows.classes[RowOf(node.at)] = NodeClassId(static_cast<uint32_t>(tables_->classes.size()));
    NodeClass of{.labels = {}, .taints = node.taints, .unschedulable = false, .gpus = {}};
    for (const auto& [key, value] : node.labels.entries()) {
      const auto column = std::ranges::find(tables_->label_columns, key);
      if (column == tables_->label_columns.end()) {
        of.labels.Set(key, value);
        continue;
      }
      const auto at = static_cast<size_t>(column - tables_->label_columns.begin());
      rows.label_columns[at].values[RowOf(node.at)] = ValueId(value);
    }
    tables_->classes.push_back(std::make_shared<const NodeClass>(std::move(of)));
  }
  LabelValueId ValueId(const std::string& value) {
    for (size_t i = 0; i < tables_->label_values.size(); ++i) {
      if (tables_->label_values[i] == value) return LabelValueId(static_cast<uint32_t>(i));
    }
    tables_->label_values.PushBack(value);
    return LabelValueId(static_cast<uint32_t>(tables_->label_values.size() - 1));
  }

  std::vector<HandMadeNode> nodes_;
  std::shared_ptr<Tables> tables_;
  std::vector<std::shared_ptr<NodeRows>> rows_;
  std::vector<std::shared_ptr<NodeBlock>> blocks_;
};

// Some nodes on both sides of the border of a block; each has each label, of few values, or not.
inline std::vector<HandMadeNode> RandomNodes(Random& random, const std::vector<std::string>& keys) {
  std::vector<HandMadeNode> nodes;
  for (uint32_t at = kBlockNodes - 5; at < kBlockNodes + 5; ++at) {
    if (random.OneIn(4)) continue;
    HandMadeNode node{.at = NodeId(at), .name = absl::StrCat("n", random.Below(1000), "-", at)};
    for (const std::string& key : keys) {
      if (!random.OneIn(5)) node.labels.Set(key, absl::StrCat(random.Below(3)));
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace maniple
