// Who may read what: the questions to the API server, how long its answers hold, and what never
// leaves.
#include "scheduler/app/access/access_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/app/doors/review_door.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kUser[] =
    R"({"status":{"authenticated":true,"user":{"username":"ann","groups":["team"]}}})";

class AccessDeskTest : public testing::Test, public Transport {
 protected:
  void Start(RequestId id, HttpRequest request) override { sent_.emplace_back(id, request); }
  void Cancel(RequestId) override {}

  static AccessWish Gangs(const std::string& ns) { return {Readable::kGangs, ns}; }
  void Ask(const std::string& token, const AccessWish& wish) {
    desk_.Ask({.token = Secret(token), .wish = wish}, now_);
  }
  // The API server answers the oldest request.
  void Reply(int status, const std::string& body) {
    ASSERT_THAT(sent_, Not(IsEmpty()));
    const RequestId id = sent_.front().first;
    sent_.erase(sent_.begin());
    desk_.On({id, HttpHead{.status = status}}, now_);
    desk_.On({id, HttpChunk{body}}, now_);
    desk_.On({id, HttpEnd{absl::OkStatus()}}, now_);
  }
  Json Body() const { return *Json::Parse(sent_.front().second.body); }
  AccessVerdict OnlyAnswer() {
    answers_ = desk_.TakeAnswers();
    EXPECT_THAT(answers_, SizeIs(1));
    return answers_.empty() ? AccessVerdict() : answers_.front().verdict;
  }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  std::vector<std::pair<RequestId, HttpRequest>> sent_;
  std::vector<AccessDesk::Answer> answers_;
  AccessDesk desk_{*this};
};

TEST_F(AccessDeskTest, AsksWhoseTheTokenIsAndThenWhatTheUserMay) {
  Ask("t0ken", Gangs("research"));
  EXPECT_EQ(sent_.front().second.target, "/apis/authentication.k8s.io/v1/tokenreviews");
  EXPECT_EQ(Body()["spec"]["token"].AsString(), "t0ken");
  Reply(201, kUser);
  EXPECT_EQ(sent_.front().second.target, "/apis/authorization.k8s.io/v1/subjectaccessreviews");
  EXPECT_EQ(Body()["spec"].Dump(),
            R"({"user":"ann","groups":["team"],"resourceAttributes":{"verb":"get",)"
            R"("group":"scheduling.maniple.dev","resource":"podgroups","namespace":"research"}})");
  Reply(201, R"({"status":{"allowed":true}})");
  EXPECT_EQ(OnlyAnswer().access, Access::kAllowed);
}

TEST_F(AccessDeskTest, EveryPageHasItsOwnRight) {
  for (const auto& [path, resource] : std::vector<std::pair<std::string, std::string>>{
           {"/queues", "queues"}, {"/nodes", "nodes"}, {"/gangs", "podgroups"}}) {
    Ask("t", *WishFor({.path = path}));
    if (absl::StrContains(sent_.front().second.target, "tokenreviews")) Reply(201, kUser);
    EXPECT_EQ(Body()["spec"]["resourceAttributes"]["resource"].AsString(), resource);
    Reply(201, "{}");
  }
  Ask("t", *WishFor({.path = "/metrics"}));
  EXPECT_EQ(Body()["spec"]["nonResourceAttributes"].Dump(), R"({"verb":"get","path":"/metrics"})");
  EXPECT_EQ(WishFor({.path = "/diag"})->what, Readable::kMetrics);
  EXPECT_FALSE(WishFor({.path = "/livez"}).has_value());
  const std::optional<AccessWish> usage = WishFor({.path = "/usage", .namespace_name = "a"});
  ASSERT_TRUE(usage.has_value());
  EXPECT_EQ(usage->what, Readable::kGangs);
  EXPECT_EQ(usage->namespace_name, "a");
}

TEST_F(AccessDeskTest, WhoMayNotIsToldWhatIsMissing) {
  Ask("t", Gangs("research"));
  Reply(201, kUser);
  Reply(201, R"({"status":{"allowed":false}})");
  const AccessVerdict verdict = OnlyAnswer();
  EXPECT_EQ(verdict.access, Access::kDenied);
  EXPECT_EQ(verdict.message,
            "user \"ann\" may not get podgroups.scheduling.maniple.dev in namespace \"research\"");
}

TEST_F(AccessDeskTest, ATokenHoldsAMinuteARightFiveARefusalHalfAMinute) {
  Ask("t", Gangs("a"));
  Reply(201, kUser);
  Reply(201, R"({"status":{"allowed":true}})");
  EXPECT_EQ(OnlyAnswer().access, Access::kAllowed);
  EXPECT_EQ(answers_.front().until, now_ + absl::Seconds(60));
  now_ += absl::Seconds(61);
  Ask("t", Gangs("a"));
  Reply(201, kUser);  // the token again, the right not
  EXPECT_EQ(OnlyAnswer().access, Access::kAllowed);
  EXPECT_THAT(sent_, IsEmpty());
  Ask("t", Gangs("b"));
  Reply(201, R"({"status":{"allowed":false}})");
  EXPECT_EQ(OnlyAnswer().access, Access::kDenied);
  EXPECT_EQ(answers_.front().until, now_ + absl::Seconds(30));
}

TEST_F(AccessDeskTest, ManyQuestionsWithOneTokenAreOneReviewOfIt) {
  Ask("t", Gangs("a"));
  Ask("t", Gangs("b"));
  EXPECT_THAT(sent_, SizeIs(1));
  Reply(201, R"({"status":{"authenticated":false}})");
  const std::vector<AccessDesk::Answer> answers = desk_.TakeAnswers();
  ASSERT_THAT(answers, SizeIs(2));
  EXPECT_EQ(answers[0].verdict.access, Access::kNobody);
  EXPECT_THAT(sent_, IsEmpty());
}

TEST_F(AccessDeskTest, WhatCannotBeAskedIsSaidAndSoonAskedAgain) {
  Ask("s3cr3t", Gangs("a"));
  Reply(403, R"({"kind":"Status","message":"tokenreviews is forbidden","reason":"Forbidden"})");
  const AccessVerdict verdict = OnlyAnswer();
  EXPECT_EQ(verdict.access, Access::kUnknown);
  EXPECT_THAT(verdict.message, HasSubstr("create tokenreviews): HTTP 403"));
  EXPECT_THAT(verdict.message, Not(HasSubstr("s3cr3t")));
  EXPECT_LE(answers_.front().until, now_ + absl::Seconds(2));
}

TEST_F(AccessDeskTest, AKeyDoesNotTellTheToken) {
  EXPECT_THAT(AccessKey(Secret("s3cr3t"), Gangs("a")), Not(HasSubstr("s3cr3t")));
  EXPECT_NE(AccessKey(Secret("s"), Gangs("a")), AccessKey(Secret("s"), Gangs("b")));
  EXPECT_NE(AccessKey(Secret("s"), Gangs("a")), AccessKey(Secret("t"), Gangs("a")));
}

TEST(ReviewDoor, AsksOnceAndRemembersAsLongAsTheAnswerHolds) {
  ReviewDoor door;
  const absl::Time now = absl::FromUnixSeconds(1000);
  const AccessDesk::Question question{.token = Secret("t"), .wish = {Readable::kNodes, ""}};
  EXPECT_FALSE(door.Look(question, now).has_value());
  EXPECT_FALSE(door.Look(question, now).has_value());
  EXPECT_THAT(door.Take(), SizeIs(1));
  door.Post({{.key = AccessKey(question.token, question.wish),
              .verdict = {Access::kAllowed, ""},
              .until = now + absl::Seconds(60)}},
            now);
  EXPECT_EQ(door.Look(question, now)->access, Access::kAllowed);
  EXPECT_THAT(door.Take(), IsEmpty());
  EXPECT_FALSE(door.Look(question, now + absl::Seconds(61)).has_value());
  EXPECT_THAT(door.Take(), SizeIs(1));
}

TEST(ReviewDoor, TellsWhoeverComesWhenTooManyWait) {
  ReviewDoor door;
  const auto look = [&](int i) {
    return door.Look({.token = Secret(absl::StrCat("t", i)), .wish = {}}, absl::FromUnixSeconds(1));
  };
  int waiting = 0;
  while (waiting < 10'000 && !look(waiting).has_value()) ++waiting;
  EXPECT_EQ(waiting, 512);
  EXPECT_EQ(look(waiting)->access, Access::kUnknown);
  EXPECT_FALSE(look(0).has_value()) << "it waits already";
}

}  // namespace
}  // namespace maniple
