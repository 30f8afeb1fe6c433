#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/bind/gang_binding.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum BindState;

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);
constexpr BackoffPolicy kBackoff = {.first = absl::Milliseconds(100), .most = absl::Seconds(1)};

std::string Text(const BindAction& action) {
  struct {
    std::string operator()(const SendBind& a) {
      return absl::StrCat("bind ", a.pod.index(), " to ", a.node.index());
    }
    std::string operator()(const ReadPod& a) { return absl::StrCat("read ", a.pod.index()); }
    std::string operator()(const DeletePod& a) { return absl::StrCat("delete ", a.pod.index()); }
    std::string operator()(const ReleaseReservation& a) {
      return absl::StrCat("release ", a.pod.index());
    }
    std::string operator()(const CoolNode& a) { return absl::StrCat("cool ", a.node.index()); }
    std::string operator()(const MemberRefused& a) {
      return absl::StrCat("refused ", a.pod.index());
    }
    std::string operator()(const QuorumBound&) { return "quorum bound"; }
    std::string operator()(const QuorumLost&) { return "quorum lost"; }
    std::string operator()(const Undone& a) {
      switch (a.cause) {
        case UndoCause::kTimeout:
          return absl::StrCat("undone: timeout, ", a.deleted);
        case UndoCause::kRefused:
          return absl::StrCat("undone: refused, ", a.deleted);
        case UndoCause::kQuorumLost:
          return absl::StrCat("undone: quorum lost, ", a.deleted);
      }
      return "";
    }
  } text;
  return std::visit(text, action);
}

// One gang, its binding, and a clock.
class Fixture {
 public:
  explicit Fixture(int pods, int min_member = 0, BindPhase phase = BindPhase::kBinding)
      : binding(kBackoff, phase, kStart) {
    gang.group_exists = true;
    gang.spec.min_member = min_member == 0 ? pods : min_member;
    gang.spec.schedule_timeout = absl::Seconds(60);
    gang.spec.quorum_loss_grace = absl::Seconds(300);
    for (int i = 0; i < pods; ++i) AddPod();
  }
  void AddPod() {
    Member member;
    member.pod = PodId(static_cast<uint32_t>(gang.members.size()));
    member.name = absl::StrCat("a-", gang.members.size());
    member.shape = ShapeId(0);
    gang.members.push_back(member);
  }
  std::vector<std::string> Do(const std::function<void(BindStep&)>& input) {
    std::vector<BindAction> actions;
    const auto node_exists = [this](NodeId node) { return !lost_nodes.contains(node.index()); };
    const auto misplaced_on = [](NodeId node) { return node.index() >= 90; };
    BindStep step{now, random, node_exists, misplaced_on, actions};
    input(step);
    std::vector<std::string> out;
    for (const BindAction& action : actions) out.push_back(Text(action));
    return out;
  }
  std::vector<std::string> Start(std::vector<uint32_t> pods) {
    std::vector<Placement> placements;
    for (const uint32_t pod : pods) placements.push_back({PodId(pod), NodeId(pod)});
    return Do([&](BindStep& step) { binding.Start(placements, gang, step); });
  }
  std::vector<std::string> Reply(uint32_t pod, BindReplyKind kind,
                                 std::optional<uint32_t> elsewhere = std::nullopt) {
    return Do([&](BindStep& step) {
      binding.OnBindReply(PodId(pod), {.kind = kind, .detail = "detail"},
                          elsewhere ? std::optional(NodeId(*elsewhere)) : std::nullopt, step);
    });
  }
  std::vector<std::string> Read(uint32_t pod, PodReadingKind kind, uint32_t node = 0) {
    return Do(
        [&](BindStep& step) { binding.OnReading(PodId(pod), {.kind = kind}, NodeId(node), step); });
  }
  std::vector<std::string> Deleted(uint32_t pod, DeleteReplyKind kind = DeleteReplyKind::kDone) {
    return Do([&](BindStep& step) { binding.OnDeleteReply(PodId(pod), {.kind = kind}, step); });
  }
  std::vector<std::string> Settle() {
    return Do([&](BindStep& step) { binding.Settle(gang, step); });
  }
  void Show(uint32_t pod, MemberState state, int node = -1, const std::string& reason = "") {
    Member& member = gang.members[pod];
    member.state = state;
    if (state != MemberState::kPending && state != MemberState::kGated) {
      member.node = NodeId(node < 0 ? pod : static_cast<uint32_t>(node));
    }
    member.status_reason = reason;
  }
  void ShowGone(uint32_t pod) {
    std::erase_if(gang.members, [pod](const Member& m) { return m.pod == PodId(pod); });
  }
  std::optional<BindState> State(uint32_t pod) const { return binding.StateOf(PodId(pod)); }

  Gang gang;
  GangBinding binding;
  Random random{1};
  absl::Time now = kStart;
  std::set<uint32_t> lost_nodes;
};

// Brings member 0 of a gang of two into the state; member 1 stays in flight.
void Reach(Fixture& f, BindState state) {
  f.Start({0, 1});
  switch (state) {
    case kInFlight:
      return;
    case kReading:
      f.Reply(0, BindReplyKind::kUnclear);
      return;
    case kWaiting:
      f.Reply(0, BindReplyKind::kRetry);
      return;
    case kBound:
      f.Reply(0, BindReplyKind::kBound);
      return;
    case kMisplaced:
      f.Reply(0, BindReplyKind::kBoundElsewhere, 95);
      return;
    case kRefused:
      f.Reply(0, BindReplyKind::kRefused);
      return;
    case kGone:
      f.Reply(0, BindReplyKind::kGone);
      return;
    case kOut:
      f.Reply(0, BindReplyKind::kGated);
      return;
    case kDeleting:
      f.Reply(0, BindReplyKind::kBound);
      f.Reply(1, BindReplyKind::kRefused);
      f.Settle();
      return;
  }
}
constexpr BindState kAllStates[] = {kInFlight, kReading, kWaiting, kBound,   kMisplaced,
                                    kRefused,  kGone,    kOut,     kDeleting};

TEST(GangBindingTable, EveryStateIsReachable) {
  for (const BindState state : kAllStates) {
    Fixture f(2);
    Reach(f, state);
    EXPECT_EQ(f.State(0), state) << static_cast<int>(state);
  }
}

TEST(GangBindingTable, ABindReplyMovesOnlyAMemberInFlight) {
  using enum BindReplyKind;
  const std::map<BindReplyKind, BindState> next = {{BindReplyKind::kBound, BindState::kBound},
                                                   {kUnclear, kReading},
                                                   {kRetry, kWaiting},
                                                   {BindReplyKind::kRefused, BindState::kRefused},
                                                   {BindReplyKind::kGone, BindState::kGone},
                                                   {kGated, kOut}};
  for (const BindState state : kAllStates) {
    for (const auto& [reply, expected] : next) {
      SCOPED_TRACE(
          absl::StrCat("state ", static_cast<int>(state), " reply ", static_cast<int>(reply)));
      Fixture f(2);
      Reach(f, state);
      const auto actions = f.Reply(0, reply);
      EXPECT_EQ(f.State(0), state == kInFlight ? expected : state);
      if (state != kInFlight) {
        EXPECT_THAT(actions, IsEmpty());
      }
    }
  }
}

TEST(GangBindingTable, AReadingMovesOnlyAMemberBeingRead) {
  const std::map<PodReadingKind, BindState> next = {{PodReadingKind::kUnbound, kWaiting},
                                                    {PodReadingKind::kBound, BindState::kBound},
                                                    {PodReadingKind::kGone, BindState::kGone},
                                                    {PodReadingKind::kGated, kOut},
                                                    {PodReadingKind::kUnclear, kReading}};
  for (const BindState state : kAllStates) {
    for (const auto& [reading, expected] : next) {
      SCOPED_TRACE(
          absl::StrCat("state ", static_cast<int>(state), " read ", static_cast<int>(reading)));
      Fixture f(2);
      Reach(f, state);
      f.Read(0, reading);
      EXPECT_EQ(f.State(0), state == kReading ? expected : state);
    }
  }
}

// What the watch shows of member 0, and the state it leads to from every state.
struct Sighting {
  std::string name;
  std::function<void(Fixture&)> show;
  std::map<BindState, BindState> moves;  // states not named stay
};

TEST(GangBindingTable, TheWatchMovesEveryStateAsWritten) {
  const std::map<BindState, BindState> lost = {
      {kInFlight, kGone},  {kReading, kGone}, {kWaiting, kGone}, {kBound, kGone},
      {kMisplaced, kGone}, {kRefused, kGone}, {kOut, kGone},     {kDeleting, kGone}};
  const std::vector<Sighting> sightings = {
      {"unbound", [](Fixture& f) { f.Show(0, MemberState::kPending); }, {}},
      {"here",
       [](Fixture& f) { f.Show(0, MemberState::kBound); },
       {{kInFlight, kBound},
        {kReading, kBound},
        {kWaiting, kBound},
        {kRefused, kBound},
        {kOut, kBound}}},
      {"elsewhere",
       [](Fixture& f) { f.Show(0, MemberState::kBound, 50); },
       {{kInFlight, kBound},
        {kReading, kBound},
        {kWaiting, kBound},
        {kRefused, kBound},
        {kOut, kBound}}},
      {"misplaced",
       [](Fixture& f) { f.Show(0, MemberState::kBound, 95); },
       {{kInFlight, kMisplaced}, {kReading, kMisplaced}, {kWaiting, kMisplaced}}},
      {"succeeded",
       [](Fixture& f) { f.Show(0, MemberState::kSucceeded); },
       {{kInFlight, kBound},
        {kReading, kBound},
        {kWaiting, kBound},
        {kRefused, kBound},
        {kOut, kBound},
        {kDeleting, kGone}}},
      {"failed", [](Fixture& f) { f.Show(0, MemberState::kFailed); }, lost},
      {"leaving", [](Fixture& f) { f.Show(0, MemberState::kTerminating); }, lost},
      {"absent", [](Fixture& f) { f.ShowGone(0); }, lost},
  };
  for (const Sighting& sighting : sightings) {
    for (const BindState state : kAllStates) {
      // A misplaced, refused or deleting member makes the gang undo, which the next table covers.
      if (state == kMisplaced || state == kRefused) continue;
      if (sighting.name == "misplaced" && state != kInFlight && state != kReading) continue;
      SCOPED_TRACE(absl::StrCat(sighting.name, " in state ", static_cast<int>(state)));
      Fixture f(2);
      if (state != kDeleting) f.AddPod();  // a spare keeps a refusal from being fatal
      Reach(f, state);
      sighting.show(f);
      f.Settle();
      const auto move = sighting.moves.find(state);
      EXPECT_EQ(f.State(0), move == sighting.moves.end() ? state : move->second);
    }
  }
}

TEST(GangBinding, BindsTheWholePlanAtOnceAndEndsWithItsQuorum) {
  Fixture f(3);
  EXPECT_THAT(f.Start({0, 1, 2}), ElementsAre("bind 0 to 0", "bind 1 to 1", "bind 2 to 2"));
  for (const uint32_t pod : {0, 1, 2}) {
    EXPECT_THAT(f.Reply(pod, BindReplyKind::kBound), IsEmpty());
  }
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));
  EXPECT_FALSE(f.binding.done()) << "the watch does not show it yet";
  for (uint32_t pod = 0; pod < 3; ++pod) f.Show(pod, MemberState::kBound);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_TRUE(f.binding.done());
}

TEST(GangBinding, TheWatchAloneIsEnoughAndALateReplyIsIgnored) {
  Fixture f(1);
  f.Start({0});
  f.Show(0, MemberState::kBound);
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));
  EXPECT_THAT(f.Reply(0, BindReplyKind::kUnclear), IsEmpty());
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_TRUE(f.binding.done());
}

TEST(GangBinding, ALostReplyIsLookedUpBeforeAnythingElse) {
  Fixture f(1);
  f.Start({0});
  EXPECT_THAT(f.Reply(0, BindReplyKind::kUnclear), ElementsAre("read 0"));
  EXPECT_THAT(f.Read(0, PodReadingKind::kBound, 0), IsEmpty());
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));
}

TEST(GangBinding, AReadingThatSaysUnboundBindsAgainLater) {
  Fixture f(1);
  f.Start({0});
  f.Reply(0, BindReplyKind::kUnclear);
  f.Read(0, PodReadingKind::kUnbound);
  EXPECT_THAT(f.Settle(), IsEmpty());
  f.now = f.binding.NextDeadline();
  EXPECT_LT(f.now, kStart + absl::Seconds(1));
  EXPECT_THAT(f.Settle(), ElementsAre("bind 0 to 0"));
}

TEST(GangBinding, RetriesWaitLongerEachTimeAndHonourRetryAfter) {
  Fixture f(1);
  f.Start({0});
  f.Reply(0, BindReplyKind::kRetry);
  const absl::Duration first = f.binding.NextDeadline() - f.now;
  f.now = f.binding.NextDeadline();
  f.Settle();
  f.Do([&](BindStep& step) {
    f.binding.OnBindReply(
        PodId(0), {.kind = BindReplyKind::kRetry, .retry_after = absl::Seconds(9)}, {}, step);
  });
  EXPECT_GE(first, absl::Milliseconds(100));
  EXPECT_EQ(f.binding.NextDeadline() - f.now, absl::Seconds(9));
}

TEST(GangBinding, AMemberBoundElsewhereCountsUnlessItBreaksTheRequiredDomain) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  EXPECT_THAT(f.Reply(1, BindReplyKind::kBoundElsewhere, 7), ElementsAre("release 1"));
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));

  Fixture g(2);
  g.Start({0, 1});
  g.Reply(0, BindReplyKind::kBound);
  g.Reply(1, BindReplyKind::kBoundElsewhere, 95);
  EXPECT_THAT(g.Settle(), ElementsAre("delete 0", "delete 1"));
}

TEST(GangBinding, ARefusedMemberUndoesTheGangAtOnce) {
  Fixture f(3);
  f.Start({0, 1, 2});
  f.Reply(0, BindReplyKind::kBound);
  EXPECT_THAT(f.Reply(1, BindReplyKind::kRefused), ElementsAre("release 1", "refused 1"));
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
  EXPECT_EQ(f.binding.phase(), BindPhase::kUndoing);
  EXPECT_THAT(f.Settle(), IsEmpty());
  f.Reply(2, BindReplyKind::kBound);  // was under way
  EXPECT_THAT(f.Settle(), ElementsAre("delete 2"));
  f.Deleted(0);
  f.Deleted(2);
  EXPECT_THAT(f.Settle(), IsEmpty()) << "the watch still shows them";
  f.ShowGone(2);
  f.Show(0, MemberState::kTerminating);
  EXPECT_THAT(f.Settle(), ElementsAre("undone: refused, 2"));
  EXPECT_TRUE(f.binding.done());
}

TEST(GangBinding, ARefusedMemberIsReplacedByASpareOne) {
  Fixture f(3, 2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.Reply(1, BindReplyKind::kRefused);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_TRUE(f.binding.wants_repair());
  EXPECT_FALSE(f.binding.MayPlan(PodId(1)));
  EXPECT_TRUE(f.binding.MayPlan(PodId(2)));
  EXPECT_THAT(f.binding.vacancies(), ElementsAre(Vacancy{NodeId(1), ShapeId(0)}));
  EXPECT_THAT(f.Start({2}), ElementsAre("bind 2 to 2"));
  f.Reply(2, BindReplyKind::kBound);
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));
  EXPECT_THAT(f.binding.vacancies(), IsEmpty());
}

TEST(GangBinding, IsUndoneAtTheTimeoutAfterTheFirstBind) {
  Fixture f(2);
  f.Start({0, 1});
  f.now = kStart + absl::Seconds(10);
  f.Reply(0, BindReplyKind::kBound);
  f.Show(0, MemberState::kBound);
  f.Reply(1, BindReplyKind::kGone);
  f.ShowGone(1);
  f.Settle();
  EXPECT_EQ(f.binding.NextDeadline(), kStart + absl::Seconds(70));
  f.now = kStart + absl::Seconds(69);
  EXPECT_THAT(f.Settle(), IsEmpty());
  f.now = kStart + absl::Seconds(70);
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
}

TEST(GangBinding, UndoReadsAnUnknownOutcomeBeforeItEnds) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kUnclear);
  f.Reply(1, BindReplyKind::kRefused);
  EXPECT_THAT(f.Settle(), IsEmpty());
  f.Read(0, PodReadingKind::kBound, 0);
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
}

TEST(GangBinding, UndoTriesADeleteAgainUntilItSucceeds) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.Reply(1, BindReplyKind::kRefused);
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
  f.Deleted(0, DeleteReplyKind::kRetry);
  f.now = f.binding.NextDeadline();
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
}

TEST(GangBinding, AnUndoSendsNoBindAndDeletesALateComer) {
  Fixture f(3);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kRetry);
  f.Reply(1, BindReplyKind::kRefused);
  EXPECT_THAT(f.Settle(), ElementsAre("release 0", "undone: refused, 0"));

  Fixture g(3);
  g.Start({0, 1, 2});
  g.Reply(1, BindReplyKind::kRefused);
  g.Settle();
  g.Show(2, MemberState::kBound);
  EXPECT_THAT(g.Settle(), ElementsAre("delete 2"));
}

TEST(GangBinding, WithNoBoundMemberLeftThereIsNothingToRepair) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kGone);
  f.Reply(1, BindReplyKind::kGone);
  f.ShowGone(0);
  f.ShowGone(1);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_EQ(f.binding.phase(), BindPhase::kEnded);
}

TEST(GangBinding, AKubeletRejectionLeavesAVacancyAndCoolsItsNode) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.Show(0, MemberState::kBound);
  f.Show(1, MemberState::kFailed, 1, "OutOfnvidia.com/gpu");
  EXPECT_THAT(f.Settle(), ElementsAre("release 1", "cool 1"));
  EXPECT_THAT(f.Settle(), IsEmpty()) << "cooled once";
  EXPECT_THAT(f.binding.vacancies(),
              ElementsAre(Vacancy{.node = NodeId(1), .shape = ShapeId(0), .unfit = true}));
  EXPECT_FALSE(f.binding.wants_repair());
  f.AddPod();
  f.Settle();
  EXPECT_TRUE(f.binding.wants_repair());
}

TEST(GangBinding, ALostSurplusMemberLeavesNoVacancy) {
  Fixture f(3, 2, BindPhase::kBound);
  for (uint32_t pod = 0; pod < 3; ++pod) f.Show(pod, MemberState::kBound);
  f.Settle();
  f.Show(2, MemberState::kFailed);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_THAT(f.binding.vacancies(), IsEmpty());
  EXPECT_TRUE(f.binding.done());
}

TEST(GangBinding, ALostQuorumIsEvictedAfterItsGracePeriod) {
  Fixture f(2, 2, BindPhase::kBound);
  f.binding.Remember({PodId(0), NodeId(0)}, ShapeId(0));
  f.binding.Remember({PodId(1), NodeId(1)}, ShapeId(0));
  f.Show(0, MemberState::kBound);
  f.ShowGone(1);
  f.now = kStart + absl::Seconds(5);
  EXPECT_THAT(f.Settle(), ElementsAre("quorum lost"));
  EXPECT_THAT(f.binding.vacancies(), ElementsAre(Vacancy{NodeId(1), ShapeId(0)}));
  EXPECT_EQ(f.binding.NextDeadline(), kStart + absl::Seconds(305));
  f.now = kStart + absl::Seconds(305);
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
  f.Deleted(0);
  f.ShowGone(0);
  EXPECT_THAT(f.Settle(), ElementsAre("undone: quorum lost, 1"));
}

TEST(GangBinding, ALostQuorumIsKeptWhenTheGangSaysSo) {
  Fixture f(2, 2, BindPhase::kRepairing);
  f.gang.spec.quorum_loss_action = QuorumLossAction::kKeep;
  f.Show(0, MemberState::kBound);
  f.Show(1, MemberState::kFailed);
  f.now = kStart + absl::Seconds(300);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_EQ(f.binding.phase(), BindPhase::kKept);
  EXPECT_THAT(f.binding.vacancies(), IsEmpty());
  f.AddPod();
  f.Settle();
  EXPECT_TRUE(f.binding.wants_repair()) << "a replacement is still welcome";
}

TEST(GangBinding, ASucceededMemberLosesNothing) {
  Fixture f(2, 2, BindPhase::kBound);
  f.Show(0, MemberState::kBound);
  f.Show(1, MemberState::kSucceeded);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_TRUE(f.binding.done());
}

TEST(GangBinding, ResumesAPartlyBoundGangFromItsOldestBind) {
  Fixture f(2);
  f.now = kStart + absl::Seconds(30);
  f.Show(0, MemberState::kBound);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_TRUE(f.binding.wants_repair());
  EXPECT_EQ(f.binding.deadline(), kStart + absl::Seconds(60));
}

TEST(GangBinding, ARetryToANodeThatIsGoneGivesTheMemberBackForPlanning) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.Reply(1, BindReplyKind::kRetry);
  f.lost_nodes.insert(1);
  f.now = f.binding.NextDeadline();
  EXPECT_THAT(f.Settle(), ElementsAre("release 1"));
  EXPECT_TRUE(f.binding.MayPlan(PodId(1)));
  EXPECT_TRUE(f.binding.wants_repair());
}

TEST(GangBinding, LoweringTheQuorumCompletesIt) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.Settle();
  f.gang.spec.min_member = 1;
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));
}

TEST(GangBinding, WithoutAPodGroupNothingIsUndone) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.gang.group_exists = false;
  f.now = kStart + absl::Hours(1);
  EXPECT_THAT(f.Settle(), IsEmpty());
  f.Reply(1, BindReplyKind::kRefused);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_FALSE(f.binding.done()) << "the watch does not show the bound one yet";
  f.Show(0, MemberState::kBound);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_EQ(f.binding.phase(), BindPhase::kEnded);
}

TEST(GangBinding, AReplyForAnUnknownPodIsIgnored) {
  Fixture f(1);
  f.Start({0});
  EXPECT_THAT(f.Reply(77, BindReplyKind::kBound), IsEmpty());
  EXPECT_THAT(f.Read(0, PodReadingKind::kGone), IsEmpty());
  EXPECT_THAT(f.Deleted(0), IsEmpty());
  EXPECT_EQ(f.State(0), kInFlight);
}

}  // namespace
}  // namespace maniple
