// What a WatchSession tells when the server behaves: lists, watches, resumes, relists.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "test/unit/client/session_fixture.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(SessionTest, TheFirstListIsAPagedQuorumRead) {
  Start();
  EXPECT_EQ(Target(), "/api/v1/namespaces?limit=500");
  EXPECT_EQ(open_->request.lane, HttpLane::kList);
  EXPECT_EQ(session_.state(), SessionState::kListing);
  Reply(200, ListJson(10, {NamespaceJson("a", "1", 3)}, "tok/en"));
  EXPECT_EQ(Target(), "/api/v1/namespaces?limit=500&continue=tok%2Fen");
  EXPECT_THAT(TakeTold(), ElementsAre("+a@1"));
  EXPECT_FALSE(session_.synced());
  Reply(200, ListJson(10, {NamespaceJson("b", "2", 4)}));
  EXPECT_THAT(TakeTold(), ElementsAre("+b@2", "synced"));
  EXPECT_TRUE(session_.synced());
  EXPECT_EQ(session_.counters().pages, 2u);
  EXPECT_EQ(session_.counters().lists, 1u);
}

TEST_F(SessionTest, TheWatchStartsAtTheListWithBookmarksAndAJitteredTimeout) {
  Start();
  Reply(200, ListJson(10, {}));
  EXPECT_TRUE(WatchesFrom(10)) << Target();
  const std::vector<std::string> parts = absl::StrSplit(Target(), "timeoutSeconds=");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_GE(std::stoi(parts[1]), 300);
  EXPECT_LT(std::stoi(parts[1]), 600);
  EXPECT_EQ(open_->request.lane, HttpLane::kWatch);
  EXPECT_EQ(open_->request.timeout, absl::InfiniteDuration());
  EXPECT_EQ(open_->request.idle_timeout, absl::Seconds(150));
  EXPECT_EQ(session_.state(), SessionState::kWatching);
}

TEST_F(SessionTest, ChangesAreToldInOrder) {
  Sync(10, {NamespaceJson("a", "1", 3)});
  Bytes(Line("ADDED", NamespaceJson("b", "2", 11)) + Line("MODIFIED", NamespaceJson("a", "1", 12)) +
        Line("DELETED", NamespaceJson("b", "2", 13)));
  EXPECT_THAT(TakeTold(), ElementsAre("+b@2", "+a@1", "-b@2"));
  EXPECT_EQ(session_.resume_version(), "13");
}

TEST_F(SessionTest, EveryChunkingOfTheStreamTellsTheSame) {
  const std::string stream = Line("ADDED", NamespaceJson("b", "2", 11)) + BookmarkLine(20) +
                             Line("MODIFIED", NamespaceJson("a", "1", 21)) +
                             Line("DELETED", NamespaceJson("a", "1", 22));
  Random random(11);
  for (int round = 0; round < 50; ++round) {
    Take(session_.Stop());
    Sync(10, {NamespaceJson("a", "1", 3)});
    for (size_t at = 0; at < stream.size();) {
      const size_t size = 1 + random.Below(60);
      Bytes(stream.substr(at, size));
      at += size;
    }
    EXPECT_THAT(TakeTold(), ElementsAre("+b@2", "+a@1", "-a@1"));
  }
}

TEST_F(SessionTest, ACleanEndResumesAtOnceWhereItStopped) {
  Sync(10, {});
  Bytes(Line("ADDED", NamespaceJson("a", "1", 15)) + BookmarkLine(40));
  End();
  EXPECT_TRUE(WatchesFrom(40)) << Target();
  EXPECT_EQ(session_.counters().lists, 1u);
}

TEST_F(SessionTest, ABrokenWatchResumesAtOnceAndForgetsItsHalfLine) {
  Sync(10, {});
  Bytes(Line("ADDED", NamespaceJson("a", "1", 15)) + "{\"type\":\"MODIF");
  Break();
  EXPECT_TRUE(WatchesFrom(15)) << Target();
  EXPECT_EQ(session_.counters().cut_lines, 1u);
  Head(200);
  Bytes(Line("MODIFIED", NamespaceJson("a", "1", 16)));
  EXPECT_THAT(TakeTold(), ElementsAre("+a@1", "+a@1"));
  EXPECT_EQ(session_.counters().garbage, 0u);
}

TEST_F(SessionTest, WhatIsNotNewerIsNotTold) {
  Sync(10, {NamespaceJson("a", "1", 9)});
  Bytes(Line("ADDED", NamespaceJson("a", "1", 9)));     // repeated
  Bytes(Line("MODIFIED", NamespaceJson("a", "1", 8)));  // out of the past
  Bytes(Line("MODIFIED", NamespaceJson("a", "1", 11)));
  Bytes(Line("MODIFIED", NamespaceJson("a", "1", 11)));
  EXPECT_THAT(TakeTold(), ElementsAre("+a@1"));
  EXPECT_EQ(session_.counters().stale, 3u);
}

TEST_F(SessionTest, ADeletedObjectIsNotRevivedByAReplay) {
  Sync(10, {NamespaceJson("a", "1", 9)});
  Bytes(Line("DELETED", NamespaceJson("a", "1", 12)));
  Bytes(Line("MODIFIED", NamespaceJson("a", "1", 11)));
  Bytes(Line("DELETED", NamespaceJson("a", "1", 12)));
  EXPECT_THAT(TakeTold(), ElementsAre("-a@1"));
}

TEST_F(SessionTest, DeleteAndRecreateInOneEventIsTwo) {
  Sync(10, {NamespaceJson("a", "1", 9)});
  Bytes(Line("MODIFIED", NamespaceJson("a", "2", 14)));
  EXPECT_THAT(TakeTold(), ElementsAre("-a@1", "+a@2"));
  Bytes(Line("DELETED", NamespaceJson("a", "1", 13)));
  EXPECT_THAT(TakeTold(), IsEmpty()) << "the delete of the former uid must not take the new one";
}

TEST_F(SessionTest, AModifiedMayBeTheFirstThatIsSeenOfAnObject) {
  Sync(10, {});
  Bytes(Line("MODIFIED", NamespaceJson("a", "1", 11)));
  EXPECT_THAT(TakeTold(), ElementsAre("+a@1"));
}

TEST_F(SessionTest, AVersionThatIsNoNumberIsComparedForEqualityOnly) {
  Start();
  Reply(200, R"({"kind":"NamespaceList","metadata":{"resourceVersion":"x1"},"items":[]})");
  EXPECT_TRUE(absl::StrContains(Target(), "resourceVersion=x1&"));
  Head(200);
  const std::string object = R"({"metadata":{"name":"a","uid":"1","resourceVersion":"x2"}})";
  Bytes(Line("ADDED", object));
  Bytes(Line("MODIFIED", object));
  EXPECT_THAT(TakeTold(), ElementsAre("synced", "+a@1"));
  EXPECT_EQ(session_.resume_version(), "x2");
}

class ExpiredTest : public SessionTest, public ::testing::WithParamInterface<bool> {
 protected:
  // 410 as HTTP or as a line; the protocol has both.
  void Expire() {
    clock_.Advance(absl::Minutes(10));
    if (GetParam()) {
      Bytes(ErrorLine(410, "Expired"));
    } else {
      End();
      Status(410, "Expired");
    }
  }
};

TEST_P(ExpiredTest, LeadsToAListOutOfWhichVanishedObjectsAreDeleted) {
  Sync(10, {NamespaceJson("a", "1", 1), NamespaceJson("b", "2", 2), NamespaceJson("c", "3", 3),
            NamespaceJson("d", "4", 4)});
  Expire();
  ASSERT_TRUE(Lists()) << Target();
  EXPECT_EQ(Target(), "/api/v1/namespaces?limit=500");
  // a as before, b changed, c replaced under its name, d gone, e new.
  Reply(200, ListJson(90, {NamespaceJson("a", "1", 1), NamespaceJson("b", "2", 80),
                           NamespaceJson("c", "33", 70), NamespaceJson("e", "5", 60)}));
  EXPECT_THAT(TakeTold(), ElementsAre("+b@2", "-c@3", "+c@33", "+e@5", "-d@4"));
  EXPECT_TRUE(WatchesFrom(90)) << Target();
  EXPECT_EQ(session_.counters().expired, 1u);
}

INSTANTIATE_TEST_SUITE_P(AsHttpOrAsALine, ExpiredTest, ::testing::Bool());

TEST_F(SessionTest, ARelistInPagesKeepsWhatIsOnALaterPage) {
  Sync(10, {NamespaceJson("a", "1", 1), NamespaceJson("b", "2", 2)});
  clock_.Advance(absl::Minutes(1));
  Bytes(ErrorLine(410, "Gone"));
  Reply(200, ListJson(90, {NamespaceJson("a", "1", 1)}, "more"));
  EXPECT_THAT(TakeTold(), IsEmpty());
  Reply(200, ListJson(90, {NamespaceJson("b", "2", 2)}));
  EXPECT_THAT(TakeTold(), IsEmpty());
}

TEST_F(SessionTest, ATokenThatExpiresBetweenPagesStartsTheListAgainWithLargerPages) {
  Start();
  Reply(200, ListJson(10, {NamespaceJson("a", "1", 1)}, "more"));
  Status(410, "Expired");
  Wait();
  EXPECT_EQ(Target(), "/api/v1/namespaces?limit=1000");
  Reply(200, ListJson(20, {NamespaceJson("b", "2", 15)}));
  EXPECT_THAT(TakeTold(), ElementsAre("+a@1", "+b@2", "-a@1", "synced"));
}

TEST_F(SessionTest, AnObjectThatCannotBeReadIsToldAsInvalidAndTheStreamGoesOn) {
  Sync(10, {});
  Bytes(Line("ADDED", R"({"metadata":{"name":"a","uid":"1","resourceVersion":"11","labels":7}})"));
  Bytes(Line("ADDED", NamespaceJson("b", "2", 12)));
  Bytes(Line("DELETED", NamespaceJson("a", "1", 13)));
  EXPECT_THAT(TakeTold(), ElementsAre("!a@1", "+b@2", "-a@1"));
  EXPECT_EQ(session_.counters().invalid, 1u);
}

TEST_F(SessionTest, InputsOfOtherRequestsAreIgnored) {
  Sync(10, {});
  Take(session_.On({1234, HttpEnd{}}, decoder_, Now()));
  Take(session_.On({open_->id - 1, HttpHead{410, "", {}}}, decoder_, Now()));
  EXPECT_TRUE(WatchesFrom(10));
}

TEST_F(SessionTest, AfterStopNothingIsOpenAndItMayStartAfresh) {
  Sync(10, {NamespaceJson("a", "1", 1)});
  Take(session_.Stop());
  EXPECT_FALSE(open_.has_value());
  EXPECT_EQ(session_.NextDeadline(), absl::InfiniteFuture());
  Start();
  Reply(200, ListJson(5, {NamespaceJson("a", "1", 1)}));
  EXPECT_THAT(TakeTold(), ElementsAre("+a@1", "synced"));
}

}  // namespace
}  // namespace maniple
