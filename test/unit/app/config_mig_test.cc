// Fear: a mistake in the file divides nodes that nobody wanted divided.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "scheduler/app/config/config.h"

namespace maniple::app_config_mig_test {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<SchedulerConfig> Parse(absl::string_view mig) {
  return ParseSchedulerConfig(absl::StrCat("apiVersion: config.maniple.dev/v1alpha1\n"
                                           "kind: SchedulerConfiguration\n"
                                           "gpu:\n",
                                           mig),
                              "s.yaml");
}

TEST(MigConfigSection, NobodyIsDividedUnlessTheFileSaysSo) {
  const absl::StatusOr<SchedulerConfig> config = Parse("  nvlinkDomainLabels: [a]\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->gpu.mig.reconfigure, MigReconfigure::kOff);
}

TEST(MigConfigSection, EveryFieldArrives) {
  const absl::StatusOr<SchedulerConfig> config = Parse(
      "  mig:\n"
      "    reconfigure: dryRun\n"
      "    after: 30s\n"
      "    holdOff: 20m\n"
      "    overdueAfter: 1h\n"
      "    defaultConfigs: false\n"
      "    tables:\n"
      "    - model: X1\n"
      "      product: ACME-X1\n"
      "      slices: [{profile: 1g.5gb, size: 1, starts: [0, 1], max: 2}, {profile: 2g.10gb, size: "
      "2, "
      "starts: [0], max: 1}]\n"
      "    configs:\n"
      "    - {name: half, model: X1, gpus: [{count: 4, slices: {1g.5gb: 2}}, {slices: {}}]}\n");
  ASSERT_TRUE(config.ok()) << config.status();
  const MigOptions& mig = config->gpu.mig;
  EXPECT_EQ(mig.reconfigure, MigReconfigure::kDryRun);
  EXPECT_EQ(mig.after, absl::Seconds(30));
  EXPECT_EQ(mig.hold_off, absl::Minutes(20));
  EXPECT_EQ(mig.overdue_after, absl::Hours(1));
  EXPECT_EQ(mig.defaults, MigPlanInput::Defaults::kNotOffered);
  const MigTable* table = mig.tables.Find("ACME-X1-PCIe", std::nullopt);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->width(), 2);
  ASSERT_EQ(mig.configs.size(), 1u);
  EXPECT_EQ(OfferOf(mig.configs[0], *table, 6)->whole_gpus, 2);
  EXPECT_EQ(Parse("  mig: {reconfigure: on}\n")->gpu.mig.reconfigure, MigReconfigure::kOn);
  EXPECT_EQ(Parse("  mig: {reconfigure: off}\n")->gpu.mig.reconfigure, MigReconfigure::kOff);
}

TEST(MigConfigSection, MistakesAreToldWithTheirPlace) {
  struct Refusal {
    const char *text, *said;
  };
  for (const Refusal& each : {
           Refusal{"  mig: {reconfigure: true}\n",
                   "gpu.mig.reconfigure: expected off, dryRun or on"},
           Refusal{"  mig: {reconfigure: maybe}\n", "expected off, dryRun or on"},
           Refusal{"  mig: {dryRun: true}\n", "s.yaml:4: gpu.mig.dryRun: unknown field"},
           Refusal{"  mig: {after: soon}\n", "gpu.mig.after"},
           Refusal{"  mig: {configs: {}}\n", "gpu.mig.configs: expected a list"},
           Refusal{"  mig: {configs: [{gpus: [{}]}]}\n",
                   "configs[0].name: must be the value of a label"},
           Refusal{"  mig: {configs: [{name: 'a b', gpus: [{}]}]}\n", "configs[0].name"},
           Refusal{"  mig: {configs: [{name: a}]}\n", "configs[0].gpus: needs at least one"},
           Refusal{"  mig: {configs: [{name: a, gpus: [{}, {}]}]}\n", "only one entry"},
           Refusal{"  mig: {configs: [{name: a, model: Z9, gpus: [{}]}]}\n",
                   "configs[0].model: is not known; known are A100-40GB, A100-80GB"},
           Refusal{"  mig: {configs: [{name: a, gpus: [{slices: {big: 1}}]}]}\n",
                   "is no name of a MIG profile"},
           Refusal{"  mig: {configs: [{name: a, gpus: [{slices: {1g.5gb: 0}}]}]}\n", "1 to 16"},
           Refusal{"  mig: {configs: [{name: a, gpus: [{slices: {3g.20gb: 2, 1g.5gb: 1}}]}]}\n",
                   "configs[0].gpus[0].slices: no GPU that is known can be divided like that"},
           Refusal{
               "  mig: {configs: [{name: a, model: H100-80GB, gpus: [{slices: {1g.5gb: 1}}]}]}\n",
               "can be divided"},
           Refusal{
               "  mig: {tables: [{model: X1, slices: [{profile: 1g.5gb, size: 1, starts: [0], max: "
               "1}]}]}\n",
               "tables[0]: a new model needs a product"},
           Refusal{"  mig: {tables: [{model: X1, product: X1, slices: [{profile: 1g.5gb, size: 99, "
                   "starts: [0], max: 1}]}]}\n",
                   "size: 99 is outside 1..16"},
       }) {
    const absl::StatusOr<SchedulerConfig> config = Parse(each.text);
    ASSERT_FALSE(config.ok()) << each.text;
    EXPECT_THAT(std::string(config.status().message()), HasSubstr(each.said)) << each.text;
  }
}

}  // namespace
}  // namespace maniple::app_config_mig_test
