// Whom `maniple explain` finds by what an operator calls it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/string_view.h"
#include "api/proto/admin.pb.h"
#include "scheduler/app/answers/admin_view.h"

namespace maniple {
namespace {

namespace pb = admin::v1;

class Explain : public ::testing::Test {
 protected:
  Explain() {
    GangView gang;
    gang.namespace_name = "default";
    gang.name = "train-1a2b3c4d";
    gang.source = {.kind = "PodGroup",
                   .name = "train",
                   .part = "",
                   .owner_kind = "PyTorchJob",
                   .owner_name = "big"};
    gang.pods = {{.pod = "train-worker-0", .node = "", .state = "pending"}};
    view_.gangs.push_back(gang);
    for (const bool waits : {false, true}) {
      GangView stage;
      stage.namespace_name = "default";
      stage.name = waits ? "js-then" : "js-first";
      stage.phase = waits ? "Waiting" : "Running";
      stage.source.kind = "JobSet";
      stage.source.name = "js";
      view_.gangs.push_back(stage);
    }
  }

  // The gang that is found, "" for none.
  [[nodiscard]] std::string Found(absl::string_view name) const {
    const absl::StatusOr<const GangView*> found = FindGang(view_, "default", name);
    return found.ok() ? (*found)->name : "";
  }

  ClusterView view_;
};

TEST_F(Explain, FindsAGangByItsPodGroupByAPodAndByWhateverDeclaresIt) {
  for (const char* name :
       {"train-1a2b3c4d", "train-worker-0", "pod/train-worker-0", "podgroup/train",
        "podgroups/train-1a2b3c4d", "pytorchjob/big", "PyTorchJobs/big"}) {
    EXPECT_EQ(Found(name), "train-1a2b3c4d") << name;
  }
  for (const char* name : {"pytorchjob/train", "job/train", "/train", "big", "pytorchjob/"}) {
    EXPECT_EQ(Found(name), "") << name;
  }
}

TEST_F(Explain, OfSeveralGangsOfOneObjectTellsOfTheOneThatWaits) {
  EXPECT_EQ(Found("jobset/js"), "js-then");
}

}  // namespace
}  // namespace maniple
