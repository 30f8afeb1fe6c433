// A vector whose copies share chunks, against plain vectors. Fears: a change shows in a copy that
// was made before; the last chunk is lost or doubled where one is full; a place beyond the first
// chunk is set in another.
#include "plugins/framework/shared_vector.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "api/base/random.h"

namespace maniple::framework_shared_vector_test {
namespace {

template <typename T>
std::vector<T> Plain(const SharedVector<T>& shared) {
  std::vector<T> plain;
  for (size_t i = 0; i < shared.size(); ++i) plain.push_back(shared[i]);
  return plain;
}

TEST(SharedVectorModel, AgreesWithAPlainVectorAndSoDoItsCopies) {
  Random random(1);
  SharedVector<uint64_t> shared;
  std::vector<uint64_t> plain;
  std::vector<std::pair<SharedVector<uint64_t>, std::vector<uint64_t>>> copies;
  for (int step = 0; step < 600; ++step) {
    const uint64_t value = random.Next();
    if (plain.empty() || random.OneIn(2)) {
      shared.PushBack(value);
      plain.push_back(value);
    } else {
      const size_t at = random.Below(plain.size());
      shared.Set(at, value);
      plain[at] = value;
    }
    ASSERT_EQ(shared.size(), plain.size());
    if (random.OneIn(20)) copies.emplace_back(shared, plain);
  }
  ASSERT_GT(plain.size(), 3 * 64) << "several chunks";
  EXPECT_EQ(Plain(shared), plain);
  for (const auto& [copy, then] : copies) EXPECT_EQ(Plain(copy), then);
}

TEST(SharedVectorModel, LetsBothCopiesGrowApart) {
  for (const size_t size : {0, 1, 63, 64, 65, 128}) {
    SharedVector<size_t> one;
    for (size_t i = 0; i < size; ++i) one.PushBack(i);
    SharedVector<size_t> other = one;
    one.PushBack(1000);
    other.PushBack(2000);
    EXPECT_EQ(one[size], 1000);
    EXPECT_EQ(other[size], 2000);
    EXPECT_EQ(one.size(), size + 1);
  }
}

}  // namespace
}  // namespace maniple::framework_shared_vector_test
