// Our filters and scores against those of the real kube-scheduler.
//
// A sample of its answers is recorded under test/oracle/data and compared always. With the Go
// program (test/controlplane/build.sh filter-oracle) any number of cases is put to both:
//
//   test/oracle/run_filter_oracle.py                # some thousands of each family
//   test/full_oracles.py --only filters             # 100,000 of each
//   test/oracle/run_filter_oracle.py --record       # after a change of the generators
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "test/oracle/families.h"
#include "test/oracle/kube_oracle.h"
#include "test/oracle/our_answer.h"

namespace maniple {
namespace {

constexpr uint64_t kBatch = 5000;
constexpr int kMostShown = 3;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}
uint64_t Number(const char* name, uint64_t otherwise) {
  uint64_t value = 0;
  return absl::SimpleAtoi(Variable(name), &value) ? value : otherwise;
}

// FNV-1a: the same on every machine and in every year.
uint64_t FingerprintOf(const Json& filter_case) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : filter_case.Dump()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return hash;
}

std::string NameOf(const testing::TestParamInfo<std::string>& info) { return info.param; }
std::vector<std::string> FamilyNames() {
  std::vector<std::string> names;
  for (const FilterFamily& family : FilterFamilies()) names.emplace_back(family.name);
  return names;
}

// ---- what was recorded

// A line: the case's number and fingerprint, the nodes that fit, and the scores.
std::string RecordOf(uint64_t number, const Json& filter_case, const FilterAnswer& answer) {
  const std::string scores = answer.scores.empty() ? "-" : absl::StrJoin(answer.scores, ",");
  return absl::StrFormat("%d %016x %s %s", number, FingerprintOf(filter_case), answer.feasible,
                         scores);
}

std::string RecordingOf(absl::string_view family) {
  return absl::StrCat("test/oracle/data/", family, ".txt");
}

class RecordedFilterAnswers : public testing::TestWithParam<std::string> {};

TEST_P(RecordedFilterAnswers, AreOursToo) {
  const FilterFamily& family = FamilyNamed(GetParam());
  std::ifstream in(RecordingOf(family.name));
  int lines = 0;
  int shown = 0;
  for (std::string line; std::getline(in, line) && shown < kMostShown; ++lines) {
    const std::vector<std::string> fields = absl::StrSplit(line, ' ');
    uint64_t number = 0;
    ASSERT_TRUE(fields.size() == 4 && absl::SimpleAtoi(fields[0], &number)) << line;
    const Json filter_case = CaseOf(family, number);
    ASSERT_EQ(fields[1], absl::StrFormat("%016x", FingerprintOf(filter_case)))
        << "the generators have changed since: test/oracle/run_filter_oracle.py --record";
    FilterAnswer theirs{.feasible = fields[2], .scores = {}, .error = ""};
    if (fields[3] != "-") {
      for (const absl::string_view score : absl::StrSplit(fields[3], ',')) {
        ASSERT_TRUE(absl::SimpleAtoi(score, &theirs.scores.emplace_back())) << line;
      }
    }
    const std::string difference = Difference(family, OurAnswer(family, filter_case), theirs);
    if (difference.empty()) continue;
    ADD_FAILURE() << "case " << number << ": " << difference << "\n" << filter_case.Dump();
    ++shown;
  }
  EXPECT_GE(lines, 100) << RecordingOf(family.name) << " is missing or short";
}

INSTANTIATE_TEST_SUITE_P(Families, RecordedFilterAnswers, testing::ValuesIn(FamilyNames()), NameOf);

// ---- what the program says now

struct Tally {
  uint64_t cases = 0, nodes = 0, fitting = 0, mixed = 0, differences = 0;

  void Add(const FilterAnswer& theirs) {
    ++cases;
    nodes += theirs.feasible.size();
    uint64_t fit = 0;
    for (const char node : theirs.feasible) fit += node == '1' ? 1 : 0;
    fitting += fit;
    mixed += fit > 0 && fit < theirs.feasible.size() ? 1 : 0;
  }
};

class LiveFilterAnswers : public testing::TestWithParam<std::string> {
 protected:
  // Puts the cases from `first` on to both sides; keeps the recording if one is wanted.
  void Compare(uint64_t first, uint64_t count) {
    std::vector<Json> cases;
    for (uint64_t i = 0; i < count; ++i) cases.push_back(CaseOf(family_, first + i));
    const absl::StatusOr<std::vector<FilterAnswer>> theirs = AskKubeScheduler(program_, cases);
    ASSERT_TRUE(theirs.ok()) << theirs.status();
    for (uint64_t i = 0; i < count; ++i) {
      tally_.Add((*theirs)[i]);
      recording_ << RecordOf(first + i, cases[i], (*theirs)[i]) << '\n';
      const std::string difference =
          Difference(family_, OurAnswer(family_, cases[i]), (*theirs)[i]);
      if (!difference.empty()) Report(first + i, cases[i], difference);
    }
  }

  void Report(uint64_t number, const Json& filter_case, const std::string& difference) {
    if (++tally_.differences > kMostShown) return;
    const Json small = Shrunk(program_, family_, filter_case);
    const auto theirs = AskKubeScheduler(program_, {small});
    ADD_FAILURE() << "case " << number << ": " << difference << "\nshrunk to " << small.Dump()
                  << "\n"
                  << (theirs.ok() ? Difference(family_, OurAnswer(family_, small), theirs->front())
                                  : theirs.status().ToString());
  }

  const FilterFamily& family_ = FamilyNamed(GetParam());
  const std::string program_ = Variable("MANIPLE_FILTER_ORACLE");
  Tally tally_;
  std::ostringstream recording_;
};

TEST_P(LiveFilterAnswers, AreOursToo) {
  const uint64_t first = Number("MANIPLE_FILTER_FIRST", 1);
  const uint64_t count = Number("MANIPLE_FILTER_CASES", 2000);
  for (uint64_t done = 0; done < count && !HasFatalFailure(); done += kBatch) {
    Compare(first + done, std::min(kBatch, count - done));
  }
  std::cout << absl::StreamFormat(
      "%s: %d cases, %d nodes of which %.0f %% fit, %d cases with some of each, %d differences\n",
      family_.name, tally_.cases, tally_.nodes,
      100.0 * static_cast<double>(tally_.fitting) / static_cast<double>(tally_.nodes), tally_.mixed,
      tally_.differences);
  EXPECT_EQ(tally_.differences, 0u);
  EXPECT_GE(tally_.fitting, tally_.nodes / 20) << "cases that say little";
  EXPECT_GE(tally_.nodes - tally_.fitting, tally_.nodes / 20) << "cases that say little";
  EXPECT_GE(tally_.mixed, tally_.cases / 30) << "cases that say little";
  if (Variable("MANIPLE_FILTER_RECORD").empty() || HasFailure()) return;
  std::ofstream(RecordingOf(family_.name)) << recording_.str();
}

std::vector<std::string> LiveFamilies() {
  if (Variable("MANIPLE_FILTER_ORACLE").empty()) return {};
  return FamilyNames();
}
INSTANTIATE_TEST_SUITE_P(Families, LiveFilterAnswers, testing::ValuesIn(LiveFamilies()), NameOf);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LiveFilterAnswers);

}  // namespace
}  // namespace maniple
