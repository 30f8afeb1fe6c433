#include "api/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "api/base/secret.h"

namespace maniple {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

// What one statement writes to stderr under these options; the defaults stand again afterwards.
template <typename Statement>
std::string Logged(const LogOptions& options, Statement statement) {
  ConfigureLog(options);
  ::testing::internal::CaptureStderr();
  statement();
  std::string out = ::testing::internal::GetCapturedStderr();
  ConfigureLog(LogOptions{});
  return out;
}

TEST(Log, WritesOneLineWithTimeLevelAndPlace) {
  const std::string line = Logged({}, [] { LOG(WARNING) << "gang " << 7 << " waits"; });
  EXPECT_THAT(line, MatchesRegex(
                        "....-..-..T..:..:..\\....Z warning log_test.cc:[0-9]+\\] gang 7 waits\n"));
}

TEST(Log, HostileTextCannotForgeASecondRecord) {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    const std::string line = Logged(
        {.format = format}, [] { LOG(INFO) << "name \"x\\\"\n2026 error forged\r\x1b[31m"; });
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
    EXPECT_EQ(line.back(), '\n');
    EXPECT_THAT(line, HasSubstr("\\n2026 error forged\\u000d\\u001b[31m"));
  }
}

TEST(Log, NoControlCharacterBeyondAsciiCommandsATerminal) {
  EXPECT_EQ(OneLine("a\xc2\x9b"
                    "31m\xc2\x85\xc2\xa0\xc3\xa9\xc2"),
            "a\\u009b31m\\u0085\xc2\xa0\xc3\xa9\xc2");
}

TEST(Log, JsonRecordsEscapeQuotesAndBackslashes) {
  const std::string line =
      Logged({.format = LogFormat::kJson}, [] { LOG(ERROR) << R"(say "hi" \ )" << 1; });
  EXPECT_THAT(
      line,
      MatchesRegex("\\{\"ts\":\"[^\"]+\",\"level\":\"error\",\"caller\":\"log_test.cc:[0-9]+\","
                   "\"msg\":\"say \\\\\"hi\\\\\" \\\\\\\\ 1\"\\}\n"));
}

TEST(Log, VerboseRecordsNeedTheirVerbosity) {
  const auto verbose = [] { VLOG(2) << "detail"; };
  EXPECT_THAT(Logged({.verbosity = 1}, verbose), IsEmpty());
  EXPECT_THAT(Logged({.verbosity = 2}, verbose), EndsWith("detail\n"));
  EXPECT_THAT(Logged({.verbosity = 3}, verbose), EndsWith("detail\n"));
}

TEST(Log, RecordsBelowTheLeastSeverityAreDropped) {
  const LogOptions options{.least = LogSeverity::kError};
  EXPECT_THAT(Logged(options, [] { LOG(WARNING) << "no"; }), IsEmpty());
  EXPECT_THAT(Logged(options, [] { LOG(ERROR) << "yes"; }), EndsWith("yes\n"));
}

TEST(Log, ASecretNeverShows) {
  const Secret token("hunter2");
  const std::string line = Logged({}, [&] { LOG(INFO) << "token " << token; });
  EXPECT_THAT(line, HasSubstr("token <secret>"));
  EXPECT_THAT(line, Not(HasSubstr("hunter2")));
}

TEST(CheckDeathTest, AFailedCheckNamesTheConditionAndAborts) {
  const int have = 1;
  EXPECT_DEATH(CHECK_EQ(have, 2) << "in row " << 3,
               "CHECK failed at log_test.cc:[0-9]+: .*in row 3");
  CHECK_LE(have, 1) << "never evaluated when it holds";
}

}  // namespace
}  // namespace maniple
