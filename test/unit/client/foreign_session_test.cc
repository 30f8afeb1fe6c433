// A WatchSession of a kind of producers: served in one of its versions, not at all, or forbidden.
#include "test/unit/client/session_fixture.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string GangJson(absl::string_view name, int version) {
  return absl::StrCat(R"({"metadata":{"name":")", name, R"(","namespace":"n","uid":"1",)",
                      R"("resourceVersion":")", version, "\"}}");
}
std::string GangList(int version, const std::vector<std::string>& items) {
  return absl::StrCat(R"({"kind":"GangList","metadata":{"resourceVersion":")", version,
                      R"("},"items":[)", absl::StrJoin(items, ","), "]}");
}

class ForeignSessionTest : public SessionTest {
 protected:
  ForeignSessionTest()
      : SessionTest({.kind = ForeignResource(0),
                     .owner = 9,
                     .collections = {"/apis/one.example/v2/gangs", "/apis/one.example/v1/gangs"}}) {
  }

  void NotFound() { Status(404, "NotFound"); }
  // No version of it; asked twice, the first time.
  void NothingFound(int times = 2) {
    for (int i = 0; i < 2 * times; ++i) NotFound();
  }
  // Listed at the first version, and watching with the head in.
  void SyncGangs(int version, const std::vector<std::string>& items) {
    Start();
    Reply(200, GangList(version, items));
    Head(200);
    TakeTold();
  }
};

TEST_F(ForeignSessionTest, TheVersionIsToldBeforeTheFirstObject) {
  Start();
  EXPECT_THAT(Target(), HasSubstr("/apis/one.example/v2/gangs?limit="));
  Reply(200, GangList(10, {GangJson("a", 9)}));
  EXPECT_THAT(TakeTold(), ElementsAre("served:v2", "+a@1", "synced"));
}

TEST_F(ForeignSessionTest, AnItemWithoutVersionHasTheOneOfItsCollection) {
  Start();
  const RequestId id = open_->id;
  static_cast<void>(session_.On({id, HttpHead{200, "application/json", {}}}, decoder_, Now()));
  static_cast<void>(
      session_.On({id, HttpChunk{GangList(10, {GangJson("a", 9)})}}, decoder_, Now()));
  const SessionOutput out = session_.On({id, HttpEnd{}}, decoder_, Now());
  const auto& upserted = std::get<ObjectUpserted>(out.events.at(1));
  EXPECT_EQ(std::get<ForeignObject>(upserted.object).api_version, "one.example/v2");
}

TEST_F(ForeignSessionTest, AVersionThatIsNotServedLeadsToTheNextAtOnce) {
  Start();
  NotFound();
  EXPECT_THAT(Target(), HasSubstr("/apis/one.example/v1/gangs?limit="));
  Reply(200, GangList(10, {}));
  EXPECT_THAT(Target(), HasSubstr("/apis/one.example/v1/gangs?watch=true"));
  EXPECT_THAT(TakeTold(), ElementsAre("served:v1", "synced"));
}

TEST_F(ForeignSessionTest, AKindThatIsNotInstalledIsLookedForQuietlyFromTheFirstVersionOn) {
  Start();
  absl::Duration longest = absl::ZeroDuration();
  for (int i = 0; i < 8; ++i) {
    EXPECT_THAT(Target(), HasSubstr("/v2/"));
    NothingFound(i == 0 ? 2 : 1);
    EXPECT_EQ(session_.state(), SessionState::kNotInstalled);
    EXPECT_EQ(session_.problem(), "");
    longest = std::max(longest, session_.NextDeadline() - Now());
    Wait();
  }
  EXPECT_GE(longest, absl::Seconds(7));
  EXPECT_LE(longest, absl::Seconds(15));
  EXPECT_THAT(TakeTold(), ElementsAre("not installed"));
  Reply(200, GangList(10, {GangJson("a", 9)}));
  EXPECT_EQ(session_.state(), SessionState::kWatching);
  EXPECT_THAT(TakeTold(), ElementsAre("served:v2", "+a@1", "synced"));
}

TEST_F(ForeignSessionTest, AStartingServerTakesNoObjectAwayButACrdThatStaysAwayDoes) {
  SyncGangs(10, {GangJson("a", 9)});
  End();  // without news: the watch is asked for again
  Wait();
  NothingFound();
  EXPECT_THAT(TakeTold(), IsEmpty());
  EXPECT_EQ(session_.state(), SessionState::kBackingOff);
  clock_.Advance(absl::Seconds(31));
  Wait();
  NothingFound(1);
  EXPECT_THAT(TakeTold(), ElementsAre("-a@1", "not installed"));
  Wait();
  Reply(200, GangList(30, {GangJson("a", 29)}));
  EXPECT_THAT(TakeTold(), ElementsAre("served:v2", "+a@1"));
}

// An empty collection and one that is gone look alike, once.
TEST_F(ForeignSessionTest, OneAnswerOf404PartsNoGangThatWaits) {
  SyncGangs(10, {});
  End();
  Wait();
  NothingFound(1);
  Reply(200, GangList(30, {GangJson("a", 29)}));
  EXPECT_THAT(TakeTold(), ElementsAre("+a@1"));
}

TEST_F(ForeignSessionTest, OneAnswerOf404AtTheStartDoesNotEither) {
  Start();
  NothingFound(1);
  Reply(200, GangList(30, {GangJson("a", 29)}));
  EXPECT_THAT(TakeTold(), ElementsAre("served:v2", "+a@1", "synced"));
}

TEST_F(ForeignSessionTest, ObjectsOfAnotherVersionAreToldAnew) {
  SyncGangs(10, {GangJson("a", 9)});
  End();
  Wait();
  NotFound();
  Reply(200, GangList(12, {GangJson("a", 9)}));
  EXPECT_THAT(TakeTold(), ElementsAre("served:v1", "+a@1"));
}

TEST_F(ForeignSessionTest, WhatMayNotBeReadIsToldOnceAndKeepsItsObjects) {
  Start();
  Status(403, "Forbidden");
  EXPECT_THAT(session_.problem(), HasSubstr("not allowed to list /apis/one.example/v2/gangs"));
  RefuseFor(absl::Seconds(15));
  EXPECT_THAT(TakeTold(), ElementsAre("forbidden"));
  EXPECT_TRUE(session_.forbidden());
  Reply(200, GangList(10, {GangJson("a", 9)}));
  EXPECT_THAT(TakeTold(), ElementsAre("served:v2", "+a@1", "synced"));
  EXPECT_FALSE(session_.forbidden());
  Status(403, "Forbidden");
  RefuseFor(absl::Seconds(60));
  EXPECT_THAT(TakeTold(), ElementsAre("forbidden"));
  EXPECT_EQ(session_.known_objects(), 1u);
  Head(200);
  EXPECT_THAT(TakeTold(), ElementsAre("served:v2"));
}

TEST_F(ForeignSessionTest, AServerThatDoesNotKnowTheRolesYetPartsNoGang) {
  Start();
  Status(403, "Forbidden");
  RefuseFor(absl::Seconds(1));
  Reply(200, GangList(10, {GangJson("a", 9)}));
  EXPECT_THAT(TakeTold(), ElementsAre("served:v2", "+a@1", "synced"));
  for (int i = 0; i < 3; ++i) {  // not in a row
    Status(403, "Forbidden");
    RefuseFor(absl::Seconds(8));
    Head(200);
    clock_.Advance(absl::Seconds(20));
    End();
  }
  EXPECT_THAT(TakeTold(), IsEmpty());
  EXPECT_FALSE(session_.forbidden());
}

}  // namespace
}  // namespace maniple
