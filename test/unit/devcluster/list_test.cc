// LIST: selectors, pages from one snapshot, versions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/unit/devcluster/cluster.h"

namespace maniple::devcluster::devcluster_list_test {
namespace {

constexpr absl::string_view kMaps = "/api/v1/namespaces/default/configmaps";

std::string Names(const Answer& list) {
  std::string names;
  for (const Json& item : list.body["items"].items()) {
    absl::StrAppend(&names, names.empty() ? "" : " ", item["metadata"]["name"].AsString());
  }
  return names;
}

void Fill(TestCluster& cluster) {
  cluster.Make(kMaps, "{'metadata':{'name':'a','labels':{'app':'web','n':'1'}}}");
  cluster.Make(kMaps, "{'metadata':{'name':'b','labels':{'app':'db','n':'5'}}}");
  cluster.Make(kMaps, "{'metadata':{'name':'c'}}");
}

struct Selection {
  absl::string_view query;
  absl::string_view names;
};
class Selected : public testing::TestWithParam<Selection> {};

TEST_P(Selected, ByTheSelector) {
  TestCluster cluster;
  Fill(cluster);
  const Answer list = cluster.Get(absl::StrCat(kMaps, "?", GetParam().query));
  ASSERT_EQ(list.code, 200) << list.message();
  EXPECT_EQ(Names(list), GetParam().names);
}

INSTANTIATE_TEST_SUITE_P(
    All, Selected,
    testing::Values(
        Selection{"", "a b c"}, Selection{"labelSelector=app%3Dweb", "a"},
        Selection{"labelSelector=app%3D%3Dweb", "a"}, Selection{"labelSelector=app!%3Dweb", "b c"},
        Selection{"labelSelector=app+in+(web,db)", "a b"},
        Selection{"labelSelector=app%20notin%20(web)", "b c"},
        Selection{"labelSelector=app", "a b"}, Selection{"labelSelector=!app", "c"},
        Selection{"labelSelector=app,n%3E2", "b"}, Selection{"labelSelector=n%3C2", "a"},
        Selection{"labelSelector=app%3Dweb,n%3D1", "a"}, Selection{"labelSelector=%20", "a b c"},
        Selection{"fieldSelector=metadata.name%3Db", "b"},
        Selection{"fieldSelector=metadata.name!%3Db", "a c"},
        Selection{"fieldSelector=metadata.name%3D%3Db,metadata.namespace%3Ddefault", "b"},
        Selection{"fieldSelector=metadata.namespace%3Dother", ""}));

class BadQuery : public testing::TestWithParam<std::pair<absl::string_view, int>> {};

TEST_P(BadQuery, IsRefused) {
  TestCluster cluster;
  Fill(cluster);
  const Answer refused = cluster.Get(absl::StrCat(kMaps, "?", GetParam().first));
  EXPECT_EQ(refused.code, GetParam().second);
  EXPECT_EQ(refused.At("kind").AsString(), "Status");
}

INSTANTIATE_TEST_SUITE_P(
    All, BadQuery,
    testing::Values(std::pair("labelSelector=app%20in%20web", 400),
                    std::pair("labelSelector=app%20in%20(web", 400),
                    std::pair("labelSelector=a%2Fb%2Fc%3Dd", 400),
                    std::pair("labelSelector=%3Dx", 400), std::pair("labelSelector=a%3Db,", 400),
                    std::pair("labelSelector=n%3Eten", 400),
                    std::pair("fieldSelector=data.k%3Dv", 400),
                    std::pair("fieldSelector=metadata.name", 400),
                    std::pair("resourceVersion=abc", 400), std::pair("limit=many", 400),
                    std::pair("resourceVersionMatch=Exact", 422),
                    std::pair("resourceVersion=0&resourceVersionMatch=Exact", 422),
                    std::pair("resourceVersion=1&resourceVersionMatch=Roughly", 422),
                    std::pair("sendInitialEvents=true", 422), std::pair("continue=rubbish", 400),
                    std::pair("resourceVersion=99999", 504)));

TEST(List, OfABuiltInKindWritesItemsWithoutTheirKind) {
  TestCluster cluster;
  Fill(cluster);
  const Answer list = cluster.Get(kMaps);
  EXPECT_EQ(list.At("kind").AsString(), "ConfigMapList");
  EXPECT_FALSE(list.body["items"].items()[0].Has("kind"));
}

TEST(List, PagesComeFromOneSnapshot) {
  TestCluster cluster;
  Fill(cluster);
  const Answer first = cluster.Get(absl::StrCat(kMaps, "?limit=2"));
  EXPECT_EQ(Names(first), "a b");
  EXPECT_EQ(first.At("metadata.remainingItemCount").AsInt(), 1);
  cluster.Delete(absl::StrCat(kMaps, "/c"));
  cluster.Make(kMaps, "{'metadata':{'name':'d'}}");
  const Answer second = cluster.Get(
      absl::StrCat(kMaps, "?limit=2&continue=", first.At("metadata.continue").AsString()));
  EXPECT_EQ(Names(second), "c");
  EXPECT_EQ(second.version(), first.version());
  EXPECT_TRUE(second.At("metadata.continue").is_null());
}

TEST(List, APageOfALostSnapshotIsExpired) {
  TestCluster cluster({.controllers = ApiServerOptions::Controllers::kNone, .watch_history = 2});
  Fill(cluster);
  const Answer first = cluster.Get(absl::StrCat(kMaps, "?limit=1"));
  for (int i = 0; i < 4; ++i) {
    cluster.Make(kMaps, absl::StrCat("{'metadata':{'name':'x", i, "'}}"));
  }
  const Answer second = cluster.Get(
      absl::StrCat(kMaps, "?limit=1&continue=", first.At("metadata.continue").AsString()));
  EXPECT_EQ(second.code, 410);
  EXPECT_EQ(second.reason(), "Expired");
}

TEST(List, AnExactVersionShowsThePast) {
  TestCluster cluster;
  Fill(cluster);
  const std::string version = cluster.Get(kMaps).version();
  cluster.Delete(absl::StrCat(kMaps, "/a"));
  EXPECT_EQ(Names(cluster.Get(
                absl::StrCat(kMaps, "?resourceVersionMatch=Exact&resourceVersion=", version))),
            "a b c");
  EXPECT_EQ(Names(cluster.Get(absl::StrCat(kMaps, "?resourceVersion=", version))), "b c");
}

TEST(List, AnyStateIsShownWholeWhateverTheLimit) {
  TestCluster cluster;
  Fill(cluster);
  EXPECT_EQ(Names(cluster.Get(absl::StrCat(kMaps, "?resourceVersion=0&limit=1"))), "a b c");
}

TEST(List, PodsByNodeAndPhaseAndScheduler) {
  TestCluster cluster;
  cluster.MakePod("a", ",'schedulerName':'maniple'");
  cluster.MakePod("b");
  cluster.Bind("b", "n1");
  EXPECT_EQ(Names(cluster.Get("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1")), "b");
  EXPECT_EQ(Names(cluster.Get("/api/v1/pods?fieldSelector=spec.schedulerName%3Dmaniple")), "a");
  EXPECT_EQ(Names(cluster.Get("/api/v1/pods?fieldSelector=status.phase%3DPending")), "a b");
  EXPECT_EQ(Names(cluster.Get("/api/v1/pods?fieldSelector=spec.nodeName%3D")), "a");
}

TEST(List, NodesByWhetherTheyAreCordoned) {
  TestCluster cluster;
  cluster.Make("/api/v1/nodes", "{'metadata':{'name':'n1'}}");
  cluster.Make("/api/v1/nodes", "{'metadata':{'name':'n2'},'spec':{'unschedulable':true}}");
  EXPECT_EQ(Names(cluster.Get("/api/v1/nodes?fieldSelector=spec.unschedulable%3Dfalse")), "n1");
}

TEST(List, ATableAndPartialMetadataOnRequest) {
  TestCluster cluster;
  Fill(cluster);
  EXPECT_EQ(
      cluster.Get(kMaps, "application/json;as=Table;v=v1;g=meta.k8s.io").At("kind").AsString(),
      "Table");
  const Answer partial =
      cluster.Get(kMaps, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
  EXPECT_EQ(partial.At("kind").AsString(), "PartialObjectMetadataList");
  EXPECT_EQ(cluster.Get(kMaps, "text/html").code, 406);
}

TEST(List, OfEventsReadsTheSameObjectsInBothGroups) {
  TestCluster cluster;
  cluster.Make("/apis/events.k8s.io/v1/namespaces/default/events",
               "{'metadata':{'name':'e'},'eventTime':'2026-01-01T00:00:00.000000Z',"
               "'type':'Normal','reason':'Scheduled','action':'Binding','note':'placed',"
               "'reportingController':'maniple','reportingInstance':'m-0',"
               "'regarding':{'kind':'Pod','namespace':'default','name':'p'}}");
  const Answer core = cluster.Get("/api/v1/namespaces/default/events/e");
  EXPECT_EQ(core.At("message").AsString(), "placed");
  EXPECT_EQ(core.At("involvedObject.name").AsString(), "p");
  EXPECT_EQ(core.At("reportingComponent").AsString(), "maniple");
  EXPECT_EQ(Names(cluster.Get("/api/v1/events?fieldSelector=involvedObject.name%3Dp")), "e");
  EXPECT_EQ(Names(cluster.Get("/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dp")),
            "e");
  const Answer newer = cluster.Get("/apis/events.k8s.io/v1/namespaces/default/events/e");
  EXPECT_EQ(newer.At("note").AsString(), "placed");
  EXPECT_EQ(newer.At("apiVersion").AsString(), "events.k8s.io/v1");
}

}  // namespace
}  // namespace maniple::devcluster::devcluster_list_test
