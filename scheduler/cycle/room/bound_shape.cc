#include "scheduler/cycle/room/bound_shape.h"

#include <algorithm>
#include <utility>

#include "api/base/check.h"
#include "api/base/sort_unique.h"
#include "api/base/status_macros.h"

namespace maniple {
namespace {

// Steps for one column of a block; for one term of a shape at each node of a block;
// and for binding plugins that look only at the shape.
constexpr int64_t kStepsPerColumn = 2 * kBlockNodes;
constexpr int64_t kStepsPerTerm = 4 * kBlockNodes;
constexpr int64_t kStepsToBind = 2'000;

int64_t DecidingTermsOf(const PodShape& shape) {
  if (shape.terms == nullptr) return 0;
  const ShapeTerms& terms = *shape.terms;
  return static_cast<int64_t>(terms.near_keys.size() + terms.apart.size() + terms.kept_away.size() +
                              terms.spread.size());
}

int64_t PreferredTermsOf(const PodShape& shape) {
  if (shape.terms == nullptr) return 0;
  return static_cast<int64_t>(shape.terms->drawn.size() + shape.terms->spread.size());
}

}  // namespace

int64_t BoundShape::StepsToBind(const Snapshot& snapshot, const PodShape& shape) {
  const int64_t terms = DecidingTermsOf(shape) + PreferredTermsOf(shape);
  return kStepsToBind + terms * kStepsPerTerm * static_cast<int64_t>(snapshot.blocks.size());
}

absl::StatusOr<BoundShape> BoundShape::Bind(const CycleInput& cycle, const PodShape& shape,
                                            const Profile& profile) {
  BoundShape bound;
  bound.shape_ = &shape;
  bound.class_verdicts_.resize(cycle.snapshot.tables->classes.size());
  for (const auto& plugin : profile.filters) {
    ASSIGN_OR_RETURN(std::unique_ptr<NodeFilter> filter, plugin->Bind(cycle, shape));
    if (filter == nullptr) continue;
    ClusterFilter* const cluster = filter->as_cluster_filter();
    const FilterCoupling coupling = filter->coupling();
    const bool across = coupling == FilterCoupling::kAcrossNodes;
    CHECK(!across || cluster != nullptr) << plugin->name() << " is no ClusterFilter";
    switch (filter->scope()) {
      case FilterScope::kNodeClass:
        bound.of_class_.push_back(filter.get());
        break;
      case FilterScope::kDynamic:
        bound.dynamic_.push_back({filter.get(), coupling, across ? cluster : nullptr});
        break;
    }
    switch (coupling) {
      case FilterCoupling::kNone:
        break;
      case FilterCoupling::kPerNodeCap:
        bound.capping_.push_back(filter.get());
        break;
      case FilterCoupling::kShared:
        bound.capping_.push_back(filter.get());
        bound.counts_prove_ = false;
        break;
      case FilterCoupling::kAcrossNodes:
        bound.counts_prove_ = false;
        bound.bounds_prove_ = false;
        bound.across_.push_back(cluster);
        break;
    }
    if (cluster != nullptr) {
      if (cluster->looks_around()) bound.around_.push_back(cluster);
      bound.may_be_remembered_ = bound.may_be_remembered_ && cluster->may_be_remembered();
    }
    bound.filters_.push_back(std::move(filter));
  }
  for (const WeightedScore& weighted : profile.scores) {
    std::unique_ptr<NodeScore> score = weighted.plugin->Bind(cycle, shape);
    if (score == nullptr) continue;
    if (score->looks_around()) {
      bound.comparing_.push_back(score.get());
      bound.may_be_remembered_ = false;
    }
    bound.scores_.push_back({.score = std::move(score), .weight = weighted.weight});
  }
  const auto columns = [](size_t count) { return kStepsPerColumn * static_cast<int64_t>(count); };
  bound.around_steps_ = bound.around_.empty() ? 0 : kStepsPerTerm * DecidingTermsOf(shape);
  bound.narrow_steps_ =
      columns(1 + bound.dynamic_.size() + bound.capping_.size()) + bound.around_steps_;
  bound.score_steps_ = columns(bound.scores_.size());
  bound.compare_steps_ = bound.comparing_.empty() ? 0 : kStepsPerTerm * PreferredTermsOf(shape);
  return bound;
}

const Verdict& BoundShape::OfClass(const NodeView& node) {
  std::optional<Verdict>& verdict = class_verdicts_[node.block.rows().classes[node.row].index()];
  if (!verdict.has_value()) {
    verdict.emplace();
    for (const NodeFilter* filter : of_class_) {
      *verdict = filter->Check(node, PartialPlan{});
      if (!verdict->fits()) break;
    }
  }
  return *verdict;
}

void BoundShape::LookAround(const Overlay& overlay) {
  if (around_.empty() || (seen_ == &overlay && seen_edition_ == overlay.edition())) return;
  overlay.Spend(around_steps_ * overlay.block_count());
  for (ClusterFilter* filter : around_) filter->LookAround(overlay.blocks());
  seen_ = &overlay;
  seen_edition_ = overlay.edition();
}

std::vector<size_t> BoundShape::OneDomainOf(const Overlay& overlay) {
  LookAround(overlay);
  std::vector<size_t> columns;
  for (const ClusterFilter* filter : around_) {
    const std::span<const size_t> shared = filter->one_domain_of();
    columns.insert(columns.end(), shared.begin(), shared.end());
  }
  SortUnique(columns);
  return columns;
}

void BoundShape::Narrow(const Overlay& overlay, uint32_t b, Fits when, NodeMask& fits) {
  const NodeBlock& block = overlay.Block(b);
  for (const Dynamic& dynamic : dynamic_) {
    if (!dynamic.filter->MayHelp(block)) {
      fits = NodeMask();
      return;
    }
  }
  const PartialPlan placed = overlay.placed();
  for (const Dynamic& dynamic : dynamic_) {
    if (fits.empty()) return;
    if (when == Fits::kEver && dynamic.across != nullptr) {
      dynamic.across->NarrowForGood(block, fits);
    } else {
      dynamic.filter->Narrow(block, placed, fits);
    }
  }
  if (of_class_.empty()) return;
  fits.ForEach([&](uint32_t row) {
    if (!OfClass({.block = block, .row = row}).fits()) fits.Clear(row);
  });
}

void BoundShape::AddRoomIn(const Overlay& overlay, uint32_t b, const NodeSet* within, Fits when,
                           ShapeRoom& room) {
  overlay.Spend(narrow_steps_);
  NodeMask fits = overlay.Block(b).rows().present;
  if (within != nullptr) fits &= (*within)[b];
  if (allowed_ != nullptr) fits &= b < allowed_->size() ? (*allowed_)[b] : NodeMask();
  if (fits.empty()) return;
  Narrow(overlay, b, when, fits);
  if (fits.empty()) return;
  std::array<int32_t, kBlockNodes> caps;
  caps.fill(kNoCap);
  for (const NodeFilter* filter : capping_) filter->Cap(overlay.Block(b), fits, caps);
  fits.ForEach([&](uint32_t row) {
    // Where caps bound nothing, an answer about one more member tells of one more only.
    const bool all = bounds_prove_ || when == Fits::kEver;
    const int32_t pods = all ? caps[row] : std::min(caps[row], 1);
    if (pods <= 0) return;
    room.nodes.push_back({.node = NodeAt(b, row), .pods = pods});
    room.total += pods;
  });
}

ShapeRoom BoundShape::RoomOn(const Overlay& overlay, const NodeSet* within) {
  LookAround(overlay);
  ShapeRoom room;
  for (uint32_t b = 0; b < overlay.block_count(); ++b) {
    AddRoomIn(overlay, b, within, Fits::kNow, room);
  }
  return room;
}

int64_t BoundShape::LimitOn(const Overlay& overlay, const NodeSet* within) {
  return MostOf(AtMostOn(overlay, within));
}

ShapeRoom BoundShape::AtMostOn(const Overlay& overlay, const NodeSet* within) {
  if (bounds_prove_) return RoomOn(overlay, within);
  LookAround(overlay);
  ShapeRoom room;
  for (uint32_t b = 0; b < overlay.block_count(); ++b) {
    AddRoomIn(overlay, b, within, Fits::kEver, room);
  }
  return room;
}

int64_t BoundShape::MostOf(const ShapeRoom& at_most) const {
  int64_t most = at_most.total;
  if (across_.empty()) return most;
  std::vector<ClusterFilter::RoomOnNode> rooms;
  rooms.reserve(at_most.nodes.size());
  for (const NodeRoom& room : at_most.nodes)
    rooms.push_back({.node = room.node, .pods = room.pods});
  for (const ClusterFilter* filter : across_) most = std::min(most, filter->Most(rooms));
  return most;
}

RoomByBlock BoundShape::ByBlockOn(const Overlay& overlay, const NodeSet* within) {
  const Snapshot& snapshot = overlay.base();
  LookAround(overlay);
  const bool remembers =
      cache_ != nullptr && within == nullptr && counts_prove_ && may_be_remembered_;
  RoomCache::Shape* remembered = remembers ? &cache_->Of(snapshot, shape_->id, allowed_) : nullptr;
  overlay.Spend(score_steps_ * overlay.block_count());
  RoomByBlock room;
  for (uint32_t b = 0; b < overlay.block_count(); ++b) {
    const std::shared_ptr<const NodeBlock>& block = snapshot.blocks[b];
    if (!remembers || &overlay.Block(b) != block.get() || !block->cool_downs().empty()) {
      auto fresh = std::make_unique<BlockRoom>();
      AddRoomIn(overlay, b, within, Fits::kNow, fresh->room);
      room.Add(std::move(fresh));
      continue;
    }
    BlockRoom* known = remembered->Find(b, block);
    if (known == nullptr) {
      known = &remembered->Renew(b, block);
      AddRoomIn(overlay, b, nullptr, Fits::kNow, known->room);
    } else {
      overlay.Spend(narrow_steps_);
    }
    room.Add(*known);
  }
  Compare(overlay, [&room](NodeSet& fitting) {
    for (const NodeRoom& node : room.All().nodes) fitting[BlockOf(node.node)].Set(RowOf(node.node));
  });
  return room;
}

int32_t BoundShape::RoomAt(const Overlay& overlay, NodeId node) {
  LookAround(overlay);
  const NodeView view = overlay.At(node);
  if (!Allows(node)) return 0;
  if (!OfClass(view).fits()) return 0;
  const PartialPlan placed = overlay.placed();
  int32_t pods = bounds_prove_ ? kNoCap : 1;
  for (const auto& [filter, coupling, across] : dynamic_) {
    if (coupling != FilterCoupling::kPerNodeCap && !filter->Check(view, placed).fits()) return 0;
    if (coupling == FilterCoupling::kPerNodeCap || coupling == FilterCoupling::kShared) {
      pods = std::min(pods, filter->CapOn(view));
    }
    if (pods <= 0) return 0;
  }
  return pods;
}

void BoundShape::ForEachRefusal(const Overlay& overlay, const NodeSet* within,
                                absl::FunctionRef<void(NodeId, const Verdict&)> visit) {
  LookAround(overlay);
  const PartialPlan placed = overlay.placed();
  for (uint32_t b = 0; b < overlay.block_count(); ++b) {
    const NodeBlock& block = overlay.Block(b);
    NodeMask left = block.rows().present;
    if (within != nullptr) left &= (*within)[b];
    left.ForEach([&](uint32_t row) {
      if (Allows(NodeAt(b, row))) return;
      visit(NodeAt(b, row),
            Verdict{.code = Code::kUnresolvable, .reason = {.id = kReasonOutsideFlavor}});
      left.Clear(row);
    });
    left.ForEach([&](uint32_t row) {
      const Verdict& verdict = OfClass({.block = block, .row = row});
      if (verdict.fits()) return;
      visit(NodeAt(b, row), verdict);
      left.Clear(row);
    });
    for (const Dynamic& dynamic : dynamic_) {
      NodeMask fits = left;
      dynamic.filter->Narrow(block, placed, fits);
      left.ForEach([&](uint32_t row) {
        if (!fits.Test(row)) {
          visit(NodeAt(b, row), dynamic.filter->Check({.block = block, .row = row}, placed));
        }
      });
      left = fits;
    }
  }
}

std::optional<Reason> BoundShape::WhyNotOn(const Overlay& other, NodeId node) {
  const auto look_at = [this](const Overlay& overlay) {
    for (ClusterFilter* filter : around_) filter->LookAround(overlay.blocks());
  };
  look_at(other);
  std::optional<Reason> why;
  for (const Dynamic& dynamic : dynamic_) {
    const Verdict verdict = dynamic.filter->Check(other.At(node), other.placed());
    if (verdict.fits()) continue;
    why = verdict.reason;
    break;
  }
  if (seen_ != nullptr) look_at(*seen_);
  return why;
}

bool BoundShape::IsLastResort(const NodeView& node) const {
  return std::ranges::any_of(scores_, [&node](const Weighted& weighted) {
    return weighted.weight > 0 && weighted.score->IsLastResort(node);
  });
}

std::vector<int64_t> BoundShape::Scores(const Overlay& overlay, const ShapeRoom& room) const {
  std::vector<int64_t> scores;
  scores.reserve(room.nodes.size());
  std::array<int64_t, kBlockNodes> totals;
  for (size_t i = 0; i < room.nodes.size();) {
    const uint32_t b = BlockOf(room.nodes[i].node);
    NodeMask rows;
    size_t end = i;
    for (; end < room.nodes.size() && BlockOf(room.nodes[end].node) == b; ++end) {
      rows.Set(RowOf(room.nodes[end].node));
    }
    totals.fill(0);
    for (const Weighted& weighted : scores_) {
      weighted.score->AddTo(overlay.Block(b), rows, weighted.weight, totals);
    }
    for (; i < end; ++i) scores.push_back(totals[RowOf(room.nodes[i].node)]);
  }
  return scores;
}

void BoundShape::Compare(const Overlay& overlay, absl::FunctionRef<void(NodeSet&)> mark_fitting) {
  if (comparing_.empty()) return;
  overlay.Spend(compare_steps_ * overlay.block_count());
  NodeSet fitting(overlay.block_count());
  mark_fitting(fitting);
  for (NodeScore* score : comparing_) score->Compare(overlay.blocks(), fitting);
}

std::vector<RankedNode> BoundShape::Ranked(const Overlay& overlay, const ShapeRoom& room) {
  overlay.Spend(score_steps_ * overlay.block_count());
  Compare(overlay, [&room](NodeSet& fitting) {
    for (const NodeRoom& node : room.nodes) fitting[BlockOf(node.node)].Set(RowOf(node.node));
  });
  return RankedOf(overlay, room);
}

std::vector<RankedNode> BoundShape::RankedOf(const Overlay& overlay, const ShapeRoom& room) const {
  const std::vector<int64_t> scores = Scores(overlay, room);
  const std::vector<uint32_t>& rank = overlay.base().order->rank;
  std::vector<RankedNode> ranked(room.nodes.size());
  for (size_t i = 0; i < ranked.size(); ++i) {
    const NodeRoom& node = room.nodes[i];
    ranked[i] = {.score = scores[i], .name_rank = rank[node.node.index()], .room = node};
  }
  return ranked;
}

}  // namespace maniple
