// Pods that are gangs of their own. Fears: one whose group turns out to ask for no gang loses its
// Queue or its hold until its next event; a label that is changed during a bind is forgotten.
#include "scheduler/state/cluster_state.h"

#include <gtest/gtest.h>

#include <string>

#include "api/producers/kinds.h"
#include "test/support/builders.h"

namespace maniple::state_gangs_of_one_test {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

class GangsOfOne : public ::testing::Test {
 protected:
  void Apply(const ObjectEvent& event) {
    state_.Apply(event, kNow, delta_);
    EXPECT_EQ(state_.CheckInvariants().message(), "");
  }
  [[nodiscard]] const Gang* Single(const std::string& pod) {
    const std::optional<GangId> id = state_.GangNamed(
        {.dialect = GangDialect::kSingleton, .namespace_name = "default", .name = pod});
    return id.has_value() ? state_.FindGang(*id) : nullptr;
  }

  ClusterState state_{ClusterStateOptions{.producers = {.kinds = BuiltinForeignKinds()}}};
  Delta delta_;
};

ResourceKind UpstreamGroups() {
  return ForeignResource(
      KindIndexOf(BuiltinForeignKinds(), "scheduling.k8s.io/v1beta1", "PodGroup").value());
}

ObjectEvent BasicGroup() {
  ForeignObject group{.kind = static_cast<uint8_t>(UpstreamGroups())};
  group.meta.name = "basic";
  group.meta.namespace_name = "default";
  group.meta.uid = "uid-basic";
  group.api_version = "scheduling.k8s.io/v1beta1";
  group.spec.is_gang = false;
  return ObjectUpserted{group};
}

TEST_F(GangsOfOne, KeepTheirQueueAndTheirHoldWhenTheirGroupAsksForNoGang) {
  Apply(KindServed{.kind = UpstreamGroups(), .state = ServedState::kServed, .version = "v1beta1"});
  Pod pod = MakePod("p").Label(kQueueLabel, "team");
  pod.meta.annotations.Set(kHoldAnnotation, "true");
  pod.scheduling_group = "basic";
  Apply(ObjectUpserted{pod});
  ASSERT_EQ(Single("p"), nullptr) << "it waits for its group";
  Apply(BasicGroup());
  ASSERT_NE(Single("p"), nullptr);
  EXPECT_EQ(Single("p")->queue, "team");
  EXPECT_TRUE(Single("p")->on_hold);
}

TEST_F(GangsOfOne, AskOfTheQueueThatTheyNameWhenTheirBindIsUndone) {
  Apply(MakeNode("n"));
  Apply(MakePod("p").Label(kQueueLabel, "before"));
  const PodId pod = state_.PodWithUid("uid-p").value();
  state_.Reserve(pod, state_.NodeNamed("n").value());
  Apply(MakePod("p").Label(kQueueLabel, "after"));
  state_.Release(pod, delta_);
  ASSERT_TRUE(state_.HasMoved());
  state_.FileMoved(delta_);
  EXPECT_EQ(Single("p")->queue, "after");
}

}  // namespace
}  // namespace maniple::state_gangs_of_one_test
