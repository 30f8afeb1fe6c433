// Plays every scenario of test/scenario/cases and compares its decision log with
// test/scenario/golden.
//
//   scenario_test                          # all
//   scenario_test --update                 # rewrites the golden logs; review the difference
//   scenario_test --gtest_filter='*rack*'
#include "test/scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/log.h"
#include "test/scenario/golden_logs.h"

namespace maniple::scenario {
namespace {

constexpr char kCases[] = "test/scenario/cases";
constexpr char kGolden[] = "test/scenario/golden";
enum class Golden { kCompare, kUpdate };
Golden g_golden = Golden::kCompare;
int64_t g_played = 0;  // scenarios
int64_t g_turns = 0;   // after each of which every named invariant was asked

std::string Slug(const std::string& name) {
  std::string out;
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

// One file of cases.
struct CaseFile {
  GoldenLogs golden;
  std::vector<std::string> names;
};

class ScenarioTest : public testing::Test {
 public:
  ScenarioTest(Scenario scenario, std::shared_ptr<CaseFile> file)
      : scenario_(std::move(scenario)), file_(std::move(file)) {}

  void TestBody() override {
    const ScenarioResult result = RunScenario(scenario_);
    ++g_played;
    g_turns += result.turns;
    EXPECT_GT(result.turns, 0) << "no invariant was asked";
    EXPECT_EQ(RunScenario(scenario_).log, result.log) << "SameSeedSameLog";
    EXPECT_TRUE(result.failures.empty()) << absl::StrJoin(result.failures, "\n") << "\n"
                                         << absl::StrJoin(result.log, "\n");
    const std::string log = absl::StrCat(absl::StrJoin(result.log, "\n"), "\n");
    if (g_golden == Golden::kUpdate) {
      file_->golden.Set(scenario_.name, log);
      file_->golden.Write(file_->names);
    } else {
      EXPECT_EQ(log, file_->golden.Of(scenario_.name))
          << "if the new decisions are right: scenario_test --update";
    }
  }

 private:
  const Scenario scenario_;
  const std::shared_ptr<CaseFile> file_;
};

// A log whose scenario is gone, or has another name now, holds nothing.
class GoldenTest : public testing::Test {
 public:
  explicit GoldenTest(std::shared_ptr<CaseFile> file) : file_(std::move(file)) {}

  void TestBody() override {
    if (g_golden == Golden::kUpdate) return;
    EXPECT_THAT(file_->golden.NamesBeside(file_->names), testing::IsEmpty())
        << "logs without a scenario: scenario_test --update";
  }

 private:
  const std::shared_ptr<CaseFile> file_;
};

absl::Status Register(const std::string& path) {
  absl::StatusOr<std::vector<Scenario>> scenarios = LoadScenarios(path);
  if (!scenarios.ok()) return scenarios.status();
  const std::string stem = std::filesystem::path(path).stem();
  auto file = std::make_shared<CaseFile>(
      CaseFile{.golden = GoldenLogs(absl::StrCat(kGolden, "/", stem, ".log")), .names = {}});
  const auto add = [&path](const char* suite, const std::string& name, auto make) {
    testing::RegisterTest(suite, Slug(name).c_str(), nullptr, nullptr, path.c_str(), 1,
                          std::move(make));
  };
  for (Scenario& scenario : *scenarios) {
    file->names.push_back(scenario.name);
    add("Scenario", scenario.name,
        [scenario, file]() -> testing::Test* { return new ScenarioTest(scenario, file); });
  }
  add("GoldenLogs", stem, [file]() -> testing::Test* { return new GoldenTest(file); });
  return absl::OkStatus();
}

// 0, or the exit code of a file that cannot be read.
int RegisterAll() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kCases))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    if (const absl::Status read = Register(path); !read.ok()) {
      std::cerr << read.message() << "\n";
      return 2;
    }
  }
  return 0;
}

}  // namespace
}  // namespace maniple::scenario

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  maniple::ConfigureLog({.least = maniple::LogSeverity::kError});
  if (argc > 1 && std::string(argv[1]) == "--update") {
    maniple::scenario::g_golden = maniple::scenario::Golden::kUpdate;
  }
  if (const int code = maniple::scenario::RegisterAll(); code != 0) return code;
  const int code = RUN_ALL_TESTS();
  std::cout << maniple::scenario::g_played
            << " scenarios, every named invariant asked after each of "
            << maniple::scenario::g_turns << " turns\n";
  return code;
}
