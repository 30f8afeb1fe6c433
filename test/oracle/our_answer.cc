#include "test/oracle/our_answer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/check.h"
#include "api/codec/decode.h"
#include "plugins/builtin.h"
#include "plugins/framework/cluster_filter.h"
#include "scheduler/state/cluster_state.h"

namespace maniple {
namespace {

struct KindRow {
  absl::string_view key;  // of a case
  ResourceKind kind;
};
constexpr KindRow kKinds[] = {
    {"nodes", ResourceKind::kNode},
    {"namespaces", ResourceKind::kNamespace},
    {"claims", ResourceKind::kPersistentVolumeClaim},
    {"volumes", ResourceKind::kPersistentVolume},
    {"storageClasses", ResourceKind::kStorageClass},
    {"csiNodes", ResourceKind::kCsiNode},
    {"csiDrivers", ResourceKind::kCsiDriver},
    {"capacities", ResourceKind::kCsiStorageCapacity},
    {"attachments", ResourceKind::kVolumeAttachment},
    {"pods", ResourceKind::kPod},
};

// The cluster of one case, and our answers about it.
class CaseWorld final {
 public:
  CaseWorld(const FilterFamily& family, const Json& filter_case)
      : family_(family), case_(filter_case), state_(ClusterStateOptions{}) {}

  FilterAnswer Answer() {
    for (const Json& key : case_["columns"].items()) ApplyColumn(key.AsString());
    for (const KindRow& row : kKinds) {
      for (const Json& object : case_[row.key].items()) Apply(row.kind, object);
    }
    Apply(ResourceKind::kPod, case_["pod"]);
    if (answer_.error.empty()) Ask();
    return std::move(answer_);
  }

 private:
  void Apply(ResourceKind kind, const Json& object) {
    const absl::StatusOr<DecodedObject> decoded = Decoder().Single(kind, object.Dump());
    if (!decoded.ok()) {
      answer_.error = decoded.status().ToString();
      return;
    }
    if (const auto* invalid = std::get_if<ObjectInvalid>(&decoded->what)) {
      answer_.error = absl::StrCat(object["metadata"]["name"].AsString(), ": ", invalid->problem);
      return;
    }
    ApplyEvent(ObjectUpserted{std::get<Object>(decoded->what)});
  }

  void ApplyColumn(const std::string& label) {
    Topology topology;
    topology.meta.name = label;
    topology.levels.push_back({.name = "level", .node_label = label});
    ApplyEvent(ObjectUpserted{std::move(topology)});
  }

  void ApplyEvent(const ObjectEvent& event) {
    Delta delta;
    state_.Apply(event, now_, delta);
  }

  void Ask() {
    const std::optional<PodId> id = state_.PodWithUid(case_["pod"]["metadata"]["uid"].AsString());
    CHECK(id.has_value()) << "the state has lost the pod";
    const PodFacts& pod = *state_.FindPod(*id);
    snapshot_ = state_.Publish();
    for (const auto& block : snapshot_->blocks) blocks_.push_back(block.get());
    const PodShape& shape = snapshot_->tables->ShapeOf(pod.shape);
    const CycleInput cycle{.snapshot = *snapshot_, .now = now_};
    const std::optional<Filters> filters = BindFilters(cycle, shape);
    for (const Json& node : case_["nodes"].items()) {
      const NodeId at = NodeOf(node);
      // A pod that names a node is bound to it, and asks nobody. One that is refused fits nowhere.
      const bool free = pod.node_name.empty() || pod.node_name == state_.NodeName(at);
      const bool fits = free && filters.has_value() && Fits(at, *filters);
      answer_.feasible.push_back(fits ? '1' : '0');
    }
    if (case_["scores"].AsBool()) Score(cycle, shape);
  }

  using Filters = std::vector<std::unique_ptr<NodeFilter>>;

  // None: the shape is refused, wherever it would go.
  std::optional<Filters> BindFilters(const CycleInput& cycle, const PodShape& shape) const {
    Filters filters;
    for (const FilterRow& row : BuiltinFilters()) {
      if (std::find(family_.filters.begin(), family_.filters.end(), row.name) ==
          family_.filters.end()) {
        continue;
      }
      absl::StatusOr<std::unique_ptr<NodeFilter>> bound = row.make()->Bind(cycle, shape);
      if (!bound.ok()) return std::nullopt;
      if (*bound == nullptr) continue;
      LetLookAround(**bound, blocks_);
      filters.push_back(*std::move(bound));
    }
    return filters;
  }

  NodeId NodeOf(const Json& node) const {
    const std::optional<NodeId> at = state_.NodeNamed(node["metadata"]["name"].AsString());
    CHECK(at.has_value()) << "the state has lost a node";
    return *at;
  }

  NodeView ViewOf(NodeId at) const {
    return {.block = *snapshot_->blocks[BlockOf(at)], .row = RowOf(at)};
  }

  bool Fits(NodeId at, const Filters& filters) {
    const NodeView view = ViewOf(at);
    NodeMask narrowed;
    narrowed.Set(view.row);
    bool fits = true;
    for (const std::unique_ptr<NodeFilter>& filter : filters) {
      fits = fits && filter->Check(view, {}).fits();
      filter->Narrow(view.block, {}, narrowed);
      if (filter->coupling() == FilterCoupling::kPerNodeCap && filter->CapOn(view) == 0) {
        narrowed.Clear(view.row);
      }
    }
    if (fits != narrowed.Test(view.row)) answer_.error = "Narrow and Check disagree";
    return fits;
  }

  void Score(const CycleInput& cycle, const PodShape& shape) {
    std::unique_ptr<NodeScore> score;
    for (const ScoreRow& row : BuiltinScores()) {
      if (row.name == family_.score) score = row.make()->Bind(cycle, shape);
    }
    NodeSet fitting(blocks_.size());
    for (size_t i = 0; i < answer_.feasible.size(); ++i) {
      const NodeId at = NodeOf(case_["nodes"].items()[i]);
      if (answer_.feasible[i] == '1') fitting[BlockOf(at)].Set(RowOf(at));
    }
    if (score != nullptr) score->Compare(blocks_, fitting);
    for (size_t i = 0; i < answer_.feasible.size(); ++i) {
      const bool fits = answer_.feasible[i] == '1';
      const NodeView view = ViewOf(NodeOf(case_["nodes"].items()[i]));
      answer_.scores.push_back(!fits ? -1 : score != nullptr ? score->Score(view) : 0);
    }
  }

  const FilterFamily& family_;
  const Json& case_;
  const absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  ClusterState state_;
  SnapshotPtr snapshot_;
  std::vector<const NodeBlock*> blocks_;  // of the snapshot
  FilterAnswer answer_;
};

// Equal scores may differ in ours and the other way round, since both round; none may be reversed.
bool SameOrder(const std::vector<int64_t>& ours, const std::vector<int64_t>& theirs) {
  for (size_t i = 0; i < ours.size(); ++i) {
    for (size_t j = 0; j < ours.size(); ++j) {
      if (ours[i] >= 0 && ours[j] >= 0 && ours[i] > ours[j] && theirs[i] < theirs[j]) return false;
    }
  }
  return true;
}

}  // namespace

FilterAnswer OurAnswer(const FilterFamily& family, const Json& filter_case) {
  return CaseWorld(family, filter_case).Answer();
}

std::string Difference(const FilterFamily& family, const FilterAnswer& ours,
                       const FilterAnswer& theirs) {
  if (!ours.error.empty() || !theirs.error.empty()) {
    return absl::StrCat("ours says \"", ours.error, "\", kube-scheduler \"", theirs.error, "\"");
  }
  if (ours.feasible != theirs.feasible) {
    return absl::StrCat("feasible: ours ", ours.feasible, ", kube-scheduler ", theirs.feasible);
  }
  if (ours.scores.size() != theirs.scores.size()) return "one of both has no scores";
  const bool alike = family.likeness == FilterFamily::Likeness::kEqual
                         ? ours.scores == theirs.scores
                         : SameOrder(ours.scores, theirs.scores);
  if (alike) return "";
  return absl::StrCat("scores: ours ", absl::StrJoin(ours.scores, " "), ", kube-scheduler ",
                      absl::StrJoin(theirs.scores, " "));
}

}  // namespace maniple
