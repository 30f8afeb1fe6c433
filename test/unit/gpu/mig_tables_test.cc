// Fear: a product is taken for another, or a name from outside is taken for what it is not.
#include "api/gpu/mig_tables.h"

#include "api/gpu/mig_profile.h"
#include "gmock/gmock.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;

TEST(MigProfile, NamesAndResourcesAreReadAndPrintedAlike) {
  struct Case {
    const char *name, *resource;
  };
  for (const Case& each :
       {Case{"1g.5gb", "nvidia.com/mig-1g.5gb"}, Case{"7g.141gb", "nvidia.com/mig-7g.141gb"},
        Case{"1g.10gb+me", "nvidia.com/mig-1g.10gb.me"},
        Case{"1g.24gb+gfx", "nvidia.com/mig-1g.24gb.gfx"},
        Case{"1g.24gb+me.all", "nvidia.com/mig-1g.24gb.me.all"},
        Case{"1g.24gb-me", "nvidia.com/mig-1g.24gb-me"},
        Case{"1c.3g.20gb", "nvidia.com/mig-1c.3g.20gb"}}) {
    const std::optional<MigProfile> profile = ParseMigProfile(each.name);
    ASSERT_TRUE(profile.has_value()) << each.name;
    EXPECT_EQ(MigProfileName(*profile), each.name);
    EXPECT_EQ(MigResourceName(*profile), each.resource);
    EXPECT_EQ(MigProfileOfResource(each.resource), profile) << each.resource;
  }
  EXPECT_TRUE(ParseMigProfile("1g.10gb+me")->wants_media());
  EXPECT_TRUE(ParseMigProfile("1g.24gb+gfx,me.all")->wants_media());
  EXPECT_FALSE(ParseMigProfile("1g.24gb-me")->wants_media());
  EXPECT_FALSE(ParseMigProfile("1g.24gb+gfx")->wants_media());
}

TEST(MigProfile, WhatIsNoProfileIsRefused) {
  for (const char* text : {"",
                           "g",
                           "1g",
                           "1g.",
                           "1g.5",
                           "1g.5g",
                           "0g.5gb",
                           "1g.05gb",
                           "01g.5gb",
                           "-1g.5gb",
                           "+1g.5gb",
                           "1g.5gb ",
                           " 1g.5gb",
                           "1g.5gb+",
                           "1g.5gb-",
                           "1g.5gb+,me",
                           "1g.5gb+ME",
                           "1g.5gb+me.",
                           "1g.5gb.me",
                           "999999g.5gb",
                           "99999999999999999999g.5gb",
                           "1g.5gbx",
                           "1c.1g",
                           "4c.3g.20gb",
                           "1c.1c.1g.5gb",
                           "1g.5gb+me\n",
                           "1g.5gb+aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    EXPECT_EQ(ParseMigProfile(text), std::nullopt) << text;
  }
  for (const char* resource :
       {"nvidia.com/gpu", "nvidia.com/mig-", "nvidia.com/mig-1g.5gb+me", "nvidia.com/mig-gb.me",
        "amd.com/mig-1g.5gb", "nvidia.com/mig-1g.5gb.", "mig-1g.5gb"}) {
    EXPECT_EQ(MigProfileOfResource(resource), std::nullopt) << resource;
  }
}

struct Product {
  const char* product;
  int64_t memory;  // 0 = not known
  const char* model;
};

TEST(MigTables, ProductsOfTheFeatureDiscoveryAreFound) {
  const MigTables tables;
  for (const Product& each :
       {Product{"NVIDIA-A30", 24576, "A30-24GB"},
        {"NVIDIA-A30", 0, "A30-24GB"},
        {"NVIDIA-A100-SXM4-40GB", 40960, "A100-40GB"},
        {"NVIDIA-A100-PCIE-40GB", 0, "A100-40GB"},
        {"NVIDIA-A100-SXM4-80GB", 81920, "A100-80GB"},
        {"NVIDIA-A100-80GB-PCIe", 0, "A100-80GB"},
        {"NVIDIA-H100-80GB-HBM3", 81559, "H100-80GB"},
        {"NVIDIA-H100-PCIe", 81559, "H100-80GB"},
        {"NVIDIA-H100-NVL", 95830, "H100-94GB"},
        {"NVIDIA-H800", 81559, "H100-80GB"},
        {"NVIDIA-H20", 97871, "H100-96GB"},
        {"NVIDIA-GH200-480GB", 97871, "H100-96GB"},
        {"NVIDIA-GH200-144G-HBM3e", 146831, "GH200-144GB"},
        {"NVIDIA-H200", 143771, "H200-141GB"},
        {"NVIDIA-H200-NVL", 0, "H200-141GB"},
        {"NVIDIA-B200", 183359, "B200-180GB"},
        {"NVIDIA-GB200", 189471, "GB200-186GB"},
        {"NVIDIA-B300-SXM6-AC", 275040, "B300-269GB"},
        {"NVIDIA-GB300", 284208, "GB300-278GB"},
        {"NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", 97887, "RTX-PRO-6000-96GB"},
        {"NVIDIA-RTX-PRO-5000-Blackwell", 48935, "RTX-PRO-5000-48GB"}}) {
    const MigTable* table =
        tables.Find(each.product, each.memory == 0 ? std::nullopt : std::optional(each.memory));
    ASSERT_NE(table, nullptr) << each.product;
    EXPECT_EQ(table->model, each.model) << each.product;
  }
}

TEST(MigTables, WhatIsNotKnownForCertainHasNoTable) {
  const MigTables tables;
  for (const Product& each : {Product{"", 0, ""},
                              {"NVIDIA-L40S", 46068, ""},
                              {"Tesla-V100-SXM2-32GB", 32768, ""},
                              {"NVIDIA-A100X", 81920, ""},
                              {"NVIDIA-H100", 0, ""},      // 80, 94 or 96?
                              {"NVIDIA-H200", 97871, ""},  // contradicts itself
                              {"NVIDIA-A30", -5, ""},
                              {"NVIDIA-GH200-480GB", 0, ""},  // that is not the GPU's memory
                              {"NVIDIA-RTX-6000-Ada-Generation", 49140, ""},
                              {"NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", 9984, ""},
                              {"NVIDIA-H100-80GB-HBM3-MIG-INVALID", 81559, ""},
                              {"NVIDIA-H100-80GB-HBM3-SHARED", 81559, ""}}) {
    EXPECT_EQ(
        tables.Find(each.product, each.memory == 0 ? std::nullopt : std::optional(each.memory)),
        nullptr)
        << each.product;
  }
}

TEST(MigTables, OneNameIsAnotherSliceOnAnotherModel) {
  const MigTables tables;
  const auto most = [&](const char* model, const char* profile) {
    return tables.OfModel(model)->Find(profile)->max_per_gpu;
  };
  EXPECT_EQ(most("H100-80GB", "1g.10gb"), 7);
  EXPECT_EQ(most("A100-40GB", "1g.10gb"), 4);
  EXPECT_EQ(most("H200-141GB", "1g.35gb"), 4);
  EXPECT_EQ(most("GB300-278GB", "1g.35gb"), 7);
  EXPECT_EQ(tables.OfModel("H100-94GB")->Find("1g.24gb")->size, 2);
  EXPECT_EQ(tables.OfModel("GB200-189GB")->Find("1g.24gb")->size, 1);
  EXPECT_EQ(tables.OfModel("RTX-PRO-6000-96GB")->Find("1g.24gb")->size, 3);
  EXPECT_EQ(tables.OfModel("H100-80GB")->Find("3g.40gb")->multiprocessors, 60);
  EXPECT_EQ(tables.OfModel("H100-80GB")->Find("1g.20gb")->memory_mib, 20096);
}

TEST(MigTables, WidthsFollowFromTheTables) {
  const MigTables tables;
  EXPECT_EQ(tables.OfModel("B300-269GB")->width(), 8);
  EXPECT_EQ(tables.OfModel("A30-24GB")->width(), 4);
  EXPECT_EQ(tables.OfModel("RTX-PRO-6000-96GB")->width(), 12);
  EXPECT_FALSE(tables.OfModel("RTX-PRO-5000-48GB")->has_placements());
}

TEST(MigTables, EveryTableThatWeBringAlongWouldBeTaken) {
  const MigTables known;
  for (const MigTable& table : known.all()) {
    MigTables tables;
    EXPECT_TRUE(tables.Put(table, "anything").ok()) << table.model;
  }
}

TEST(MigTables, AConfiguredTableReplacesOrJoinsThoseWeKnow) {
  MigTables tables;
  MigTable mine = *tables.OfModel("A30-24GB");
  mine.model = "X1";
  EXPECT_FALSE(tables.Put(mine, "").ok()) << "nobody would find it";
  ASSERT_TRUE(tables.Put(mine, "ACME-X1").ok());
  EXPECT_EQ(tables.Find("acme_x1_pcie", std::nullopt)->model, "X1");
  MigTable fewer = *tables.OfModel("H100-80GB");
  fewer.slices.erase(fewer.slices.begin());
  ASSERT_TRUE(tables.Put(fewer, "").ok());
  EXPECT_EQ(tables.Find("NVIDIA-H100-80GB-HBM3", 81559)->slices.size(), 6u);
}

TEST(MigTables, AWrongTableIsRefusedWithTheProfileThatIsWrong) {
  const auto message = [](MigSlice slice) {
    MigTables tables;
    const absl::Status status = tables.Put(
        {.model = "X",
         .slices = {{.profile = "4g.8gb", .compute = 4, .size = 4, .starts = {0}, .max_per_gpu = 1},
                    std::move(slice)}},
        "X");
    return std::string(status.message());
  };
  const MigSlice good{
      .profile = "1g.2gb", .compute = 1, .size = 1, .starts = {0, 1}, .max_per_gpu = 2};
  EXPECT_EQ(message(good), "");
  const auto with = [&](auto change) {
    MigSlice slice = good;
    change(slice);
    return message(slice);
  };
  EXPECT_THAT(with([](MigSlice& s) { s.profile = "big"; }), HasSubstr("\"big\": is no name"));
  EXPECT_THAT(with([](MigSlice& s) { s.profile = "4g.8gb"; }), HasSubstr("named twice"));
  EXPECT_THAT(with([](MigSlice& s) { s.starts = {4}; }), HasSubstr("outside"));
  EXPECT_THAT(with([](MigSlice& s) { s.starts = {-1}; }), HasSubstr("outside"));
  EXPECT_THAT(with([](MigSlice& s) { s.starts = {1, 1}; }), HasSubstr("ascend"));
  EXPECT_THAT(with([](MigSlice& s) { s.starts = {}; }), HasSubstr("go together"));
  EXPECT_THAT(with([](MigSlice& s) { s.size = 1'000'000; }), HasSubstr("size"));
  EXPECT_THAT(with([](MigSlice& s) { s.size = -1; }), HasSubstr("size"));
  EXPECT_THAT(with([](MigSlice& s) { s.max_per_gpu = 0; }), HasSubstr("max"));
  EXPECT_THAT(with([](MigSlice& s) { s.compute = 0; }), HasSubstr("compute"));
  MigTables tables;
  EXPECT_FALSE(tables.Put({.model = "X", .slices = {}}, "X").ok());
  EXPECT_FALSE(tables.Put({.model = "", .slices = {good}}, "X").ok());
  EXPECT_FALSE(tables.Put({.model = "X", .slices = std::vector<MigSlice>(33, good)}, "X").ok());
  EXPECT_FALSE(tables.Put({.model = "X", .slices = {good}}, "- -").ok());
}

}  // namespace
}  // namespace maniple
