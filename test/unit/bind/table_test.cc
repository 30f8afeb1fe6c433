// Every state of a member against every input: the table of scheduler/bind/README.md, made from the
// code.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/files.h"
#include "test/unit/bind/fixture.h"

namespace maniple {
namespace {

using enum BindState;

constexpr BindState kAllStates[] = {kInFlight,  kReading, kWaiting, kBound, kConfirming,
                                    kMisplaced, kRefused, kGone,    kOut,   kDeleting};

std::string Name(std::optional<BindState> state) {
  if (!state.has_value()) return "forgotten";
  switch (*state) {
    case kInFlight:
      return "in flight";
    case kReading:
      return "reading";
    case kWaiting:
      return "waiting";
    case kBound:
      return "bound";
    case kConfirming:
      return "confirming";
    case kMisplaced:
      return "misplaced";
    case kRefused:
      return "refused";
    case kGone:
      return "gone";
    case kOut:
      return "out";
    case kDeleting:
      return "deleting";
  }
  return "";
}

// Brings member 0 into the state; the others stay in flight, but for one that is refused to have
// member 0 deleted.
void Reach(Fixture& f, BindState state) {
  f.Start({0, 1});
  switch (state) {
    case kInFlight:
      return;
    case kReading:
      f.Lose(0);
      return;
    case kWaiting:
      f.Reply(0, BindReplyKind::kRetry);
      return;
    case kBound:
      f.Reply(0, BindReplyKind::kBound);
      return;
    case kConfirming:
      f.Reply(0, BindReplyKind::kBound);
      f.now = f.binding.NextDeadline();
      f.Settle();
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
// Node 50 is as good as the planned one, node 95 outside the required domain.
constexpr uint32_t kAllowed = 50, kForbidden = 95;

struct Input {
  std::string name;
  std::function<std::vector<std::string>(Fixture&)> give;
};

Input Replied(const std::string& name, BindReplyKind kind,
              std::optional<uint32_t> node = std::nullopt) {
  return {name, [kind, node](Fixture& f) { return f.Reply(0, kind, node); }};
}
Input WasRead(const std::string& name, PodReadingKind kind, uint32_t node = 0) {
  return {name, [kind, node](Fixture& f) { return f.Read(0, kind, node); }};
}
Input Seen(const std::string& name, MemberState state, int node = -1) {
  return {name, [state, node](Fixture& f) {
            f.Show(0, state, node);
            return f.Settle();
          }};
}

const std::vector<Input>& Replies() {
  static const std::vector<Input> inputs = {
      Replied("bound", BindReplyKind::kBound),
      Replied("elsewhere", BindReplyKind::kBoundElsewhere, kAllowed),
      Replied("outside `required`", BindReplyKind::kBoundElsewhere, kForbidden),
      Replied("unclear", BindReplyKind::kUnclear),
      Replied("try again", BindReplyKind::kRetry),
      Replied("refused", BindReplyKind::kRefused),
      Replied("gone", BindReplyKind::kGone),
      Replied("gated", BindReplyKind::kGated)};
  return inputs;
}
const std::vector<Input>& Readings() {
  static const std::vector<Input> inputs = {
      WasRead("bound", PodReadingKind::kBound),
      WasRead("elsewhere", PodReadingKind::kBound, kAllowed),
      WasRead("outside `required`", PodReadingKind::kBound, kForbidden),
      WasRead("unclear", PodReadingKind::kUnclear),
      WasRead("unbound", PodReadingKind::kUnbound),
      WasRead("gone", PodReadingKind::kGone),
      WasRead("gated", PodReadingKind::kGated)};
  return inputs;
}
const std::vector<Input>& Sightings() {
  static const std::vector<Input> inputs = {
      Seen("unbound", MemberState::kPending),
      Seen("here", MemberState::kBound),
      Seen("elsewhere", MemberState::kBound, kAllowed),
      Seen("outside `required`", MemberState::kBound, kForbidden),
      Seen("gated", MemberState::kGated),
      Seen("succeeded", MemberState::kSucceeded),
      Seen("failed", MemberState::kFailed),
      Seen("leaving", MemberState::kTerminating),
      {"absent",
       [](Fixture& f) {
         f.ShowGone(0);
         return f.Settle();
       }},
      {"its time",
       [](Fixture& f) {
         f.gang.spec.schedule_timeout = absl::Hours(1);
         f.now += absl::Seconds(61);
         return f.Settle();
       }},
      {"its node gone", [](Fixture& f) {
         f.lost_nodes.insert(0);
         return f.Settle();
       }}};
  return inputs;
}

// What the input makes of a member in that state: "-" is nothing, "r" that its room is released.
std::string Cell(BindState state, const Input& input) {
  Fixture f(state == kDeleting ? 2 : 3);
  // A spare keeps a refusal from being fatal for the gang.
  if (state != kDeleting) f.AddPod();
  if (state != kDeleting) f.gang.spec.min_member = 3;
  Reach(f, state);
  std::vector<std::string> mine;
  for (const std::string& action : input.give(f)) {
    if (absl::StrContains(action, " 0")) mine.push_back(action);
  }
  const bool released = std::ranges::find(mine, "release 0") != mine.end();
  if (f.State(0) == state && mine.empty()) return "-";
  return absl::StrCat(Name(f.State(0)), released ? " r" : "");
}

std::string Table(const std::string& corner, const std::vector<Input>& inputs) {
  std::vector<std::string> head = {corner}, rule = {"---"};
  for (const Input& input : inputs) {
    head.push_back(input.name);
    rule.push_back("---");
  }
  const auto line = [](const std::vector<std::string>& cells) {
    return absl::StrCat("| ", absl::StrJoin(cells, " | "), " |\n");
  };
  std::string table = line(head) + absl::StrCat("|", absl::StrJoin(rule, "|"), "|\n");
  for (const BindState state : kAllStates) {
    std::vector<std::string> row = {Name(state)};
    bool any = false;
    for (const Input& input : inputs) {
      row.push_back(Cell(state, input));
      any = any || row.back() != "-";
    }
    if (any) table += line(row);
  }
  return table;
}

void ExpectDocumented(const std::string& table) {
  const absl::StatusOr<std::string> page = ReadWholeFile("scheduler/bind/README.md");
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_TRUE(absl::StrContains(*page, table)) << "scheduler/bind/README.md should have\n" << table;
}

TEST(BindTable, EveryStateIsReachable) {
  for (const BindState state : kAllStates) {
    Fixture f(2);
    Reach(f, state);
    EXPECT_EQ(f.State(0), state) << Name(state);
  }
}

TEST(BindTable, RepliesDoWhatTheArchitectureSays) { ExpectDocumented(Table("reply", Replies())); }
TEST(BindTable, ReadingsDoWhatTheArchitectureSays) {
  ExpectDocumented(Table("reading", Readings()));
}
TEST(BindTable, SightingsDoWhatTheArchitectureSays) {
  ExpectDocumented(Table("watch, clock", Sightings()));
}

}  // namespace
}  // namespace maniple
