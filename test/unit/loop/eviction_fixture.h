// Gangs of pods of 8 GPUs each that make room for each other, in the loop.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "test/support/loop_driver.h"

namespace maniple {

class LoopEvictionTest : public ::testing::Test {
 protected:
  LoopEvictionTest() = default;
  explicit LoopEvictionTest(const LoopDriver::Settings& settings) : d_(settings) {}
  // Pods of 8 GPUs each.
  void Submit(const std::string& gang, int pods, int32_t priority, const std::string& queue = "") {
    PodGroup group = MakePodGroup(gang).MinMember(pods);
    group.spec.queue = queue;
    group.meta.created = d_.now;
    d_.api.Put(group);
    for (int i = 0; i < pods; ++i) {
      Pod pod = MakePod(absl::StrCat(gang, "-", i)).Group(gang).Gpu(8).Priority(priority);
      pod.meta.uid.clear();
      pod.meta.created = d_.now;
      d_.api.Put(pod);
    }
  }
  void PutQueue(StopPolicy stop = StopPolicy::kNone) {
    queue_.meta.name = "q";
    ++queue_.meta.generation;
    queue_.stop = stop;
    d_.api.Put(queue_);
  }
  // Its more important gangs evict its less important ones.
  void PutQueueOfTwoNodes() {
    queue_.within_queue = WithinQueuePreemption::kLowerPriority;
    queue_.quotas = {
        {.flavor = "", .resources = {{.resource = kGpuResource, .nominal = Amount(16)}}}};
    PutQueue();
  }
  // Its bind has failed, and is to be tried again.
  void LowIsStillBeingBound() {
    d_.Nodes(1, 8);
    d_.api.Break({.on = "POST /api/v1/namespaces/default/pods/low-0/binding", .code = 500});
    Submit("low", 1, 1);
    d_.Exchange();
    d_.Exchange();
  }
  void HighAsksLowToLeave() {
    d_.Nodes(1, 8);
    Submit("low", 1, 1);
    d_.Settle();
    Submit("high", 1, 2);
    d_.Settle();
  }
  // Both nodes are taken, one by a pod that is leaving and does not go before it is reaped.
  void OneLeavesAndOneStays() {
    d_.Nodes(2, 8);
    d_.api.KeepTerminating();
    Submit("leaves", 1, 1);
    Submit("stays", 1, 1);
    d_.Settle();
    IsOnItsWayOut("leaves-0");
    Submit("high", 1, 2);
  }
  // All four nodes are taken, one by a pod that is leaving and does not go before it is reaped.
  void OneOfFourLeaves() {
    d_.Nodes(4, 8);
    d_.api.KeepTerminating();
    for (const char* name : {"leaves", "a", "b", "c"}) Submit(name, 1, 1);
    d_.Settle();
    IsOnItsWayOut("leaves-0");
  }
  // One of its pods is surplus, and refuses to leave for "high".
  void SurplusIsAskedInVain() {
    d_.Nodes(3, 8);
    Submit("large", 3, 1);
    NeedsMembers("large", 2);
    d_.Settle();
    EvictionsAreRefused();
    Submit("high", 1, 2);
    d_.Settle(absl::Milliseconds(500));
    ASSERT_EQ(Evictions(), 1);
  }
  void NeedsMembers(const std::string& gang, int32_t members) {
    PodGroup group = *d_.api.FindGroup(gang);
    group.spec.min_member = members;
    d_.api.Put(group);
  }
  void EvictionsAreRefused() { d_.api.Break({.on = "/eviction", .times = 5, .code = 429}); }
  void IsOnItsWayOut(const std::string& name) {
    Pod pod = *d_.api.FindPod(name);
    pod.meta.deleted = d_.now;
    d_.api.Put(pod);
    d_.Settle();
  }
  int Evictions() { return d_.api.Count("/eviction"); }

  LoopDriver d_;
  Queue queue_;
};

}  // namespace maniple
