// The fingerprint by which the loop notices that a gang is to be decided anew. Fear: a field of the
// spec is added or edited, and a gang that waits for what it said before sleeps on.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "scheduler/loop/records/gang_request.h"

namespace maniple::loop_fingerprint_test {
namespace {

Gang SomeGang() {
  Gang gang;
  gang.group_exists = true;
  gang.spec.sub_groups = {{.name = "leader", .min_member = 1}};
  gang.members.push_back({.pod = PodId(1), .shape = ShapeId(1)});
  gang.foreign =
      std::make_shared<const ForeignGang>(ForeignGang{.spec = gang.spec, .unit_sizes = {1}});
  return gang;
}

struct Edit {
  std::string field;
  void (*make)(Gang&);
};

void ExpectSeen(const std::vector<Edit>& edits) {
  const uint64_t before = FingerprintOf(SomeGang());
  for (const Edit& edit : edits) {
    Gang gang = SomeGang();
    edit.make(gang);
    EXPECT_NE(FingerprintOf(gang), before) << edit.field;
  }
}

void ExpectUnseen(const std::vector<Edit>& edits) {
  const uint64_t before = FingerprintOf(SomeGang());
  for (const Edit& edit : edits) {
    Gang gang = SomeGang();
    edit.make(gang);
    EXPECT_EQ(FingerprintOf(gang), before) << edit.field;
  }
}

// The fear: a plan is bound that is not what its gang asks for any more, or each newcomer undoes
// it.
TEST(GangFingerprint, OfWhatIsAskedForSeesEditsAndNobodyWhoComes) {
  PodGroupSpec spec = SomeGang().spec;
  const uint64_t before = FingerprintOfAsk(spec);
  spec.expected_runtime = absl::Hours(1);
  EXPECT_EQ(FingerprintOfAsk(spec), before);
  spec.queue = "q";
  const uint64_t in_queue = FingerprintOfAsk(spec);
  EXPECT_NE(in_queue, before);
  spec.topology.required = "rack";
  EXPECT_NE(FingerprintOfAsk(spec), in_queue);
}

// Where one of these lines does not compile, a field has come: it belongs to one of the lists
// below.
TEST(GangFingerprint, ItsTestsKnowEveryFieldOfTheSpec) {
  const PodGroupSpec spec;
  const auto& [queue, min_member, priority_class, topology, sub_groups, timeout, runtime, preempts,
               protected_for, action, grace, source] = spec;
  const auto& [required, preferred, slice_size, slice_level, topology_name] = topology;
  const SubGroup part;
  const auto& [name, part_members, part_topology] = part;
  EXPECT_EQ(part_topology, topology);
  EXPECT_EQ(slice_size, 0);
}

TEST(GangFingerprint, SeesWhatDecisionsReadOfTheSpec) {
  ExpectSeen({
      {"minMember", [](Gang& gang) { gang.spec.min_member = 2; }},
      {"expectedRuntime", [](Gang& gang) { gang.spec.expected_runtime = absl::Hours(1); }},
      {"required", [](Gang& gang) { gang.spec.topology.required = "rack"; }},
      {"preferred", [](Gang& gang) { gang.spec.topology.preferred = "rack"; }},
      {"slice size", [](Gang& gang) { gang.spec.topology.slice_size = 2; }},
      {"slice level", [](Gang& gang) { gang.spec.topology.slice_level = "rack"; }},
      {"topologyName", [](Gang& gang) { gang.spec.topology.topology_name = "b"; }},
      {"one more part", [](Gang& gang) { gang.spec.sub_groups.emplace_back(); }},
      {"a part's name", [](Gang& gang) { gang.spec.sub_groups[0].name = "worker"; }},
      {"a part's minMember", [](Gang& gang) { gang.spec.sub_groups[0].min_member = 2; }},
      {"a part's level", [](Gang& gang) { gang.spec.sub_groups[0].topology.required = "rack"; }},
  });
}

// The first three are resolved before: the gang itself has a queue, a priority, and whether it
// preempts. The others are read when their time comes.
TEST(GangFingerprint, LeavesOutWhatNoDecisionReadsOfTheSpec) {
  ExpectUnseen({
      {"queue", [](Gang& gang) { gang.spec.queue = "q"; }},
      {"priorityClassName", [](Gang& gang) { gang.spec.priority_class_name = "high"; }},
      {"preemption.policy", [](Gang& gang) { gang.spec.preempts = false; }},
      {"scheduleTimeout", [](Gang& gang) { gang.spec.schedule_timeout = absl::Hours(1); }},
      {"protectedRuntime", [](Gang& gang) { gang.spec.protected_runtime = absl::Hours(1); }},
      {"quorumLoss.action",
       [](Gang& gang) { gang.spec.quorum_loss_action = QuorumLossAction::kKeep; }},
      {"quorumLoss.grace", [](Gang& gang) { gang.spec.quorum_loss_grace = absl::Hours(1); }},
      {"source", [](Gang& gang) { gang.spec.source.kind = "Job"; }},
  });
}

TEST(GangFingerprint, SeesWhatIsResolvedFromElsewhere) {
  ExpectSeen({
      {"its PodGroup is gone", [](Gang& gang) { gang.group_exists = false; }},
      {"problem", [](Gang& gang) { gang.problem = "spec.minMember: must be at least 1"; }},
      {"queue", [](Gang& gang) { gang.queue = "q"; }},
      {"priority", [](Gang& gang) { gang.priority = -1; }},
      {"preempts", [](Gang& gang) { gang.preempts = false; }},
      {"members that were cleaned away", [](Gang& gang) { gang.cleaned.unranked = 1; }},
      {"followers",
       [](Gang& gang) {
         gang.foreign = std::make_shared<const ForeignGang>(
             ForeignGang{.followers_of_each = 1, .unit_sizes = {1}});
       }},
      {"hosts of a replica",
       [](Gang& gang) {
         gang.foreign = std::make_shared<const ForeignGang>(ForeignGang{.unit_sizes = {2}});
       }},
  });
}

TEST(GangFingerprint, SeesItsMembers) {
  ExpectSeen({
      {"one more", [](Gang& gang) { gang.members.push_back({.pod = PodId(2)}); }},
      {"one less", [](Gang& gang) { gang.members.clear(); }},
      {"pod", [](Gang& gang) { gang.members[0].pod = PodId(2); }},
      {"shape", [](Gang& gang) { gang.members[0].shape = ShapeId(2); }},
      {"state", [](Gang& gang) { gang.members[0].state = MemberState::kGated; }},
      {"node", [](Gang& gang) { gang.members[0].node = NodeId(0); }},
      {"index", [](Gang& gang) { gang.members[0].rank.index = 3; }},
      {"job", [](Gang& gang) { gang.members[0].rank.job = "1"; }},
      {"sub-group", [](Gang& gang) { gang.members[0].rank.sub_group = 1; }},
      {"how long it may run", [](Gang& gang) { gang.members[0].deadline = absl::Hours(1); }},
  });
}

}  // namespace
}  // namespace maniple::loop_fingerprint_test
