// Kinds of nodes that are charged alike, and the cost of a pod to its queue on each. This is
// the bridge between the quota book, which knows flavors, and the decision, which knows nodes.
//
// Owned by the scheduling loop.
#pragma once

#include <vector>

#include "api/model/ids.h"
#include "plugins/framework/snapshot.h"
#include "queue/gpu_milli.h"
#include "queue/quota_book.h"
#include "scheduler/cycle/question/quota_ask.h"

namespace maniple {

// Nodes that are charged alike; the id keeps its meaning when the last of them is gone.
using NodeKindId = Id<struct NodeKindTag>;

class NodeCharges final {
 public:
  // True: pods that are there already cost something else now.
  bool Upsert(NodeId node, const StringMap& labels, const GpuFacts& gpus, const QuotaBook& book);
  void Remove(NodeId node);

  // Invalid: an unknown node.
  [[nodiscard]] NodeKindId KindOf(NodeId node) const;
  // Invalid: none, or an unknown kind.
  [[nodiscard]] FlavorId FlavorOf(NodeKindId kind) const {
    return kind.valid() ? classes_[kind.index()].facts.flavor : FlavorId();
  }
  // The cost of one pod on a node of the kind; an unknown kind is of no flavor. Facts are charged
  // even where the queue has no quota for them, as far as that flavor is counted anywhere.
  [[nodiscard]] Demand CostOn(const QuotaBook& book, QuotaNodeId queue, const PodConstraints& pod,
                              NodeKindId kind) const;
  // The options of the queue for pods that ask for so much, in the order of its list.
  [[nodiscard]] std::vector<QuotaOption> OptionsFor(const QuotaBook& book, QuotaNodeId queue,
                                                    const PodConstraints& pod) const;

 private:
  struct Facts {
    FlavorId flavor;
    GpuDivision division;
    friend auto operator<=>(const Facts&, const Facts&) = default;
  };
  struct Alike {
    Facts facts;
    NodeSet nodes;
    int64_t count = 0;
  };
  static constexpr uint32_t kNone = ~uint32_t{0};

  [[nodiscard]] uint32_t ClassOf(NodeId node) const;
  void Leave(NodeId node);

  std::vector<Alike> classes_;      // few; never shrinks
  std::vector<uint32_t> class_of_;  // by node index
};

}  // namespace maniple
