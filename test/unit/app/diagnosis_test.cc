// What `maniple diag` prints. Fears: trouble stands below the figures, or is not told; a healthy
// scheduler is said to be in trouble.
#include "scheduler/app/answers/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/time/time.h"
#include "api/codec/json.h"

namespace maniple::diagnosis_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

DiagnosisFacts AHealthyLeader() {
  DiagnosisFacts facts;
  facts.counters.gangs = 14;
  facts.counters.gangs_parked = 3;
  facts.counters.binds_succeeded = 320;
  facts.counters.search_steps = 1'230'000;
  facts.health.progress = absl::FromUnixSeconds(4000);
  facts.process = {.leading = true, .synced = true, .now = absl::FromUnixSeconds(4001)};
  facts.process.process = {.cpu_seconds = 41.25,
                           .resident_bytes = 61 << 20,
                           .start_seconds = 401,
                           .open_descriptors = 43,
                           .most_descriptors = 1024};
  for (int i = 0; i < 100; ++i) facts.process.turns.Note(absl::Microseconds(400));
  return facts;
}

std::string DiagnosisOf(const DiagnosisFacts& facts) {
  return DiagnosisText(*Json::Parse(DiagnosisJson(facts).value()));
}

TEST(Diagnosis, TellsHowTheSchedulerFares) {
  EXPECT_THAT(DiagnosisOf(AHealthyLeader()),
              HasSubstr(": leads\n"
                        "  up            60m, 41.2 s of CPU, 61 MiB, 43 of 1024 descriptors\n"
                        "  turns         100, 0.4 ms each, 99 of 100 within 0.5 ms; the last ended "
                        "1s ago\n"
                        "  gangs         14: 3 wait, 0 to be decided, 0 being bound\n"
                        "  decisions     0 placed, 0 refused, 0 gave up; 1.2 million steps of "
                        "searches\n"
                        "  binds         320 done, 0 retried,"));
  EXPECT_THAT(DiagnosisOf(AHealthyLeader()), Not(HasSubstr("!")));
}

TEST(Diagnosis, BeginsWithWhatIsWrong) {
  DiagnosisFacts facts = AHealthyLeader();
  facts.process.leading = facts.process.synced = false;
  facts.health.progress = absl::FromUnixSeconds(3900);
  facts.health.at = {ResourceKind::kPod, "research", "huge"};
  facts.problems = {"list of pods: no answer", "b", "c", "d"};
  facts.counters.forbidden[{.verb = "patch", .group = "", .resource = "nodes"}] = 7;
  EXPECT_THAT(DiagnosisOf(facts),
              HasSubstr(": stands by, and decides nothing\n"
                        "  ! the first lists are not complete: nothing is decided yet\n"
                        "  ! no turn has ended for 101s; the last object that was read is "
                        "Pod research/huge\n"
                        "  ! list of pods: no answer\n  ! b\n  ! c\n"
                        "  ! and 1 more with the API server\n"
                        "  ! the API server forbids Maniple to patch nodes (7 times)\n  up"));
}

}  // namespace
}  // namespace maniple::diagnosis_test
