// The objects of a job of a trace. Fears: a pod is taken for another job's; a name that Kubernetes
// refuses; a life of a job makes the names of an earlier one; a gang gets two PodGroups, or none.
#include "scheduler/simulate/job_objects.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace maniple::simulate_job_objects_test {
namespace {

std::string KeyOf(const Json& object) {
  return absl::StrCat(object.At("metadata.namespace").AsString(), "/",
                      object.At("metadata.name").AsString());
}

TEST(JobObjects, APodTellsItsJobAndItsLife) {
  std::set<std::string> names;
  for (const int64_t index : {0, 1, 11, 1234567}) {
    for (const int64_t life : {0, 1, 11}) {
      const TraceJob job{.pods = 12, .gpus = 1};
      for (const Json& object : ObjectsOf(job, index, life, {})) {
        if (object["kind"].AsString() != "Pod") continue;
        EXPECT_TRUE(names.insert(KeyOf(object)).second) << KeyOf(object);
        const auto pod = PodOfJobNamed(KeyOf(object));
        ASSERT_TRUE(pod.has_value());
        EXPECT_EQ(pod->index, index);
        EXPECT_EQ(pod->life, life);
      }
    }
  }
  EXPECT_EQ(names.size(), 4u * 3u * 12u);
}

TEST(JobObjects, OtherPodsAreOfNoJob) {
  for (const char* pod : {"", "trace-1-0-0", "other/trace-1-0-0", "default/trace-1-0",
                          "default/trace-1-0-0-0", "default/trace-a-0-0", "default/trace-1-a-0",
                          "default/trace--1-0-0", "default/trace", "default/xtrace-1-0-0"}) {
    EXPECT_FALSE(PodOfJobNamed(pod).has_value()) << pod;
  }
}

TEST(JobObjects, AGangHasOnePodGroupInAllItsLives) {
  for (const int64_t pods : {1, 2}) {
    for (const bool tells : {false, true}) {
      const TraceJob job{.queue = "q", .runs = absl::Milliseconds(1500), .pods = pods, .gpus = 3};
      const JobForm form{.scheduler_name = "s", .tells_run_times = tells};
      int64_t groups = 0;
      for (int64_t life = 0; life < 3; ++life) {
        for (const Json& object : ObjectsOf(job, 7, life, form)) {
          if (object["kind"].AsString() != "PodGroup") continue;
          ++groups;
          EXPECT_EQ(object.At("spec.minMember").AsInt(), pods);
          EXPECT_EQ(object.At("spec.queue").AsString(), "q");
          EXPECT_EQ(object.At("spec.expectedRuntimeSeconds").AsInt(), tells ? 2 : 0);
        }
      }
      EXPECT_EQ(groups, HasGroup(job, form) ? 1 : 0);
      EXPECT_EQ(HasGroup(job, form), pods > 1 || tells);
    }
  }
}

TEST(JobObjects, APriorityNamesTheClassThatGivesIt) {
  std::set<std::string> names;
  for (const int32_t priority : {INT32_MIN, -7, 7, 1'000'000'000}) {
    const Json of = PriorityClassOf(priority);
    EXPECT_EQ(of["value"].AsInt(), priority);
    const std::string& name = of.At("metadata.name").AsString();
    EXPECT_TRUE(names.insert(name).second);
    for (const char c : name) EXPECT_TRUE(absl::ascii_isalnum(c) || c == '-') << name;
    const std::vector<Json> pods = ObjectsOf({.pods = 1, .priority = priority}, 0, 0, {});
    EXPECT_EQ(pods[0].At("spec.priorityClassName").AsString(), name);
  }
  EXPECT_FALSE(ObjectsOf({.pods = 1}, 0, 0, {})[0]["spec"].Has("priorityClassName"));
}

}  // namespace
}  // namespace maniple::simulate_job_objects_test
