// Numbers that are swept away and used again. Fears: two values share a number; a value that was
// kept gets another; a number that has just become vacant is used at once, so that a stale one is
// misread; the bound grows with every sweep.
#include "scheduler/state/swept_ids.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/base/id.h"
#include "api/base/random.h"

namespace maniple::state_swept_ids_test {
namespace {

using ThingId = Id<struct ThingTag>;

TEST(SweptIdsModel, GivesEachValueItsOwnNumberThroughAllSweeps) {
  Random random(1);
  SweptIds<std::string, ThingId> ids;
  std::map<std::string, ThingId> model;
  size_t most_at_once = 0;
  for (int step = 0; step < 2000; ++step) {
    const std::string value = absl::StrCat(random.Below(40));
    const auto [id, is_new] = ids.Intern(value);
    ASSERT_EQ(is_new, !model.contains(value));
    ASSERT_TRUE(is_new || id == model.at(value));
    for (const auto& [other, number] : model) ASSERT_TRUE(other == value || number != id);
    model[value] = id;
    most_at_once = std::max(most_at_once, model.size());
    ASSERT_LT(id.index(), most_at_once) << "the numbers are as dense as can be";
    if (!random.OneIn(20)) continue;
    UsedIds used;
    std::erase_if(model, [&](const auto&) { return random.OneIn(2); });
    for (const auto& [kept, number] : model) ASSERT_TRUE(used.Note(number));
    ids.KeepOnly(used);
    ASSERT_EQ(ids.size(), model.size());
    for (const auto& [kept, number] : model) ASSERT_EQ(ids.Find(kept), number);
  }
}

TEST(SweptIdsModel, UsesFirstWhatWasGivenBackLongestAgo) {
  SweptNumbers numbers;
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(numbers.Take(), i);
  for (const uint32_t number : {2U, 0U, 3U}) numbers.GiveBack(number);
  for (const uint32_t number : {2U, 0U, 3U, 4U}) EXPECT_EQ(numbers.Take(), number);
  EXPECT_EQ(numbers.bound(), 5);
}

TEST(SweptIdsModel, NotesOfEachNumberWhetherItIsNew) {
  UsedIds used;
  EXPECT_FALSE(used.Has(ThingId(70)));
  EXPECT_TRUE(used.Note(ThingId(70)));
  EXPECT_FALSE(used.Note(ThingId(70)));
  EXPECT_TRUE(used.Has(ThingId(70)));
  EXPECT_FALSE(used.Has(ThingId(69)));
  EXPECT_FALSE(used.Has(ThingId(71)));
}

}  // namespace
}  // namespace maniple::state_swept_ids_test
