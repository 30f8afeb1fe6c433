// What the tests of searches begin with: levels of nodes, and a gang that is bound as a decision
// binds it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "scheduler/cycle/search/bound_request.h"
#include "scheduler/cycle/topology/topology.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple {

// The Topology of these levels, broadest first; the label of each has its name.
inline void AddLevels(TestCluster& cluster, std::initializer_list<std::string> names) {
  Topology topology;
  for (const std::string& name : names)
    topology.levels.push_back({.name = name, .node_label = name});
  cluster.Add(ObjectUpserted{topology});
}

// Nodes n0, n1 … in racks of blocks.
class RackedWorld {
 public:
  RackedWorld() { AddLevels(cluster_, {"block", "rack"}); }
  void Node(absl::string_view block, absl::string_view rack, int64_t gpus) {
    MakeNode node(absl::StrCat("n", nodes_++));
    cluster_.Add(node.Gpu(gpus).Label("block", block).Label("rack", rack));
  }

 protected:
  TestCluster cluster_;

 private:
  int nodes_ = 0;
};

// One domain of the level is required, whose nodes carry a label of its name.
inline DomainChoice Within(const Snapshot& snapshot, const std::string& level) {
  DomainChoice choice;
  choice.gang.levels = {
      std::make_shared<const DomainLevel>(LevelOf(snapshot, {.name = level, .steps = {{level}}}))};
  choice.gang.required = true;
  return choice;
}

// A gang of the cluster as it stands. Taken apart in the order of its parts.
struct BoundGang {
  BoundGang(TestCluster& cluster, absl::string_view gang, SearchWork* work = nullptr)
      : request(cluster.RequestOf(gang)),
        snapshot(cluster.state().Publish()),
        now(*snapshot, Overlay::View::kNow, work),
        bound({.snapshot = *snapshot, .now = cluster.now, .seed = 1}, request, cluster.profile()),
        kinds(bound.Bind(Question::kNow, now)) {}
  BoundGang(const BoundGang&) = delete;
  BoundGang& operator=(const BoundGang&) = delete;

  const GangRequest request;
  const SnapshotPtr snapshot;
  Overlay now;
  const BoundRequest bound;
  BoundKinds kinds;
};

}  // namespace maniple
