// A new leader knows what the old one knew: everything that must survive stands in the API.
//
// Fears: a status that is not written, or not believed; a charge, a count or a held room that stays
// after its reason is gone, so that only a restart mends it; something that a leader has only seen
// pass by; a field that a process keeps from its first lead into its second.
//
// A random history of Queues, gangs, nodes and namespaces is played to one loop. Whenever all is
// answered and at rest, a process that knows only the API's objects says the same as the old one.
// For more histories: MANIPLE_LEADER_HISTORIES, from MANIPLE_LEADER_HISTORIES_FIRST on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/oracle/loop/leaders.h"
#include "test/oracle/loop/leaders_world.h"
#include "test/support/worlds.h"

namespace maniple::loop_new_leader_test {
namespace {

constexpr int kSteps = 24;

std::string Differences(const Words& old, const Words& known) {
  std::string out;
  std::set<std::string> subjects;
  for (const Words* words : {&old, &known}) {
    for (const auto& [subject, text] : *words) subjects.insert(subject);
  }
  const auto said = [](const Words& words, const std::string& subject) {
    const auto it = words.find(subject);
    return it == words.end() ? "nothing" : it->second;
  };
  for (const std::string& subject : subjects) {
    if (said(old, subject) == said(known, subject)) continue;
    absl::StrAppend(&out, subject, "\n  old:   ", said(old, subject),
                    "\n  fresh: ", said(known, subject), "\n");
  }
  return out;
}

// What was compared: in all, with everything that is ever compared, and gangs by what they do.
struct Looks {
  int all = 0, whole = 0, running = 0, waiting = 0;
};

bool Compare(World& world, uint64_t seed, int step, Looks& looks) {
  const Memory leave_out = world.OnlyRemembered();
  const Words old = WordsOf(world.leader, world.now, leave_out);
  ++looks.all;
  if (!leave_out.counts && !leave_out.usage && !leave_out.waits) ++looks.whole;
  for (const auto& [subject, text] : old) {
    if (!absl::StartsWith(subject, "gang ")) continue;
    ++(absl::StrContains(text, " Running ") ? looks.running : looks.waiting);
  }
  Leader fresh = world.FreshLeader();
  const Words known = WordsOf(fresh, world.now, leave_out);
  const std::string differences = Differences(old, known);
  if (differences.empty()) return true;
  ADD_FAILURE() << "seed " << seed << ", step " << step << "\n"
                << differences << world.Story() << "\nthe new leader decides\n    "
                << absl::StrJoin(fresh.loop->TakeDecisionLog(), "\n    ");
  return false;
}

void PlayAndCompare(uint64_t seed, Looks& looks) {
  World world(seed);
  for (int step = 0; step < kSteps; ++step) {
    world.Step();
    world.Rest();
    if (!Compare(world, seed, step, looks)) break;
  }
}

TEST(LoopNewLeader, KnowsWhatTheOldOneKnew) {
  const int64_t first = Setting("MANIPLE_LEADER_HISTORIES_FIRST", 0);
  Looks looks;
  for (int64_t i = 0; i < Worlds("MANIPLE_LEADER_HISTORIES", 16); ++i) {
    PlayAndCompare(static_cast<uint64_t>(first + i), looks);
  }
  EXPECT_GT(looks.whole, looks.all / 10);
  EXPECT_GT(looks.running, looks.all / 4);
  EXPECT_GT(looks.waiting, looks.all / 4);
}

// The rest of a gang keeps to the flavor of those that stand, and their nodes got another one.
TEST(LoopNewLeader, FindsNoRestOfAGangAsleepAfterItsNodeChangedItsFlavor) {
  Looks looks;
  for (const uint64_t seed : {240, 485}) PlayAndCompare(seed, looks);
}

}  // namespace
}  // namespace maniple::loop_new_leader_test
