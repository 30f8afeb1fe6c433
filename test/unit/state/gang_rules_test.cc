// Priority, preemption policy and Queue of gangs. Fears: a class raises a gang above its members,
// or members raise it above the class; members that have ended decide for those that live; a class
// that is gone still rules; the wrong one of several Queues is taken.
#include "scheduler/state/gang_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "api/base/random.h"

namespace maniple::state_gang_rules_test {
namespace {

Gang GangOfClass(const std::string& name) {
  Gang gang;
  gang.key.namespace_name = "team";
  gang.spec.priority_class_name = name;
  return gang;
}

TEST(GangRules, ThePriorityIsTheLowerOfTheClassAndOfTheHighestMember) {
  constexpr std::array kLive = {MemberState::kPending, MemberState::kBound};  // gates may never go
  GangRules rules("");
  rules.SetClass("high", GangRules::ClassFacts{.value = 2});
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    Gang gang = GangOfClass(random.OneIn(2) ? "high" : "unknown");
    std::optional<int32_t> all, live;
    for (uint64_t i = random.Below(4); i > 0; --i) {
      const Member member{.priority = static_cast<int32_t>(random.Below(9)) - 4,
                          .state = static_cast<MemberState>(random.Below(6))};
      gang.members.push_back(member);
      all = std::max(all.value_or(member.priority), member.priority);
      if (std::ranges::find(kLive, member.state) == kLive.end()) continue;
      live = std::max(live.value_or(member.priority), member.priority);
    }
    const std::optional<int32_t> of_members = live.has_value() ? live : all;
    const bool has_class = gang.spec.priority_class_name == "high";
    const int32_t expected =
        has_class ? std::min(2, of_members.value_or(2)) : of_members.value_or(0);
    ASSERT_EQ(rules.PriorityOf(gang), expected) << "round " << round;
  }
}

TEST(GangRules, AClassThatIsGoneNoLongerRules) {
  GangRules rules("");
  const Gang gang = GangOfClass("c");
  rules.SetClass("c", GangRules::ClassFacts{.value = 5, .preempts = false});
  EXPECT_EQ(rules.PriorityOf(gang), 5);
  EXPECT_FALSE(rules.LacksClass(gang));
  EXPECT_FALSE(rules.MayPreempt(gang));
  rules.SetClass("c", GangRules::ClassFacts{.value = -7});
  EXPECT_EQ(rules.PriorityOf(gang), -7);
  EXPECT_TRUE(rules.MayPreempt(gang));
  rules.SetClass("c", std::nullopt);
  rules.SetClass("never there", std::nullopt);
  EXPECT_EQ(rules.PriorityOf(gang), 0);
  EXPECT_TRUE(rules.LacksClass(gang));
  EXPECT_FALSE(rules.LacksClass(GangOfClass("")));
}

TEST(GangRules, ItMayPreemptIfItsGroupItsClassAndItsQuorumLetIt) {
  GangRules rules("");
  rules.SetClass("may", GangRules::ClassFacts{});
  rules.SetClass("never", GangRules::ClassFacts{.preempts = false});
  for (const bool group : {true, false}) {
    for (const char* name : {"may", "never", "unknown"}) {
      for (const bool quorum : {true, false}) {
        Gang gang = GangOfClass(name);
        gang.group_exists = true;
        gang.spec.preempts = group;
        gang.members = {Member{.preempts = quorum}, Member{.preempts = false}};
        const bool by_class = name != std::string("never");
        EXPECT_EQ(rules.MayPreempt(gang), group && by_class && quorum) << name;
      }
    }
  }
}

TEST(GangRules, TheQueueIsThatOfItsAdmissionThenItsOwnThenItsNamespacesThenTheDefault) {
  GangRules rules("default");
  Gang gang = GangOfClass("");
  EXPECT_EQ(rules.QueueOf(gang), "default");
  EXPECT_TRUE(rules.SetNamespaceQueue("team", "ours"));
  EXPECT_TRUE(rules.SetNamespaceQueue("other", "theirs"));
  EXPECT_EQ(rules.QueueOf(gang), "ours");
  gang.spec.queue = "own";
  EXPECT_EQ(rules.QueueOf(gang), "own");
  gang.admitted_queue = "";
  EXPECT_EQ(rules.QueueOf(gang), "") << "it was admitted under none";
}

TEST(GangRules, ANamespaceThatNamesNoQueueAnyMoreHasTheDefault) {
  GangRules rules("default");
  const Gang gang = GangOfClass("");
  EXPECT_FALSE(rules.SetNamespaceQueue("team", ""));
  EXPECT_TRUE(rules.SetNamespaceQueue("team", "a"));
  EXPECT_FALSE(rules.SetNamespaceQueue("team", "a"));
  EXPECT_TRUE(rules.SetNamespaceQueue("team", "b"));
  EXPECT_EQ(rules.QueueOf(gang), "b");
  EXPECT_TRUE(rules.SetNamespaceQueue("team", ""));
  EXPECT_EQ(rules.QueueOf(gang), "default");
}

}  // namespace
}  // namespace maniple::state_gang_rules_test
