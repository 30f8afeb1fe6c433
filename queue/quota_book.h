// Queues, Cohorts and ResourceFlavors as the API has them, turned into the quota tree.
// It tells which Queues are active and why not, the flavor of each node,
// and the cell of the tree that a pod is charged to.
//
// Owned by the scheduling loop. Ids of nodes and cells keep their meaning for the life of the book.
// A queue that is gone stands alone in the tree, without quota. An inactive one keeps its quota,
// and its place unless its Cohort is on a cycle or below one.
//
//   if (book.Note(event)) stale = true;    // limits, parents, policies or flavors changed
//   book.Rebuild();                        // the tree anew, with no usage
//   book.tree().Add(queue, demand); …; book.tree().Remove(queue, demand);
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "api/base/id.h"
#include "api/model/maniple_types.h"
#include "api/model/model.h"
#include "api/model/object.h"
#include "queue/quota_tree.h"

namespace maniple {

// A ResourceFlavor, or none: the nodes that match no flavor.
using FlavorId = Id<struct FlavorTag>;

// The rule for one resource of a pod: whether and where it is counted.
enum class CellRule : uint8_t {
  kUnlimited,  // the queue lists the resource nowhere
  kCharged,
  kForbidden,  // the queue lists the resource, but not for nodes of this flavor
};
struct CellAnswer {
  CellRule rule = CellRule::kUnlimited;
  QuotaCellId cell;  // kCharged; also kForbidden where another object counts this cell
  size_t order = 0;  // kCharged: the place of the entry in the queue's list
};

class QuotaBook final {
 public:
  // Whether the next Rebuild would differ.
  bool Note(const ObjectEvent& event);
  void Rebuild();

  // Equal for equal Queues, Cohorts and flavors, in every process: as of the last Rebuild.
  [[nodiscard]] uint64_t fingerprint() const { return fingerprint_; }
  [[nodiscard]] const QuotaTree& tree() const { return tree_; }
  // For QuotaLedger alone, which charges pods here. What-ifs ask a copy (Supposed).
  [[nodiscard]] QuotaTree& tree() { return tree_; }

  // The queue's own id, also when it does not exist (any more); invalid when it was never seen.
  [[nodiscard]] QuotaNodeId QueueNamed(absl::string_view name) const;
  [[nodiscard]] QuotaNodeId CohortNamed(absl::string_view name) const;
  [[nodiscard]] const Queue* FindQueue(absl::string_view name) const;  // null: no usable object
  [[nodiscard]] const std::map<std::string, Cohort>& cohorts() const { return cohorts_; }
  // What is wrong with the queue's object or its Cohort; "" = nothing that is known. Such a queue
  // may still be stopped, or not exist.
  [[nodiscard]] std::string ProblemOfQueue(absl::string_view name) const;
  [[nodiscard]] std::string ProblemOfCohort(absl::string_view name) const;
  // The nearest Cohort above the queue of which no quota counts, and why: "Cohort "c" above its
  // queue is inactive: …"; "" = there is none. As of the last Rebuild.
  [[nodiscard]] std::string ProblemAbove(absl::string_view queue) const;
  [[nodiscard]] absl::string_view NameOf(QuotaNodeId node) const;  // without its kind
  [[nodiscard]] size_t node_count() const { return nodes_.size(); }
  // The ordering of a queue whose object can be read, active or not; else BestEffortFIFO.
  [[nodiscard]] QueueOrdering OrderingOf(QuotaNodeId queue) const;

  // Does some queue in the tree of this root reclaim borrowed quota?
  [[nodiscard]] bool Reclaims(QuotaNodeId root) const { return reclaiming_.contains(root); }

  // The flavor of a node with these labels: the matching one of highest priority, then by name.
  [[nodiscard]] FlavorId FlavorOf(const StringMap& node_labels) const;
  [[nodiscard]] absl::string_view FlavorName(FlavorId flavor) const;  // "" for none
  // True: no node of the flavor can take the pod, whose node selector or required node affinity
  // asks for other values of labels that the flavor gives its nodes.
  [[nodiscard]] bool Excludes(FlavorId flavor, const PodConstraints& pod) const;
  // The flavors that the queue's entries name, in their order, and the invalid one for an entry
  // without a flavor.
  [[nodiscard]] std::vector<FlavorId> FlavorsOf(QuotaNodeId queue) const;
  [[nodiscard]] CellAnswer CellFor(QuotaNodeId queue, absl::string_view resource,
                                   FlavorId flavor) const;
  // Invalid: no Queue or Cohort has quota for it.
  [[nodiscard]] QuotaCellId CellNamed(absl::string_view flavor, absl::string_view resource) const;
  [[nodiscard]] const std::string& ResourceOf(QuotaCellId cell) const;
  [[nodiscard]] const std::string& FlavorOfCell(QuotaCellId cell) const;

 private:
  struct Node {
    bool is_queue = false;
    std::string name;
  };
  using Entries = std::vector<FlavorQuota>;

  template <typename T>
  bool Store(std::map<std::string, T>& objects, std::map<std::string, std::string>& problems,
             const T& object);
  QuotaNodeId NodeFor(bool is_queue, const std::string& name);
  [[nodiscard]] QuotaNodeId NodeNamed(bool is_queue, absl::string_view name) const;
  QuotaCellId InternCell(const std::string& flavor, const std::string& resource);
  [[nodiscard]] std::string ProblemIn(const Entries& entries) const;
  void FindProblems();
  void FindCycles();
  [[nodiscard]] std::vector<QuotaLimit> LimitsOf(const Entries& entries);
  void RankFlavors();
  [[nodiscard]] uint64_t FingerprintNow() const;

  std::map<std::string, Queue> queues_;
  std::map<std::string, Cohort> cohorts_;
  std::map<std::string, ResourceFlavor> flavors_;
  // Why objects could not be read.
  std::map<std::string, std::string> unreadable_queues_, unreadable_cohorts_, unreadable_flavors_;
  std::map<std::string, std::string> queue_problems_, cohort_problems_;
  std::set<std::string> cyclic_;  // Cohorts without a place in the tree: on a cycle, or below one

  std::vector<Node> nodes_;  // by QuotaNodeId
  // By name: of Cohorts, and of Queues.
  std::array<absl::flat_hash_map<std::string, QuotaNodeId>, 2> node_ids_;
  std::vector<std::pair<std::string, std::string>> cells_;  // (flavor, resource) by QuotaCellId
  std::map<std::pair<std::string, std::string>, QuotaCellId> cell_ids_;
  std::vector<bool> has_quota_;            // by QuotaCellId: some Queue or Cohort names it now
  std::vector<std::string> flavor_names_;  // by FlavorId
  std::map<std::string, FlavorId, std::less<>> flavor_ids_;
  struct Ranked {
    FlavorId flavor;
    int32_t priority = 0;
    StringMap node_labels;
  };
  std::vector<Ranked> ranked_flavors_;
  // By queue id: its entries, resource by resource.
  struct Entry {
    FlavorId flavor;  // invalid: the entry names none
    QuotaCellId cell;
    size_t order = 0;
  };
  std::vector<absl::flat_hash_map<std::string, std::vector<Entry>>> rules_;
  absl::flat_hash_set<QuotaNodeId> reclaiming_;  // roots
  uint64_t fingerprint_ = 0;
  QuotaTree tree_;
};

}  // namespace maniple
