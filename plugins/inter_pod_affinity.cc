// InterPodAffinity: required affinity and anti-affinity of the pod to others, and the required
// anti-affinity of others to the pod.
//
// Members of one gang that must be apart on a label which no two nodes share are a cap of one per
// node; on any other label they are searched one by one. Members that must be near each other, and
// near no pod that stands already, take one domain for all.
//
// Pods that are yet to come keep others away as if they were there. To be near them is not enough,
// but a pod that may be the first must then be near them.
#include "plugins/factories.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "plugins/framework/cluster_filter.h"
#include "plugins/framework/gang_pod_counts.h"
#include "plugins/framework/label_domains.h"

namespace maniple {
namespace {

// A count of pods to stay apart from, and whose term asks for it.
struct Apart {
  PodCountId count;
  Reason reason;
};

// Pods that must not be in the domain, by a label that several nodes may share.
struct SharedLabel {
  LabelDomains domains;
  std::vector<Apart> apart;
  bool members_write = false;        // some member of the gang adds to one of the counts
  bool keeps_own_apart = false;      // each pod of the shape adds to one of them itself
  std::vector<int64_t> own, others;  // sums by domain: of the pod's own terms, and of others'
};

// The same by a label that tells all nodes apart: the counts of the node itself decide.
struct NodeLabel {
  size_t column = 0;
  std::vector<Apart> apart;
  bool keeps_own_apart = false;
};

struct NearLabel {
  LabelDomains domains;
  std::vector<int64_t> pods;  // by domain
};

class BoundPodAffinity final : public ClusterFilter {
 public:
  BoundPodAffinity(const CycleInput& cycle, const PodShape& shape)
      : snapshot_(cycle.snapshot),
        terms_(*shape.terms),
        members_(cycle, shape),
        now_(cycle.question == Question::kNow) {
    BindNear();
    for (const CountInDomain& term : terms_.apart) BindApart(term, kReasonPodAntiAffinity);
    for (const CountInDomain& term : terms_.kept_away) BindApart(term, kReasonKeptAway);
    if (shared_.empty() && near_columns_.empty() && node_.empty() && !lacks_near_key_) {
      nothing_to_say_ = true;
    }
    near_by_others_ = now_ && SomeMemberIsNearAnywhere(cycle, shape);
    for (const SharedLabel& label : shared_) members_meet_ = members_meet_ || label.members_write;
    for (const NodeLabel& label : node_) caps_ = caps_ || label.keeps_own_apart;
  }

  [[nodiscard]] bool nothing_to_say() const { return nothing_to_say_; }

  FilterScope scope() const override { return FilterScope::kDynamic; }
  FilterCoupling coupling() const override {
    if (members_meet_ || near_by_others_) return FilterCoupling::kAcrossNodes;
    return caps_ ? FilterCoupling::kPerNodeCap : FilterCoupling::kNone;
  }

  bool looks_around() const override { return !shared_.empty() || !near_.empty(); }
  // All nodes together decide which labels tell all nodes apart.
  bool may_be_remembered() const override { return false; }
  void LookAround(BlockSpan blocks) override {
    for (SharedLabel& label : shared_) {
      std::ranges::fill(label.own, 0);
      std::ranges::fill(label.others, 0);
      for (const Apart& apart : label.apart) {
        const bool own = apart.reason.id == kReasonPodAntiAffinity;
        std::vector<int64_t>& sums = own ? label.own : label.others;
        label.domains.AddTo(sums, blocks, apart.count, 1);
        label.domains.AddPromisedTo(sums, blocks, apart.count);
      }
    }
    for (NearLabel& label : near_) {
      std::ranges::fill(label.pods, 0);
      if (terms_.near.valid()) label.domains.AddTo(label.pods, blocks, terms_.near, 1);
    }
    near_somebody_ = SomebodyIsNear();
    first_is_promised_ = false;
    if (near_somebody_ || !terms_.near_self || !terms_.near.valid()) return;
    for (NearLabel& label : near_) label.domains.AddPromisedTo(label.pods, blocks, terms_.near);
    first_is_promised_ = SomebodyIsNear();
  }

  std::span<const size_t> one_domain_of() const override {
    if (!now_ || near_somebody_ || !(terms_.near_self || near_by_others_)) return {};
    return near_columns_;
  }

  Verdict Check(const NodeView& node, const PartialPlan&) const override {
    if (!HasNearKeys(node) || !IsNear(node)) {
      return {.code = Code::kUnresolvable, .reason = {.id = kReasonPodAffinity}};
    }
    std::optional<Reason> refusal;
    for (const NodeLabel& label : node_) {
      if (!node.block.rows().label_columns[label.column].values[node.row].valid()) continue;
      for (const Apart& apart : label.apart) {
        if (node.block.pod_counts().At(apart.count, node.row) > 0 ||
            node.block.promised_counts().At(apart.count, node.row) > 0) {
          Note(apart.reason, refusal);
        }
      }
    }
    for (const SharedLabel& label : shared_) {
      const uint32_t domain = label.domains.Of(node);
      if (domain == LabelDomains::kNone) continue;
      if (label.own[domain] > 0) Note({.id = kReasonPodAntiAffinity}, refusal);
      if (label.others[domain] > 0) Note({.id = kReasonKeptAway}, refusal);
    }
    if (!refusal.has_value()) return {};
    return {.code = Code::kUnschedulable, .reason = *refusal};
  }

  void Narrow(const NodeBlock& block, const PartialPlan&, NodeMask& fits) const override {
    NarrowApart(block, fits);
    if (near_columns_.empty() && !lacks_near_key_) return;
    fits.ForEach([&](uint32_t row) {
      const NodeView node{.block = block, .row = row};
      if (!HasNearKeys(node) || !IsNear(node)) fits.Clear(row);
    });
  }

  // A placed member can only add pods that the next must be apart from.
  // But it may be the pod that the next wants to be near.
  void NarrowForGood(const NodeBlock& block, NodeMask& fits) const override {
    NarrowApart(block, fits);
    fits.ForEach([&](uint32_t row) {
      const NodeView node{.block = block, .row = row};
      if (!HasNearKeys(node) || (!near_by_others_ && !IsNear(node))) fits.Clear(row);
    });
  }

  // One member per domain of each label that keeps them apart.
  int64_t Most(std::span<const RoomOnNode> rooms) const override {
    int64_t most = 0;
    for (const RoomOnNode& room : rooms) most += std::min(room.pods, OwnCap(ViewOf(room.node)));
    for (const SharedLabel& label : shared_) {
      if (!label.keeps_own_apart) continue;
      std::vector<bool> taken(label.domains.count(), false);
      int64_t by_label = 0;
      for (const RoomOnNode& room : rooms) {
        const NodeView node = ViewOf(room.node);
        const uint32_t domain = label.domains.Of(node);
        if (domain == LabelDomains::kNone) {
          by_label += std::min(room.pods, OwnCap(node));
        } else if (room.pods > 0 && !taken[domain]) {
          taken[domain] = true;
          ++by_label;
        }
      }
      most = std::min(most, by_label);
    }
    return most;
  }

  int32_t CapOn(const NodeView& node) const override {
    return Check(node, PartialPlan{}).fits() ? OwnCap(node) : 0;
  }
  void Cap(const NodeBlock& block, const NodeMask& rows, std::span<int32_t> caps) const override {
    for (const NodeLabel& label : node_) {
      if (!label.keeps_own_apart) continue;
      const std::vector<LabelValueId>& values = block.rows().label_columns[label.column].values;
      rows.ForEach([&](uint32_t row) {
        if (values[row].valid()) caps[row] = std::min(caps[row], 1);
      });
    }
  }

 private:
  void BindNear() {
    for (const std::string& key : terms_.near_keys) {
      const std::optional<size_t> column = ColumnOf(*snapshot_.tables, key);
      if (!column.has_value()) {
        lacks_near_key_ = true;
        continue;
      }
      near_columns_.push_back(*column);
      if (!now_) continue;
      near_.push_back({.domains = LabelDomains(snapshot_, *column), .pods = {}});
      near_.back().pods.resize(near_.back().domains.count());
    }
    std::ranges::sort(near_columns_);
  }

  void BindApart(const CountInDomain& term, ReasonId reason) {
    const std::optional<size_t> column = ColumnOf(*snapshot_.tables, term.topology_key);
    if (!term.count.valid() || !column.has_value()) return;  // no two pods meet there
    const Apart apart{.count = term.count, .reason = {.id = reason}};
    for (NodeLabel& label : node_) {
      if (label.column != *column) continue;
      label.apart.push_back(apart);
      label.keeps_own_apart = label.keeps_own_apart || members_.OwnWrite(term.count);
      return;
    }
    const auto known = std::ranges::find_if(
        shared_, [&](const SharedLabel& label) { return label.domains.column() == *column; });
    if (known != shared_.end()) {
      AddApart(apart, *known);
      return;
    }
    SharedLabel label{.domains = LabelDomains(snapshot_, *column), .apart = {}};
    if (label.domains.one_node_each()) {
      node_.push_back(
          {.column = *column, .apart = {apart}, .keeps_own_apart = members_.OwnWrite(term.count)});
      return;
    }
    label.own.resize(label.domains.count());
    label.others.resize(label.domains.count());
    AddApart(apart, label);
    shared_.push_back(std::move(label));
  }

  void AddApart(const Apart& apart, SharedLabel& label) const {
    label.apart.push_back(apart);
    label.members_write = label.members_write || members_.Write(apart.count);
    label.keeps_own_apart = label.keeps_own_apart || members_.OwnWrite(apart.count);
  }

  // A member of another shape matches the affinity, and need not itself be near such a pod.
  [[nodiscard]] bool SomeMemberIsNearAnywhere(const CycleInput& cycle,
                                              const PodShape& shape) const {
    if (!terms_.near.valid() || !members_.OthersWrite(terms_.near)) return false;
    return std::ranges::any_of(cycle.members, [&](ShapeId id) {
      const PodShape& member = snapshot_.tables->ShapeOf(id);
      const bool counted = std::ranges::any_of(
          member.counts, [&](const PodCountChange& change) { return change.count == terms_.near; });
      const bool follows = member.terms != nullptr && member.terms->near == terms_.near &&
                           member.terms->near_keys == terms_.near_keys;
      return id != shape.id && counted && !follows;
    });
  }

  // The pod's own term is named before those of others.
  static void Note(const Reason& reason, std::optional<Reason>& refusal) {
    if (!refusal.has_value() || reason.id < refusal->id) refusal = reason;
  }

  [[nodiscard]] NodeView ViewOf(NodeId node) const {
    return {.block = *snapshot_.blocks[BlockOf(node)], .row = RowOf(node)};
  }

  [[nodiscard]] bool HasNearKeys(const NodeView& node) const {
    return !lacks_near_key_ && std::ranges::all_of(near_columns_, [&node](size_t column) {
      return node.block.rows().label_columns[column].values[node.row].valid();
    });
  }

  [[nodiscard]] bool SomebodyIsNear() const {
    return std::ranges::any_of(near_, [](const NearLabel& label) {
      return std::ranges::any_of(label.pods, [](int64_t pods) { return pods > 0; });
    });
  }

  // REQUIRES: HasNearKeys(node). In the question "ever", pods to be near may be anywhere.
  [[nodiscard]] bool IsNear(const NodeView& node) const {
    const bool may_be_first = !near_somebody_ && !first_is_promised_ && terms_.near_self;
    if (near_.empty() || may_be_first) return true;
    return std::ranges::all_of(
        near_, [&node](const NearLabel& label) { return label.pods[label.domains.Of(node)] > 0; });
  }

  void NarrowApart(const NodeBlock& block, NodeMask& fits) const {
    for (const NodeLabel& label : node_) {
      const std::vector<LabelValueId>& values = block.rows().label_columns[label.column].values;
      for (const Apart& apart : label.apart) {
        for (const PodCounts* counts : {&block.pod_counts(), &block.promised_counts()}) {
          for (const PodCounts::Entry& entry : counts->Of(apart.count)) {
            if (entry.value > 0 && values[entry.row].valid()) fits.Clear(entry.row);
          }
        }
      }
    }
    for (const SharedLabel& label : shared_) {
      fits.ForEach([&](uint32_t row) {
        const uint32_t domain = label.domains.Of(block.rows(), row);
        if (domain == LabelDomains::kNone) return;
        if (label.own[domain] > 0 || label.others[domain] > 0) fits.Clear(row);
      });
    }
  }

  [[nodiscard]] int32_t OwnCap(const NodeView& node) const {
    const bool one = std::ranges::any_of(node_, [&node](const NodeLabel& label) {
      return label.keeps_own_apart &&
             node.block.rows().label_columns[label.column].values[node.row].valid();
    });
    return one ? 1 : kNoCap;
  }

  const Snapshot& snapshot_;
  const ShapeTerms& terms_;
  GangPodCounts members_;
  bool now_;
  std::vector<size_t> near_columns_;  // ascending
  std::vector<NearLabel> near_;       // now only
  bool lacks_near_key_ = false;       // no node carries one of the labels
  bool near_somebody_ = false;        // some pod to be near stands somewhere
  bool first_is_promised_ = false;    // none stands, and the first of them is yet to come
  bool near_by_others_ = false;       // members of other shapes may be near such a pod
  std::vector<SharedLabel> shared_;
  std::vector<NodeLabel> node_;
  bool members_meet_ = false;
  bool caps_ = false;
  bool nothing_to_say_ = false;
};

class PodAffinity final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "InterPodAffinity"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape& shape) const override {
    if (shape.terms == nullptr) return nullptr;
    const ShapeTerms& terms = *shape.terms;
    if (terms.near_keys.empty() && terms.apart.empty() && terms.kept_away.empty()) return nullptr;
    auto bound = std::make_unique<BoundPodAffinity>(cycle, shape);
    if (bound->nothing_to_say()) return nullptr;
    return bound;
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeInterPodAffinity() {
  return std::make_unique<PodAffinity>();
}

}  // namespace maniple
