#include "scheduler/loop/records/node_charges.h"

#include <algorithm>
#include <map>

namespace maniple {
namespace {

constexpr char kPodSlots[] = "pods";

struct Cost {
  Demand each;
  std::vector<size_t> orders;  // of the entries that are charged; sorted
  bool forbidden = false;
};

void Charge(const QuotaBook& book, QuotaNodeId queue, const ResourceAmount& request,
            FlavorId flavor, Cost& cost) {
  if (request.amount <= Amount()) return;
  const CellAnswer answer = book.CellFor(queue, request.resource, flavor);
  switch (answer.rule) {
    case CellRule::kUnlimited:
      return;
    case CellRule::kForbidden:
      cost.forbidden = true;
      if (!answer.cell.valid()) return;
      break;
    case CellRule::kCharged:
      cost.orders.push_back(answer.order);
      break;
  }
  cost.each.push_back({answer.cell, request.amount});
}

Cost CostOf(const QuotaBook& book, QuotaNodeId queue, const PodConstraints& pod, FlavorId flavor,
            const GpuDivision& division) {
  Cost cost;
  for (const ResourceAmount& request : pod.requests) {
    // These amounts are derived, so a request for one must not be counted a second time.
    if (request.resource == kPodSlots || request.resource == kGpuMilliResource) continue;
    Charge(book, queue, request, flavor, cost);
  }
  // Every pod takes one pod slot.
  Charge(book, queue, {kPodSlots, Amount(1)}, flavor, cost);
  Charge(book, queue, {kGpuMilliResource, GpuMilliOf(pod, division)}, flavor, cost);
  std::ranges::sort(cost.each, {}, &CellAmount::cell);
  std::ranges::sort(cost.orders);
  return cost;
}

// Nodes on which the same cells are charged, by the cost there.
struct Group {
  std::map<Demand, std::vector<uint32_t>> classes_by_cost;
  FlavorId flavor;
  bool may_serve = false;  // some of its flavors may take the pod
};

std::vector<QuotaCellId> CellsOf(const Demand& demand) {
  std::vector<QuotaCellId> cells;
  for (const CellAmount& part : demand) cells.push_back(part.cell);
  return cells;
}

}  // namespace

uint32_t NodeCharges::ClassOf(NodeId node) const {
  return node.index() < class_of_.size() ? class_of_[node.index()] : kNone;
}

void NodeCharges::Leave(NodeId node) {
  const uint32_t old = ClassOf(node);
  if (old == kNone) return;
  classes_[old].nodes[BlockOf(node)].Clear(RowOf(node));
  --classes_[old].count;
  class_of_[node.index()] = kNone;
}

bool NodeCharges::Upsert(NodeId node, const StringMap& labels, const GpuFacts& gpus,
                         const QuotaBook& book) {
  const Facts facts{.flavor = book.FlavorOf(labels), .division = GpuDivisionOf(gpus)};
  const uint32_t old = ClassOf(node);
  if (old != kNone && classes_[old].facts == facts) return false;
  Leave(node);
  auto it = std::ranges::find(classes_, facts, &Alike::facts);
  if (it == classes_.end()) it = classes_.insert(it, {.facts = facts, .nodes = {}});
  if (it->nodes.size() <= BlockOf(node)) it->nodes.resize(BlockOf(node) + 1);
  it->nodes[BlockOf(node)].Set(RowOf(node));
  ++it->count;
  if (class_of_.size() <= node.index()) class_of_.resize(node.index() + 1, kNone);
  class_of_[node.index()] = static_cast<uint32_t>(it - classes_.begin());
  return true;
}

void NodeCharges::Remove(NodeId node) { Leave(node); }

NodeKindId NodeCharges::KindOf(NodeId node) const {
  const uint32_t at = node.valid() ? ClassOf(node) : kNone;
  return at == kNone ? NodeKindId() : NodeKindId(at);
}

Demand NodeCharges::CostOn(const QuotaBook& book, QuotaNodeId queue, const PodConstraints& pod,
                           NodeKindId kind) const {
  const Facts facts = kind.valid() ? classes_[kind.index()].facts : Facts{};
  return CostOf(book, queue, pod, facts.flavor, facts.division).each;
}

std::vector<QuotaOption> NodeCharges::OptionsFor(const QuotaBook& book, QuotaNodeId queue,
                                                 const PodConstraints& pod) const {
  std::map<std::pair<std::vector<size_t>, std::vector<QuotaCellId>>, Group> groups;
  size_t allowed = 0, populated = 0;
  const auto add = [&](const Facts& facts, std::optional<uint32_t> node_class) {
    Cost cost = CostOf(book, queue, pod, facts.flavor, facts.division);
    if (cost.forbidden) return;
    const auto [it, is_new] = groups.try_emplace({std::move(cost.orders), CellsOf(cost.each)});
    Group& group = it->second;
    if (!node_class.has_value() && !is_new) return;  // its nodes tell the price
    std::vector<uint32_t>& classes = group.classes_by_cost[std::move(cost.each)];
    group.flavor = facts.flavor;
    group.may_serve = group.may_serve || !book.Excludes(facts.flavor, pod);
    if (!node_class.has_value()) return;
    classes.push_back(*node_class);
    ++allowed;
  };
  for (uint32_t i = 0; i < classes_.size(); ++i) {
    if (classes_[i].count == 0) continue;
    ++populated;
    add(classes_[i].facts, i);
  }
  // A flavor that has no node yet has its quota all the same.
  for (const FlavorId flavor : book.FlavorsOf(queue)) {
    const bool seen = std::ranges::any_of(classes_, [flavor](const Alike& alike) {
      return alike.count > 0 && alike.facts.flavor == flavor;
    });
    if (!seen) add({.flavor = flavor, .division = {}}, std::nullopt);
  }
  // A flavor that can never take the pod is no way of charging it. Where all are so, they say why.
  const auto serves = [](const auto& keyed) { return keyed.second.may_serve; };
  const bool any_serves = std::ranges::any_of(groups, serves);
  std::vector<QuotaOption> options;
  for (const auto& [key, group] : groups) {
    if (any_serves && !group.may_serve) continue;
    // Where nodes differ in their GPUs' worth: first all at the dearest price,
    // then all but the dearest at the next, and so on.
    for (auto dearest = group.classes_by_cost.rbegin(); dearest != group.classes_by_cost.rend();
         ++dearest) {
      QuotaOption option{.nodes = NodeSet(),
                         .each = dearest->first,
                         .flavor = std::string(book.FlavorName(group.flavor))};
      size_t classes = 0;
      for (auto it = dearest; it != group.classes_by_cost.rend(); ++it) {
        for (const uint32_t i : it->second) {
          const NodeSet& nodes = classes_[i].nodes;
          option.nodes->resize(std::max(option.nodes->size(), nodes.size()));
          for (size_t b = 0; b < nodes.size(); ++b) (*option.nodes)[b] |= nodes[b];
          ++classes;
        }
      }
      if (classes == populated) option.nodes.reset();
      options.push_back(std::move(option));
    }
  }
  if (options.empty()) options.push_back({.nodes = NodeSet(), .each = {}, .flavor = ""});
  return options;
}

}  // namespace maniple
