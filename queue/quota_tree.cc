#include "queue/quota_tree.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "api/base/sort_unique.h"

namespace maniple {
namespace {

using Wide = __int128;

constexpr Wide kUnlimited = Wide{1} << 120;  // more than any sum, and added to without overflow

Wide WideOf(Amount amount) { return amount.units(); }
Wide WideOf(std::optional<Amount> limit) { return limit.has_value() ? WideOf(*limit) : kUnlimited; }
Amount Saturated(Wide wide) {
  if (wide > WideOf(Amount::Max())) return Amount::Max();
  if (wide < WideOf(Amount::Min())) return Amount::Min();
  return Amount(static_cast<int64_t>(wide));
}

Wide Above(Wide usage, Wide guaranteed) { return std::max<Wide>(0, usage - guaranteed); }

}  // namespace

struct QuotaTree::Limits {
  Wide nominal = 0;
  Wide borrowing = kUnlimited;
  Wide lending = kUnlimited;
  Wide quota = 0;
  Wide guaranteed = 0;
  Wide potential = 0;
};

struct QuotaTree::Node {
  QuotaNodeId parent;
  int32_t depth = 0;
  int32_t height = 0;
  int64_t weight_milli = 1000;
  std::vector<QuotaNodeId> children;
};

// The constant part of the tree.
struct QuotaTree::Forest {
  std::vector<Node> nodes;
  std::vector<uint32_t> top_down;  // the nodes, every parent before its children
  std::vector<uint32_t> resource_of_cell;
  size_t resources = 0;
  std::vector<Limits> limits;    // node by node, each cell by cell
  std::vector<Amount> lendable;  // by node, then resource: all that it can ever use

  Forest(const std::vector<QuotaNodeSpec>& specs, std::vector<uint32_t> resources_given);
  void Link(const std::vector<QuotaNodeSpec>& specs);
  void Settle();
  void SumUp(uint32_t node);
  void PassDown(uint32_t node);
  [[nodiscard]] size_t cells() const { return resource_of_cell.size(); }
};

QuotaTree::Forest::Forest(const std::vector<QuotaNodeSpec>& specs,
                          std::vector<uint32_t> resources_given)
    : nodes(specs.size()), resource_of_cell(std::move(resources_given)) {
  std::vector<uint32_t> known = resource_of_cell;
  SortUnique(known);
  for (uint32_t& resource : resource_of_cell) {
    resource = static_cast<uint32_t>(std::lower_bound(known.begin(), known.end(), resource) -
                                     known.begin());
  }
  resources = known.size();
  Link(specs);
  limits.resize(nodes.size() * cells());
  for (size_t i = 0; i < specs.size(); ++i) {
    for (const QuotaLimit& limit : specs[i].limits) {
      CHECK_LT(limit.cell.index(), cells());
      Limits& own = limits[i * cells() + limit.cell.index()];
      own.nominal = WideOf(limit.nominal);
      own.borrowing = WideOf(limit.borrowing);
      own.lending = WideOf(limit.lending);
    }
  }
  lendable.resize(nodes.size() * resources);
  Settle();
}

// Derives quotas and potentials from nominal amounts and limits.
void QuotaTree::Forest::Settle() {
  for (auto node = top_down.rbegin(); node != top_down.rend(); ++node) SumUp(*node);
  for (const uint32_t node : top_down) PassDown(node);
}

void QuotaTree::Forest::Link(const std::vector<QuotaNodeSpec>& specs) {
  for (uint32_t i = 0; i < specs.size(); ++i) {
    nodes[i].parent = specs[i].parent;
    nodes[i].weight_milli = specs[i].weight_milli;
    if (!specs[i].parent.valid()) {
      top_down.push_back(i);
      continue;
    }
    CHECK_LT(specs[i].parent.index(), specs.size());
    nodes[specs[i].parent.index()].children.emplace_back(i);
  }
  for (size_t next = 0; next < top_down.size(); ++next) {
    const Node& node = nodes[top_down[next]];
    for (const QuotaNodeId child : node.children) {
      nodes[child.index()].depth = node.depth + 1;
      top_down.push_back(child.index());
    }
  }
  CHECK_EQ(top_down.size(), nodes.size()) << "a cycle of cohorts";
  for (auto node = top_down.rbegin(); node != top_down.rend(); ++node) {
    for (const QuotaNodeId child : nodes[*node].children) {
      nodes[*node].height = std::max(nodes[*node].height, nodes[child.index()].height + 1);
    }
  }
}

// The quota of a node; REQUIRES: its children have theirs.
void QuotaTree::Forest::SumUp(uint32_t node) {
  for (size_t cell = 0; cell < cells(); ++cell) {
    Limits& own = limits[node * cells() + cell];
    if (!nodes[node].parent.valid()) {
      own.borrowing = 0;
      own.lending = kUnlimited;
    }
    own.quota = own.nominal;
    for (const QuotaNodeId child : nodes[node].children) {
      const Limits& below = limits[child.index() * cells() + cell];
      own.quota += std::min(below.quota, below.lending);
    }
    own.guaranteed = Above(own.quota, own.lending);
  }
}

// The potential of a node; REQUIRES: its parent has its own.
void QuotaTree::Forest::PassDown(uint32_t node) {
  absl::InlinedVector<Wide, 16> sums(resources);
  const QuotaNodeId parent = nodes[node].parent;
  for (size_t cell = 0; cell < cells(); ++cell) {
    Limits& own = limits[node * cells() + cell];
    own.potential = own.quota + own.borrowing;
    if (parent.valid()) {
      const Wide from_above = limits[parent.index() * cells() + cell].potential;
      own.potential = std::min(own.potential, own.guaranteed + from_above);
    }
    sums[resource_of_cell[cell]] += own.potential;
  }
  std::transform(sums.begin(), sums.end(),
                 lendable.begin() + static_cast<ptrdiff_t>(node * resources), Saturated);
}

QuotaTree::QuotaTree() : QuotaTree({}, {}) {}

QuotaTree::QuotaTree(const std::vector<QuotaNodeSpec>& nodes,
                     std::vector<uint32_t> resource_of_cell)
    : forest_(std::make_shared<const Forest>(nodes, std::move(resource_of_cell))),
      usage_(forest_->limits.size()) {}

QuotaTree::QuotaTree(std::shared_ptr<const Forest> forest) : forest_(std::move(forest)) {}

size_t QuotaTree::node_count() const { return forest_->nodes.size(); }
size_t QuotaTree::cell_count() const { return forest_->cells(); }

QuotaNodeId QuotaTree::Parent(QuotaNodeId node) const {
  return forest_->nodes[node.index()].parent;
}

QuotaNodeId QuotaTree::Root(QuotaNodeId node) const {
  while (Parent(node).valid()) node = Parent(node);
  return node;
}

int32_t QuotaTree::Depth(QuotaNodeId node) const { return forest_->nodes[node.index()].depth; }
int32_t QuotaTree::Height(QuotaNodeId node) const { return forest_->nodes[node.index()].height; }

const std::vector<QuotaNodeId>& QuotaTree::Children(QuotaNodeId node) const {
  return forest_->nodes[node.index()].children;
}

bool QuotaTree::IsWithin(QuotaNodeId node, QuotaNodeId ancestor) const {
  while (node.valid() && node != ancestor) node = Parent(node);
  return node.valid();
}

size_t QuotaTree::At(QuotaNodeId node, QuotaCellId cell) const {
  return node.index() * forest_->cells() + cell.index();
}

Amount QuotaTree::Nominal(QuotaNodeId node, QuotaCellId cell) const {
  return Saturated(forest_->limits[At(node, cell)].nominal);
}
Amount QuotaTree::Quota(QuotaNodeId node, QuotaCellId cell) const {
  return Saturated(forest_->limits[At(node, cell)].quota);
}
Amount QuotaTree::Guaranteed(QuotaNodeId node, QuotaCellId cell) const {
  return Saturated(forest_->limits[At(node, cell)].guaranteed);
}
Amount QuotaTree::Usage(QuotaNodeId node, QuotaCellId cell) const {
  return Saturated(Used(At(node, cell)));
}
Amount QuotaTree::Potential(QuotaNodeId node, QuotaCellId cell) const {
  return Saturated(forest_->limits[At(node, cell)].potential);
}

QuotaTree::Wide QuotaTree::Used(size_t at) const {
  if (supposed_of_ == nullptr) return usage_[at];
  const auto changed = supposed_.find(at);
  return changed == supposed_.end() ? (*supposed_of_)[at] : changed->second;
}

// The amount that may still reach a node. It is T + B, so negative where the node is not legal.
QuotaTree::Wide QuotaTree::Room(size_t at) const {
  const Limits& limits = forest_->limits[at];
  return limits.quota - Used(at) + limits.borrowing;
}

// The part of `charge` that passes a node on to its parent, beyond the room that the node keeps for
// itself. A function of usage before and after, so a charge taken back undoes itself.
QuotaTree::Wide QuotaTree::Spilled(size_t at, Wide charge) const {
  const Wide guaranteed = forest_->limits[at].guaranteed;
  return Above(Used(at) + charge, guaranteed) - Above(Used(at), guaranteed);
}

Amount QuotaTree::Available(QuotaNodeId node, QuotaCellId cell) const {
  Wide least = kUnlimited;
  Wide debt = 0;
  Wide absorbed = 0;
  for (; node.valid(); node = Parent(node)) {
    const size_t at = At(node, cell);
    const Wide room = Room(at);
    debt = std::min(debt, room);
    least = std::min(least, absorbed + room);
    absorbed += Above(forest_->limits[at].guaranteed, Used(at));
  }
  return Saturated(debt < 0 ? debt : least);
}

void QuotaTree::Charge(QuotaNodeId queue, QuotaCellId cell, Wide charge) {
  CHECK(Children(queue).empty()) << queue << " is not a queue";
  for (QuotaNodeId node = queue; node.valid() && charge != 0; node = Parent(node)) {
    const size_t at = At(node, cell);
    const Wide passed_on = Spilled(at, charge);
    (supposed_of_ == nullptr ? usage_[at] : supposed_.try_emplace(at, Used(at)).first->second) +=
        charge;
    charge = passed_on;
  }
}

QuotaTree QuotaTree::Supposed() const {
  if (supposed_of_ != nullptr) return *this;
  QuotaTree supposed(forest_);
  supposed.supposed_of_ = &usage_;
  return supposed;
}

QuotaTree QuotaTree::Whole() const {
  if (supposed_of_ == nullptr) return *this;
  QuotaTree whole(forest_);
  whole.usage_ = *supposed_of_;
  for (const auto& [at, usage] : supposed_) whole.usage_[at] = usage;
  return whole;
}

QuotaTree QuotaTree::WithMore(QuotaNodeId node, QuotaCellId cell, Amount more) const {
  auto forest = std::make_shared<Forest>(*forest_);
  forest->limits[At(node, cell)].nominal += WideOf(more);
  forest->Settle();
  QuotaTree tree(std::move(forest));
  tree.usage_.resize(tree.forest_->limits.size());
  // The amount that reaches a cohort depends on its children's guarantees,
  // so leaves are charged again.
  for (uint32_t i = 0; i < node_count(); ++i) {
    const QuotaNodeId leaf(i);
    if (!Children(leaf).empty()) continue;
    for (uint32_t c = 0; c < cell_count(); ++c) {
      tree.Charge(leaf, QuotaCellId(c), Used(At(leaf, QuotaCellId(c))));
    }
  }
  return tree;
}

void QuotaTree::Add(QuotaNodeId queue, std::span<const CellAmount> demand) {
  for (const CellAmount& part : demand) Charge(queue, part.cell, WideOf(part.amount));
}

void QuotaTree::Remove(QuotaNodeId queue, std::span<const CellAmount> demand) {
  for (const CellAmount& part : demand) Charge(queue, part.cell, -WideOf(part.amount));
}

QuotaNodeId QuotaTree::ShortAt(QuotaNodeId queue, std::span<const CellAmount> demand) const {
  for (const CellAmount& part : demand) {
    Wide charge = WideOf(part.amount);
    for (QuotaNodeId node = queue; node.valid(); node = Parent(node)) {
      const size_t at = At(node, part.cell);
      if (Room(at) < charge) return node;
      charge = Spilled(at, charge);
    }
  }
  return {};
}

bool QuotaTree::FitsEver(QuotaNodeId queue, std::span<const CellAmount> demand) const {
  return std::all_of(demand.begin(), demand.end(), [&](const CellAmount& part) {
    return WideOf(part.amount) <= forest_->limits[At(queue, part.cell)].potential;
  });
}

// The amount that reaches `node`, the queue or an ancestor of it,
// when `part` is charged to the queue.
QuotaTree::Wide QuotaTree::ChargeAt(QuotaNodeId node, QuotaNodeId queue,
                                    const CellAmount& part) const {
  Wide charge = WideOf(part.amount);
  for (; queue != node; queue = Parent(queue)) {
    charge = Spilled(At(queue, part.cell), charge);
  }
  return charge;
}

bool QuotaTree::BorrowsWith(QuotaNodeId node, QuotaNodeId queue,
                            std::span<const CellAmount> demand) const {
  return std::any_of(demand.begin(), demand.end(), [&](const CellAmount& part) {
    const size_t at = At(node, part.cell);
    return Used(at) + ChargeAt(node, queue, part) > forest_->limits[at].quota;
  });
}

BorrowHeight QuotaTree::HeightOf(QuotaNodeId queue, std::span<const CellAmount> demand) const {
  BorrowHeight worst = {.height = 0, .may_reclaim = Parent(queue).valid()};
  for (const CellAmount& part : demand) {
    Wide charge = WideOf(part.amount);
    QuotaNodeId node = queue;
    for (; Parent(node).valid(); node = Parent(node)) {
      const size_t at = At(node, part.cell);
      if (Used(at) + charge <= forest_->limits[at].quota) break;
      charge = Spilled(at, charge);
    }
    worst.height = std::max(worst.height, Height(node));
    worst.may_reclaim = worst.may_reclaim && Parent(node).valid();
  }
  return worst;
}

DominantShare QuotaTree::ShareWith(QuotaNodeId node, QuotaNodeId queue,
                                   std::span<const CellAmount> demand) const {
  const QuotaNodeId parent = Parent(node);
  if (!parent.valid()) return {};
  absl::InlinedVector<Wide, 16> borrowed(forest_->resources);
  auto part = demand.begin();
  for (uint32_t cell = 0; cell < forest_->cells(); ++cell) {
    const size_t at = At(node, QuotaCellId(cell));
    Wide over = Used(at) - forest_->limits[at].quota;
    if (part != demand.end() && part->cell == QuotaCellId(cell)) {
      over += ChargeAt(node, queue, *part);
      ++part;
    }
    if (over > 0) borrowed[forest_->resource_of_cell[cell]] += over;
  }
  DominantShare share;
  for (size_t resource = 0; resource < borrowed.size(); ++resource) {
    share = std::max(share, ShareOf(Saturated(borrowed[resource]),
                                    forest_->lendable[parent.index() * borrowed.size() + resource],
                                    forest_->nodes[node.index()].weight_milli));
  }
  return share;
}

absl::Status QuotaTree::CheckLegal(QuotaNodeId queue) const {
  for (uint32_t cell = 0; cell < forest_->cells(); ++cell) {
    std::vector<Wide> left(node_count());
    for (auto i = forest_->top_down.rbegin(); i != forest_->top_down.rend(); ++i) {
      const size_t at = At(QuotaNodeId(*i), QuotaCellId(cell));
      left[*i] = forest_->limits[at].nominal;
      if (Children(QuotaNodeId(*i)).empty()) left[*i] -= Used(at);
      for (const QuotaNodeId child : Children(QuotaNodeId(*i))) {
        left[*i] +=
            std::min(forest_->limits[At(child, QuotaCellId(cell))].lending, left[child.index()]);
      }
    }
    for (QuotaNodeId node = queue; node.valid(); node = Parent(node)) {
      const Wide borrowing = forest_->limits[At(node, QuotaCellId(cell))].borrowing;
      if (left[node.index()] >= -borrowing) continue;
      return absl::FailedPreconditionError(
          absl::StrCat("quota node ", node.index(), " on the path of queue ", queue.index(),
                       " has ", Saturated(left[node.index()]).units(), " left of cell ", cell,
                       " and may borrow ", Saturated(borrowing).units()));
    }
  }
  return absl::OkStatus();
}

absl::Status QuotaTree::CheckInvariants() const {
  for (const uint32_t i : forest_->top_down) {
    for (uint32_t cell = 0; cell < forest_->cells(); ++cell) {
      const size_t at = At(QuotaNodeId(i), QuotaCellId(cell));
      Wide from_below = Children(QuotaNodeId(i)).empty() ? Used(at) : 0;
      for (const QuotaNodeId child : Children(QuotaNodeId(i))) {
        const size_t below = At(child, QuotaCellId(cell));
        from_below += Above(Used(below), forest_->limits[below].guaranteed);
      }
      if (Used(at) == from_below && from_below >= 0) continue;
      return absl::InternalError(
          absl::StrCat("quota node ", i, " uses ", Saturated(Used(at)).units(), " of cell ", cell,
                       ", and ", Saturated(from_below).units(), " come from below"));
    }
  }
  return absl::OkStatus();
}

}  // namespace maniple
