// The figures of a simulation. Fears: a percentile that is off by one; a share of time that counts
// what comes after the last submission; jobs that never started count as waits; a name makes
// another field of a line.
#include "scheduler/simulate/simulation_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/random.h"

namespace maniple::simulate_simulation_report_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;

// The least value that so many of a hundred do not exceed.
double NaivePercentile(const std::vector<double>& values, int64_t percent) {
  double best = 0;
  bool found = false;
  for (const double value : values) {
    const auto below = std::ranges::count_if(values, [&](double v) { return v <= value; });
    const bool does = below * 100 >= percent * static_cast<int64_t>(values.size());
    if (does && (!found || value < best)) best = value;
    found |= does;
  }
  return best;
}

TEST(SimulationFigures, PercentilesAreThoseOfTheJobsThatStarted) {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    std::vector<TraceJob> jobs;
    SimulationResult result;
    std::vector<double> waits;
    for (uint64_t i = random.Below(60); i > 0; --i) {
      jobs.push_back({.pods = 1, .gpus = 1});
      const auto at = static_cast<double>(random.Below(50));
      JobOutcome& outcome = result.jobs.emplace_back();
      outcome.submitted = absl::Seconds(at);
      if (random.OneIn(4)) continue;
      waits.push_back(static_cast<double>(random.Below(30)));
      outcome.started = absl::Seconds(at + waits.back());
    }
    const JobFigures all = FiguresOf("x", jobs, result).all;
    EXPECT_EQ(all.started, static_cast<int64_t>(waits.size()));
    EXPECT_EQ(all.median_wait, NaivePercentile(waits, 50));
    EXPECT_EQ(all.p90_wait, NaivePercentile(waits, 90));
    EXPECT_EQ(all.p99_wait, NaivePercentile(waits, 99));
    EXPECT_EQ(all.longest_wait, NaivePercentile(waits, 100));
  }
}

TEST(SimulationFigures, SharesAreMeansUntilTheLastSubmission) {
  Random random(4);
  for (int round = 0; round < 60; ++round) {
    const int64_t last = 1 + static_cast<int64_t>(random.Below(30));
    SimulationResult result{.gpus = 10, .length = absl::Seconds(last + 5)};
    result.jobs.resize(1);
    std::vector<int64_t> used(static_cast<size_t>(last + 5));  // in each second
    std::vector<int64_t> wanted = used;
    for (int64_t at = 0; at < last + 5; at += 1 + static_cast<int64_t>(random.Below(6))) {
      const LoadPoint point{.at = absl::Seconds(at),
                            .gpus_used = static_cast<int64_t>(random.Below(11)),
                            .gpus_wanted = static_cast<int64_t>(random.Below(11))};
      result.load.push_back(point);
      for (size_t i = static_cast<size_t>(at); i < used.size(); ++i) {
        used[i] = point.gpus_used;
        wanted[i] = std::min(point.gpus_wanted, 10 - point.gpus_used);
      }
    }
    int64_t sum = 0, idle = 0;
    for (size_t i = 0; i < static_cast<size_t>(last); ++i) {
      sum += used[i];
      idle += wanted[i];
    }
    const SimulationFigures figures = FiguresOf("x", {{.submitted = absl::Seconds(last)}}, result);
    EXPECT_NEAR(figures.used_share, static_cast<double>(sum) / (10.0 * last), 1e-9);
    EXPECT_NEAR(figures.idle_while_wanted, static_cast<double>(idle) / (10.0 * last), 1e-9);
  }
}

TEST(SimulationFigures, SizesPartAtTheirBounds) {
  std::vector<TraceJob> jobs;
  for (const int64_t gpus : {0, 1, 2, 8, 9, 64, 65, 512, 513}) {
    jobs.push_back({.pods = 1, .gpus = gpus});
  }
  SimulationResult result;
  result.jobs.resize(jobs.size());
  std::vector<std::string> sizes;
  for (const JobFigures& size : FiguresOf("x", jobs, result).sizes) {
    sizes.push_back(absl::StrCat(size.name, ":", size.jobs));
  }
  EXPECT_THAT(sizes, ElementsAre("0:1", "1:1", "2-8:2", "9-64:2", "65-512:2", ">512:1"));
}

TEST(SimulationFigures, ALineOfCsvHasAsManyFieldsAsItsHead) {
  SimulationResult result;
  result.jobs.resize(1);
  const std::string csv = SimulationCsv({{.name = "a,b\"c\nd", .queue = "x,\r"}}, result);
  const std::vector<std::string> lines = absl::StrSplit(csv, '\n');
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(std::ranges::count(lines[0], ','), std::ranges::count(lines[1], ','));
  EXPECT_EQ(lines[1].substr(0, 10), "a_b_c_d,x_");
}

TEST(SimulationFigures, ANameBeyondAsciiStaysInCsv) {
  SimulationResult result;
  result.jobs.resize(1);
  EXPECT_THAT(SimulationCsv({{.name = "réseau"}}, result), ::testing::HasSubstr("\nréseau,"));
}

TEST(SimulationFigures, WhereAllComesAtOnceSharesAreMeansUntilTheLastChange) {
  SimulationResult result{.gpus = 8, .length = absl::Seconds(200)};
  result.jobs.resize(1);
  result.load = {{.at = absl::ZeroDuration(), .gpus_used = 8},
                 {.at = absl::Seconds(50), .gpus_used = 4},
                 {.at = absl::Seconds(100)}};
  EXPECT_NEAR(FiguresOf("x", {TraceJob()}, result).used_share, 0.75, 1e-9);
}

// A snapshot alone, in which nothing waits.
TEST(SimulationFigures, WhereNoTimePassesSharesAreThoseOfTheMoment) {
  SimulationResult result{.gpus = 40};
  result.load = {{.at = absl::ZeroDuration()},
                 {.at = absl::ZeroDuration(), .gpus_used = 8, .gpus_split = 4, .gpus_wanted = 50}};
  const SimulationFigures figures = FiguresOf("x", {}, result);
  EXPECT_NEAR(figures.used_share, 0.2, 1e-9);
  EXPECT_NEAR(figures.split_share, 0.1, 1e-9);
  EXPECT_NEAR(figures.idle_while_wanted, 0.8, 1e-9);
}

TEST(SimulationFigures, WhereNoJobStartedNoWaitIsTold) {
  SimulationResult result;
  result.jobs.resize(2);
  result.jobs[0].started = absl::Seconds(3);
  const std::vector<TraceJob> jobs = {{.queue = "starts"}, {.queue = "waits"}};
  const std::string table = SimulationTable({FiguresOf("x", jobs, result)});
  EXPECT_THAT(table, ContainsRegex("x +waits +1 +0 +0 +- +- +- +- +- +0 "));
  EXPECT_THAT(table, ContainsRegex("x +starts +1 +1 +0 +3.0 s +3.0 s "));
}

}  // namespace
}  // namespace maniple::simulate_simulation_report_test
