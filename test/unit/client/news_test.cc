// NewsFold: what a slow loop hears late and at once.
#include <gtest/gtest.h>

#include "api/client/cluster_news.h"

namespace maniple {
namespace {

ObjectEvent PodEvent(const std::string& name, const std::string& uid, const std::string& node) {
  Pod pod;
  pod.meta.name = name;
  pod.meta.uid = uid;
  pod.node_name = node;
  return ObjectUpserted{.object = pod};
}

const Pod& PodIn(const ObjectEvent& event) {
  return std::get<Pod>(std::get<ObjectUpserted>(event).object);
}

TEST(NewsFold, KeepsOneEventPerObject) {
  NewsFold fold;
  fold.Add({.events = {PodEvent("a", "1", ""), PodEvent("b", "2", "")}});
  fold.Add({.events = {PodEvent("a", "1", "n1")}});
  const ClusterNews news = fold.Take();
  ASSERT_EQ(news.events.size(), 2);
  EXPECT_EQ(PodIn(news.events[0]).node_name, "n1");
  EXPECT_EQ(PodIn(news.events[1]).meta.name, "b");
}

TEST(NewsFold, ADeletionIsNotSwallowedByANewPodOfTheSameName) {
  NewsFold fold;
  fold.Add({.events = {ObjectDeleted{.key = {ResourceKind::kPod, "", "a"}, .uid = "1"}}});
  fold.Add({.events = {PodEvent("a", "2", ""), PodEvent("a", "2", "n1")}});
  const ClusterNews news = fold.Take();
  ASSERT_EQ(news.events.size(), 2);
  EXPECT_EQ(PodIn(news.events[1]).node_name, "n1");
}

// A gang lost its quorum when a member succeeded and was cleaned away within one turn.
TEST(NewsFold, ThatAPodSucceededIsNotSwallowedByItsDeletion) {
  Pod pod;
  pod.meta.name = "a";
  pod.meta.uid = "1";
  pod.phase = PodPhase::kSucceeded;
  const ObjectDeleted gone{.key = {ResourceKind::kPod, "", "a"}, .uid = "1"};
  NewsFold fold;
  fold.Add({.events = {PodEvent("a", "1", "n1"), ObjectUpserted{.object = pod}, gone}});
  fold.Add({.events = {PodEvent("a", "2", "")}});
  const ClusterNews news = fold.Take();
  ASSERT_EQ(news.events.size(), 3);
  EXPECT_EQ(PodIn(news.events[0]).phase, PodPhase::kSucceeded);
  EXPECT_TRUE(std::holds_alternative<ObjectDeleted>(news.events[1]));
  EXPECT_EQ(PodIn(news.events[2]).meta.uid, "2");

  fold.Add({.events = {PodEvent("b", "3", "n1"),
                       ObjectDeleted{.key = {ResourceKind::kPod, "", "b"}, .uid = "3"}}});
  EXPECT_EQ(fold.Take().events.size(), 1) << "who did not succeed";
}

TEST(NewsFold, BeginsAnewOnceItWasTaken) {
  NewsFold fold;
  fold.Add({.events = {PodEvent("a", "1", "")}, .leading = true, .lead = 1});
  EXPECT_EQ(fold.Take().leading, true);
  fold.Add({.events = {PodEvent("a", "1", "n1")}, .lead = 1});
  const ClusterNews news = fold.Take();
  EXPECT_EQ(news.events.size(), 1);
  EXPECT_FALSE(news.leading.has_value());
  EXPECT_EQ(news.lead, 1);
}

TEST(NewsFold, ALeadThatWasLostAndWonAgainWasLost) {
  NewsFold fold;
  fold.Add({.leading = true, .lead = 1});
  (void)fold.Take();
  fold.Add({.leading = false, .lost_lead = true, .lead = 1});
  fold.Add({.leading = true, .lead = 2});
  const ClusterNews news = fold.Take();
  EXPECT_EQ(news.leading, true);
  EXPECT_TRUE(news.lost_lead);
  EXPECT_EQ(news.lead, 2);
  EXPECT_FALSE(fold.Take().lost_lead);
}

}  // namespace
}  // namespace maniple
