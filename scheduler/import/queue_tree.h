// Trees of queues in which the amounts of a parent are those of its whole subtree,
// as in Volcano's capacity plugin and KAI. They become Queues and Cohorts of ours,
// where a Cohort's amounts come on top of those below it.
//
// A queue with children becomes a Cohort, any other a Queue. All stand below one Cohort,
// which has the nodes' amounts that are guaranteed to no queue. With T(q) = max(nominal of q,
// sum of T of its children), a Cohort gets nominal T - (sum of T of its children),
// and a limit becomes borrowingLimit = limit - T. A nominal above the limit counts as the limit;
// a limit below what is promised to the children is told of. Every Queue lists every resource,
// so that the limits of those above also hold for it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "api/base/amount.h"
#include "scheduler/import/dialects.h"

namespace maniple {

struct TreeQueue {
  struct Line {
    Amount nominal;
    std::optional<Amount> limit;     // of the subtree; none: no limit
    std::optional<Amount> reserved;  // of nominal, never lent
  };

  ForeignManifest* from = nullptr;  // for findings
  std::string parent;               // "": on top
  const char* parent_path = "spec.parent";
  std::map<std::string, Line> lines;  // by resource
  std::set<std::string> unlimited;    // resources that a Queue of ours does not list at all
  Json own_spec;                      // of a Queue: ordering, preemption, …
  Json weight;                        // null: none was given
};

// `top`: the name of the Cohort above all. `capacity`: by resource, of all nodes.
// Without nodes there would be nothing to share beyond the guarantees, so that is an error,
// and nothing is written.
void ImportTree(std::map<std::string, TreeQueue> queues, const std::string& top,
                const std::map<std::string, Amount>& capacity, Imported& out);

// Where all is one queue, it is called so.
inline constexpr char kRootQueue[] = "root";

// The amounts at the path of the queue's fields, by resource ("vcore" is cpu); what is no amount
// is an error.
[[nodiscard]] std::map<std::string, Amount> TakeAmounts(ForeignManifest& queue,
                                                        absl::string_view path, Imported& out);

// All resources that the nodes among the objects offer.
[[nodiscard]] std::map<std::string, Amount> CapacityOf(const ForeignManifests& objects);

}  // namespace maniple
