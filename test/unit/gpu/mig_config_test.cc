// Fear: a configuration is believed to give what no GPU can.
#include "api/gpu/mig_config.h"

#include "gmock/gmock.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;

const MigTables& Tables() {
  static const MigTables tables;
  return tables;
}

int32_t SlicesOf(const MigOffer& offer, const MigTable& table, absl::string_view profile) {
  return offer.slices[static_cast<size_t>(table.Find(profile) - table.slices.data())];
}

TEST(MigConfig, TheDefaultsAreThoseOfMigManager) {
  const MigTable& table = *Tables().OfModel("H100-80GB");
  std::vector<std::string> names;
  for (const MigConfig& config : DefaultMigConfigs(table)) names.push_back(config.name);
  EXPECT_THAT(names, ElementsAre("all-1g.10gb", "all-1g.10gb.me", "all-1g.20gb", "all-2g.20gb",
                                 "all-3g.40gb", "all-4g.40gb", "all-7g.80gb", "all-balanced",
                                 "all-disabled"));
}

TEST(MigConfig, DefaultsOfferOnEveryModelWhatTheyName) {
  for (const MigTable& table : Tables().all()) {
    for (const MigConfig& config : DefaultMigConfigs(table)) {
      const std::optional<MigOffer> offer = OfferOf(config, table, 8);
      ASSERT_TRUE(offer.has_value()) << table.model << " " << config.name;
      EXPECT_EQ(offer->whole_gpus, config.name == "all-disabled" ? 8 : 0);
    }
  }
  const MigTable& h100 = *Tables().OfModel("H100-80GB");
  const std::vector<MigConfig> configs = DefaultMigConfigs(h100);
  EXPECT_EQ(SlicesOf(*OfferOf(configs[0], h100, 8), h100, "1g.10gb"), 56);
  EXPECT_EQ(SlicesOf(*OfferOf(configs[1], h100, 8), h100, "1g.10gb+me"), 8);
  const MigOffer balanced = *OfferOf(configs[7], h100, 4);
  EXPECT_EQ(SlicesOf(balanced, h100, "1g.10gb"), 8);
  EXPECT_EQ(SlicesOf(balanced, h100, "2g.20gb"), 4);
  EXPECT_EQ(SlicesOf(balanced, h100, "3g.40gb"), 4);
}

TEST(MigConfig, SomeGpusMayStayWhole) {
  const MigTable& table = *Tables().OfModel("A100-40GB");
  const MigConfig config{
      .name = "half",
      .parts = {{.gpus = 2, .slices = {{"3g.20gb", 1}, {"2g.10gb", 1}, {"1g.5gb", 1}}}, {}}};
  const MigOffer offer = *OfferOf(config, table, 8);
  EXPECT_EQ(offer.whole_gpus, 6);
  EXPECT_EQ(SlicesOf(offer, table, "2g.10gb"), 2);
  EXPECT_EQ(OfferOf(config, table, 2)->whole_gpus, 0);
  EXPECT_EQ(OfferOf(config, table, 1), std::nullopt) << "it names two GPUs";
}

TEST(MigConfig, ANameIsTheConfiguredOneOfItsModelOrElseOneOfMigManager) {
  const MigTable& a100 = *Tables().OfModel("A100-40GB");
  const MigTable& h100 = *Tables().OfModel("H100-80GB");
  const MigConfig other{.name = "all-1g.5gb", .model = "A100-40GB", .parts = {{}}};
  EXPECT_EQ(OfferOf("all-1g.5gb", {other}, a100, 2)->whole_gpus, 2) << "whole, as configured";
  EXPECT_EQ(SlicesOf(*OfferOf("all-1g.5gb", {}, a100, 2), a100, "1g.5gb"), 14);
  EXPECT_EQ(OfferOf("all-1g.5gb", {other}, h100, 2), std::nullopt) << "of another model";
  EXPECT_EQ(OfferOf("nobody-knows", {other}, a100, 2), std::nullopt);
}

TEST(MigConfig, WhatAGpuCannotBeDividedIntoIsNoOffer) {
  const MigTable& table = *Tables().OfModel("A100-40GB");
  const auto offer = [&](std::vector<MigConfigPart> parts, std::string model = "") {
    return OfferOf({.name = "x", .model = std::move(model), .parts = std::move(parts)}, table, 4);
  };
  using Slices = std::vector<std::pair<std::string, int32_t>>;
  const auto all = [&](Slices slices) { return offer({{.slices = std::move(slices)}}); };
  EXPECT_NE(all({{"3g.20gb", 1}, {"4g.20gb", 1}}), std::nullopt);
  EXPECT_EQ(all({{"3g.20gb", 2}, {"1g.5gb", 1}}), std::nullopt) << "no memory slice is left";
  EXPECT_EQ(all({{"1g.10gb", 5}}), std::nullopt);
  EXPECT_EQ(all({{"1g.5gb", 0}}), std::nullopt);
  EXPECT_EQ(all({{"1g.5gb", -1}}), std::nullopt);
  EXPECT_EQ(all({{"1g.5gb", 1}, {"1g.5gb", 1}}), std::nullopt);
  EXPECT_EQ(all({{"1g.18gb", 1}}), std::nullopt) << "another model's";
  EXPECT_EQ(offer({{}}, "A30-24GB"), std::nullopt);
  EXPECT_EQ(offer({}), std::nullopt) << "it says nothing of the four";
  EXPECT_EQ(offer({{}, {}}), std::nullopt) << "which are the rest?";
  EXPECT_EQ(offer({{.gpus = 3}}), std::nullopt) << "what of the fourth?";
  EXPECT_EQ(offer({{.gpus = -1}, {}}), std::nullopt);
  EXPECT_EQ(offer({{.gpus = 2'000'000'000}, {.gpus = 2'000'000'000}, {}}), std::nullopt);
}

TEST(MigConfig, WithoutPlacementsOnlyOneProfileIsCertain) {
  const MigTable& table = *Tables().OfModel("RTX-PRO-5000-48GB");
  const auto all = [&](std::vector<std::pair<std::string, int32_t>> slices) {
    return OfferOf({.name = "x", .parts = {{.slices = std::move(slices)}}}, table, 1);
  };
  EXPECT_NE(all({{"1g.12gb", 2}}), std::nullopt);
  EXPECT_EQ(all({{"1g.12gb", 1}, {"2g.24gb-me", 1}}), std::nullopt);
}

}  // namespace
}  // namespace maniple
