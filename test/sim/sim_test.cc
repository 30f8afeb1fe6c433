// A small, fixed part of the simulation in every test run; many seeds are run by maniple-sim.
#include "test/sim/world.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/log.h"
#include "api/devcluster/rest/api_server.h"
#include "test/sim/campaign_results.h"
#include "test/sim/truth.h"
#include "test/support/crds.h"
#include "test/support/worlds.h"

namespace maniple::sim {
namespace {

SimOptions Faulty(uint64_t seed) {
  ConfigureLog({.least = LogSeverity::kError});
  return {.seed = seed, .steps = 120, .rates = FaultRates::Some(seed)};
}

TEST(Simulation, EveryPromiseHoldsUnderEveryFault) {
  FaultCounts struck{};
  uint64_t binds = 0, divisions = 0, holds = 0, units = 0, quota_checks = 0;
  constexpr uint64_t kHistories = 60;
  const auto histories = static_cast<uint64_t>(Worlds(kHistories));
  for (uint64_t seed = 1; seed <= histories; ++seed) {
    const SimReport report = RunSim(Faulty(seed));
    ASSERT_TRUE(report.violations.empty())
        << "seed " << seed << ": " << absl::StrJoin(report.violations, "\n");
    binds += report.binds;
    divisions += report.divisions;
    holds += report.holds;
    units += report.units;
    quota_checks += report.quota_checks;
    for (int i = 0; i < kFaults; ++i) struck[i] += report.faults[i];
  }
  EXPECT_GT(binds, 16 * histories);
  if (histories < kHistories) return;  // these few need not meet every fault
  for (const uint64_t some : {divisions, holds, units, quota_checks}) EXPECT_GT(some, 0);
  for (int i = 0; i < kFaults; ++i) EXPECT_GT(struck[i], 0) << FaultName(static_cast<Fault>(i));
}

TEST(Simulation, TheSameSeedGivesTheSameHistory) {
  const SimReport once = RunSim(Faulty(4711));
  const SimReport again = RunSim(Faulty(4711));
  EXPECT_EQ(once.fingerprint, again.fingerprint);
  EXPECT_EQ(once.log, again.log);
}

TEST(Simulation, WithoutFaultsEveryPromiseHoldsToo) {
  const auto end = 100 + static_cast<uint64_t>(Worlds(20));
  for (uint64_t seed = 100; seed < end; ++seed) {
    const SimReport report = RunSim({.seed = seed, .steps = 120});
    ASSERT_TRUE(report.violations.empty())
        << "seed " << seed << ": " << absl::StrJoin(report.violations, "\n");
    // A bind that is taken for somebody else's is not looked at.
    EXPECT_GT(report.judged_binds, report.binds / 2) << "seed " << seed;
  }
}

// Else it holds the scheduler to a Queue that is gone.
TEST(Truth, HearsWhatWentWhileItsWatchWasCut) {
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  devcluster::ApiServer server({});
  ASSERT_TRUE(server.Load(InstalledCrds(), now).ok());
  const auto call = [&](const char* method, const std::string& target, const std::string& body) {
    const devcluster::ApiReply reply = server.Handle(
        {.method = method, .target = target, .content_type = "application/json", .body = body},
        now);
    EXPECT_LT(reply.status, 300) << target << ": " << reply.body;
  };
  const std::string prefix = "/apis/scheduling.maniple.dev/v1alpha1/";
  for (const char* name : {"goes", "stays"}) {
    call("POST", prefix + "queues",
         absl::StrCat(R"({"apiVersion":"scheduling.maniple.dev/v1alpha1","kind":"Queue",)",
                      R"("metadata":{"name":")", name, R"("},"spec":{"quotas":[]}})"));
  }
  Truth truth(server);
  truth.Start(now);
  truth.Observe(now);
  EXPECT_EQ(truth.quotas().queues().size(), 2u);
  call("DELETE", prefix + "queues/goes", "");
  server.RestartVersions();
  truth.Observe(now);
  EXPECT_FALSE(truth.quotas().queues().contains("goes"));
  EXPECT_TRUE(truth.quotas().queues().contains("stays"));
}

TEST(Campaign, TellsSeedsInTheirOrderWhateverOrderTheyEndIn) {
  std::vector<int> told;
  CampaignResults<int> results({.first = 5, .count = 4},
                               [&told](const int& result) { told.push_back(result); });
  for (uint64_t seed = 5; seed < 9; ++seed) EXPECT_EQ(results.Take(), seed);
  EXPECT_EQ(results.Take(), std::nullopt);
  results.Put(6, 60);
  results.Put(8, 80);
  EXPECT_TRUE(told.empty());
  results.Put(5, 50);
  EXPECT_EQ(told, (std::vector<int>{50, 60}));
  results.Put(7, 70);
  EXPECT_EQ(told, (std::vector<int>{50, 60, 70, 80}));
}

TEST(Campaign, EndsWithTheFirstFailingSeedEvenWhenALaterOneFailedEarlier) {
  std::vector<int> told;
  CampaignResults<int> results({.first = 1, .count = 100},
                               [&told](const int& result) { told.push_back(result); });
  for (uint64_t seed = 1; seed <= 3; ++seed) EXPECT_EQ(results.Take(), seed);
  results.EndWith(3);
  results.Put(3, 30);
  EXPECT_EQ(results.Take(), std::nullopt);
  results.EndWith(2);
  results.Put(2, 20);
  results.Put(1, 10);
  EXPECT_EQ(told, (std::vector<int>{10, 20}));
}

}  // namespace
}  // namespace maniple::sim
