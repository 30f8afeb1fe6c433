#include "api/client/writer.h"

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class WriterTest : public ::testing::Test {
 protected:
  explicit WriterTest(WriterOptions options = {.max_in_flight = 4, .most_events = 3})
      : writer_(options, 1) {
    Take(writer_.SetLeadUntil(absl::InfiniteFuture(), Now()));
  }

  absl::Time Now() const { return clock_.Now(); }

  void Take(WriterOutput out) {
    for (HttpStart& start : out.http.start) open_.push_back(std::move(start));
    for (WriteResult& result : out.results) results_.push_back(std::move(result));
  }

  void Submit(uint64_t id, WritePriority priority, const std::string& key = "",
              const std::string& lane = "") {
    WriteCommand command;
    command.lane = lane;
    command.id = id;
    command.priority = priority;
    command.retry = priority == WritePriority::kStatus || priority == WritePriority::kEvent
                        ? WriteRetry::kInside
                        : WriteRetry::kNone;
    command.request.target = absl::StrCat("/", id);
    command.coalesce_key = key;
    Take(writer_.Submit(std::move(command), Now()));
  }

  HttpStart TakeOpen(const std::string& target) {
    for (auto it = open_.begin(); it != open_.end(); ++it) {
      if (it->request.target != target) continue;
      HttpStart start = std::move(*it);
      open_.erase(it);
      return start;
    }
    ADD_FAILURE() << target << " is not in flight";
    return {};
  }
  void Answer(uint64_t id, int status, const std::string& body = "",
              std::optional<absl::Duration> retry_after = std::nullopt) {
    const HttpStart start = TakeOpen(absl::StrCat("/", id));
    Take(writer_.On({start.id, HttpHead{status, "application/json", retry_after}}, Now()));
    if (!body.empty()) Take(writer_.On({start.id, HttpChunk{body}}, Now()));
    Take(writer_.On({start.id, HttpEnd{}}, Now()));
  }
  void Break(uint64_t id) {
    const HttpStart start = TakeOpen(absl::StrCat("/", id));
    Take(writer_.On({start.id, HttpEnd{absl::UnavailableError("connection reset")}}, Now()));
  }
  void AdvanceToDeadline() {
    ASSERT_LT(writer_.NextDeadline(), absl::InfiniteFuture());
    clock_.AdvanceTo(std::max(clock_.Now(), writer_.NextDeadline()));
    Take(writer_.OnTime(Now()));
  }

  std::vector<std::string> InFlight() const {
    std::vector<std::string> out;
    for (const HttpStart& start : open_) out.push_back(start.request.target);
    return out;
  }
  std::vector<uint64_t> ResultsWith(WriteOutcome outcome) const {
    std::vector<uint64_t> out;
    for (const WriteResult& result : results_) {
      if (result.outcome == outcome) out.push_back(result.id);
    }
    return out;
  }

  SimulatedClock clock_;
  Writer writer_;
  std::vector<HttpStart> open_;
  std::vector<WriteResult> results_;
};

TEST_F(WriterTest, APageThatAnswersInPlaceOfTheServerSaysNothingOfTheWrite) {
  Submit(1, WritePriority::kBind);
  const HttpStart start = TakeOpen("/1");
  Take(writer_.On({start.id, HttpHead{200, "text/html; charset=utf-8", {}}}, Now()));
  Take(writer_.On({start.id, HttpChunk{"<html>sign in</html>"}}, Now()));
  Take(writer_.On({start.id, HttpEnd{}}, Now()));
  EXPECT_THAT(ResultsWith(WriteOutcome::kUnknown), testing::ElementsAre(1u));
}

TEST_F(WriterTest, ReasonsGoBeforeStatuses) {
  for (uint64_t id = 1; id <= 6; ++id) Submit(id, WritePriority::kStatus);
  Submit(7, WritePriority::kReason);
  const std::vector<std::string> before = InFlight();
  Answer(1, 200);
  EXPECT_EQ(InFlight().back(), "/7");
  EXPECT_EQ(InFlight().size(), before.size());
}

TEST_F(WriterTest, LanesTakeTurnsSoThatNobodyWaitsBehindThousandsOfAnother) {
  for (uint64_t id = 1; id <= 20; ++id) Submit(id, WritePriority::kReason, "", "queue/many");
  Submit(21, WritePriority::kReason, "", "queue/one");
  std::vector<std::string> order = InFlight();
  while (!open_.empty()) {
    const std::string target = open_.front().request.target;
    Answer(std::stoull(target.substr(1)), 200);
    if (!open_.empty() && open_.back().request.target != order.back()) {
      order.push_back(open_.back().request.target);
    }
  }
  const auto at = std::find(order.begin(), order.end(), "/21") - order.begin();
  EXPECT_LE(at, 6) << "it comes among the first, though it was submitted last";
  EXPECT_EQ(order.size(), 21U);
}

TEST_F(WriterTest, AReasonTakesThePlaceOfAStatusOfItsKeyAndIsAsUrgentAsAReason) {
  for (uint64_t id = 1; id <= 6; ++id) Submit(id, WritePriority::kStatus);
  Submit(7, WritePriority::kStatus, "group/7");
  Submit(8, WritePriority::kReason, "group/7");
  EXPECT_THAT(ResultsWith(WriteOutcome::kSuperseded), ElementsAre(7));
  Answer(1, 200);
  EXPECT_EQ(InFlight().back(), "/8");
}

TEST_F(WriterTest, NeverMoreInFlightThanAllowed) {
  for (uint64_t id = 1; id <= 9; ++id) Submit(id, WritePriority::kBind);
  EXPECT_THAT(InFlight(), ElementsAre("/1", "/2", "/3", "/4"));
  Answer(2, 201);
  EXPECT_THAT(InFlight(), ElementsAre("/1", "/3", "/4", "/5"));
}

class PacedWriterTest : public WriterTest {
 protected:
  PacedWriterTest() : WriterTest({.max_in_flight = 100, .most_per_second = 10}) {}
};

TEST_F(PacedWriterTest, SendsASecondsWorthAtOnceAndTheRestEvenly) {
  for (uint64_t id = 1; id <= 25; ++id) Submit(id, WritePriority::kBind);
  EXPECT_THAT(InFlight(), SizeIs(10));
  const absl::Time begin = Now();
  for (size_t sent = 11; sent <= 25; ++sent) {
    AdvanceToDeadline();
    EXPECT_THAT(InFlight(), SizeIs(sent));
  }
  EXPECT_GE(Now() - begin, absl::Milliseconds(1499));
  EXPECT_LE(Now() - begin, absl::Milliseconds(1501));
  EXPECT_EQ(writer_.NextDeadline(), absl::InfiniteFuture());
}

TEST_F(PacedWriterTest, WhatIsUrgentOvertakesWhatThePaceHeldBack) {
  for (uint64_t id = 1; id <= 12; ++id) Submit(id, WritePriority::kEvent);
  Submit(13, WritePriority::kBind);
  AdvanceToDeadline();
  EXPECT_THAT(InFlight(), ::testing::Contains("/13"));
  EXPECT_THAT(InFlight(), SizeIs(11));
}

TEST_F(WriterTest, BindsGoBeforeUndosBeforeStatusesBeforeEvents) {
  for (uint64_t id = 1; id <= 4; ++id) Submit(id, WritePriority::kBind);
  Submit(10, WritePriority::kEvent);
  Submit(11, WritePriority::kStatus);
  Submit(12, WritePriority::kUndo);
  Submit(13, WritePriority::kBind);
  for (uint64_t id = 1; id <= 4; ++id) Answer(id, 201);
  EXPECT_THAT(InFlight(), ElementsAre("/13", "/12", "/11"));
  Answer(13, 201);
  Answer(12, 200);
  EXPECT_THAT(InFlight(), ElementsAre("/11", "/10"));
}

TEST_F(WriterTest, WhatFinishesABegunGangOvertakesTheBurstOfANewOne) {
  for (uint64_t id = 1; id <= 8; ++id) Submit(id, WritePriority::kBind);
  Submit(20, WritePriority::kFinish);
  Answer(1, 201);
  EXPECT_THAT(InFlight(), ElementsAre("/2", "/3", "/4", "/20"));
}

TEST_F(WriterTest, StatusesTakeAQuarterWhileBindsAreOpen) {
  Submit(1, WritePriority::kBind);
  for (uint64_t id = 11; id <= 15; ++id) Submit(id, WritePriority::kStatus);
  EXPECT_THAT(InFlight(), ElementsAre("/1", "/11"));
  Answer(1, 201);
  EXPECT_THAT(InFlight(), SizeIs(3)) << "room is kept for binds to come";
}

TEST_F(WriterTest, OfOneKeyOnlyTheNewestUnsentIsSent) {
  for (uint64_t id = 1; id <= 4; ++id) Submit(id, WritePriority::kBind);
  Submit(10, WritePriority::kStatus, "gang a");
  Submit(11, WritePriority::kStatus, "gang b");
  Submit(12, WritePriority::kStatus, "gang a");
  EXPECT_THAT(ResultsWith(WriteOutcome::kSuperseded), ElementsAre(10));
  for (uint64_t id = 1; id <= 4; ++id) Answer(id, 201);
  EXPECT_THAT(InFlight(), ElementsAre("/12", "/11")) << "the newer has the place of the older";
}

TEST_F(WriterTest, TwoOfOneKeyAreNeverInFlightTogether) {
  Submit(10, WritePriority::kStatus, "gang a");
  Submit(11, WritePriority::kStatus, "gang a");
  Submit(12, WritePriority::kStatus, "gang a");
  EXPECT_THAT(InFlight(), ElementsAre("/10"));
  EXPECT_THAT(ResultsWith(WriteOutcome::kSuperseded), ElementsAre(11));
  Answer(10, 200);
  EXPECT_THAT(InFlight(), ElementsAre("/12"));
}

TEST_F(WriterTest, AFailedStatusIsTriedAgainUnlessANewerOneWaits) {
  Submit(10, WritePriority::kStatus, "gang a");
  Answer(10, 503);
  EXPECT_THAT(InFlight(), IsEmpty());
  AdvanceToDeadline();
  EXPECT_THAT(InFlight(), ElementsAre("/10"));
  Submit(11, WritePriority::kStatus, "gang a");
  Break(10);
  EXPECT_THAT(ResultsWith(WriteOutcome::kSuperseded), ElementsAre(10));
  EXPECT_THAT(InFlight(), IsEmpty()) << "the newer one inherits the wait";
  AdvanceToDeadline();
  EXPECT_THAT(InFlight(), ElementsAre("/11"));
  Answer(11, 200);
  EXPECT_THAT(ResultsWith(WriteOutcome::kAnswered), ElementsAre(11));
  EXPECT_TRUE(writer_.idle());
}

TEST_F(WriterTest, ANewerStatusReplacesOneThatWaitsForItsNextTry) {
  Submit(10, WritePriority::kStatus, "gang a");
  Answer(10, 500);
  Submit(11, WritePriority::kStatus, "gang a");
  EXPECT_THAT(InFlight(), IsEmpty());
  AdvanceToDeadline();
  EXPECT_THAT(InFlight(), ElementsAre("/11"));
}

TEST_F(WriterTest, RetryAfterIsHonoured) {
  Submit(10, WritePriority::kStatus);
  const absl::Time before = Now();
  Answer(10, 429, "Too many requests, please try again later.", absl::Seconds(7));
  EXPECT_GE(writer_.NextDeadline(), before + absl::Seconds(7));
  EXPECT_EQ(writer_.counters().throttled, 1u);
}

TEST_F(WriterTest, ARefusedStatusIsReportedAndNotTriedAgain) {
  Submit(10, WritePriority::kStatus);
  Answer(10, 404, R"({"kind":"Status","reason":"NotFound","message":"gone","code":404})");
  ASSERT_THAT(results_, SizeIs(1));
  EXPECT_EQ(results_[0].http_status, 404);
  EXPECT_EQ(results_[0].status.reason, "NotFound");
  EXPECT_TRUE(writer_.idle());
}

TEST_F(WriterTest, AStatusIsGivenUpAfterSoManyTries) {
  Submit(10, WritePriority::kStatus);
  for (int i = 0; i < 11; ++i) {
    Answer(10, 500);
    AdvanceToDeadline();
  }
  Answer(10, 500);
  EXPECT_THAT(ResultsWith(WriteOutcome::kAnswered), ElementsAre(10));
  EXPECT_TRUE(writer_.idle());
}

TEST_F(WriterTest, ABindsRawOutcomeIsReportedAtOnce) {
  for (uint64_t id = 1; id <= 3; ++id) Submit(id, WritePriority::kBind);
  Answer(1, 201, R"({"kind":"Status","status":"Success"})");
  Answer(2, 429, "Too many requests", absl::Seconds(3));
  Break(3);
  ASSERT_THAT(results_, SizeIs(3));
  EXPECT_EQ(results_[0].http_status, 201);
  EXPECT_EQ(results_[0].body, R"({"kind":"Status","status":"Success"})");
  EXPECT_EQ(results_[1].http_status, 429);
  EXPECT_EQ(results_[1].status.retry_after, absl::Seconds(3));
  EXPECT_EQ(results_[2].outcome, WriteOutcome::kUnknown);
  EXPECT_EQ(results_[2].http_status, 0);
  EXPECT_TRUE(writer_.idle());
}

TEST_F(WriterTest, ACutReplyStillTellsItsStatus) {
  Submit(1, WritePriority::kBind);
  const HttpStart start = TakeOpen("/1");
  Take(writer_.On({start.id, HttpHead{409, "application/json", {}}}, Now()));
  Take(writer_.On({start.id, HttpChunk{"{\"kind\":\"Sta"}}, Now()));
  Take(writer_.On({start.id, HttpEnd{absl::UnavailableError("cut")}}, Now()));
  ASSERT_THAT(results_, SizeIs(1));
  EXPECT_EQ(results_[0].http_status, 409);
}

TEST_F(WriterTest, TooManyEventsDropTheOldest) {
  for (uint64_t id = 1; id <= 4; ++id) Submit(id, WritePriority::kBind);
  for (uint64_t id = 11; id <= 15; ++id) Submit(id, WritePriority::kEvent);
  EXPECT_THAT(ResultsWith(WriteOutcome::kDropped), ElementsAre(11, 12));
  EXPECT_EQ(writer_.counters().dropped_events, 2u);
  EXPECT_EQ(writer_.waiting(), 3u);
}

TEST_F(WriterTest, EventsThatWaitForAnotherTryAreBoundedToo) {
  for (uint64_t id = 11; id <= 30; ++id) {
    Submit(id, WritePriority::kEvent);
    if (!open_.empty()) Answer(id, 503);
    ASSERT_LE(writer_.waiting(), 4u);
  }
}

TEST_F(WriterTest, NothingIsSentAtOrAfterTheEndOfTheLead) {
  Take(writer_.SetLeadUntil(Now() + absl::Seconds(10), Now()));
  Submit(1, WritePriority::kBind);
  EXPECT_THAT(InFlight(), ElementsAre("/1"));
  EXPECT_EQ(open_[0].request.send_by, Now() + absl::Seconds(10));  // nor what was begun before
  clock_.Advance(absl::Seconds(10));
  Submit(2, WritePriority::kBind);
  EXPECT_THAT(InFlight(), ElementsAre("/1"));
  EXPECT_THAT(ResultsWith(WriteOutcome::kFenced), ElementsAre(2));
}

TEST_F(WriterTest, WhatWaitsWhenTheLeadEndsIsAnsweredAtThatMoment) {
  Take(writer_.SetLeadUntil(Now() + absl::Seconds(10), Now()));
  for (uint64_t id = 1; id <= 6; ++id) Submit(id, WritePriority::kBind);
  Submit(7, WritePriority::kStatus, "gang a");
  EXPECT_EQ(writer_.NextDeadline(), Now() + absl::Seconds(10));
  AdvanceToDeadline();
  EXPECT_THAT(ResultsWith(WriteOutcome::kFenced), ElementsAre(5, 6, 7));
  for (uint64_t id = 1; id <= 4; ++id) Answer(id, 201);
  EXPECT_THAT(ResultsWith(WriteOutcome::kAnswered), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(writer_.idle());
}

TEST_F(WriterTest, ARetryDoesNotOutliveTheLead) {
  Take(writer_.SetLeadUntil(Now() + absl::Milliseconds(50), Now()));
  Submit(1, WritePriority::kStatus, "gang a");
  Answer(1, 503);
  AdvanceToDeadline();
  EXPECT_THAT(ResultsWith(WriteOutcome::kFenced), ElementsAre(1));
  EXPECT_THAT(InFlight(), IsEmpty());
}

TEST_F(WriterTest, WhatWasSentUnderALeadIsNotTriedAgainUnderTheNext) {
  Take(writer_.SetLeadUntil(Now() + absl::Milliseconds(50), Now()));
  Submit(1, WritePriority::kStatus, "gang a");
  clock_.Advance(absl::Seconds(1));
  Take(writer_.OnTime(Now()));
  Take(writer_.SetLeadUntil(Now() + absl::Seconds(10), Now()));
  Answer(1, 503);
  EXPECT_THAT(ResultsWith(WriteOutcome::kAnswered), ElementsAre(1));
  EXPECT_TRUE(writer_.idle());
}

TEST_F(WriterTest, WithoutALeadNothingIsSent) {
  Writer fresh({}, 1);
  const WriterOutput out = fresh.Submit({.id = 1}, Now());
  EXPECT_THAT(out.http.start, IsEmpty());
  ASSERT_THAT(out.results, SizeIs(1));
  EXPECT_EQ(out.results[0].outcome, WriteOutcome::kFenced);
}

TEST_F(WriterTest, EveryCommandIsAnsweredExactlyOnceUnderRandomFailures) {
  Random random(3);
  uint64_t next = 1;
  for (int step = 0; step < 20'000; ++step) {
    if (random.OneIn(2)) {
      const auto priority = static_cast<WritePriority>(random.Below(kWritePriorities - 1));
      const std::string key = random.OneIn(2) ? absl::StrCat("key/", random.Below(6)) : "";
      Submit(next++, priority, key);
    } else if (!open_.empty()) {
      const HttpStart start = open_[random.Below(open_.size())];
      const uint64_t id = std::stoull(start.request.target.substr(1));
      random.OneIn(4) ? Break(id) : Answer(id, random.OneIn(3) ? 503 : 200);
    } else {
      clock_.Advance(absl::Milliseconds(200));
      Take(writer_.OnTime(Now()));
    }
    if (step % 5000 == 4999) {
      Take(writer_.SetLeadUntil(absl::InfinitePast(), Now()));
      Take(writer_.SetLeadUntil(absl::InfiniteFuture(), Now()));
    }
    ASSERT_LE(writer_.in_flight(), 4);
    size_t in_lines = 0;
    for (const WriteLine& line : writer_.lines()) in_lines += line.waiting;
    ASSERT_EQ(in_lines, writer_.waiting());
  }
  while (!writer_.idle()) {
    while (!open_.empty()) Answer(std::stoull(open_[0].request.target.substr(1)), 200);
    if (!writer_.idle()) AdvanceToDeadline();
  }
  std::map<uint64_t, int> answers;
  for (const WriteResult& result : results_) ++answers[result.id];
  EXPECT_EQ(answers.size(), next - 1);
  for (const auto& [id, times] : answers) EXPECT_EQ(times, 1) << id;
}

TEST_F(WriterTest, ALineTellsWhatJoinedItWhatIsTriedAgainAndWhatWaits) {
  const auto line = [this](WritePriority priority) {
    return writer_.lines()[static_cast<size_t>(priority)];
  };
  for (uint64_t id = 1; id <= 6; ++id) Submit(id, WritePriority::kBind);
  EXPECT_EQ(line(WritePriority::kBind).added, 6u);
  EXPECT_EQ(line(WritePriority::kBind).waiting, 2u) << "four are in flight";
  Submit(7, WritePriority::kStatus, "gang");
  Submit(8, WritePriority::kReason, "gang");  // in its place, and more urgent
  EXPECT_EQ(line(WritePriority::kStatus).waiting, 0u);
  EXPECT_EQ(line(WritePriority::kReason).waiting, 1u);
  for (uint64_t id = 1; id <= 6; ++id) Answer(id, 200);
  Answer(8, 200);
  Submit(9, WritePriority::kEvent);
  Answer(9, 503);
  EXPECT_EQ(line(WritePriority::kEvent).retried, 1u);
  EXPECT_EQ(line(WritePriority::kEvent).added, 2u);
  EXPECT_EQ(line(WritePriority::kEvent).waiting, 1u);
}

}  // namespace
}  // namespace maniple
