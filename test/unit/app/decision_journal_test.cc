// What was decided of late: nobody's flood pushes out what others want to know, and memory is
// bounded.
#include "scheduler/app/doors/decision_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/files.h"
#include "scheduler/app/answers/admin_view.h"
#include "scheduler/app/doors/decision_file.h"
#include "scheduler/app/doors/decision_queue.h"
#include "scheduler/cli/listing.h"
#include "test/support/temp_folder.h"

namespace maniple {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

DecisionEntry Entry(int second, absl::string_view what, const std::string& ns,
                    const std::string& name, const std::string& rest = "") {
  return {.at = absl::FromUnixSeconds(second),
          .what = what,
          .gang = {.namespace_name = ns, .name = name},
          .rest = rest};
}

std::vector<std::string> Lines(const std::vector<JournalEntry>& entries) {
  std::vector<std::string> lines;
  for (const JournalEntry& entry : entries) {
    lines.push_back(absl::StrCat(absl::ToUnixSeconds(entry.since), "-",
                                 absl::ToUnixSeconds(entry.decision.at), " x", entry.times, " ",
                                 LineOf(entry.decision)));
  }
  return lines;
}

TEST(DecisionJournal, TellsOfAGangANamespaceOrAllInOrderOfTime) {
  DecisionJournal journal({});
  journal.Add(Entry(1, "place", "a", "g", " quorum: g-0=n1"));
  journal.Add(Entry(2, "bound", "b", "g"));
  journal.Add(Entry(3, "bound", "a", "g"));
  journal.Add(Entry(4, "bound", "a", "other"));
  journal.Add({.at = absl::FromUnixSeconds(5), .what = "cool", .subject = "n1"});
  journal.Add(Entry(5, "preempt", "a", "at once", ": a/g"));
  journal.Add(Entry(5, "claim", "a", "at once", ": g-0=n1"));
  EXPECT_THAT(Lines(journal.Of("a", "g", 10)),
              ElementsAre("1-1 x1 place a/g quorum: g-0=n1", "3-3 x1 bound a/g"));
  EXPECT_THAT(Lines(journal.Of("a", "", 3)),
              ElementsAre("4-4 x1 bound a/other", "5-5 x1 preempt a/at once: a/g",
                          "5-5 x1 claim a/at once: g-0=n1"));
  EXPECT_THAT(Lines(journal.Of("", "", 4)),
              ElementsAre("4-4 x1 bound a/other", "5-5 x1 cool n1", "5-5 x1 preempt a/at once: a/g",
                          "5-5 x1 claim a/at once: g-0=n1"));
}

TEST(DecisionJournal, ARefusalForTheSameReasonIsOneEntryWithItsCount) {
  DecisionJournal journal({});
  for (int i = 1; i <= 9; ++i) {
    journal.Add(Entry(i, "park", "a", "g", absl::StrCat(" quorum: NoFit: ", i, " of 12 pods fit")));
    journal.Add(Entry(i, "park", "a", "other", " quorum: NoFit: 0 of 1 pods fit"));
  }
  journal.Add(Entry(10, "park", "a", "g", " quorum: QuotaExceeded: it needs more"));
  journal.Add(Entry(11, "park", "a", "g", " quorum: NoFit: 3 of 12 pods fit"));
  EXPECT_THAT(Lines(journal.Of("a", "g", 10)),
              ElementsAre("1-9 x9 park a/g quorum: NoFit: 9 of 12 pods fit",
                          "10-10 x1 park a/g quorum: QuotaExceeded: it needs more",
                          "11-11 x1 park a/g quorum: NoFit: 3 of 12 pods fit"));
  EXPECT_EQ(journal.size(), 4);
}

TEST(DecisionJournal, AFloodOfOneNamespacePushesOutItsOwn) {
  DecisionJournal journal({.entries = 1000});
  for (int i = 0; i < 100; ++i) journal.Add(Entry(i, "bound", "quiet", absl::StrCat("g", i)));
  for (int i = 0; i < 100'000; ++i) {
    journal.Add(Entry(100 + i, "bound", "loud", absl::StrCat("g", i)));
    ASSERT_LE(journal.size(), 1000);
  }
  EXPECT_THAT(journal.Of("quiet", "", 1000), SizeIs(100));
  EXPECT_EQ(Lines(journal.Of("loud", "", 1)).front(), "100099-100099 x1 bound loud/g99999");
  // A gang whose entries are gone begins anew.
  journal.Add(Entry(200'000, "park", "loud", "g0", " quorum: NoFit: x"));
  EXPECT_THAT(journal.Of("loud", "g0", 10), SizeIs(1));
}

TEST(DecisionJournal, ALongTextIsCutBetweenCharacters) {
  DecisionJournal journal({.text = 10});
  journal.Add(Entry(1, "place", "a", "g", "123456789é and more"));
  EXPECT_EQ(journal.Of("a", "g", 1).front().decision.rest, "123456789…");
}

TEST(DecisionEntry, ALineOfJsonSaysWhatThereIsAndStaysOneLine) {
  DecisionEntry entry = Entry(5, "place", "a", "g", " quorum: g-0=n1");
  entry.at += absl::Milliseconds(250);
  entry.queue = "q";
  entry.steps = 7;
  entry.refused = "a100: no quota; h100, spot: no room";
  EXPECT_EQ(JsonLineOf(entry),
            "{\"at\":\"1970-01-01T00:00:05.25Z\",\"what\":\"place\",\"namespace\":\"a\","
            "\"name\":\"g\",\"queue\":\"q\",\"text\":\"quorum: g-0=n1\","
            "\"refused\":\"a100: no quota; h100, spot: no room\",\"steps\":7}");
  EXPECT_EQ(
      JsonLineOf({.at = absl::UnixEpoch(), .what = "cool", .subject = "n1", .rest = ": a\nb"}),
      "{\"at\":\"1970-01-01T00:00:00Z\",\"what\":\"cool\",\"subject\":\"n1\","
      "\"text\":\"a\\nb\"}");
}

// Standard input of a pager that was closed, or a disk that is full.
TEST(DecisionQueue, AFileThatIsSlowCostsEntriesAndNeverTheScheduler) {
  DecisionQueue queue;
  const std::vector<DecisionEntry> some(60'000, Entry(1, "bound", "a", "g"));
  queue.Push(some);
  queue.Push(some);
  const DecisionQueue::Batch batch = queue.Take();
  EXPECT_THAT(batch.entries, SizeIs(100'000));
  EXPECT_EQ(batch.lost, 20'000);
  queue.Push({Entry(2, "bound", "a", "g")});
  queue.Close();
  const DecisionQueue::Batch last = queue.Take();
  EXPECT_THAT(last.entries, SizeIs(1));
  EXPECT_EQ(last.lost, 0);
  EXPECT_TRUE(last.closed);
  EXPECT_THAT(queue.Take().entries, SizeIs(0));
}

TEST(DecisionFile, AppendsALinePerDecision) {
  TempFolder folder;
  folder.Write("log", "before\n");
  absl::StatusOr<std::unique_ptr<DecisionFile>> file = DecisionFile::Open(folder.In("log"));
  ASSERT_TRUE(file.ok()) << file.status();
  DecisionQueue queue;
  queue.Push({Entry(1, "bound", "a", "g"), Entry(2, "lost", "a", "g")});
  queue.Close();
  (*file)->Keep(queue);
  EXPECT_EQ(ReadWholeFile(folder.In("log")).value(),
            absl::StrCat("before\n", JsonLineOf(Entry(1, "bound", "a", "g")), "\n",
                         JsonLineOf(Entry(2, "lost", "a", "g")), "\n"));
  EXPECT_THAT(DecisionFile::Open("/nowhere/log").status().message(),
              ::testing::HasSubstr("--decision-log /nowhere/log: No such file"));
}

// No file of this process grows past it; as on a full disk, a write is cut short first.
void LimitFilesTo(rlim_t bytes) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

// Appends the decisions, and returns what the log says of it.
std::string Keep(DecisionFile& file, const std::vector<DecisionEntry>& decisions) {
  DecisionQueue queue;
  queue.Push(decisions);
  queue.Close();
  ::testing::internal::CaptureStderr();
  file.Keep(queue);
  return ::testing::internal::GetCapturedStderr();
}

TEST(DecisionFile, ALineThatAFullDiskCutStandsAloneAndWhatWasLostIsCounted) {
  constexpr size_t kFull = 200'000;  // more than the captured log needs
  const DecisionEntry entry = Entry(1, "bound", "a", "g");
  const std::string line = absl::StrCat(JsonLineOf(entry), "\n");
  TempFolder folder;
  folder.Write("log", std::string(kFull - line.size() - 5, '\n'));
  absl::StatusOr<std::unique_ptr<DecisionFile>> file = DecisionFile::Open(folder.In("log"));
  ASSERT_TRUE(file.ok()) << file.status();
  std::signal(SIGXFSZ, SIG_IGN);
  LimitFilesTo(kFull);
  EXPECT_THAT(Keep(**file, {entry, entry, entry}),
              AllOf(HasSubstr("decisions cannot be written to "), HasSubstr("File too large"),
                    HasSubstr("2 decisions could not be written to ")));
  EXPECT_THAT(Keep(**file, {entry}), HasSubstr("3 decisions could not be written to "));
  LimitFilesTo(RLIM_INFINITY);
  EXPECT_THAT(Keep(**file, {entry, entry}), HasSubstr(" again; 3 were lost"));
  EXPECT_EQ(Keep(**file, {entry}), "");
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(ReadWholeFile(folder.In("log")).value().substr(kFull - line.size() - 5),
            absl::StrCat(line, line.substr(0, 5), "\n", line, line, line));
}

TEST(DecisionTable, SaysWhichFlavorsWereTriedBeforeTheOneTaken) {
  DecisionEntry entry = Entry(5, "place", "a", "g", " quorum: g-0=n1");
  entry.refused = "a100: no quota";
  const absl::StatusOr<std::string> json = DecisionsJson({{.decision = entry, .since = entry.at}});
  ASSERT_TRUE(json.ok());
  EXPECT_THAT(DecisionTable(*Json::Parse(*json)),
              HasSubstr("quorum: g-0=n1 (not: a100: no quota)\n"));
}

}  // namespace
}  // namespace maniple
