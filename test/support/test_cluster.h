// A cluster in one object, for tests of decisions: events in, decisions out.
//
//   TestCluster cluster;
//   cluster.Add(MakeNode("n1").Gpu(8));
//   cluster.Add(MakePodGroup("a").MinMember(1));
//   cluster.Add(MakePod("a-0").Group("a").Gpu(8));
//   EXPECT_THAT(cluster.PlacesOf(cluster.Decide("a")), ElementsAre("a-0=n1"));
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/model/object.h"
#include "plugins/framework/profile.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/state/cluster_state.h"

namespace maniple {

class TestCluster final {
 public:
  TestCluster();

  void Add(ObjectEvent event);
  [[nodiscard]] ClusterState& state() { return state_; }
  [[nodiscard]] const Profile& profile() const { return profile_; }
  [[nodiscard]] const Gang& GangOf(absl::string_view name);

  // What the loop would ask for the gang as it stands: its pending members, the bound ones pinned.
  [[nodiscard]] GangRequest RequestOf(absl::string_view gang);
  [[nodiscard]] Decision Decide(absl::string_view gang);
  [[nodiscard]] Decision Decide(const GangRequest& request);

  // "pod=node" per placement, in the order of the plan; "rejected" for a rejection.
  [[nodiscard]] std::vector<std::string> PlacesOf(const Decision& decision);
  // "4: insufficient nvidia.com/gpu (want 8, have 2)" per reason.
  [[nodiscard]] std::vector<std::string> ReasonsOf(const Decision& decision);

  absl::Time now = absl::FromUnixSeconds(1'700'000'000);

 private:
  ClusterState state_;
  Profile profile_;
};

}  // namespace maniple
