// Plays every scenario of test/scenario/cases and compares its decision log with
// test/scenario/golden.
//
//   scenario_test                          # all
//   scenario_test --update                 # rewrites the golden logs; review the difference
//   scenario_test --gtest_filter='*rack*'
#include "test/scenario/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/log.h"

namespace maniple::scenario {
namespace {

constexpr char kCases[] = "test/scenario/cases";
constexpr char kGolden[] = "test/scenario/golden";
enum class Golden { kCompare, kUpdate };
Golden g_golden = Golden::kCompare;
int64_t g_turns = 0;  // after each of which every named invariant was asked

std::string Slug(const std::string& name) {
  std::string out;
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

std::string Read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class ScenarioTest : public testing::Test {
 public:
  explicit ScenarioTest(Scenario scenario) : scenario_(std::move(scenario)) {}

  void TestBody() override {
    const ScenarioResult result = RunScenario(scenario_);
    g_turns += result.turns;
    EXPECT_EQ(RunScenario(scenario_).log, result.log) << "SameSeedSameLog";
    EXPECT_TRUE(result.failures.empty()) << absl::StrJoin(result.failures, "\n") << "\n"
                                         << absl::StrJoin(result.log, "\n");
    const std::string log = absl::StrCat(absl::StrJoin(result.log, "\n"), "\n");
    const std::string file = absl::StrCat(kGolden, "/", Slug(scenario_.name), ".log");
    if (g_golden == Golden::kUpdate) {
      std::ofstream(file, std::ios::binary) << log;
    } else {
      EXPECT_EQ(log, Read(file)) << "if the new decisions are right: scenario_test --update";
    }
  }

 private:
  const Scenario scenario_;
};

// 0, or the exit code of a file that cannot be read.
int RegisterAll() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kCases))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const absl::StatusOr<std::vector<Scenario>> scenarios = LoadScenarios(file);
    if (!scenarios.ok()) {
      std::cerr << scenarios.status().message() << "\n";
      return 2;
    }
    for (const Scenario& scenario : *scenarios) {
      testing::RegisterTest("Scenario", Slug(scenario.name).c_str(), nullptr, nullptr, file.c_str(),
                            1,
                            [scenario]() -> testing::Test* { return new ScenarioTest(scenario); });
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
  std::cout << testing::UnitTest::GetInstance()->test_to_run_count()
            << " scenarios, every named invariant asked after each of "
            << maniple::scenario::g_turns << " turns\n";
  return code;
}
