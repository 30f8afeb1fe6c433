// The pods of Jobs that a question brings, and the shape that its objects must have. Fears: a Job
// makes more or fewer pods than its controller would; a huge number makes pods without end; a pod
// cannot be told from another; a wrong type is read as if it were not there.
#include "scheduler/replay/job_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/replay/object_shape.h"
#include "test/unit/replay/replay_objects.h"

namespace maniple::replay_job_pods_test {
namespace {

using replay_test::Parsed;
using ::testing::HasSubstr;

Json JobOf(const std::string& name, const std::string& fields) {
  return Parsed(absl::StrCat(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")", name,
                             R"("},"spec":{)", fields,
                             R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"x":1}}}})"));
}

int64_t PodsIn(const std::vector<Json>& objects) {
  int64_t pods = 0;
  for (const Json& object : objects) pods += object["kind"].AsString() == "Pod" ? 1 : 0;
  return pods;
}

TEST(JobPods, AreAsManyAsTheControllerStartsWith) {
  struct Case {
    const char* fields;
    int64_t pods;
  };
  for (const Case& c :
       {Case{"", 1}, Case{R"("parallelism":3,)", 3}, Case{R"("parallelism":0,)", 0},
        Case{R"("completions":5,)", 1}, Case{R"("parallelism":3,"completions":2,)", 2},
        Case{R"("parallelism":3,"completions":9,)", 3},
        Case{R"("parallelism":3,"suspend":true,)", 0}, Case{R"("parallelism":-3,)", 0},
        Case{R"("parallelism":20000,)", 20000}}) {
    const auto all = WithPodsOfJobs({JobOf("j", c.fields)});
    ASSERT_TRUE(all.ok()) << all.status();
    EXPECT_EQ(PodsIn(*all), c.pods) << c.fields;
  }
}

TEST(JobPods, NameTheirJobAndTheirIndex) {
  const auto all = WithPodsOfJobs({JobOf("j", R"("parallelism":3,"completionMode":"Indexed",)"),
                                   JobOf("k", R"("parallelism":2,)")});
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 7u);
  std::set<std::string> names;
  for (const Json& object : *all) {
    EXPECT_EQ(object.At("metadata.namespace").AsString(), "default");
    if (object["kind"].AsString() != "Pod") continue;
    names.insert(object.At("metadata.name").AsString());
    const Json& labels = object["metadata"]["labels"];
    EXPECT_EQ(labels["a"].AsString(), "b");
    const bool indexed = labels["batch.kubernetes.io/job-name"].AsString() == "j";
    EXPECT_EQ(labels["job-name"], labels["batch.kubernetes.io/job-name"]);
    EXPECT_EQ(labels.Has("batch.kubernetes.io/job-completion-index"), indexed);
    const Json& owner = object["metadata"]["ownerReferences"].items()[0];
    EXPECT_EQ(owner["uid"], (*all)[indexed ? 0 : 4]["metadata"]["uid"]);
    EXPECT_FALSE(owner["uid"].AsString().empty());
    EXPECT_EQ(labels["controller-uid"], owner["uid"]);
  }
  EXPECT_EQ(names.size(), 5u);
}

TEST(JobPods, TooManyTogetherAreRefused) {
  const std::string half = R"("parallelism":10001,)";
  const auto all = WithPodsOfJobs({JobOf("j", half), JobOf("k", half)});
  EXPECT_THAT(all.status().ToString(), HasSubstr("Job k"));
  EXPECT_THAT(
      WithPodsOfJobs({JobOf("j", R"("parallelism":9223372036854775807,)")}).status().ToString(),
      HasSubstr("Job j"));
}

TEST(JobPods, ANumberThatOverflowsBesideOthersIsRefused) {
  const Json pod = Parsed(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})");
  const Json job = JobOf("j", R"("parallelism":9223372036854775807,)");
  EXPECT_THAT(WithPodsOfJobs({pod, job}).status().ToString(), HasSubstr("Job j"));
}

TEST(JobPods, OtherKindsAreNamed) {
  EXPECT_THAT(WithPodsOfJobs({Parsed(R"({"kind":"Deployment","metadata":{"name":"d"}})")})
                  .status()
                  .ToString(),
              HasSubstr("Deployment d"));
}

TEST(ObjectShape, OfTheWrongTypeIsAnErrorThatNamesTheField) {
  for (const char* wrong :
       {R"({})", R"({"kind":"Pod"})", R"({"kind":"Pod","metadata":[]})",
        R"({"kind":"Pod","metadata":{"name":""}})", R"({"kind":"Pod","metadata":{"name":5}})",
        R"({"kind":"Pod","metadata":{"name":"a","labels":[]}})",
        R"({"kind":"Pod","metadata":{"name":"a","annotations":"x"}})",
        R"({"kind":"Pod","metadata":{"name":"a"},"spec":[]})", R"([])", R"("Pod")"}) {
    EXPECT_FALSE(CheckShape(Parsed(wrong)).ok()) << wrong;
  }
  EXPECT_TRUE(CheckShape(Parsed(R"({"kind":"Pod","metadata":{"name":"a"}})")).ok());
  for (const char* wrong :
       {R"({"template":[]})", R"({"template":{"metadata":1}})",
        R"({"template":{"metadata":{"labels":[]}}})",
        R"({"template":{"metadata":{"annotations":[]}}})", R"({"template":{"spec":[]}})"}) {
    const Json job =
        Parsed(absl::StrCat(R"({"kind":"Job","metadata":{"name":"j"},"spec":)", wrong, "}"));
    EXPECT_THAT(CheckJobShape(job).ToString(), HasSubstr("Job j: spec.template")) << wrong;
  }
}

TEST(JobPods, AnotherVersionOfAKindIsNamed) {
  for (const char* wrong : {R"("kind":"Pod")", R"("apiVersion":"V1","kind":"Pod")",
                            R"("apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job")",
                            R"("apiVersion":"scheduling.maniple.dev/v1","kind":"PodGroup")"}) {
    const auto all =
        WithPodsOfJobs({Parsed(absl::StrCat("{", wrong, R"(,"metadata":{"name":"a"}})"))});
    EXPECT_THAT(all.status().ToString(), HasSubstr("a: apiVersion \"")) << wrong;
  }
  EXPECT_TRUE(WithPodsOfJobs({Parsed(R"({"apiVersion":"scheduling.x-k8s.io/v1alpha1",
    "kind":"PodGroup","metadata":{"name":"a"}})")})
                  .ok());
}

}  // namespace
}  // namespace maniple::replay_job_pods_test
