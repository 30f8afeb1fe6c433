// Proof of help: in random small clusters each change that is named is made to the objects, and the
// real loop starts the gang; with one less it does not; and trying every single change finds
// nothing smaller and no kind that was left out.
//
// MANIPLE_HELP_WORLDS=20000 is the full size; MANIPLE_HELP_FIRST=N begins with world N.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/oracle/advice/help_world.h"
#include "test/support/worlds.h"

namespace maniple {
namespace {

constexpr int kDefaultWorlds = 600;
constexpr int64_t kMostTried = 40;  // of GPUs, nodes and quota: more than any of these worlds lacks

using Edit = std::function<void(HelpWorld&)>;
HelpWorld With(HelpWorld world, const Edit& edit) {
  edit(world);
  return world;
}

HelpWorld::NodeLine& NodeIn(HelpWorld& world, const std::string& name) {
  return *std::ranges::find(world.nodes, name, &HelpWorld::NodeLine::name);
}

// Copies of the node with so many GPUs in all; of one that has none so many nodes.
void AddUnits(HelpWorld& world, const std::string& like_name, int64_t units) {
  const HelpWorld::NodeLine like = NodeIn(world, like_name);
  const bool gpus = world.gpu > 0;
  for (int made = 0; units > 0; ++made) {
    HelpWorld::NodeLine& copy = world.nodes.emplace_back(like);
    copy.name = absl::StrCat("x", made);
    if (gpus) copy.gpu = std::min(units, like.gpu);
    units -= gpus ? copy.gpu : 1;
  }
}

void AddQuota(HelpWorld& world, const std::string& at, int64_t more) {
  for (HelpWorld::QueueLine& queue : world.queues) {
    if (queue.name == at) queue.nominal += more;
  }
  if (at == "all") world.cohort_nominal += more;
}

void Back(HelpWorld& world, const std::string& node, bool uncordon) {
  HelpWorld::NodeLine& line = NodeIn(world, node);
  if (uncordon) {
    line.cordoned = false;
  } else {
    line.taint.clear();
  }
}

void End(HelpWorld& world, const std::string& gang) {
  std::erase_if(world.running, [&](const HelpWorld::RunningLine& line) {
    return absl::StrCat("default/", line.name) == gang;
  });
}

std::optional<int64_t> Least(int64_t from, int64_t to, const std::function<bool(int64_t)>& does) {
  for (int64_t n = from; n <= to; ++n) {
    if (does(n)) return n;
  }
  return std::nullopt;
}

// Everything that a single change can do, by trying: kind and what of it, and how much it takes.
using Facts = std::map<std::string, int64_t>;

Facts Tried(const HelpWorld& world) {
  Facts facts;
  const auto note = [&facts](const std::string& what, std::optional<int64_t> amount) {
    if (!amount.has_value()) return;
    const auto [at, is_new] = facts.emplace(what, *amount);
    if (!is_new) at->second = std::min(at->second, *amount);
  };
  for (const HelpWorld::NodeLine& like : world.nodes) {
    const std::string what = world.gpu > 0 ? absl::StrCat("gpus ", like.product) : "nodes";
    note(what, Least(1, kMostTried, [&](int64_t units) {
           return Starts(With(world, [&](HelpWorld& w) { AddUnits(w, like.name, units); }));
         }));
  }
  for (const std::string& at : std::vector<std::string>{world.queue, "all"}) {
    if (world.queue.empty() || world.gpu == 0) continue;
    note(absl::StrCat("quota ", at), Least(1, kMostTried, [&](int64_t more) {
           return Starts(With(world, [&](HelpWorld& w) { AddQuota(w, at, more); }));
         }));
  }
  note("priority", Least(world.priority + 1, 12, [&](int64_t priority) {
         return WhatBecomesOf(With(world, [&](HelpWorld& w) {
                  w.priority = static_cast<int32_t>(priority);
                })) != Outcome::kWaits;
       }));
  note("fewer", Least(1, world.min_member - 1, [&](int64_t fewer) {
         return Starts(With(world, [&](HelpWorld& w) { w.min_member -= static_cast<int>(fewer); }));
       }));
  const std::vector<std::string> levels = world.required == "rack"
                                              ? std::vector<std::string>{"block", ""}
                                              : std::vector<std::string>{""};
  for (size_t i = 0; !world.required.empty() && i < levels.size(); ++i) {
    if (!Starts(With(world, [&](HelpWorld& w) { w.required = levels[i]; }))) continue;
    note("level", static_cast<int64_t>(i));
    break;
  }
  int64_t back = 0;
  for (const HelpWorld::NodeLine& node : world.nodes) {
    for (const bool uncordon : {true, false}) {
      if (uncordon ? !node.cordoned : node.taint.empty()) continue;
      if (Starts(With(world, [&](HelpWorld& w) { Back(w, node.name, uncordon); }))) ++back;
    }
  }
  if (back > 0) facts["nodes back"] = std::min<int64_t>(back, 3);  // not more are named
  for (const HelpWorld::RunningLine& gang : world.running) {
    const auto pods = static_cast<int64_t>(gang.nodes.size());
    if (Starts(With(world, [&](HelpWorld& w) { End(w, absl::StrCat("default/", gang.name)); }))) {
      note("gone", pods);
    }
  }
  return facts;
}

// What the answer says, in the same words.
class Told final {
 public:
  explicit Told(const HelpWorld& world) : world_(world) {}

  void operator()(const MoreGpus& more) {
    facts_[absl::StrCat("gpus ", ProductOf(more.like))] = more.amount;
  }
  void operator()(const MoreNodes& more) { facts_["nodes"] = more.nodes; }
  void operator()(const MoreQuota& more) {
    facts_[absl::StrCat("quota ", more.at)] = more.amount.units();
  }
  void operator()(const HigherPriority& higher) { facts_["priority"] = higher.above + 1; }
  void operator()(const SmallerQuorum& smaller) {
    facts_["fewer"] = smaller.instead_of - smaller.members;
  }
  void operator()(const WiderLevel& wider) {
    facts_["level"] = wider.instead_of == "rack" && wider.level.empty() ? 1 : 0;
  }
  void operator()(const NodeBack&) { ++facts_["nodes back"]; }
  void operator()(const GangGone& gone) {
    const std::string name = gone.gang.substr(gone.gang.find('/') + 1);
    const auto line = std::ranges::find(world_.running, name, &HelpWorld::RunningLine::name);
    facts_["gone"] = static_cast<int64_t>(line->nodes.size());
  }
  [[nodiscard]] const Facts& facts() const { return facts_; }

 private:
  [[nodiscard]] std::string ProductOf(const std::string& node) const {
    return std::ranges::find(world_.nodes, node, &HelpWorld::NodeLine::name)->product;
  }
  const HelpWorld& world_;
  Facts facts_;
};

std::string Text(const Facts& facts) {
  return absl::StrJoin(facts, "; ", absl::PairFormatter("="));
}

// Makes a change to the objects.
struct Make {
  HelpWorld& world;
  void operator()(const MoreGpus& more) const { AddUnits(world, more.like, more.amount); }
  void operator()(const MoreNodes& more) const { AddUnits(world, more.like, more.nodes); }
  void operator()(const MoreQuota& more) const { AddQuota(world, more.at, more.amount.units()); }
  void operator()(const HigherPriority& higher) const { world.priority = higher.above + 1; }
  void operator()(const SmallerQuorum& smaller) const { world.min_member = smaller.members; }
  void operator()(const WiderLevel& wider) const { world.required = wider.level; }
  void operator()(const NodeBack& back) const { Back(world, back.node, back.taint.empty()); }
  void operator()(const GangGone& gone) const { End(world, gone.gang); }
};

TEST(AdviceOracleTest, WhatIsNamedHelpsAndNothingSmallerDoes) {
  const auto first = static_cast<int>(Setting("MANIPLE_HELP_FIRST", 1));
  const auto worlds = static_cast<int>(Worlds("MANIPLE_HELP_WORLDS", kDefaultWorlds));
  std::map<std::string, int> seen;  // kinds
  int waiting = 0, pairs = 0, helpless = 0;
  for (int seed = first; seed < first + worlds && !HasFailure(); ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const HelpWorld world = RandomHelpWorld(random);
    if (WhatBecomesOf(world) != Outcome::kWaits) continue;
    ++waiting;
    const AskedHelp asked = AskForHelp(world);
    ASSERT_NE(asked.question, nullptr) << "world " << seed << "\n" << TextOf(world);
    const Help help = AnswerHelp(*asked.question);
    EXPECT_FALSE(help.gave_up) << "world " << seed;
    Told told(world);
    for (const Help::Entry& entry : help.entries) {
      SCOPED_TRACE(absl::StrCat("world ", seed, ": ", HelpText(entry), "\n", TextOf(world)));
      HelpWorld changed = world;
      for (const HelpfulChange& change : entry.changes) std::visit(Make{changed}, change);
      EXPECT_NE(WhatBecomesOf(changed), Outcome::kWaits) << "it does not help";
      if (entry.changes.size() == 1) {
        std::visit(told, entry.changes.front());
        continue;
      }
      ++pairs;
      for (size_t left_out = 0; left_out < entry.changes.size(); ++left_out) {
        HelpWorld others = world;
        for (size_t i = 0; i < entry.changes.size(); ++i) {
          if (i != left_out) std::visit(Make{others}, entry.changes[i]);
        }
        EXPECT_EQ(WhatBecomesOf(others), Outcome::kWaits) << "not all of it is needed";
      }
    }
    const Facts tried = Tried(world);
    EXPECT_EQ(Text(told.facts()), Text(tried)) << "world " << seed << "\n" << TextOf(world);
    if (help.entries.empty()) ++helpless;
    for (const auto& [what, amount] : tried) {
      ++seen[what == "nodes back" ? what : what.substr(0, what.find(' '))];
    }
  }
  std::cout << waiting << " gangs waited; " << pairs << " pairs, " << helpless << " without help; "
            << absl::StrJoin(seen, ", ", absl::PairFormatter(" ")) << "\n";
  if (worlds >= kDefaultWorlds) {
    EXPECT_EQ(seen.size(), 8) << "some kind of help is never met";
    EXPECT_GT(pairs, 0);
  }
}

}  // namespace
}  // namespace maniple
