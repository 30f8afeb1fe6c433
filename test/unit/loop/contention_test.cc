// Gangs of one Cohort that different objects declare, side by side.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/unit/loop/producers_fixture.h"

namespace maniple {
namespace {

// Six gangs of two whole nodes contend for four nodes and one Cohort, each declared in another way.
// The fear: who declares a gang changes its place in the order, its quota, or whom it evicts.
class Contention : public LoopProducers, public ::testing::WithParamInterface<int> {
 protected:
  Contention() {
    for (const char* name : {"red", "blue"}) {
      Queue queue;
      queue.meta.name = name;
      queue.cohort = "all";
      queue.within_queue = WithinQueuePreemption::kLowerPriority;
      queue.reclaim = ReclaimWithinCohort::kAny;
      queue.quotas = {{.resources = {{.resource = kGpuResource, .nominal = Amount(16)}}}};
      d_.api.Put(queue);
    }
    d_.Settle();
  }

  struct Slot {
    std::string name, queue;
    int32_t priority = 0;
  };
  static constexpr int kWays = 6;
  void SubmitIn(int way, const Slot& slot) {
    const std::string metadata = absl::StrCat(
        R"(,"labels":{")", kQueueLabel, R"(":")", slot.queue, R"("},"creationTimestamp":")",
        absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", d_.now, absl::UTCTimeZone()), "\"");
    Pods pods{.prefix = slot.name, .to = 2, .queue = slot.queue, .priority = slot.priority};
    const auto owned = [&](const char* kind, const char* named, const char* version,
                           const char* spec) {
      Put({.kind = kind, .name = slot.name, .spec = spec, .metadata = metadata});
      pods.owner = OwnerReference{named, slot.name, absl::StrCat("u-", slot.name), version};
    };
    switch (way) {
      case 0:
        d_.Submit({.gang = slot.name, .pods = 2, .queue = slot.queue, .priority = slot.priority});
        return;
      case 1:
        Put({.kind = kXk8s, .name = slot.name, .spec = R"({"minMember":2})", .metadata = metadata});
        pods.label = "scheduling.x-k8s.io/pod-group";
        pods.value = slot.name;
        break;
      case 2:
        Put({.kind = kVolcano,
             .name = slot.name,
             .spec = absl::StrCat(R"({"minMember":2,"queue":")", slot.queue, R"("})"),
             .metadata = metadata});
        pods.annotation = "scheduling.k8s.io/group-name";
        pods.text = slot.name;
        break;
      case 3:
        owned(kJobs, "Job", "batch/v1",
              R"({"completionMode":"Indexed","completions":2,"parallelism":2})");
        break;
      case 4:
        owned(kPyTorchJobs, "PyTorchJob", "kubeflow.org/v1",
              R"({"pytorchReplicaSpecs":{"Worker":{"replicas":2}}})");
        pods.label = "training.kubeflow.org/replica-type";
        pods.value = "worker";
        break;
      default:
        owned(kMpiJobs, "MPIJob", "kubeflow.org/v2beta1",
              R"({"launcherCreationPolicy":"WaitForWorkersReady",
                  "mpiReplicaSpecs":{"Launcher":{"replicas":1},"Worker":{"replicas":2}}})");
        pods.label = "training.kubeflow.org/job-role";
        pods.value = "worker";
    }
    Submit(pods);
  }
};

TEST_P(Contention, TreatsAllWhoDeclareGangsAlike) {
  const Slot slots[] = {{"own", "red"},       {"borrows", "red"}, {"late", "red"},
                        {"reclaims", "blue"}, {"boss", "red", 9}, {"last", "blue"}};
  const std::vector<std::string> then[] = {{"own"},
                                           {"own", "borrows"},
                                           {"own", "borrows"},
                                           {"own", "reclaims"},
                                           {"reclaims", "boss"},
                                           {"reclaims", "boss"}};
  for (int i = 0; i < kWays; ++i) {
    SubmitIn((i + GetParam()) % kWays, slots[i]);
    d_.Settle(absl::Seconds(45));
    std::vector<std::string> run;
    for (const Slot& slot : slots) {
      const int bound = BoundOf(slot.name);
      EXPECT_TRUE(bound == 0 || bound == 2) << slot.name << " stands in part";
      if (bound == 2) run.push_back(slot.name);
    }
    EXPECT_EQ(run, then[i]) << "after " << slots[i].name << " of " << slots[i].queue;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Contention, ::testing::Range(0, 6));

}  // namespace
}  // namespace maniple
