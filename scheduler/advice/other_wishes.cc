// Other requests that the gang might make: fewer members, or a wider domain.
#include <algorithm>
#include <numeric>

#include "scheduler/advice/changes.h"
#include "scheduler/cycle/topology/topology.h"

namespace maniple {
namespace {

// Levels wider than the required one, the narrowest first, and no level at the end.
std::vector<std::string> WiderThan(const TopologyRequest& request, const Tables& tables) {
  std::vector<std::string> wider = {""};
  if (const auto place = FindLevel(tables, request.topology_name, request.required)) {
    for (size_t i = 0; i < place->index; ++i) wider.push_back(place->topology->levels[i].name);
  } else if (const Topology* topology = FindTopology(tables, request.topology_name)) {
    for (const TopologyLevel& level : topology->levels) wider.push_back(level.name);
  }
  std::ranges::reverse(wider);
  return wider;
}

std::optional<FoundChange> Widened(const Hypothesis& from, std::optional<size_t> sub_group,
                                   const std::string& name, Trials& trials) {
  const TopologyRequest& asked =
      sub_group.has_value() ? from.request.sub_group_topologies[*sub_group] : from.request.topology;
  if (asked.required.empty()) return std::nullopt;
  for (const std::string& level : WiderThan(asked, *from.snapshot->tables)) {
    Hypothesis with = from;
    TopologyRequest& request = sub_group.has_value() ? with.request.sub_group_topologies[*sub_group]
                                                     : with.request.topology;
    request.required = level;
    if (!trials.Starts(with)) continue;
    return FoundChange{
        .change = WiderLevel{.level = level, .instead_of = asked.required, .sub_group = name},
        .after = std::move(with)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<FoundChange> FindSmallerQuorum(const HelpQuestion& question, const Hypothesis& from,
                                             Trials& trials) {
  const QuorumNeed& need = from.request.need;
  // Sub-groups keep their own minimums, and at least one member has to start.
  const int32_t of_sub_groups =
      std::accumulate(need.sub_groups.begin(), need.sub_groups.end(), int32_t{0});
  const int32_t most = need.total - std::max(1, of_sub_groups);
  if (most < 1) return std::nullopt;
  const auto with_fewer = [&](int64_t fewer) {
    Hypothesis with = from;
    with.request.need.total -= static_cast<int32_t>(fewer);
    return with;
  };
  const auto does = [&](int64_t fewer) { return trials.Starts(with_fewer(fewer)); };
  if (!does(most)) return std::nullopt;
  const int64_t least = LeastThatDoes(0, most, does);
  if (trials.spent()) return std::nullopt;
  return FoundChange{
      .change = SmallerQuorum{.members = question.min_member - static_cast<int32_t>(least),
                              .instead_of = question.min_member},
      .after = with_fewer(least)};
}

std::vector<FoundChange> FindWiderLevel(const HelpQuestion& question, const Hypothesis& from,
                                        Trials& trials) {
  std::vector<FoundChange> all;
  if (auto found = Widened(from, std::nullopt, "", trials)) all.push_back(*std::move(found));
  for (size_t i = 0; i < from.request.sub_group_topologies.size(); ++i) {
    const std::string& name = question.sub_groups[i];
    if (auto found = Widened(from, i, name, trials)) all.push_back(*std::move(found));
  }
  return all;
}

}  // namespace maniple
