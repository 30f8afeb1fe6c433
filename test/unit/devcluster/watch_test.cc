// WATCH: what is told to whom, from which version on, and how a stream ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/unit/devcluster/cluster.h"

namespace maniple::devcluster::devcluster_watch_test {
namespace {

constexpr absl::string_view kPods = TestCluster::kPods;

std::string PathOf(absl::string_view pod) { return absl::StrCat(kPods, "/", pod); }

std::string FromNow(TestCluster& cluster, absl::string_view more = "") {
  return absl::StrCat(
      "/api/v1/pods?watch=true&resourceVersion=", cluster.Get("/api/v1/pods").version(), more);
}

TEST(Watch, TellsWhatComesAfterItsVersion) {
  TestCluster cluster;
  cluster.MakePod("old");
  const WatchId watch = cluster.Watch(FromNow(cluster));
  EXPECT_EQ(cluster.Told(watch), "");
  cluster.MakePod("a");
  cluster.Bind("a", "n1");
  cluster.Delete(PathOf("a"), FromText("{'gracePeriodSeconds':0}"));
  EXPECT_EQ(cluster.Told(watch), "ADDED a, MODIFIED a, MODIFIED a, DELETED a");
}

TEST(Watch, IsReadyOnceForWhatItHasToTell) {
  TestCluster cluster;
  const WatchId watch = cluster.Watch(FromNow(cluster));
  EXPECT_TRUE(cluster.server().ReadyWatches().empty());
  cluster.MakePod("a");
  cluster.MakePod("b");
  EXPECT_EQ(cluster.server().ReadyWatches(), std::vector<WatchId>{watch});
  EXPECT_TRUE(cluster.server().ReadyWatches().empty());
  EXPECT_EQ(cluster.Told(watch), "ADDED a, ADDED b");
  cluster.MakePod("c");
  EXPECT_EQ(cluster.server().ReadyWatches(), std::vector<WatchId>{watch});
}

TEST(Watch, WithoutAVersionBeginsWithEverything) {
  TestCluster cluster;
  cluster.MakePod("a");
  EXPECT_EQ(cluster.Told(cluster.Watch("/api/v1/pods?watch=1")), "ADDED a");
  EXPECT_EQ(cluster.Told(cluster.Watch("/api/v1/pods?watch=1&resourceVersion=0")), "ADDED a");
}

TEST(Watch, InitialEventsEndWithAMarkedBookmark) {
  TestCluster cluster;
  cluster.MakePod("a");
  const WatchId watch = cluster.Watch(
      "/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
      "&allowWatchBookmarks=true");
  const std::vector<Json> events = cluster.Events(watch);
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(events[1]["type"].AsString(), "BOOKMARK");
  const Json& metadata = events[1]["object"]["metadata"];
  EXPECT_EQ(metadata["annotations"]["k8s.io/initial-events-end"].AsString(), "true");
  EXPECT_EQ(metadata["resourceVersion"].AsString(), cluster.Get("/api/v1/pods").version());
  cluster.MakePod("b");
  EXPECT_EQ(cluster.Told(watch), "ADDED b");
}

TEST(Watch, InitialEventsNeedNotOlderThan) {
  TestCluster cluster;
  const Answer bad = cluster.Get("/api/v1/pods?watch=true&sendInitialEvents=true");
  EXPECT_EQ(bad.code, 422);
  EXPECT_EQ(bad.reason(), "Invalid");
}

TEST(Watch, ASelectorTurnsChangesIntoAddedAndDeleted) {
  TestCluster cluster;
  const WatchId watch = cluster.Watch(FromNow(cluster, "&labelSelector=app%3Dweb"));
  cluster.MakePod("p");
  EXPECT_EQ(cluster.Told(watch), "");
  cluster.Patch(PathOf("p"), kMergePatch, FromText("{'metadata':{'labels':{'app':'web'}}}"));
  cluster.Patch(PathOf("p"), kMergePatch, FromText("{'metadata':{'annotations':{'a':'b'}}}"));
  const Answer last =
      cluster.Patch(PathOf("p"), kMergePatch, FromText("{'metadata':{'labels':{'app':'db'}}}"));
  const std::vector<Json> events = cluster.Events(watch);
  ASSERT_EQ(events.size(), 3);
  EXPECT_EQ(events[0]["type"].AsString(), "ADDED");
  EXPECT_EQ(events[1]["type"].AsString(), "MODIFIED");
  EXPECT_EQ(events[2]["type"].AsString(), "DELETED");
  // The last matching state, at the version of the change that ended it.
  EXPECT_EQ(events[2]["object"].At("metadata.labels.app").AsString(), "web");
  EXPECT_EQ(events[2]["object"].At("metadata.resourceVersion").AsString(), last.version());
}

TEST(Watch, AFieldSelectorFollowsThePhase) {
  TestCluster cluster;
  const WatchId watch = cluster.Watch(FromNow(cluster, "&fieldSelector=status.phase!%3DSucceeded"));
  cluster.MakePod("p");
  cluster.Patch(PathOf("p") + "/status", kMergePatch, FromText("{'status':{'phase':'Succeeded'}}"));
  EXPECT_EQ(cluster.Told(watch), "ADDED p, DELETED p");
}

TEST(Watch, AnExpiredVersionIsAnErrorEventAndTheEnd) {
  TestCluster cluster({.controllers = ApiServerOptions::Controllers::kNone, .watch_history = 3});
  const std::string path = FromNow(cluster);
  for (int i = 0; i < 5; ++i) cluster.MakePod(absl::StrCat("p", i));
  const std::vector<Json> events = cluster.Events(cluster.Watch(path));
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0]["type"].AsString(), "ERROR");
  EXPECT_EQ(events[0]["object"]["code"].AsInt(), 410);
  EXPECT_EQ(events[0]["object"]["reason"].AsString(), "Expired");
  EXPECT_TRUE(cluster.ended());
}

TEST(Watch, ASlowReaderIsCut) {
  TestCluster cluster({.controllers = ApiServerOptions::Controllers::kNone, .watch_history = 3});
  const WatchId watch = cluster.Watch(FromNow(cluster));
  for (int i = 0; i < 5; ++i) cluster.MakePod(absl::StrCat("p", i));
  EXPECT_EQ(cluster.Told(watch), "");
  EXPECT_TRUE(cluster.ended());
}

TEST(Watch, AVersionOfTheFutureIsATimeoutThatSaysSo) {
  TestCluster cluster;
  const Answer early = cluster.Get("/api/v1/pods?watch=true&resourceVersion=999999");
  EXPECT_EQ(early.code, 504);
  EXPECT_EQ(early.reason(), "Timeout");
  EXPECT_EQ(early.At("details.causes").items()[0]["reason"].AsString(), "ResourceVersionTooLarge");
  EXPECT_EQ(early.At("details.retryAfterSeconds").AsInt(), 1);
}

TEST(Watch, BookmarksComeWithTimeAndCarryTheNewestVersion) {
  TestCluster cluster;
  const WatchId quiet = cluster.Watch(FromNow(cluster));
  const WatchId watch = cluster.Watch(FromNow(cluster, "&allowWatchBookmarks=true"));
  cluster.Make("/api/v1/namespaces/default/configmaps", "{'metadata':{'name':'a'}}");
  cluster.Advance(absl::Seconds(31));
  const std::vector<Json> events = cluster.Events(watch);
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0]["type"].AsString(), "BOOKMARK");
  EXPECT_EQ(events[0]["object"]["kind"].AsString(), "Pod");
  EXPECT_EQ(events[0]["object"].At("metadata.resourceVersion").AsString(),
            cluster.Get("/api/v1/pods").version());
  EXPECT_EQ(cluster.Told(quiet), "");
}

TEST(Watch, EndsAtItsTimeout) {
  TestCluster cluster;
  const WatchId watch = cluster.Watch(FromNow(cluster, "&timeoutSeconds=10"));
  cluster.Advance(absl::Seconds(9));
  EXPECT_TRUE(cluster.server().ReadyWatches().empty());
  cluster.Advance(absl::Seconds(2));
  EXPECT_EQ(cluster.server().ReadyWatches(), std::vector<WatchId>{watch});
  cluster.Told(watch);
  EXPECT_TRUE(cluster.ended());
}

TEST(Watch, AForgottenHistoryCutsEveryStream) {
  TestCluster cluster;
  cluster.MakePod("a");
  const WatchId watch = cluster.Watch(FromNow(cluster));
  const std::string old_version = cluster.Get("/api/v1/pods").version();
  for (int i = 0; i < 5; ++i) cluster.MakePod(absl::StrCat("p", i));
  cluster.server().ForgetHistory();
  cluster.Told(watch);
  EXPECT_TRUE(cluster.ended());
  const Answer list = cluster.Get("/api/v1/pods");
  EXPECT_EQ(list.body["items"].size(), 6);
  EXPECT_NE(list.version(), old_version);
}

TEST(Watch, OfOneObjectByItsPath) {
  TestCluster cluster;
  cluster.MakePod("a");
  cluster.MakePod("b");
  EXPECT_EQ(cluster.Told(cluster.Watch(PathOf("b") + "?watch=true")), "ADDED b");
}

TEST(Watch, OfOneNamespaceHearsNoOther) {
  TestCluster cluster;
  const WatchId watch = cluster.Watch("/api/v1/namespaces/kube-system/pods?watch=true");
  cluster.MakePod("a");
  EXPECT_EQ(cluster.Told(watch), "");
  cluster.Make("/api/v1/namespaces/kube-system/pods",
               "{'metadata':{'name':'b'},'spec':{'containers':[{'name':'c','image':'i'}]}}");
  EXPECT_EQ(cluster.Told(watch), "ADDED b");
}

TEST(Watch, ALongOutputComesInParts) {
  TestCluster cluster;
  const std::string big(200'000, 'x');
  for (int i = 0; i < 10; ++i) {
    cluster.Make("/api/v1/namespaces/default/configmaps",
                 absl::StrCat("{'metadata':{'name':'m", i, "'},'data':{'k':'", big, "'}}"));
  }
  const WatchId watch = cluster.Watch("/api/v1/configmaps?watch=true");
  size_t seen = 0;
  int takes = 0;
  while (!cluster.server().ReadyWatches().empty()) {
    seen += cluster.Events(watch).size();
    ++takes;
  }
  EXPECT_EQ(seen, 10);
  EXPECT_GT(takes, 1);
}

TEST(Watch, AClosedOneIsForgotten) {
  TestCluster cluster;
  const WatchId watch = cluster.Watch("/api/v1/pods?watch=true");
  cluster.server().CloseWatch(watch);
  cluster.MakePod("a");
  EXPECT_TRUE(cluster.server().ReadyWatches().empty());
  cluster.Told(watch);
  EXPECT_TRUE(cluster.ended());
}

}  // namespace
}  // namespace maniple::devcluster::devcluster_watch_test
