// How common the images are that shapes run. Fears: a node is counted that has the image no more,
// or is counted twice; an image that shapes name again is counted from old news; a number that is
// in use again has the facts of the image before; a change is not published.
#include "scheduler/state/image_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::state_image_table_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kNodes = 4, kImages = 5;

std::string NameOf(uint32_t image) { return absl::StrCat("registry/image-", 9 - image); }

class ImageTableTest : public ::testing::Test {
 protected:
  [[nodiscard]] static std::vector<NodeImage> AnyImages(Random& random) {
    std::vector<NodeImage> images;
    for (uint32_t i = 0; i < kImages; ++i) {
      while (random.OneIn(2)) {  // sometimes twice, and of another size
        images.push_back({.name = NameOf(i), .bytes = 100 + static_cast<int64_t>(random.Below(3))});
      }
    }
    std::sort(images.begin(), images.end());
    return images;
  }
  [[nodiscard]] bool Has(uint32_t node, uint32_t image) const {
    return std::ranges::any_of(held_[node],
                               [&](const NodeImage& one) { return one.name == NameOf(image); });
  }
  [[nodiscard]] int64_t MostBytesOf(uint32_t image) const {
    int64_t most = 0;
    for (const std::vector<NodeImage>& node : held_) {
      for (const NodeImage& one : node) {
        if (one.name == NameOf(image)) most = std::max(most, one.bytes);
      }
    }
    return most;
  }
  [[nodiscard]] std::vector<NodeId> NodesWith(uint32_t image) const {
    std::vector<NodeId> nodes;
    for (uint32_t node = 0; node < kNodes; ++node) {
      if (Has(node, image)) nodes.emplace_back(node);
    }
    return nodes;
  }

  void SetAny(Random& random) {
    const auto node = static_cast<uint32_t>(random.Below(kNodes));
    if (!random.OneIn(4)) held_[node] = AnyImages(random);  // else told the same again
    std::vector<ImageId> expected;
    for (const auto& [image, number] : numbers_) {
      if (Has(node, image)) expected.push_back(number);
    }
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(table_.SetHeld(NodeId(node), held_[node]), expected);
  }
  void FollowAny(Random& random) {
    const auto image = static_cast<uint32_t>(random.Below(kImages));
    const auto known = numbers_.find(image);
    if (known != numbers_.end()) {
      EXPECT_THAT(table_.Follow(known->second, NameOf(image)), IsEmpty());
      return;
    }
    uint32_t number = 0;  // the least that no other has: one that was in use before, if any
    while (std::ranges::any_of(numbers_, [&](auto& one) { return one.second.index() == number; })) {
      ++number;
    }
    numbers_.emplace(image, ImageId(number));
    ASSERT_EQ(table_.Follow(ImageId(number), NameOf(image)), NodesWith(image));
  }
  void KeepSome(Random& random) {
    UsedIds kept;
    std::erase_if(numbers_, [&](const auto& one) {
      if (random.OneIn(2)) return true;
      kept.Note(one.second);
      return false;
    });
    table_.KeepOnly(kept);
  }
  void Compare() {
    const std::shared_ptr<const NodeImages> facts = table_.Publish();
    for (uint32_t number = 0; number < kImages; ++number) {
      const auto at =
          std::ranges::find(numbers_, ImageId(number), [](auto& one) { return one.second; });
      ImageFacts expected;
      if (at != numbers_.end() && !NodesWith(at->first).empty()) {
        expected = {.nodes = static_cast<int64_t>(NodesWith(at->first).size()),
                    .bytes = MostBytesOf(at->first)};
      }
      ASSERT_EQ(FactsOf(*facts, ImageId(number)), expected) << "number " << number;
    }
    ASSERT_FALSE(table_.changed());
    ASSERT_EQ(table_.Publish(), facts) << "nothing has changed since";
  }

  ImageTable table_;
  std::vector<std::vector<NodeImage>> held_{kNodes};
  std::map<uint32_t, ImageId> numbers_;  // of the images that are followed
};

TEST_F(ImageTableTest, TheFactsAreThoseThatACountFromScratchFinds) {
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE(round);
    if (random.OneIn(8)) {
      KeepSome(random);
    } else {
      ASSERT_NO_FATAL_FAILURE(random.OneIn(3) ? FollowAny(random) : SetAny(random));
    }
    ASSERT_NO_FATAL_FAILURE(Compare());
  }
}

TEST_F(ImageTableTest, OfSeveralSizesTheLargestCounts) {
  EXPECT_THAT(table_.SetHeld(NodeId(0), {{.name = "a", .bytes = 5}}), IsEmpty());
  EXPECT_THAT(table_.SetHeld(NodeId(2), {{.name = "a", .bytes = 7}}), IsEmpty());
  EXPECT_FALSE(table_.changed()) << "no shape runs it";
  EXPECT_THAT(table_.Follow(ImageId(1), "a"), ElementsAre(NodeId(0), NodeId(2)));
  EXPECT_EQ(FactsOf(*table_.Publish(), ImageId(1)), (ImageFacts{.nodes = 2, .bytes = 7}));
  EXPECT_THAT(table_.SetHeld(NodeId(1), {{.name = "a", .bytes = 9}}), ElementsAre(ImageId(1)));
  EXPECT_EQ(FactsOf(*table_.Publish(), ImageId(1)), (ImageFacts{.nodes = 3, .bytes = 9}));
  EXPECT_EQ(FactsOf(*table_.Publish(), ImageId(0)), ImageFacts());
}

}  // namespace
}  // namespace maniple::state_image_table_test
