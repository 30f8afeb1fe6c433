// Whom `maniple explain` finds by what an operator calls it, and what a tenant's texts may do
// there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/proto/admin.pb.h"
#include "scheduler/app/answers/admin_view.h"
#include "scheduler/app/answers/printing.h"

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
                   .api_version = "scheduling.x-k8s.io/v1alpha1",
                   .owner_kind = "PyTorchJob",
                   .owner_name = "big",
                   .owner_group = "kubeflow.org"};
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

TEST_F(Explain, WhoLacksMembersIsAskedAboutASmallerQuorum) {
  GangView& gang = view_.gangs[0];
  EXPECT_FALSE(HelpKeyOf(gang).has_value()) << "it does not wait";
  gang.stage = "members";
  for (const char* reason : {"WaitingForMembers", "SchedulingGated"}) {
    gang.reason = reason;
    EXPECT_TRUE(HelpKeyOf(gang).has_value()) << reason;
  }
}

TEST_F(Explain, TellsTheUidsOfPodsWhichListsDoNot) {
  view_.gangs[0].pods[0].uid = "one";
  const auto uid = [this](const char* target) {
    const Json answer = *Json::Parse(*AdminJson(view_, ParseAdminTarget(target)));
    const Json& gang = answer["items"].is_null() ? answer : answer["items"].items()[0];
    return gang["pods"].items()[0]["uid"];
  };
  EXPECT_EQ(uid("/explain?namespace=default&name=train-1a2b3c4d"), Json("one"));
  EXPECT_TRUE(uid("/gangs").is_null());
}

TEST_F(Explain, FindsAGangByItsPodGroupByAPodAndByWhateverDeclaresIt) {
  for (const char* name :
       {"train-1a2b3c4d", "train-worker-0", "pod/train-worker-0", "podgroup/train",
        "podgroups/train-1a2b3c4d", "pytorchjob/big", "PyTorchJobs/big", "po/train-worker-0",
        "podgroups.scheduling.x-k8s.io/train", "podgroup.v1alpha1.scheduling.x-k8s.io/train",
        "podgroup.scheduling.maniple.dev/train-1a2b3c4d", "mpg/train",
        "pytorchjob.kubeflow.org/big", "pytorchjobs.v1.kubeflow.org/big", "pytorchjob.kubeflow/big",
        "pytorchjob.v1/big"}) {
    EXPECT_EQ(Found(name), "train-1a2b3c4d") << name;
  }
  for (const char* name :
       {"pytorchjob/train", "job/train", "/train", "big", "pytorchjob/",
        "podgroup.scheduling.maniple.dev/train", "podgroup.scheduling.x-k8s.io/train-1a2b3c4d",
        "pytorchjobs.batch/big", "pytorchjob.v1.batch/big"}) {
    EXPECT_EQ(Found(name), "") << name;
  }
}

TEST_F(Explain, OfSeveralGangsOfOneObjectTellsOfTheOneThatWaits) {
  EXPECT_EQ(Found("jobset/js"), "js-then");
}

TEST_F(Explain, AForeignPodGroupMayHaveTheNameOfOneOfOurs) {
  GangView& ours = view_.gangs.emplace_back();
  ours.namespace_name = "default";
  ours.name = "train";
  for (const char* name : {"train", "podgroup/train", "podgroups.scheduling.maniple.dev/train"}) {
    EXPECT_EQ(Found(name), "train") << name;
  }
  EXPECT_EQ(Found("podgroups.scheduling.x-k8s.io/train"), "train-1a2b3c4d");
}

TEST_F(Explain, APodMayHaveTheNameOfAPodGroup) {
  for (const bool singleton : {true, false}) {
    GangView& gang = view_.gangs.emplace_back();
    gang.namespace_name = "default";
    gang.name = "same";
    gang.singleton = singleton;
    if (singleton) gang.pods.push_back({.pod = "same"});
  }
  EXPECT_FALSE((*FindGang(view_, "default", "podgroup/same"))->singleton);
  EXPECT_FALSE((*FindGang(view_, "default", "same"))->singleton);
  EXPECT_TRUE((*FindGang(view_, "default", "pod/same"))->singleton);
}

// The fear: a tenant's PodGroup forges rows, or steers the terminal of whoever lists it.
TEST(Printing, ShowsTextsOfTenantsOnTheirOwnLine) {
  const std::string hostile =
      "q\nns  forged  Running \x1b[31m \xc2\x9b"
      "31m";
  const Json gang = Json::Object({{"namespace", "ns"},
                                  {"name", "g"},
                                  {"queue", hostile},
                                  {"stage", "queue"},
                                  {"message", hostile}});
  const std::string table =
      GangTable(Json::Object({{"items", Json::Array({gang})}}), absl::UnixEpoch());
  const std::string text = Explanation(gang, absl::UnixEpoch());
  EXPECT_EQ(std::ranges::count(table, '\n'), 2) << table;
  EXPECT_EQ(text.find("\nns"), std::string::npos) << text;
  for (const std::string& shown : {table, text}) {
    EXPECT_EQ(shown.find('\x1b'), std::string::npos);
    EXPECT_EQ(shown.find("\xc2\x9b"), std::string::npos);
  }
}

}  // namespace
}  // namespace maniple
