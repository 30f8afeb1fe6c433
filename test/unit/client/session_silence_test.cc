// What a WatchSession remembers of troubles that are over. Fears: an answer of 404, silence and 404
// again are taken for one long absence, and all objects are lost; a watch that once failed makes
// the first failed list, hours later, one of long standing; a session that is started again
// remembers its former life.
#include "test/unit/client/session_fixture.h"

namespace maniple::client_session_silence_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string GangList(int version) {
  return absl::StrCat(R"({"kind":"GangList","metadata":{"resourceVersion":")", version,
                      R"("},"items":[{"metadata":{"name":"a","namespace":"n","uid":"1",)",
                      R"("resourceVersion":"9"}}]})");
}

class SessionSilenceTest : public SessionTest {
 protected:
  SessionSilenceTest()
      : SessionTest({.kind = ForeignResource(0),
                     .owner = 9,
                     .collections = {"/apis/one.example/v1/gangs"}}) {
    Start();
    Reply(200, GangList(10));
    Head(200);
    TakeTold();
  }

  void NotFound() { Status(404, "NotFound"); }
  void Fault() { Status(500, "InternalError"); }
};

// A server that goes down and comes up says 404 on both ends.
TEST_F(SessionSilenceTest, AServerThatWasDownMeanwhileTakesNoObjectAway) {
  End();
  Wait();
  NotFound();
  NotFound();  // asked again at once
  Wait();
  Break();
  clock_.Advance(absl::Seconds(40));
  Wait();
  NotFound();
  NotFound();
  EXPECT_THAT(TakeTold(), IsEmpty());
  EXPECT_EQ(session_.known_objects(), 1u);
  clock_.Advance(absl::Seconds(31));
  Wait();
  NotFound();
  EXPECT_THAT(TakeTold(), ElementsAre("-a@1", "not installed"));
}

TEST_F(SessionSilenceTest, AnOldFaultOfTheWatchDoesNotAgeTheFirstFaultOfAList) {
  End();  // without news
  Wait();
  Head(200);
  clock_.Advance(absl::Hours(2));
  Bytes(ErrorLine(410, "Expired"));
  Fault();
  EXPECT_FALSE(session_.unreadable());
  clock_.Advance(absl::Seconds(31));
  Wait();
  Fault();
  EXPECT_TRUE(session_.unreadable());
  Wait();
  Reply(200, GangList(30));
  EXPECT_FALSE(session_.unreadable());
}

TEST_F(SessionSilenceTest, WhoIsStartedAgainBeginsAnew) {
  clock_.Advance(absl::Seconds(2));
  Bytes(ErrorLine(410, "Expired"));
  Fault();
  clock_.Advance(absl::Seconds(31));
  Wait();
  Fault();
  EXPECT_TRUE(session_.unreadable());
  Take(session_.Stop());
  EXPECT_FALSE(session_.unreadable());
  Start();
  Fault();
  EXPECT_FALSE(session_.unreadable());
  Wait();
  TakeTold();
  Reply(200, GangList(5));  // older than what the former life has seen
  EXPECT_THAT(TakeTold(), ElementsAre("served:v1", "+a@1", "synced"));
}

}  // namespace
}  // namespace maniple::client_session_silence_test
