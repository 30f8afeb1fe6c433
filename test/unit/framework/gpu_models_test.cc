// Which models of GPU a pod insists on. Fear: a pod that could run anywhere is taken for one that
// insists, or the other way round, and models get prices that nobody pays for.
#include "plugins/framework/gpu_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/builders.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr char kLabel[] = "nvidia.com/gpu.product";
constexpr uint64_t kA = 1, kB = 2, kOthers = 4;

const GpuModels& Models() {
  static const auto* const kModels = new GpuModels{.label = kLabel, .names = {"A", "B"}};
  return *kModels;
}

uint64_t For(const MakePod& pod) {
  const Pod model = pod;
  return ModelsFor(model.constraints, Models());
}
NodeSelectorTerm Term(std::vector<SelectorRequirement> expressions) {
  return {.expressions = std::move(expressions), .fields = {}};
}

TEST(GpuModels, ArePickedBySelectorsAndRequiredTerms) {
  using enum SelectorOperator;
  EXPECT_EQ(For(MakePod("p")), kA | kB | kOthers);
  EXPECT_EQ(For(MakePod("p").Selector("zone", "z")), kA | kB | kOthers);
  EXPECT_EQ(For(MakePod("p").Selector(kLabel, "A")), kA);
  EXPECT_EQ(For(MakePod("p").Selector(kLabel, "C")), 0u);
  EXPECT_EQ(For(MakePod("p").Affinity({Term({Requires(kLabel, kIn, {"A", "B", "C"})})})), kA | kB);
  EXPECT_EQ(For(MakePod("p").Affinity({Term({Requires(kLabel, kNotIn, {"A"})})})), kB | kOthers);
  EXPECT_EQ(For(MakePod("p").Affinity({Term({Requires(kLabel, kExists)})})), kA | kB | kOthers);
  // Terms are alternatives; what they say of other labels is not about models.
  EXPECT_EQ(For(MakePod("p").Affinity(
                {Term({Requires(kLabel, kIn, {"A"})}), Term({Requires("zone", kIn, {"z"})})})),
            kA | kB | kOthers);
  EXPECT_EQ(
      For(MakePod("p").Selector(kLabel, "A").Affinity({Term({Requires(kLabel, kNotIn, {"A"})})})),
      0u);
}

TEST(GpuModels, AreNamedByPods) {
  using enum SelectorOperator;
  std::vector<std::string> names;
  const Pod pod =
      MakePod("p")
          .Selector(kLabel, "A")
          .Selector("zone", "z")
          .Affinity({Term({Requires(kLabel, kNotIn, {"B", "A"}), Requires("x", kIn, {"y"})})});
  AddNamedModels(pod.constraints, kLabel, names);
  EXPECT_THAT(names, UnorderedElementsAre("A", "A", "B"));
}

TEST(GpuModels, AllThatNobodyNamesAreOne) {
  const std::string a = "A", b = "B", c = "C";
  EXPECT_THAT((std::vector{Models().IndexOf(&a), Models().IndexOf(&b), Models().IndexOf(&c),
                           Models().IndexOf(nullptr)}),
              ElementsAre(0u, 1u, 2u, 2u));
}

}  // namespace
}  // namespace maniple
