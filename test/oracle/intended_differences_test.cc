// Where our answers differ from kube-scheduler's on purpose: one table, each row with its case,
// both answers, and the reason. The random cases of filter_oracle_test leave these out.
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "test/oracle/families.h"
#include "test/oracle/kube_oracle.h"
#include "test/oracle/our_answer.h"

namespace maniple {
namespace {

struct IntendedDifference {
  const char* family;
  const char* reason;
  const char* ours;    // nodes that fit
  const char* theirs;  // "error": it gives up on the pod
  const char* filter_case;
};

constexpr IntendedDifference kIntended[] = {
    {"nodeaffinity",
     "a preference that cannot be read must not keep a pod from running: ours leaves it out, "
     "kube-scheduler fails the pod for ever",
     "1", "error",
     R"({"pod": {"metadata": {"name": "p", "namespace": "default", "uid": "uid-p"},
                 "spec": {"schedulerName": "maniple", "affinity": {"nodeAffinity": {
                   "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference":
                     {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]}}]}}}},
         "nodes": [{"metadata": {"name": "n0"}}], "scores": true})"},
};

Json CaseIn(const IntendedDifference& row) {
  absl::StatusOr<Json> filter_case = Json::Parse(row.filter_case);
  EXPECT_TRUE(filter_case.ok()) << filter_case.status();
  Json out = *std::move(filter_case);
  out.Set("family", row.family);
  return out;
}

TEST(IntendedDifferences, OursIsAsTheTableSays) {
  for (const IntendedDifference& row : kIntended) {
    SCOPED_TRACE(row.reason);
    const FilterAnswer ours = OurAnswer(FamilyNamed(row.family), CaseIn(row));
    EXPECT_EQ(ours.error, "");
    EXPECT_EQ(ours.feasible, row.ours);
  }
}

TEST(IntendedDifferences, KubeSchedulerStillDiffersAsTheTableSays) {
  const char* program = std::getenv("MANIPLE_FILTER_ORACLE");
  if (program == nullptr) return;  // there is nobody to ask
  for (const IntendedDifference& row : kIntended) {
    SCOPED_TRACE(row.reason);
    const auto theirs = AskKubeScheduler(program, {CaseIn(row)});
    ASSERT_TRUE(theirs.ok()) << theirs.status();
    const FilterAnswer& answer = theirs->front();
    EXPECT_EQ(answer.error.empty() ? answer.feasible : "error", row.theirs) << answer.error;
  }
}

}  // namespace
}  // namespace maniple
