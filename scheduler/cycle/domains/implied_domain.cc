#include "scheduler/cycle/domains/implied_domain.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "api/base/sort_unique.h"
#include "scheduler/cycle/domains/restriction.h"

namespace maniple {
namespace {

using Outcome = SearchResult::Outcome;

// Domains that pass the count but not the search, before the rest are given up.
constexpr int kMostTrials = 64;

struct Domain {
  uint32_t index = 0;
  std::vector<int64_t> room;  // by kind, an upper bound
};

// Domains of nodes that share some labels, numbered by their first node in the order of names.
struct Partition {
  static constexpr uint32_t kOutside = ~uint32_t{0};

  std::vector<uint32_t> domain_of;  // by node index
  uint32_t count = 0;

  [[nodiscard]] NodeSet NodesOf(uint32_t domain, uint32_t blocks) const {
    NodeSet nodes(blocks);
    for (uint32_t i = 0; i < domain_of.size(); ++i) {
      if (domain_of[i] == domain) nodes[BlockOf(NodeId(i))].Set(RowOf(NodeId(i)));
    }
    return nodes;
  }
};

Partition PartitionBy(const Overlay& overlay, const std::vector<size_t>& columns) {
  std::map<std::vector<LabelValueId>, uint32_t> known;
  Partition partition;
  partition.domain_of.assign(overlay.block_count() * kBlockNodes, Partition::kOutside);
  std::vector<LabelValueId> values(columns.size());
  for (const NodeId node : overlay.base().order->by_name) {
    const NodeRows& rows = overlay.At(node).block.rows();
    for (size_t i = 0; i < columns.size(); ++i) {
      values[i] = rows.label_columns[columns[i]].values[RowOf(node)];
    }
    if (!std::ranges::all_of(values, &LabelValueId::valid)) continue;
    const auto [it, is_new] = known.try_emplace(values, partition.count);
    if (is_new) ++partition.count;
    partition.domain_of[node.index()] = it->second;
  }
  return partition;
}

// `follows`: kinds that must be in the domain; the others may use all nodes.
std::vector<Domain> RoomByDomain(const Partition& partition, std::vector<Kind>& kinds,
                                 const Overlay& overlay, const std::vector<bool>& follows) {
  std::vector<Domain> domains(partition.count);
  for (uint32_t d = 0; d < domains.size(); ++d) {
    domains[d] = {.index = d, .room = std::vector<int64_t>(kinds.size(), 0)};
  }
  for (size_t k = 0; k < kinds.size(); ++k) {
    if (kinds[k].bound == nullptr) continue;
    const ShapeRoom room = kinds[k].bound->AtMostOn(overlay, nullptr);
    for (const NodeRoom& node : room.nodes) {
      const uint32_t domain = partition.domain_of[node.node.index()];
      if (follows[k] && domain != Partition::kOutside) domains[domain].room[k] += node.pods;
    }
    for (Domain& domain : domains) {
      if (!follows[k]) domain.room[k] = room.total;
    }
  }
  return domains;
}

// `follows`: the kinds that are kept to the domain.
SearchResult SearchDomainsInTurn(const QuorumProblem& problem, std::vector<Kind>& kinds,
                                 Overlay& overlay, const std::vector<size_t>& columns,
                                 const std::vector<bool>& follows,
                                 absl::FunctionRef<SearchResult()> search) {
  const Partition partition = PartitionBy(overlay, columns);
  std::vector<Domain> domains = RoomByDomain(partition, kinds, overlay, follows);
  const auto order = [&](const Domain& domain) {
    bool takes_all = true;
    int64_t left_over = 0;
    for (uint32_t k = 0; k < kinds.size(); ++k) {
      const int64_t count = problem.CountOf(k);
      takes_all = takes_all && domain.room[k] >= count;
      left_over += domain.room[k] - count;
    }
    return std::make_tuple(!takes_all, left_over, domain.index);
  };
  std::ranges::sort(domains, {}, order);

  SearchResult result{
      .outcome = Outcome::kProven, .places = {}, .shortage = {.wanted = problem.total}};
  std::optional<int64_t> least_lacking;
  const auto note = [&](const Shortage& shortage) {
    const int64_t lacking = shortage.wanted - shortage.placeable;
    if (least_lacking.has_value() && *least_lacking <= lacking) return;
    least_lacking = lacking;
    result.shortage = shortage;
  };
  Restriction restriction(kinds);
  int trials = 0;
  for (const Domain& domain : domains) {
    if (const std::optional<Shortage> shortage = ProvenShortage(problem, domain.room)) {
      note(*shortage);
      continue;
    }
    if (++trials > kMostTrials || overlay.spent()) {
      result.outcome = Outcome::kGaveUp;
      break;
    }
    const NodeSet nodes = partition.NodesOf(domain.index, overlay.block_count());
    for (size_t k = 0; k < kinds.size(); ++k) {
      if (follows[k]) restriction.To(nodes, k);
    }
    SearchResult found = search();
    if (found.outcome == Outcome::kFound) return found;
    if (found.outcome == Outcome::kGaveUp) result.outcome = Outcome::kGaveUp;
    note(found.shortage);
  }
  return result;
}

}  // namespace

std::vector<size_t> ImpliedColumns(std::vector<Kind>& kinds, const Overlay& overlay) {
  std::vector<size_t> columns;
  for (const Kind& kind : kinds) {
    if (kind.bound == nullptr) continue;
    const std::vector<size_t> shared = kind.bound->OneDomainOf(overlay);
    columns.insert(columns.end(), shared.begin(), shared.end());
  }
  SortUnique(columns);
  return columns;
}

SearchResult SearchImplied(const QuorumProblem& problem, std::vector<Kind>& kinds, Overlay& overlay,
                           const std::vector<size_t>& columns,
                           absl::FunctionRef<SearchResult()> search) {
  bool some_wait = false;
  std::vector<bool> follows;
  for (const Kind& kind : kinds) {
    follows.push_back(kind.bound != nullptr && !kind.bound->OneDomainOf(overlay).empty());
    some_wait = some_wait || (follows.back() && !kind.bound->counts_prove());
  }
  // Where a kind waits for another one to be placed, that other kind is best in the domain as well.
  // It need not be there: only a search of all nodes proves that there is no place.
  if (some_wait) follows.assign(kinds.size(), true);
  SearchResult result = SearchDomainsInTurn(problem, kinds, overlay, columns, follows, search);
  if (!some_wait || result.outcome == Outcome::kFound) return result;
  result.outcome = Outcome::kGaveUp;
  if (overlay.spent()) return result;
  SearchResult anywhere = search();
  anywhere.shortage = result.shortage;
  return anywhere;
}

}  // namespace maniple
