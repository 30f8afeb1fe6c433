// A cluster whose placed pods ask for volumes, as the loop asks for them; shared by the tests of
// volume plans.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/bind/volume_plan.h"
#include "scheduler/state/cluster_state.h"

namespace maniple {

class PlanWorld final {
 public:
  using Places = std::vector<std::pair<std::string, std::string>>;  // pod, node

  void Add(const ObjectEvent& event) {
    Delta delta;
    state_.Apply(event, absl::FromUnixSeconds(1'700'000'000), delta);
  }
  [[nodiscard]] PodId PodNamed(const std::string& pod) const {
    return state_.PodWithUid(absl::StrCat("uid-", pod)).value();
  }
  [[nodiscard]] std::optional<std::vector<ClaimGoal>> Plan(const Places& places) {
    std::vector<ClaimAsk> asks;
    for (const auto& [pod, node] : places) {
      const std::vector<ClaimToBind> claims = state_.ClaimsToBind(PodNamed(pod));
      EXPECT_FALSE(claims.empty()) << pod << " has nothing to bind";
      for (const ClaimToBind& claim : claims) {
        asks.push_back(
            {.pod = PodNamed(pod), .node = state_.NodeNamed(node).value(), .claim = claim});
      }
    }
    return PlanVolumes(*state_.Publish(), asks);
  }

 private:
  ClusterState state_{ClusterStateOptions{}};
};

}  // namespace maniple
