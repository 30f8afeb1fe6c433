// The table of reasons. Fears: a row stands at the place of another; two reasons share a name, and
// a metric adds them up; people read "{}" in place of a name; braces in the name of a resource or a
// taint are filled in, or the name is asked of a table that does not have it.
#include "plugins/framework/reasons.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "plugins/framework/tables.h"

namespace maniple::framework_reasons_test {
namespace {

constexpr uint32_t kReasons = kReasonSpreadKey.index() + 1;

Tables SomeTables() {
  Tables tables;
  tables.resources = {{.name = "pods"}, {.name = "made.up/{want}"}};
  tables.pod_resources.PushBack({.name = "of.pods/only"});
  tables.taint_keys = {"taint-0", "{resource}"};
  return tables;
}

TEST(ReasonsTable, GivesEachReasonItsOwnNameAndSentence) {
  std::set<std::string> names, sentences;
  for (uint32_t i = 0; i < kReasons; ++i) {
    names.emplace(SpecOf(ReasonId(i)).name);
    sentences.emplace(SpecOf(ReasonId(i)).sentence);
  }
  EXPECT_EQ(names.size(), kReasons);
  EXPECT_EQ(sentences.size(), kReasons);
}

TEST(ReasonsTable, LeavesNoPlaceholderInAnyText) {
  const Tables tables = SomeTables();
  for (uint32_t i = 0; i < kReasons; ++i) {
    const std::string bare = ReasonText({.id = ReasonId(i)}, tables);
    EXPECT_EQ(bare.find('{'), std::string::npos) << bare;
    EXPECT_FALSE(bare.empty());
  }
}

TEST(ReasonsTable, NamesResourcesOfNodesAndOfPods) {
  const Tables tables = SomeTables();
  const auto text = [&](ResourceId resource) {
    return ReasonText({.id = kReasonInsufficient, .resource = resource, .want = 8, .have = -2},
                      tables);
  };
  EXPECT_EQ(text(kPods), "insufficient pods (want 8, have -2)");
  EXPECT_EQ(text(ResourceId(kFirstPodResource)), "insufficient of.pods/only (want 8, have -2)");
  EXPECT_EQ(text(ResourceId(1)), "insufficient made.up/{want} (want 8, have -2)");
}

TEST(ReasonsTable, WritesAmountsAsKubernetesDoes) {
  Tables tables;
  tables.resources = {{.name = "pods"}, {.name = "cpu"}, {.name = "memory"}};
  const auto text = [&](Reason reason) { return ReasonText(reason, tables); };
  EXPECT_EQ(text({.id = kReasonInsufficient, .resource = kCpu, .want = 20'000, .have = 1500}),
            "insufficient cpu (want 20, have 1500m)");
  EXPECT_EQ(text({.id = kReasonInsufficient, .resource = kMemory, .want = int64_t{2} << 40}),
            "insufficient memory (want 2Ti, have 0)");
  EXPECT_EQ(text({.id = kReasonFilledByGang, .resource = kCpu, .have = 1000}),
            "cpu for only 1000 of this gang's pods");
}

TEST(ReasonsTable, NamesTaintsAsTheyAre) {
  const Tables tables = SomeTables();
  EXPECT_EQ(ReasonText({.id = kReasonTaint, .taint = TaintKeyId(1)}, tables),
            "untolerated taint {resource}");
  EXPECT_EQ(ReasonText({.id = kReasonTaint, .taint = TaintKeyId(2)}, tables), "untolerated taint ");
}

}  // namespace
}  // namespace maniple::framework_reasons_test
