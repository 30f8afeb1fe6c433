// Fear: the planner believes in layouts that no GPU takes, or overlooks some. The counts come from
// an enumeration that was made apart from this code, and the nineteen from NVIDIA's own figure.
#include "api/gpu/mig_layout.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "test/support/mig_layouts.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::UnorderedElementsAreArray;

// The table of the model with these profiles alone.
MigTable TableOf(absl::string_view model, const std::vector<std::string>& profiles) {
  const MigTables tables;
  const MigTable& whole = *tables.OfModel(model);
  MigTable table{.model = whole.model, .slices = {}};
  for (const std::string& profile : profiles) table.slices.push_back(*whole.Find(profile));
  return table;
}

MigTable Base() {
  return TableOf("A100-40GB", {"1g.5gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"});
}

struct Figures {
  size_t layouts, maximal, counts, maximal_counts;
  friend bool operator==(const Figures&, const Figures&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Figures& f) {
    return out << f.layouts << "/" << f.maximal << "/" << f.counts << "/" << f.maximal_counts;
  }
};

Figures FiguresOf(const MigTable& table) {
  const std::vector<MigLayout> legal = LegalLayouts(table), maximal = MaximalLayouts(table);
  std::set<MigCounts> counts, maximal_counts;
  for (const MigLayout& layout : legal) counts.insert(CountsOf(table, layout));
  for (const MigLayout& layout : maximal) maximal_counts.insert(CountsOf(table, layout));
  return {legal.size(), maximal.size(), counts.size(), maximal_counts.size()};
}

TEST(MigLayout, LayoutsOfEveryFamilyAreAsManyAsWereCountedElsewhere) {
  EXPECT_EQ(FiguresOf(Base()), (Figures{297, 19, 37, 14}));
  EXPECT_EQ(FiguresOf(TableOf("H100-80GB",
                              {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"})),
            (Figures{722, 78, 77, 38}));
  EXPECT_EQ(FiguresOf(TableOf("A30-24GB", {"1g.6gb", "2g.12gb", "4g.24gb"})),
            (Figures{25, 5, 9, 4}));
  EXPECT_EQ(FiguresOf(TableOf("RTX-PRO-6000-96GB", {"1g.24gb", "2g.48gb", "4g.96gb"})),
            (Figures{25, 5, 9, 4}));
  const MigTables tables;
  EXPECT_EQ(FiguresOf(*tables.OfModel("A30-24GB")), (Figures{75, 17, 19, 8}));
  for (const char* model :
       {"A100-40GB", "A100-80GB", "H100-80GB", "H100-94GB", "H100-96GB", "H200-141GB",
        "GH200-144GB", "B200-180GB", "GB200-186GB", "GB200-189GB", "B300-269GB", "GB300-278GB"}) {
    EXPECT_EQ(FiguresOf(*tables.OfModel(model)), (Figures{2318, 239, 127, 64})) << model;
  }
}

TEST(MigLayout, TheNineteenMaximalLayoutsAreThoseOfTheManual) {
  const std::vector<std::string> expected = {"1@0 1@1 1@2 1@3 1@4 1@5 1@6",
                                             "1@0 1@1 1@2 1@3 2@4 1@6",
                                             "1@0 1@1 2@2 1@4 1@5 1@6",
                                             "2@0 1@2 1@3 1@4 1@5 1@6",
                                             "1@0 1@1 1@2 1@3 3@4",
                                             "1@0 1@1 2@2 2@4 1@6",
                                             "2@0 1@2 1@3 2@4 1@6",
                                             "2@0 2@2 1@4 1@5 1@6",
                                             "1@0 1@1 2@2 3@4",
                                             "2@0 1@2 1@3 3@4",
                                             "2@0 2@2 2@4 1@6",
                                             "3@0 1@4 1@5 1@6",
                                             "4@0 1@4 1@5 1@6",
                                             "2@0 2@2 3@4",
                                             "3@0 2@4 1@6",
                                             "4@0 2@4 1@6",
                                             "3@0 3@4",
                                             "4@0 3@4",
                                             "7@0"};
  const MigTable table = Base();
  std::vector<std::string> found;
  for (const MigLayout& layout : MaximalLayouts(table)) {
    std::string text;
    for (const MigPlacement& at : layout) {
      absl::StrAppend(&text, text.empty() ? "" : " ",
                      table.slices[static_cast<size_t>(at.slice)].compute, "@", at.start);
    }
    found.push_back(text);
  }
  EXPECT_THAT(found, UnorderedElementsAreArray(expected));
}

TEST(MigLayout, EveryLegalLayoutIsLegalAndFoundAgainByItsCounts) {
  const MigTables tables;
  for (const MigTable& table : tables.all()) {
    if (!table.has_placements()) continue;
    for (const MigLayout& layout : LegalLayouts(table)) {
      ASSERT_TRUE(IsLegal(table, layout)) << table.model;
      const MigCounts counts = CountsOf(table, layout);
      const std::optional<MigLayout> again = FindLayout(table, counts);
      ASSERT_TRUE(again.has_value()) << table.model;
      EXPECT_TRUE(IsLegal(table, *again));
      EXPECT_EQ(CountsOf(table, *again), counts);
    }
  }
}

TEST(MigLayout, CountsThatNoLayoutHasAreNotFound) {
  const MigTable table = Base();
  std::set<MigCounts> legal = {MigCounts(5, 0)};
  for (const MigLayout& layout : LegalLayouts(table)) legal.insert(CountsOf(table, layout));
  for (int32_t i = 0; i < 9 * 5 * 4 * 3 * 3; ++i) {
    const MigCounts counts = {i % 9, i / 9 % 5, i / 45 % 4, i / 180 % 3, i / 540 % 3};
    EXPECT_EQ(FindLayout(table, counts).has_value(), legal.contains(counts));
  }
  EXPECT_EQ(FindLayout(table, {-1, 0, 0, 0, 0}), std::nullopt);
  EXPECT_EQ(FindLayout(table, {0, 0, 0, 0, 0, 1}), std::nullopt);
  EXPECT_THAT(FindLayout(table, {}), Optional(IsEmpty()));
}

TEST(MigLayout, OverlapsWrongStartsAndTwoMediaSlicesAreIllegal) {
  const MigTables tables;
  const MigTable& table = *tables.OfModel("A100-40GB");
  const auto at = [&](const char* profile, int32_t start) {
    return MigPlacement{.start = start,
                        .slice = static_cast<int32_t>(table.Find(profile) - table.slices.data())};
  };
  EXPECT_TRUE(IsLegal(table, {at("4g.20gb", 0), at("3g.20gb", 4)}));
  EXPECT_TRUE(IsLegal(table, {at("1g.5gb+me", 0), at("1g.5gb", 1)}));
  EXPECT_FALSE(IsLegal(table, {at("4g.20gb", 0), at("1g.5gb", 3)}));
  EXPECT_FALSE(IsLegal(table, {at("4g.20gb", 4)}));
  EXPECT_FALSE(IsLegal(table, {at("1g.5gb", 7)})) << "the last memory slice computes nothing";
  EXPECT_FALSE(IsLegal(table, {at("1g.5gb+me", 0), at("1g.5gb+me", 1)}));
  const MigTable& a30 = *tables.OfModel("A30-24GB");
  EXPECT_FALSE(IsLegal(a30, {{.start = 0, .slice = 1}, {.start = 2, .slice = 3}}))
      << "+me of two profiles";
}

}  // namespace
}  // namespace maniple
