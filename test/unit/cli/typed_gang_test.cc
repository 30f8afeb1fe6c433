// Fear: of a name that a user types another gang is meant, or none.
#include "scheduler/cli/typed_gang.h"

#include "gmock/gmock.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Json StandIn(const std::string& name, const std::string& kind, const std::string& of) {
  return Json::Object(
      {{"metadata", Json::Object({{"name", name}})},
       {"spec", Json::Object({{"source", Json::Object({{"kind", kind}, {"name", of}})}})}});
}

TEST(TypedGang, NamesWhatStandsForIt) {
  const std::vector<Json> groups = {
      StandIn("train-1", "PyTorchJob", "train"), StandIn("train-2", "JobSet", "train"),
      StandIn("other-3", "PyTorchJob", "other"), StandIn("train-4", "PyTorchJob", "train"),
      Json::Object({{"metadata", Json::Object({{"name", "train"}})}})};
  EXPECT_THAT(StandInsTyped("pytorchjob/train", groups), ElementsAre("train-1", "train-4"));
  EXPECT_THAT(StandInsTyped("JobSets/train", groups), ElementsAre("train-2"));
  EXPECT_THAT(StandInsTyped("jobsets.jobset.x-k8s.io/train", groups), ElementsAre("train-2"));
  EXPECT_THAT(StandInsTyped("team/train", groups), IsEmpty());
  EXPECT_THAT(StandInsTyped("/train", groups), IsEmpty());
}

TEST(TypedGang, APodGroupAndAPodHaveTheirOwnNames) {
  for (const char* typed : {"podgroups/train", "podgroup.scheduling.maniple.dev/train", "mpg/train",
                            "pod/train", "po/train", "train"}) {
    EXPECT_TRUE(IsNamedItself(typed)) << typed;
    EXPECT_EQ(NameTyped(typed), "train");
  }
  EXPECT_FALSE(IsNamedItself("pytorchjob/train"));
  EXPECT_TRUE(IsPodTyped("Pods/train"));
  for (const char* typed : {"pod", "podgroup/pod", "train"})
    EXPECT_FALSE(IsPodTyped(typed)) << typed;
}

}  // namespace
}  // namespace maniple
