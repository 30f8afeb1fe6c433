// One search for each kind of change that may help: the smallest one that does, and the cluster
// with it. Pure functions; each is proved by the trials that it makes.
//
// `from` is the hypothesis that the change is made to, in which the gang does not start.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "scheduler/advice/help_question.h"
#include "scheduler/advice/trials.h"

namespace maniple {

struct FoundChange {
  HelpfulChange change;
  Hypothesis after;
};

// lacking.cc: the fewest resources that would have to be plentiful on the nodes that are there,
// GPUs not among them. Empty: GPUs are lacking, or something that is no resource.
[[nodiscard]] std::vector<ResourceId> LackingButGpus(const Hypothesis& from, Trials& trials);
// more_nodes.cc: one per product of GPUs, counted in nodes where it is not GPUs that are lacking;
// for a gang that asks for none, the kind of node of which the fewest do.
[[nodiscard]] std::vector<FoundChange> FindMoreNodes(const Hypothesis& from, Trials& trials);
// more_quota.cc: by flavor and resource, at its Queue first, then at every Cohort above.
[[nodiscard]] std::vector<FoundChange> FindMoreQuota(const HelpQuestion& question,
                                                     const Hypothesis& from, Trials& trials);
// Both, where two are lacking: of two resources or flavors, at one Queue or Cohort. Each is the
// least beside the other.
[[nodiscard]] std::vector<std::pair<HelpfulChange, HelpfulChange>> FindTwoQuotas(
    const HelpQuestion& question, const Hypothesis& from, Trials& trials);
// other_wishes.cc: another request of the gang itself.
[[nodiscard]] std::optional<FoundChange> FindSmallerQuorum(const HelpQuestion& question,
                                                           const Hypothesis& from, Trials& trials);
[[nodiscard]] std::vector<FoundChange> FindWiderLevel(const HelpQuestion& question,
                                                      const Hypothesis& from, Trials& trials);
// node_back.cc: three nodes at most. Those that would be used if all were back come first.
[[nodiscard]] std::vector<FoundChange> FindNodesBack(const Hypothesis& from, Trials& trials);
// others_leave.cc
[[nodiscard]] std::optional<FoundChange> FindHigherPriority(const HelpQuestion& question,
                                                            const Hypothesis& from, Trials& trials);
// The smallest gang whose end helps, if there are not too many; of more, the smallest that frees
// enough GPUs for so many members.
[[nodiscard]] std::optional<FoundChange> FindGangGone(const Hypothesis& from,
                                                      int64_t members_lacking, Trials& trials);
// A few gangs that help only if they all end; none: there are none, or too many.
[[nodiscard]] std::vector<GangGone> FindGangsGone(const Hypothesis& from, Trials& trials);

}  // namespace maniple
