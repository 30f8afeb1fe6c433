// Nodes as rows in columns: free and allocatable amounts, and the class of each node.
//
// Owned by ClusterState; scheduling thread. Knows nothing of pods: it is told what to charge.
// Between two calls of Publish a block is copied at most once, when it is first touched.
//
// Invariants:
//   1. A row that is not present has no name, no class, and zero in every column.
//   2. Two present nodes are of one class iff their tracked labels with few values,
//      taints, cordon and facts about GPUs are equal.
//   3. Blocks handed out by Publish are never written again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/model/model.h"
#include "api/model/storage.h"
#include "plugins/framework/gpu_models.h"
#include "plugins/framework/snapshot.h"
#include "scheduler/state/image_table.h"
#include "scheduler/state/shape_table.h"

namespace maniple {

// A label with more values than this is a column, never part of a class.
inline constexpr size_t kMostClassValues = 64;

class NodeTable final {
 public:
  // Borrows all for its life.
  NodeTable(DraftTables& draft, ShapeTable& shapes, const GpuRules& gpu_rules);

  struct Change {
    NodeId node;
    bool appeared = false;
    bool facts_changed = false;  // labels, taints, cordon, GPUs; also when it appeared
    bool room_grew = false;
    bool lost = false;  // it has less allocatable than before, or other labels
  };
  // `hyper_nodes`: those that it is in, by the labels of their tiers.
  Change Upsert(const Node& node, const StringMap& hyper_nodes);
  // Whether that changes where levels find it.
  bool SetHyperNodes(NodeId node, const StringMap& hyper_nodes);
  // The node exists, but nothing fits on it: the server holds a version of it that we cannot read.
  Change Disable(NodeId node);
  // REQUIRES: nothing is charged to the node any more.
  void Remove(NodeId node);

  [[nodiscard]] std::optional<NodeId> Find(absl::string_view name) const;
  [[nodiscard]] absl::string_view NameOf(NodeId node) const;  // "" when gone
  [[nodiscard]] absl::string_view UidOf(NodeId node) const;
  [[nodiscard]] StringMap LabelsOf(NodeId node) const;      // empty when gone
  [[nodiscard]] const GpuFacts& GpusOf(NodeId node) const;  // none when gone
  [[nodiscard]] bool Has(NodeId node) const;
  // Node indices are below this.
  [[nodiscard]] uint32_t rows() const { return static_cast<uint32_t>(records_.size()); }

  void Charge(NodeId node, const PodShape& shape, NodeBlock::Change change);
  void SetCoolDown(NodeId node, absl::Time until);
  // How many volumes of each driver it can attach; others have no limit. True when that is news.
  bool SetAttachLimits(NodeId node, const std::vector<NodeAttachments>& limits);
  // Volumes of drivers with a limit that are attached to it and that no pod uses there.
  [[nodiscard]] int64_t UnusedAttachments(NodeId node) const;
  // The counts of pods that are there, or of those that come later; none of them is zero.
  [[nodiscard]] std::vector<std::pair<PodCountId, int64_t>> CountsOn(NodeId node, bool later) const;
  // Counts that a charge changed since the last call; sorted.
  [[nodiscard]] std::vector<PodCountId> TakeChangedCounts();

  // Visits every GPU resource of every node, used or not.
  void ForEachGpu(const GpuModels& models,
                  absl::FunctionRef<void(uint32_t model, ResourceId, int64_t)> visit) const;

  // From now on nodes that differ in these labels are of different classes.
  void TrackLabels(const std::vector<std::string>& keys);
  // From now on these labels are columns, however few values they have; one that no node carries
  // becomes a column when the first does.
  void TrackColumns(const std::vector<std::string>& keys);

  // From now on the snapshot says which nodes have these images.
  void TrackImages(const std::vector<ImageId>& images);

  // For sweeps: shapes run only these images and look only at these counts from now on.
  // Labels that no node carries are no longer tracked.
  void KeepOnlyImages(const UsedIds& images);
  void KeepOnlyCounts(const UsedIds& counts);
  void ForgetLabelsOfNoNode();
  // Resources that some node has, or that are charged on one.
  [[nodiscard]] UsedIds ResourcesInUse() const;
  [[nodiscard]] size_t tracked_labels() const { return tracked_.size(); }

  // Room, taints and cordon only; a selector may still refuse.
  [[nodiscard]] bool MayFit(NodeId node, const PodShape& shape) const;
  // Taints and cordon only. REQUIRES: Has(node).
  [[nodiscard]] bool LetsIn(NodeId node, const PodShape& shape) const;
  // The same for a pod that is charged there already; room that is only held is not in its way.
  [[nodiscard]] bool StillFits(NodeId node, const PodShape& shape,
                               std::span<const PodShape* const> held) const;
  [[nodiscard]] int64_t Free(NodeId node, ResourceId resource) const;
  [[nodiscard]] int64_t Allocatable(NodeId node, ResourceId resource) const;

  [[nodiscard]] bool changed() const { return changed_ || images_.changed(); }
  // Freezes the changes and fills blocks and order. O(blocks changed).
  void PublishInto(Snapshot& snapshot);

  // Invariants 1 and 2, recomputed from scratch.
  [[nodiscard]] absl::Status CheckInvariants() const;

 private:
  struct RoomChange {
    bool grew = false;
    bool fell = false;
  };
  enum class FactsChange : uint8_t { kNone, kOthers, kLabels };

  using LabelKeyId = Id<struct LabelKeyTag>;
  using LabelIds = std::vector<std::pair<LabelKeyId, LabelValueId>>;  // by key id
  struct Record {
    std::string name, uid;  // name "" = the row is vacant
    LabelIds labels;
    LabelIds places;            // those of its labels that only levels read (place_label.h)
    std::vector<Taint> taints;  // sorted
    bool unschedulable = false;
    GpuFacts gpus;
    bool cooled = false;
  };
  struct Tracked {
    LabelKeyId id;                             // invalid: no node has ever carried it
    std::optional<size_t> column;              // its place in tables.label_columns
    bool wants_column = false;                 // as soon as a node carries it
    absl::flat_hash_set<LabelValueId> values;  // seen so far, while it is no column
  };

  NodeBlock& Block(NodeId node);
  NodeRows& Rows(uint32_t block);
  const NodeBlock& BlockNow(NodeId node) const;
  const NodeRows& RowsNow(uint32_t block) const;
  NodeId TakeRow();
  RoomChange SetAllocatable(NodeId node, const ResourceAmounts& amounts);
  FactsChange SetFacts(Record& record, const Node& node, const StringMap& hyper_nodes);
  LabelIds AddPlaces(LabelIds& labels, const StringMap& hyper_nodes);
  void PlaceByFacts(NodeId node);
  void NoteProduct(const Node& node, const GpuFacts& gpus);
  bool NoteValues(const Record& record);
  void MakeColumn(Tracked& tracked, const std::string& key);
  void Place(NodeId node);
  void PlaceAll();
  NodeClass ClassFactsOf(const Record& record) const;
  void SetImages(NodeId node, const std::vector<ImageId>& images);
  void SetClass(NodeId node, std::optional<NodeClass> facts);
  std::optional<LabelValueId> ValueOf(const Record& record, LabelKeyId key) const;
  LabelValueId InternValue(absl::string_view value);
  LabelKeyId InternKey(const std::string& key);
  Tracked& Track(const std::string& key);
  [[nodiscard]] Tracked* TrackedAs(LabelKeyId key) const {
    return key.index() < tracked_by_id_.size() ? tracked_by_id_[key.index()] : nullptr;
  }

  DraftTables& draft_;
  ShapeTable& shapes_;
  const GpuRules& gpu_rules_;
  absl::btree_set<std::string> strange_products_;  // told of in the log

  ImageTable images_;

  std::vector<Record> records_;  // by node index
  absl::btree_map<std::string, NodeId> by_name_;
  absl::btree_set<uint32_t> vacant_;  // rows below records_.size()

  std::vector<std::shared_ptr<const NodeBlock>> blocks_;  // as published last
  std::vector<std::unique_ptr<NodeBlock>> block_drafts_;  // touched since; null = as published
  std::vector<std::shared_ptr<const NodeRows>> rows_;
  std::vector<std::unique_ptr<NodeRows>> row_drafts_;
  std::shared_ptr<const NodeOrder> order_;
  bool changed_ = true;
  bool set_changed_ = true;
  absl::flat_hash_set<PodCountId> changed_counts_;

  Interner<LabelKeyId> label_keys_;
  Interner<LabelValueId> label_values_;     // as tables.label_values
  std::map<std::string, Tracked> tracked_;  // its nodes stay in place
  std::vector<Tracked*> tracked_by_id_;     // null: no shape asks for the label
  absl::btree_map<NodeClass, NodeClassId> class_ids_;
  std::vector<int32_t> class_sizes_;  // nodes per class
  std::vector<NodeClassId> vacant_classes_;
};

}  // namespace maniple
