#include "test/sim/neighbours.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/sim/hostile_tenant.h"
#include "test/sim/waiting.h"

namespace maniple::sim {
namespace {

// A turn, and the way of a bind; far less than a hostile tenant would like it to be.
constexpr absl::Duration kServedWithin = absl::Seconds(45);
constexpr char kNeighbour[] = "neighbour";

}  // namespace

void Neighbours::MoveIn() {
  const int number = next_++;
  users_.AddNode(absl::StrCat("s", 100 + number));
  const std::string gang = absl::StrCat(kNeighbour, number);
  users_.gangs()[gang] = {.pods = 1 + number % 2,
                          .gpus = 1 + number % 3,
                          .min_member = 1 + number % 2,
                          .queue = kWalledQueue};
  users_.CreateGroup(gang);
  for (int i = 0; i < users_.gangs()[gang].pods; ++i) users_.CreatePod(gang, i);
}

void Neighbours::Look(Room room, absl::Time now) {
  const std::map<std::string, absl::Time> before = std::move(could_start_since_);
  could_start_since_.clear();
  if (room != Room::kOpen) return;
  for (const Wanting& gang : WholeGangsWaiting(truth_)) {
    if (!absl::StartsWith(gang.key, absl::StrCat("default/", kNeighbour))) continue;
    if (MayBeHeldUp(truth_, gang.key) || !CouldStart(truth_, gang)) continue;
    const auto known = before.find(gang.key);
    const absl::Time since = known == before.end() ? now : known->second;
    could_start_since_[gang.key] = since;
    if (now - since <= kServedWithin) continue;
    const Truth::GroupFacts& group = truth_.groups().at(gang.key);
    truth_.Violated(now, absl::StrCat("OthersAreServed: ", gang.key, " could have started ",
                                      absl::FormatDuration(now - since),
                                      " ago and waits beside the tenant (", group.reason, ")"));
  }
}

}  // namespace maniple::sim
