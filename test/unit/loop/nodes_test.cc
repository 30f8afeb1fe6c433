// Nodes that an autoscaler is asked for, for the whole of a gang. Fears: pods that say
// Unschedulable while it is asked, so that it buys for each of them as well; a request that nobody
// answers, and a gang that waits for it for ever; requests that stay when their gang runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/support/loop_driver.h"

namespace maniple {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LoopNodes : public ::testing::Test {
 protected:
  LoopNodes()
      : d_({.node_requests = {.class_name = "atomic.example",
                              .parameters = {{"noRetry", "true"}}}}) {
    d_.api.ServeProvisioning();
    d_.Nodes(1, 8);
  }

  // Names of the objects of a kind.
  std::vector<std::string> All(absl::string_view plural) const {
    std::vector<std::string> out;
    for (const auto& [name, thing] : d_.api.unwatched()) {
      if (absl::StartsWith(name, plural)) out.push_back(name);
    }
    return out;
  }
  std::string OnlyRequest() const {
    const std::vector<std::string> all = All("provisioningrequests");
    EXPECT_THAT(all, SizeIs(1));
    return all.empty() ? "" : all.front();
  }
  void Answer(absl::string_view type, absl::string_view reason = "") {
    d_.api.SetStatus(
        OnlyRequest(),
        Json::Object({{"conditions", Json::Array({Json::Object({{"type", type},
                                                                {"status", "True"},
                                                                {"reason", reason},
                                                                {"message", "said so"}})})}}));
  }
  // What the pods of gang "a" say that they wait for.
  std::vector<std::string> Reasons() const {
    std::vector<std::string> out;
    for (const Pod* pod : d_.api.Pods()) {
      out.push_back(pod->scheduled_condition.value_or(PodCondition()).reason);
    }
    return out;
  }

  LoopDriver d_;
};

TEST_F(LoopNodes, AreAskedForTheWholeQuorumAtOnce) {
  d_.Submit({.gang = "a", .pods = 4, .min_member = 3});
  d_.Settle(absl::Seconds(1));
  const Json& request = d_.api.unwatched().at(OnlyRequest());
  EXPECT_EQ(request.At("spec.provisioningClassName").AsString(), "atomic.example");
  EXPECT_EQ(request.At("spec.parameters")["noRetry"].AsString(), "true");
  ASSERT_EQ(request.At("spec.podSets").size(), 1);
  const Json& set = request.At("spec.podSets").items()[0];
  EXPECT_EQ(set["count"].AsInt(), 3);
  EXPECT_THAT(All("podtemplates"),
              ElementsAre(absl::StrCat("podtemplates/", set.At("podTemplateRef.name").AsString())));
  EXPECT_EQ(request.At("metadata.ownerReferences").items()[0]["kind"].AsString(), "PodGroup");
  d_.Settle(absl::Seconds(11));  // a status in which only the words change is not urgent
  EXPECT_THAT(Reasons(), Each("WaitingForNodes"));
  EXPECT_THAT(d_.StatusOf("a").message, HasSubstr("asks for its nodes"));
}

TEST_F(LoopNodes, ThatHaveComeTakeTheRequestBack) {
  d_.Submit({.gang = "a", .pods = 2});
  d_.Settle(absl::Seconds(1));
  Answer("Provisioned");
  d_.Settle(absl::Seconds(30));
  EXPECT_THAT(Reasons(), Each("WaitingForNodes"));
  EXPECT_THAT(d_.StatusOf("a").message,
              HasSubstr("is provisioned, and its nodes have yet to appear"));
  d_.Nodes(2, 8, "new");
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(d_.Bound("a"), 2);
  EXPECT_THAT(d_.api.unwatched(), IsEmpty());
}

TEST_F(LoopNodes, ThatAreRefusedLeaveThePodsToAskForThemselves) {
  d_.Submit({.gang = "a", .pods = 2});
  d_.Settle(absl::Seconds(1));
  Answer("Failed", "OutOfCapacity");
  d_.Settle(absl::Seconds(30));
  EXPECT_THAT(Reasons(), Each("Unschedulable"));
  EXPECT_THAT(d_.StatusOf("a").message, HasSubstr("came to nothing: OutOfCapacity: said so"));
  // It is not asked for again as long as the gang asks for the same.
  EXPECT_EQ(d_.api.Count("POST /apis/autoscaling.x-k8s.io"), 1);
  d_.Settle(absl::Hours(1));
  EXPECT_EQ(d_.api.Count("POST /apis/autoscaling.x-k8s.io"), 1);
}

TEST_F(LoopNodes, OfARequestThatNobodyAcceptsAreNotWaitedForForEver) {
  d_.Submit({.gang = "a", .pods = 2});
  d_.Settle(absl::Minutes(3));
  EXPECT_THAT(Reasons(), Each("Unschedulable"));
  EXPECT_THAT(d_.StatusOf("a").message, HasSubstr("no autoscaler has accepted it"));
}

// Queued provisioning takes hours.
TEST_F(LoopNodes, OfARequestThatIsAcceptedAreWaitedFor) {
  d_.Submit({.gang = "a", .pods = 2});
  d_.Settle(absl::Seconds(1));
  Answer("Accepted");
  d_.Settle(absl::Hours(5));
  EXPECT_THAT(Reasons(), Each("WaitingForNodes"));
}

TEST_F(LoopNodes, ThatDoNotComeAreNotWaitedForForEver) {
  d_.Submit({.gang = "a", .pods = 2});
  d_.Settle(absl::Seconds(1));
  Answer("Provisioned");
  d_.Settle(absl::Minutes(16));
  EXPECT_THAT(Reasons(), Each("Unschedulable"));
  EXPECT_THAT(d_.StatusOf("a").message, HasSubstr("its nodes have not come"));
}

TEST_F(LoopNodes, AreNotAskedForWhereQuotaIsWhatItLacks) {
  Queue queue;
  queue.meta.name = "q";
  queue.quotas = {
      {.flavor = "", .resources = {{.resource = "nvidia.com/gpu", .nominal = Amount(8)}}}};
  d_.Put(ObjectUpserted{queue});
  d_.Submit({.gang = "a", .pods = 2, .queue = "q"});
  d_.Settle(absl::Minutes(1));
  EXPECT_THAT(d_.api.unwatched(), IsEmpty());
  EXPECT_THAT(Reasons(), Each("ExceedsMaxQuota"));
}

TEST_F(LoopNodes, AreNotAskedForEachTimeThatAGangWaitsForSomethingElse) {
  Queue queue;
  queue.meta.name = "q";
  d_.Submit({.gang = "a", .pods = 2, .queue = "q"});
  for (int i = 0; i < 10; ++i) {
    queue.meta.generation = i + 1;
    queue.quotas = {
        {.flavor = "",
         .resources = {{.resource = "nvidia.com/gpu", .nominal = Amount(i % 2 == 0 ? 16 : 8)}}}};
    d_.Put(ObjectUpserted{queue});
    d_.Settle(absl::Seconds(1));
  }
  EXPECT_LE(d_.api.Count("POST /apis/autoscaling.x-k8s.io"), 2);
  queue.meta.generation = 11;
  queue.quotas.front().resources.front().nominal = Amount(16);
  d_.Put(ObjectUpserted{queue});
  d_.Settle(absl::Seconds(15));
  EXPECT_THAT(Reasons(), Each("WaitingForNodes"));
  (void)OnlyRequest();
}

TEST_F(LoopNodes, AreAskedForAnewWhenTheGangAsksForOthers) {
  d_.Submit({.gang = "a", .pods = 2});
  d_.Settle(absl::Seconds(1));
  const std::string before = OnlyRequest();
  d_.api.Delete(ResourceKind::kPod, "a-0");
  d_.Settle(absl::Seconds(5));
  EXPECT_THAT(d_.api.unwatched(), IsEmpty());
  d_.Submit({.gang = "a", .pods = 1});
  d_.Settle(absl::Seconds(15));
  EXPECT_NE(OnlyRequest(), before);
  EXPECT_THAT(All("podtemplates"), SizeIs(1));
}

TEST_F(LoopNodes, AreFoundAgainByTheNextLeader) {
  d_.Submit({.gang = "a", .pods = 2});
  d_.Settle(absl::Seconds(1));
  const std::string request = OnlyRequest();
  d_.Restart();
  d_.Settle(absl::Seconds(30));
  EXPECT_EQ(OnlyRequest(), request);
  EXPECT_THAT(Reasons(), Each("WaitingForNodes"));
  d_.Nodes(2, 8, "new");
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(d_.Bound("a"), 2);
  EXPECT_THAT(All("provisioningrequests"), IsEmpty());
}

TEST_F(LoopNodes, KeepTheirDescriptionsApart) {
  d_.Submit({.gang = "a", .pods = 1, .min_member = 3, .gpu = 16});
  d_.Submit({.gang = "a", .pods = 2, .gpu = 8});
  d_.Settle(absl::Seconds(1));
  const Json& sets = d_.api.unwatched().at(OnlyRequest()).At("spec.podSets");
  ASSERT_EQ(sets.size(), 2);
  EXPECT_EQ(sets.items()[0]["count"].AsInt(), 1);
  EXPECT_EQ(sets.items()[1]["count"].AsInt(), 2);
  EXPECT_THAT(All("podtemplates"), SizeIs(2));
}

TEST_F(LoopNodes, AreAskedForAgainAfterAServerThatWasBusy) {
  d_.api.Break({.on = "POST /apis/autoscaling.x-k8s.io", .times = 2, .code = 503});
  d_.api.Break({.on = "POST /api/v1/namespaces/default/podtemplates", .act = FaultAct::kLoseReply});
  d_.Submit({.gang = "a", .pods = 2});
  d_.Settle(absl::Seconds(20));
  (void)OnlyRequest();
  EXPECT_THAT(Reasons(), Each("WaitingForNodes"));
}

TEST(LoopNodesWithout, AKindThatIsNotInstalledCostNothingButAWord) {
  LoopDriver d({.node_requests = {.class_name = "atomic.example"}});
  d.Nodes(1, 8);
  d.Submit({.gang = "a", .pods = 2});
  d.Settle(absl::Minutes(1));
  EXPECT_EQ(d.api.FindPod("a-0")->scheduled_condition->reason, "Unschedulable");
  EXPECT_THAT(d.StatusOf("a").message, HasSubstr("came to nothing: no such kind"));
}

TEST(LoopNodesWithout, ASettingNobodyIsAsked) {
  LoopDriver d;
  d.api.ServeProvisioning();
  d.Submit({.gang = "a", .pods = 2});
  d.Settle(absl::Minutes(1));
  EXPECT_THAT(d.api.unwatched(), IsEmpty());
}

}  // namespace
}  // namespace maniple
