#include "scheduler/advice/hypothesis.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

// So much is free of what a hypothesis has plenty of; what leaves a node fits on top of it.
constexpr int64_t kPlenty = kMostAmount / 2;

// Adds copies of nodes behind the blocks of a snapshot.
class Annex final {
 public:
  explicit Annex(const Snapshot& from)
      : from_(from),
        snapshot_(std::make_unique<Snapshot>(from)),
        tables_(std::make_unique<Tables>(*from.tables)),
        order_(std::make_unique<NodeOrder>(*from.order)) {}

  void Add(const NodeCopy& copy) {
    if (rows_ == nullptr || used_ == kBlockNodes) CloseBlock();
    if (rows_ == nullptr) OpenBlock();
    const NodeRows& old = from_.blocks[BlockOf(copy.like)]->rows();
    const uint32_t at = RowOf(copy.like);
    const uint32_t row = used_++;
    // Behind every name that Kubernetes allows, so that the order of names stays one.
    const std::string name = absl::StrCat("~", 1'000'000 + added_++, "-", old.names[at]);
    rows_->present.Set(row);
    rows_->names[row] = name;
    rows_->classes[row] = ClassOf(old.classes[at], name);
    for (uint32_t r = 0; r < old.allocatable.limit(); ++r) {
      const ResourceId resource(r);
      int64_t amount = old.allocatable.Of(resource)[at];
      if (copy.only.has_value() && copy.only->first == resource) amount = copy.only->second;
      if (amount != 0) rows_->allocatable.Mutable(resource)[row] = amount;
    }
    for (const NodeRows::AttachLimit& limit : old.attach_limits) {
      if (limit.row == at) rows_->attach_limits.push_back({row, limit.driver, limit.most});
    }
    for (size_t i = 0; i < old.label_columns.size(); ++i) {
      LabelValueId value = old.label_columns[i].values[at];
      if (value.valid() && old.label_columns[i].key == kHostnameLabel) {
        value = LabelValueId(static_cast<uint32_t>(tables_->label_values.size()));
        tables_->label_values.PushBack(name);
      }
      rows_->label_columns[i].values[row] = value;
    }
    const NodeId id = NodeAt(static_cast<uint32_t>(snapshot_->blocks.size()), row);
    order_->rank.resize(id.index() + 1);
    order_->rank[id.index()] = static_cast<uint32_t>(order_->by_name.size());
    order_->by_name.push_back(id);
  }

  [[nodiscard]] SnapshotPtr Take() && {
    CloseBlock();
    snapshot_->tables = std::move(tables_);
    snapshot_->order = std::move(order_);
    return std::move(snapshot_);
  }

 private:
  void OpenBlock() {
    rows_ = std::make_unique<NodeRows>();
    used_ = 0;
    for (const LabelColumn& column : from_.blocks.front()->rows().label_columns) {
      rows_->label_columns.push_back(
          {.key = column.key, .values = std::vector<LabelValueId>(kBlockNodes)});
    }
  }
  void CloseBlock() {
    if (rows_ == nullptr) return;
    std::ranges::sort(rows_->attach_limits);
    rows_->RecomputeMaxima();
    snapshot_->blocks.push_back(
        std::make_shared<const NodeBlock>(NodeBlock(std::move(rows_)).Emptied()));
  }
  // With a host name of its own, where that is a label of few values.
  NodeClassId ClassOf(NodeClassId old, const std::string& name) {
    const NodeClass& like = *tables_->classes[old.index()];
    if (like.labels.Find(kHostnameLabel) == nullptr) return old;
    NodeClass changed = like;
    changed.labels.Set(kHostnameLabel, name);
    tables_->classes.push_back(std::make_shared<const NodeClass>(std::move(changed)));
    return NodeClassId(static_cast<uint32_t>(tables_->classes.size() - 1));
  }

  const Snapshot& from_;
  std::unique_ptr<Snapshot> snapshot_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<NodeOrder> order_;
  std::unique_ptr<NodeRows> rows_;  // of the block that is being filled
  uint32_t used_ = 0;
  int64_t added_ = 0;
};

}  // namespace

NodeId FirstNewNode(const Hypothesis& hypothesis) {
  return NodeAt(static_cast<uint32_t>(hypothesis.snapshot->blocks.size()), 0);
}

Hypothesis AddNodes(const Hypothesis& from, std::span<const NodeCopy> copies) {
  Hypothesis out = from;
  Annex annex(*from.snapshot);
  for (const NodeCopy& copy : copies) annex.Add(copy);
  out.snapshot = std::move(annex).Take();
  // The quota price of a copy is that of its original.
  for (auto& [shape, options] : out.ask.options) {
    for (QuotaOption& option : options) {
      if (!option.nodes.has_value()) continue;
      NodeSet& nodes = *option.nodes;
      nodes.resize(out.snapshot->blocks.size());
      for (uint32_t i = 0; i < copies.size(); ++i) {
        const NodeId like = copies[i].like;
        const NodeId id(FirstNewNode(from).index() + i);
        if (nodes[BlockOf(like)].Test(RowOf(like))) nodes[BlockOf(id)].Set(RowOf(id));
      }
    }
  }
  return out;
}

Hypothesis WithPlenty(const Hypothesis& from, std::span<const ResourceId> resources) {
  Hypothesis out = from;
  auto snapshot = std::make_unique<Snapshot>(*from.snapshot);
  for (std::shared_ptr<const NodeBlock>& block : snapshot->blocks) {
    auto roomy = std::make_shared<NodeBlock>(*block);
    block->rows().present.ForEach([&](uint32_t row) {
      for (const ResourceId resource : resources) {
        const int64_t free = block->Free(resource)[row];
        if (free < kPlenty) roomy->AddFree(row, resource, kPlenty - free);
      }
    });
    block = std::move(roomy);
  }
  out.snapshot = std::move(snapshot);
  return out;
}

Hypothesis ChangeClasses(const Hypothesis& from, std::span<const NodeId> nodes,
                         absl::FunctionRef<void(NodeClass&)> change) {
  Hypothesis out = from;
  auto snapshot = std::make_unique<Snapshot>(*from.snapshot);
  auto tables = std::make_unique<Tables>(*snapshot->tables);
  absl::flat_hash_map<NodeClassId, NodeClassId> changed;
  absl::flat_hash_map<uint32_t, std::unique_ptr<NodeRows>> rows;
  for (const NodeId node : nodes) {
    const uint32_t block = BlockOf(node);
    std::unique_ptr<NodeRows>& copy = rows[block];
    if (copy == nullptr) copy = std::make_unique<NodeRows>(snapshot->blocks[block]->rows());
    const NodeClassId old = copy->classes[RowOf(node)];
    const auto [known, is_new] =
        changed.emplace(old, NodeClassId(static_cast<uint32_t>(tables->classes.size())));
    if (is_new) {
      auto copied = std::make_shared<NodeClass>(*tables->classes[old.index()]);
      change(*copied);
      tables->classes.push_back(std::move(copied));
    }
    copy->classes[RowOf(node)] = known->second;
  }
  for (auto& [block, copy] : rows) {
    auto with = std::make_shared<NodeBlock>(*snapshot->blocks[block]);
    with->SetRows(std::move(copy));
    snapshot->blocks[block] = std::move(with);
  }
  snapshot->tables = std::move(tables);
  out.snapshot = std::move(snapshot);
  return out;
}

Hypothesis RaiseQuota(const Hypothesis& from, QuotaNodeId at, QuotaCellId cell, Amount more) {
  Hypothesis out = from;
  out.tree = std::make_shared<const QuotaTree>(from.tree->WithMore(at, cell, more));
  return out;
}

Hypothesis EndGang(Hypothesis from, const RunningGang& gang) {
  for (const VictimPod& pod : gang.members) from.freed.push_back({pod.node, pod.shape});
  from.freed.insert(from.freed.end(), gang.held.begin(), gang.held.end());
  if (from.tree != nullptr && gang.queue.valid()) {
    auto tree = std::make_shared<QuotaTree>(*from.tree);
    for (const VictimPod& pod : gang.members) tree->Remove(gang.queue, pod.charge);
    tree->Remove(gang.queue, gang.held_charge);
    from.tree = std::move(tree);
  }
  return from;
}

}  // namespace maniple
