// The labels of pods, stored once for each pair, against plain maps. Fears: a pair goes while a pod
// still carries it, or stays after the last; a key's pods are counted twice; labels that became
// fewer count as unchanged; a number that another pod takes has the labels of the first.
#include "scheduler/state/pod_labels.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"

namespace maniple::state_pod_labels_test {
namespace {

constexpr uint32_t kPods = 8, kKeys = 3, kValues = 3;

StringMap RandomLabels(Random& random) {
  StringMap labels;
  for (uint32_t key = 0; key < kKeys; ++key) {
    if (random.OneIn(2)) labels.Set(absl::StrCat(key), absl::StrCat(random.Below(kValues)));
  }
  return labels;
}

class LabelsAndModel final {
 public:
  explicit LabelsAndModel(uint64_t seed) : random_(seed) {}

  void Step() {
    const PodId pod(static_cast<uint32_t>(random_.Below(kPods)));
    if (random_.OneIn(4)) {
      labels_.Forget(pod);
      model_.erase(pod);
      return;
    }
    const StringMap now = RandomLabels(random_);
    EXPECT_EQ(labels_.Put(pod, now), model_[pod] != now);
    model_[pod] = now;
  }

  void Compare() const {
    std::set<PodLabels::Pair> pairs;
    for (const auto& [pod, labels] : model_) {
      pairs.insert(labels.entries().begin(), labels.entries().end());
    }
    EXPECT_EQ(labels_.distinct(), pairs.size());
    for (uint32_t key = 0; key < kKeys; ++key) CompareKey(absl::StrCat(key));
    for (uint32_t i = 0; i < kPods; ++i) ComparePod(PodId(i));
  }

 private:
  void CompareKey(const std::string& key) const {
    EXPECT_EQ(labels_.PodsWithKey(key), Carrying(key, std::nullopt));
    EXPECT_EQ(labels_.CountOfKey(key), Carrying(key, std::nullopt).size());
    for (uint32_t value = 0; value < kValues; ++value) {
      const PodLabels::Pair label{key, absl::StrCat(value)};
      EXPECT_EQ(labels_.PodsWith(label), Carrying(key, label.second));
      EXPECT_EQ(labels_.CountOf(label), Carrying(key, label.second).size());
    }
  }
  void ComparePod(PodId pod) const {
    const auto known = model_.find(pod);
    const StringMap expected = known == model_.end() ? StringMap() : known->second;
    std::vector<PodLabels::Pair> carried;
    labels_.ForEach(pod, [&](const PodLabels::Pair& label) { carried.push_back(label); });
    EXPECT_EQ(carried, expected.entries());
    const LabelSelector selector{.requirements = {Requires("0", SelectorOperator::kNotIn, {"1"}),
                                                  Requires("1", SelectorOperator::kExists)}};
    EXPECT_EQ(labels_.Matches(pod, selector), selector.Matches(expected));
    for (uint32_t key = 0; key < kKeys; ++key) {
      const std::string* value = labels_.Find(pod, absl::StrCat(key));
      const std::string* wanted = expected.Find(absl::StrCat(key));
      ASSERT_EQ(value == nullptr, wanted == nullptr);
      if (value != nullptr) {
        EXPECT_EQ(*value, *wanted);
      }
    }
  }
  [[nodiscard]] std::vector<PodId> Carrying(const std::string& key,
                                            const std::optional<std::string>& value) const {
    std::vector<PodId> pods;
    for (const auto& [pod, labels] : model_) {
      const std::string* carried = labels.Find(key);
      if (carried != nullptr && value.value_or(*carried) == *carried) pods.push_back(pod);
    }
    return pods;
  }

  Random random_;
  PodLabels labels_;
  std::map<PodId, StringMap> model_;
};

TEST(PodLabelsModel, AgreesWithPlainMaps) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    LabelsAndModel both(seed);
    for (int step = 0; step < 100; ++step) {
      both.Step();
      both.Compare();
      ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace maniple::state_pod_labels_test
