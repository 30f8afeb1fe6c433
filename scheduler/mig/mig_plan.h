// The MIG configurations that idle nodes should get, for the slices that wait.
//
// A pure function of plain values. Service is counted in pods: the waiting pods
// that could stand somewhere if every node were as it is, or as proposed for it.
// Of the nodes that may change it serves as many as any choice of the given configurations, with
// the fewest nodes changed; where `proven` is false more may be possible.
// Nodes and configurations of equal use are taken by name.
//
// Whole GPUs come first: a node that pods waiting for whole GPUs could use as it is keeps them.
// A plan with proposals serves more pods than before. So with demand and nodes unchanged every plan
// that is carried out leaves fewer pods waiting. There is no way back to an earlier state, and no
// loop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/gpu/mig_config.h"
#include "api/gpu/mig_tables.h"

namespace maniple {

struct MigPlanNode {
  std::string name;
  // The table of its GPUs; null: it may not be changed, and only gives its free units. Borrowed.
  const MigTable* table = nullptr;
  int32_t gpus = 0;           // whole ones, divided or not
  std::string config;         // the present one; "" = not known
  int32_t kind = 0;           // nodes of one kind are alike in all but GPUs
  std::vector<int64_t> free;  // of each resource in question
};

// Pods of one shape, each of which wants one resource of the GPUs.
struct MigDemand {
  int32_t resource = 0;  // index into MigPlanInput::resources
  int64_t per_pod = 1;
  int64_t pods = 0;
  // By kind of node: how many such pods one takes if GPUs are left aside; 0 = it lets none in.
  std::vector<int32_t> most;
};

struct MigPlanInput {
  std::vector<std::string> resources;  // "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"
  std::vector<MigPlanNode> nodes;
  std::vector<MigDemand> demands;
  std::vector<MigConfig> configs;  // beside the defaults of mig-manager
  enum class Defaults : uint8_t { kOffered, kNotOffered };
  Defaults defaults = Defaults::kOffered;  // the configurations of mig-manager
  int64_t most_steps = 20'000;             // of the search
};

struct MigProposal {
  std::string node, config;
  friend auto operator<=>(const MigProposal&, const MigProposal&) = default;
};

struct MigPlan {
  std::vector<MigProposal> proposals;  // by node
  // Pods that could stand somewhere, with the nodes as they are and as proposed.
  int64_t served_before = 0, served = 0;
  bool proven = true;  // no other choice that was looked at serves more, or as many by less
};

[[nodiscard]] MigPlan PlanMig(const MigPlanInput& input);

}  // namespace maniple
