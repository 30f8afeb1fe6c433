// What a WatchSession does when the server, the network or the cluster misbehaves.
#include <cstdio>
#include <string>

#include "absl/strings/match.h"
#include "test/unit/client/session_fixture.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SessionFaultsTest : public SessionTest {};

TEST_F(SessionFaultsTest, AnEmptyWatchThatEndsAtOnceIsBackedOff) {
  Sync(10, {});
  End();
  EXPECT_EQ(session_.state(), SessionState::kBackingOff);
  Wait();
  EXPECT_TRUE(WatchesFrom(10));
}

TEST_F(SessionFaultsTest, AWatchThatLivedLongMayEndEmpty) {
  Sync(10, {});
  clock_.Advance(absl::Seconds(400));
  End();
  EXPECT_TRUE(WatchesFrom(10)) << Target();
}

TEST_F(SessionFaultsTest, AWatchThatOnlyRepeatsItselfIsBackedOff) {
  Sync(10, {NamespaceJson("a", "1", 9)});
  Bytes(Line("ADDED", NamespaceJson("a", "1", 9)));
  End();
  EXPECT_EQ(session_.state(), SessionState::kBackingOff);
}

TEST_F(SessionFaultsTest, BackoffGrowsToItsBoundAndAStableWatchResetsIt) {
  Start();
  absl::Duration longest = absl::ZeroDuration();
  for (int i = 0; i < 12; ++i) {
    Break();
    longest = std::max(longest, session_.NextDeadline() - Now());
    Wait();
  }
  EXPECT_GE(longest, absl::Seconds(10));
  EXPECT_LT(longest, absl::Seconds(20));
  Reply(200, ListJson(10, {}));
  Head(200);
  clock_.Advance(absl::Seconds(6));
  Break();
  Break();  // the resumed watch finds no connection
  EXPECT_LT(session_.NextDeadline() - Now(), absl::Milliseconds(400));
}

TEST_F(SessionFaultsTest, ARefusedConnectionResumesWithoutAListHoweverOftenItFails) {
  Sync(10, {NamespaceJson("a", "1", 1)});
  clock_.Advance(absl::Seconds(60));
  Break();
  for (int i = 0; i < 8; ++i) {
    Break();
    Wait();
    ASSERT_TRUE(WatchesFrom(10)) << Target();
  }
  EXPECT_THAT(TakeTold(), IsEmpty());
  EXPECT_EQ(session_.counters().transport_failures, 9u);
}

TEST_F(SessionFaultsTest, ASilentServerIsAskedForAListForItMayBeOlderThanTheWatch) {
  Sync(10, {NamespaceJson("a", "1", 1)});
  clock_.Advance(absl::Seconds(150));
  End(absl::DeadlineExceededError("nothing was heard"));
  EXPECT_TRUE(Lists()) << Target();
  EXPECT_EQ(session_.counters().idle_timeouts, 1u);
  Reply(200, ListJson(11, {}));
  EXPECT_THAT(TakeTold(), ElementsAre("-a@1"));
  EXPECT_TRUE(WatchesFrom(11));
}

TEST_F(SessionFaultsTest, AHalfOpenConnectionIsLeftSoonButASlowServerIsGivenEverMoreTime) {
  const auto patience = [this] { return open_->request.head_timeout; };
  Sync(10, {});
  EXPECT_EQ(patience(), absl::Seconds(5));
  clock_.Advance(absl::Seconds(60));
  Break();
  for (const int seconds : {5, 10, 20, 40, 60, 60}) {
    EXPECT_EQ(patience(), absl::Seconds(seconds));
    End(absl::DeadlineExceededError("nothing was heard"));
    Wait();
  }
  Head(200);
  End(absl::UnavailableError("connection reset"));
  Wait();
  EXPECT_EQ(patience(), absl::Seconds(5));
}

TEST_F(SessionFaultsTest, TooManyRequestsWaitsAsLongAsToldAndKeepsTheVersion) {
  Sync(10, {});
  clock_.Advance(absl::Seconds(60));
  Break();
  Head(429, "text/plain; charset=utf-8", absl::Seconds(9));
  Bytes("Too many requests, please try again later.");
  End();
  EXPECT_GE(session_.NextDeadline(), Now() + absl::Seconds(9));
  EXPECT_THAT(session_.problem(), HasSubstr("Too many requests"));
  EXPECT_EQ(session_.counters().throttled, 1u);
  Wait();
  EXPECT_TRUE(WatchesFrom(10));
}

TEST_F(SessionFaultsTest, AnAbsurdRetryAfterIsCapped) {
  Start();
  Head(429, "text/plain", absl::Hours(1000));
  End();
  EXPECT_LE(session_.NextDeadline(), Now() + absl::Minutes(1));
}

TEST_F(SessionFaultsTest, AServerErrorKeepsTheVersionAndTheThirdInARowLists) {
  Sync(10, {});
  clock_.Advance(absl::Seconds(60));
  Break();
  Status(503, "ServiceUnavailable");
  Wait();
  EXPECT_TRUE(WatchesFrom(10));
  Status(504, "Timeout");
  Wait();
  EXPECT_TRUE(WatchesFrom(10));
  Status(500, "InternalError");
  Wait();
  EXPECT_TRUE(Lists());
}

TEST_F(SessionFaultsTest, APageThatFailsIsAskedForAgainWithItsToken) {
  Start();
  Reply(200, ListJson(10, {NamespaceJson("a", "1", 1)}, "more"));
  Status(503, "ServiceUnavailable");
  Wait();
  EXPECT_EQ(Target(), "/api/v1/namespaces?limit=500&continue=more");
  Break();
  Wait();
  Reply(200, ListJson(10, {NamespaceJson("b", "2", 2)}));
  EXPECT_THAT(TakeTold(), ElementsAre("+a@1", "+b@2", "synced"));
}

TEST_F(SessionFaultsTest, A401IsTriedOnceAtOnceAndThenBackedOff) {
  Start();
  Status(401, "Unauthorized");
  EXPECT_TRUE(Lists()) << "with the fresh credential";
  Status(401, "Unauthorized");
  EXPECT_EQ(session_.state(), SessionState::kBackingOff);
  EXPECT_EQ(session_.counters().unauthorized, 2u);
  Wait();
  Reply(200, ListJson(10, {}));
  EXPECT_TRUE(session_.synced());
  EXPECT_EQ(session_.problem(), "");
}

TEST_F(SessionFaultsTest, A403IsToldInClearWordsAndTriedAgain) {
  Start();
  for (int i = 0; i < 5; ++i) {
    Reply(403,
          R"({"kind":"Status","reason":"Forbidden","message":"user x cannot list namespaces"})");
    EXPECT_EQ(session_.problem(),
              "not allowed to list /api/v1/namespaces: user x cannot list namespaces");
    Wait();
  }
  EXPECT_EQ(session_.counters().forbidden, (ForbiddenCounts{{{"list", "", "namespaces"}, 5}}));
}

TEST_F(SessionFaultsTest, ACollectionThatIsNotThereYetIsPickedUpWhenItAppears) {
  Start();
  for (int i = 0; i < 6; ++i) {
    Reply(404, "404 page not found\n", "text/plain");
    EXPECT_EQ(session_.state(), SessionState::kNotInstalled);
    Wait();
    EXPECT_TRUE(Lists());
  }
  EXPECT_FALSE(session_.synced());
  Reply(200, ListJson(10, {NamespaceJson("a", "1", 1)}));
  EXPECT_EQ(session_.problem(), "");
  EXPECT_THAT(TakeTold(), ElementsAre("+a@1", "synced"));
  EXPECT_EQ(session_.state(), SessionState::kWatching);
}

TEST_F(SessionFaultsTest, AShort404OfAStartingServerLosesNoObject) {
  Sync(10, {NamespaceJson("a", "1", 1)});
  clock_.Advance(absl::Seconds(60));
  End();
  Status(404, "NotFound");
  EXPECT_EQ(session_.state(), SessionState::kBackingOff);
  Wait();
  Status(404, "NotFound");
  Wait();
  Reply(200, ListJson(10, {NamespaceJson("a", "1", 1)}));
  EXPECT_THAT(TakeTold(), IsEmpty());
}

TEST_F(SessionFaultsTest, ACollectionThatStaysAwayTakesItsObjectsWithIt) {
  Sync(10, {NamespaceJson("a", "1", 1), NamespaceJson("b", "2", 1)});
  clock_.Advance(absl::Seconds(60));
  End();
  const absl::Time gone = Now();
  while (Now() < gone + absl::Seconds(45)) {
    Status(404, "NotFound");
    Wait();
  }
  EXPECT_THAT(TakeTold(), ElementsAre("-a@1", "-b@2"));
  EXPECT_EQ(session_.state(), SessionState::kNotInstalled);
}

TEST_F(SessionFaultsTest, AnUnknownKindOrTypeOfLineIsSkipped) {
  Sync(10, {});
  Bytes(Line("SOMETHING", NamespaceJson("a", "1", 11)));
  Bytes(Line("ADDED", NamespaceJson("b", "2", 12)));
  EXPECT_THAT(TakeTold(), ElementsAre("+b@2"));
  EXPECT_EQ(session_.counters().unknown_lines, 1u);
}

TEST_F(SessionFaultsTest, AGarbageLineCostsTheStreamAndNoObject) {
  Sync(10, {NamespaceJson("a", "1", 1)});
  Bytes(Line("ADDED", NamespaceJson("b", "2", 12)) + "}{ garbage\n" +
        Line("ADDED", NamespaceJson("c", "3", 13)));
  EXPECT_THAT(TakeTold(), ElementsAre("+b@2"));
  EXPECT_EQ(session_.counters().garbage, 1u);
  EXPECT_EQ(cancels_, 1);
  Wait();
  ASSERT_TRUE(Lists());
  Reply(200, ListJson(20, {NamespaceJson("a", "1", 1), NamespaceJson("b", "2", 12),
                           NamespaceJson("c", "3", 13)}));
  EXPECT_THAT(TakeTold(), ElementsAre("+c@3"));
}

TEST_F(SessionFaultsTest, ADeeplyNestedLineIsSurvived) {
  Sync(10, {});
  Bytes(std::string(1'000'000, '[') + "\n");
  EXPECT_EQ(session_.counters().garbage, 1u);
  Wait();
  EXPECT_TRUE(Lists());
}

class BoundedSessionTest : public SessionTest {
 protected:
  BoundedSessionTest()
      : SessionTest(
            {.kind = ResourceKind::kNamespace, .longest_page = 4000, .longest_line = 1000}) {}
};

TEST_F(BoundedSessionTest, ALineBeyondTheBoundCostsTheStreamAndNoMoreMemory) {
  Sync(10, {});
  Bytes(Line("ADDED", NamespaceJson("a", "1", 11)));
  for (int i = 0; i < 5 && open_.has_value(); ++i) Bytes(std::string(300, 'x'));
  EXPECT_FALSE(open_.has_value());
  EXPECT_EQ(session_.counters().garbage, 1u);
  EXPECT_THAT(session_.problem(), HasSubstr("longer than 1000 bytes"));
  Wait();
  EXPECT_TRUE(Lists());
  EXPECT_THAT(TakeTold(), ElementsAre("+a@1"));
}

TEST_F(SessionFaultsTest, ALineOfSixtyFourMebibytesIsSurvivedAndTheNextOneTold) {
  Sync(10, {});
  const std::string chunk(1 << 20, 'x');
  Bytes(R"({"type":"ADDED","object":{"metadata":{"name":"a","uid":"1","resourceVersion":"11",)"
        R"("annotations":{"big":")");
  for (int i = 0; i < 63; ++i) Bytes(chunk);
  Bytes("\"}}}}\n");
  Bytes(Line("ADDED", NamespaceJson("b", "2", 12)));
  EXPECT_THAT(TakeTold(), ElementsAre("+a@1", "+b@2"));
  for (int i = 0; i < 65 && open_.has_value(); ++i) Bytes(chunk);
  EXPECT_FALSE(open_.has_value());
  EXPECT_EQ(session_.counters().garbage, 1u);
}

TEST_F(BoundedSessionTest, APageBeyondTheBoundIsAskedForInSmallerPieces) {
  Start();
  Head(200);
  Bytes(std::string(3000, ' '));
  Bytes(std::string(3000, ' '));
  EXPECT_EQ(Target(), "/api/v1/namespaces?limit=125");
}

TEST_F(BoundedSessionTest, OneObjectBeyondTheBoundIsNamedAndTriedAgainLater) {
  Start();
  for (const int limit : {500, 125, 31, 7, 1}) {
    EXPECT_EQ(Target(), absl::StrCat("/api/v1/namespaces?limit=", limit));
    Head(200);
    Bytes(std::string(4001, ' '));
  }
  EXPECT_FALSE(open_.has_value());
  EXPECT_THAT(session_.problem(), HasSubstr("of at most 1 objects is longer than 4000 bytes"));
  EXPECT_GT(session_.NextDeadline(), Now());
}

class SizedSessionTest : public SessionTest {
 protected:
  SizedSessionTest() : SessionTest({.kind = ResourceKind::kNamespace, .wanted_page = 8000}) {}

  // A page of so many objects of so many bytes each; there is more.
  void Page(int objects, int bytes) {
    std::vector<std::string> items;
    for (int i = 0; i < objects; ++i) {
      const std::string name = absl::StrCat("n", ++made_);
      items.push_back(NamespaceJson(name, name, 1) + std::string(bytes, ' '));
    }
    Reply(200, ListJson(10, items, "more"));
  }

 private:
  int made_ = 0;
};

TEST_F(SizedSessionTest, ThePagesOfLargeObjectsHoldFewer) {
  Start();
  Page(20, 1000);
  const std::string few = Target();
  int limit = 0;
  ASSERT_EQ(std::sscanf(few.c_str(), "/api/v1/namespaces?limit=%d&", &limit), 1) << few;
  EXPECT_GE(limit, 6);
  EXPECT_LE(limit, 8);
  Page(limit, 100'000);
  EXPECT_EQ(Target(), "/api/v1/namespaces?limit=1&continue=more");
}

TEST_F(SizedSessionTest, OfSmallObjectsThereAreAtMostTwiceAsManyOnTheNextPage) {
  Start();
  Page(1, 100'000);
  ASSERT_EQ(Target(), "/api/v1/namespaces?limit=1&continue=more");
  Page(1, 1);
  EXPECT_EQ(Target(), "/api/v1/namespaces?limit=2&continue=more");
  Page(2, 1);
  EXPECT_EQ(Target(), "/api/v1/namespaces?limit=4&continue=more");
}

TEST_F(SessionFaultsTest, AnHtmlAnswerIsNoList) {
  Start();
  Head(200, "text/html");
  EXPECT_FALSE(open_.has_value());
  EXPECT_THAT(session_.problem(), HasSubstr("text/html"));
  Wait();
  Reply(502, "<html><body>Bad Gateway</body></html>", "text/html");
  EXPECT_THAT(session_.problem(), HasSubstr("502"));
  Wait();
  EXPECT_TRUE(Lists());
}

TEST_F(SessionFaultsTest, ABodyThatIsNoListTellsNothingAndIsTriedAgain) {
  Start();
  for (const char* body :
       {"", "{", "[]", "null", R"({"items":[]})",
        R"({"metadata":{"resourceVersion":"4"},"items":3})",
        R"({"metadata":{"resourceVersion":"4"},"items":[{"metadata":{"name":"a","uid":"1")"}) {
    Reply(200, body);
    EXPECT_EQ(session_.state(), SessionState::kBackingOff) << body;
    Wait();
    ASSERT_TRUE(Lists()) << body;
  }
  EXPECT_THAT(TakeTold(), IsEmpty());
}

TEST_F(SessionFaultsTest, AHalfReceivedListTellsNothing) {
  Start();
  Head(200);
  Bytes(ListJson(10, {NamespaceJson("a", "1", 1)}));
  Break();
  EXPECT_THAT(TakeTold(), IsEmpty());
  Wait();
  EXPECT_TRUE(Lists());
}

TEST_F(SessionFaultsTest, AWatchThatIsAlwaysExpiredDoesNotSpin) {
  Sync(10, {});
  const absl::Time start = Now();
  int lists = 0;
  while (Now() < start + absl::Minutes(5)) {
    if (!open_.has_value()) {
      Wait();
    } else if (Lists()) {
      ++lists;
      Reply(200, ListJson(10, {}));
    } else {
      if (session_.state() == SessionState::kWatching) Status(410, "Expired");
    }
  }
  EXPECT_LT(lists, 60);
}

TEST_F(SessionFaultsTest, AListOlderThanWhatWasSeenIsRefused) {
  Sync(50, {NamespaceJson("a", "1", 45)});
  clock_.Advance(absl::Minutes(1));
  Bytes(ErrorLine(410, "Expired"));
  Reply(200, ListJson(40, {}));  // a replica that lags behind
  EXPECT_THAT(TakeTold(), IsEmpty());
  EXPECT_EQ(session_.counters().went_back, 1u);
  Wait();
  Reply(200, ListJson(60, {NamespaceJson("a", "1", 45)}));
  EXPECT_THAT(TakeTold(), IsEmpty());
}

TEST_F(SessionFaultsTest, AServerWhoseHistoryStartsAfreshIsFollowedInTheEnd) {
  Sync(5000, {NamespaceJson("a", "1", 4000), NamespaceJson("b", "2", 4100)});
  clock_.Advance(absl::Minutes(1));
  Bytes(ErrorLine(410, "Expired"));
  for (int i = 0; i < 3; ++i) {
    Reply(200, ListJson(7, {NamespaceJson("a", "1", 6)}));
    Wait();
  }
  Reply(200, ListJson(7, {NamespaceJson("a", "1", 6)}));
  EXPECT_THAT(TakeTold(), ElementsAre("+a@1", "-b@2"));
  Head(200);
  Bytes(Line("MODIFIED", NamespaceJson("a", "1", 8)));
  EXPECT_THAT(TakeTold(), ElementsAre("+a@1"));
}

TEST_F(SessionFaultsTest, AnErrorLineThatIsNoExpiryIsBackedOff) {
  Sync(10, {});
  Bytes(ErrorLine(429, "TooManyRequests"));
  EXPECT_EQ(session_.state(), SessionState::kBackingOff);
  Wait();
  EXPECT_TRUE(WatchesFrom(10));
  Head(200);
  Bytes(ErrorLine(418, "Teapot"));
  Wait();
  EXPECT_TRUE(Lists());
}

// Random bytes, chunks and ends: whatever comes, one request is open or a deadline is set, and no
// uid comes back.
TEST_F(SessionFaultsTest, RandomAnswersNeverStrandTheSession) {
  const std::string pieces[] = {Line("ADDED", NamespaceJson("a", "1", 11)),
                                Line("DELETED", NamespaceJson("a", "1", 30)),
                                Line("MODIFIED", NamespaceJson("a", "2", 40)),
                                BookmarkLine(50),
                                ErrorLine(410, "Expired"),
                                ErrorLine(500, "InternalError"),
                                ListJson(60, {NamespaceJson("b", "3", 55)}),
                                "{\"type\":",
                                "\n",
                                "<html>",
                                std::string(50, '\0')};
  const int codes[] = {200, 200, 200, 400, 401, 403, 404, 410, 429, 500, 503, 302, 0};
  Random random(17);
  Start();
  for (int step = 0; step < 20'000; ++step) {
    ASSERT_TRUE(open_.has_value() || session_.NextDeadline() < absl::InfiniteFuture());
    clock_.Advance(absl::Milliseconds(random.Below(2000)));
    if (!open_.has_value()) {
      Take(session_.OnTime(Now()));
      continue;
    }
    if (Lists() && random.OneIn(5)) {
      Reply(200, ListJson(100 + step, {NamespaceJson("b", "3", 55)}));
      continue;
    }
    switch (random.Below(4)) {
      case 0:
        Head(codes[random.Below(std::size(codes))],
             random.OneIn(9) ? "text/html" : "application/json");
        break;
      case 1:
        random.OneIn(3) ? Break() : End();
        break;
      default:
        Bytes(pieces[random.Below(std::size(pieces))]);
    }
  }
  EXPECT_GT(session_.counters().watches, 100u);
}

}  // namespace
}  // namespace maniple
