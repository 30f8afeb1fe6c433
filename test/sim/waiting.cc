#include "test/sim/waiting.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/sim/charges.h"
#include "test/sim/free_room.h"

namespace maniple::sim {
namespace {

using Cell = QuotaTruth::Cell;

// Members: where room for more of them may be is not enumerated.
constexpr int64_t kMostLost = 2;

struct Room {
  std::string rack, flavor;
  Cell cell;
  int64_t gpus = 0;
};
using Rooms = std::vector<Room>;
// Where each size of pod is charged: pods of one shape use one flavor.
using Cells = std::map<int64_t, Cell>;

// What is in the way of one gang, as far as it is known.
struct Field {
  const Truth& truth;
  const Wanting& gang;
  const std::string& queue;
  QuotaTruth::Usage usage;
};

struct Standing {
  int64_t count = 0;
  std::set<std::string> racks;  // of those that have a node
};

// What members of a gang there are, in all ("") and by sub-group.
struct Members {
  std::map<std::string, Standing> stand;
  std::vector<const Truth::PodFacts*> waiting;  // in order of rank
  bool understood = true;
};

bool RanksBefore(const Truth::PodFacts* a, const Truth::PodFacts* b) {
  return std::pair(a->key.size(), a->key) < std::pair(b->key.size(), b->key);
}

Members MembersOf(const Truth& truth, const std::string& gang) {
  Members members;
  for (const auto& [key, pod] : truth.pods()) {
    if (pod.gang != gang || pod.deleting || pod.phase == "Failed") continue;
    if (pod.node.empty() && !pod.ended()) {
      members.waiting.push_back(&pod);
      members.understood =
          members.understood && !pod.minds_company && !pod.uses_volumes && !pod.asks_slices();
      continue;
    }
    const auto node = truth.nodes().find(pod.node);
    for (const std::string& group : std::set<std::string>{"", pod.sub_group}) {
      Standing& standing = members.stand[group];
      ++standing.count;
      if (pod.ended()) continue;
      standing.racks.insert(node == truth.nodes().end() ? "?" : node->second.rack);
    }
  }
  std::ranges::sort(members.waiting, RanksBefore);
  return members;
}

// Of where those are that must be together; false when they are not.
bool Pin(const Standing& standing, Rack& rack) {
  if (standing.racks.size() > 1 || standing.racks.contains("?")) return false;
  rack = standing.racks.empty() ? "" : *standing.racks.begin();
  return true;
}

// Takes the first waiting members that make the quorum; false when there are too few.
bool TakeQuorum(const Truth::GroupFacts& group, Members& members, Wanting& gang) {
  int64_t missing = group.min_member - members.stand[""].count;
  const auto take = [&](int64_t need, const std::string* sub_group) {
    for (auto it = members.waiting.begin(); it != members.waiting.end() && need > 0;) {
      if (sub_group != nullptr && (*it)->sub_group != *sub_group) {
        ++it;
        continue;
      }
      gang.pods.push_back({(*it)->gpus, (*it)->sub_group});
      it = members.waiting.erase(it);
      --need;
      --missing;
    }
    return need <= 0;
  };
  for (const auto& [name, rules] : group.sub_groups) {
    if (!take(rules.min_member - members.stand[name].count, &name)) return false;
  }
  return take(missing, nullptr) && !gang.pods.empty();
}

bool MayStandIn(const Rack& rack, const std::string& where) {
  return !rack.has_value() || rack->empty() || *rack == where;
}

// Where the pod leaves the least; null when it has no place.
Room* PlaceFor(int64_t gpus, const Rack& gang_rack, const Rack& rack, const Cells& cells,
               Rooms& rooms) {
  Room* best = nullptr;
  for (Room& room : rooms) {
    if (!MayStandIn(gang_rack, room.rack) || !MayStandIn(rack, room.rack)) continue;
    if (gpus > 0 && (room.gpus < gpus || room.cell != cells.at(gpus))) continue;
    if (best == nullptr || room.gpus < best->gpus) best = &room;
  }
  return best;
}

// Racks to try one after the other for pods that must, or need not, be together.
std::vector<Rack> RacksToTry(const Rack& rack, const Rooms& rooms) {
  if (!rack.has_value() || !rack->empty()) return {rack};
  std::set<std::string> names;
  for (const Room& room : rooms) names.insert(room.rack);
  return {names.begin(), names.end()};
}

class Search final {
 public:
  Search(const Field& field, const Rack& gang_rack, const Cells& cells)
      : field_(field), gang_rack_(gang_rack), cells_(cells) {
    for (const auto& [sub_group, rack] : field.gang.sub_group_racks) {
      if (rack.has_value()) together_.push_back(sub_group);
    }
  }

  // Sub-groups that must be together first, then all others.
  bool Place(size_t next, const Rooms& rooms, QuotaTruth::Usage usage) const {
    if (next < together_.size()) {
      const std::string& sub_group = together_[next];
      const std::vector<Rack> racks = RacksToTry(field_.gang.sub_group_racks.at(sub_group), rooms);
      return std::ranges::any_of(racks, [&](const Rack& rack) {
        Rooms left = rooms;
        QuotaTruth::Usage more = usage;
        return PlaceAll(PodsOf({sub_group}), rack, left, more) && Place(next + 1, left, more);
      });
    }
    Rooms left = rooms;
    return PlaceAll(PodsOfOthers(), std::nullopt, left, usage) && IsLegal(usage);
  }

 private:
  [[nodiscard]] std::vector<int64_t> PodsOf(const std::set<std::string>& sub_groups) const {
    std::vector<int64_t> pods;
    for (const Wanting::Pod& pod : field_.gang.pods) {
      if (sub_groups.contains(pod.sub_group)) pods.push_back(pod.gpus);
    }
    std::ranges::sort(pods, std::greater());
    return pods;
  }
  [[nodiscard]] std::vector<int64_t> PodsOfOthers() const {
    std::set<std::string> others;
    for (const Wanting::Pod& pod : field_.gang.pods) {
      if (std::ranges::find(together_, pod.sub_group) == together_.end())
        others.insert(pod.sub_group);
    }
    return PodsOf(others);
  }
  bool PlaceAll(const std::vector<int64_t>& pods, const Rack& rack, Rooms& rooms,
                QuotaTruth::Usage& usage) const {
    for (const int64_t gpus : pods) {
      Room* room = PlaceFor(gpus, gang_rack_, rack, cells_, rooms);
      if (room == nullptr) return false;
      room->gpus -= gpus;
      usage[{field_.queue, room->flavor}] += gpus;
    }
    return true;
  }
  [[nodiscard]] bool IsLegal(const QuotaTruth::Usage& usage) const {
    return std::ranges::all_of(usage, [&](const auto& entry) {
      const auto& [queue, flavor] = entry.first;
      const auto before = field_.usage.find(entry.first);
      const bool same = before != field_.usage.end() && before->second == entry.second;
      return queue != field_.queue || same || entry.second == 0 ||
             field_.truth.quotas().Illegal(queue, flavor, usage).empty();
    });
  }

  const Field& field_;
  const Rack& gang_rack_;
  const Cells& cells_;
  std::vector<std::string> together_;
};

// Every way to choose a cell for each size of pod.
std::vector<Cells> WaysToCharge(const Wanting& gang, const Rooms& rooms) {
  std::set<Cell> cells;
  for (const Room& room : rooms) cells.insert(room.cell);
  std::vector<Cells> ways = {{}};
  std::set<int64_t> sizes;
  for (const Wanting::Pod& pod : gang.pods) sizes.insert(pod.gpus);
  for (const int64_t size : sizes) {
    if (size == 0) continue;
    std::vector<Cells> longer;
    for (const Cells& way : ways) {
      for (const Cell& cell : cells) {
        longer.push_back(way);
        longer.back()[size] = cell;
      }
    }
    ways = std::move(longer);
  }
  return ways;
}

bool IsLimited(const Truth& truth, const std::string& queue) {
  return std::ranges::any_of(truth.nodes(), [&](const auto& node) {
    const std::string flavor = truth.quotas().FlavorOf(node.second.labels);
    return truth.quotas().CellOf(queue, flavor).rule == Cell::Rule::kCounted;
  });
}

// Quota may be held there for members that the gang has lost.
bool SharesQuota(const Truth& truth, const std::string& gang, const std::string& queue) {
  const std::string& theirs = truth.gangs().at(gang).queue;
  return !theirs.empty() && IsLimited(truth, queue) &&
         truth.quotas().RootOf(theirs) == truth.quotas().RootOf(queue);
}

// On nodes other than these.
bool FitsBeside(const Field& field, const std::set<std::string>& kept, const GangNames& gone) {
  Rooms rooms;
  for (const auto& [name, gpus] : FreeGpus(field.truth, gone)) {
    if (kept.contains(name)) continue;
    const Truth::NodeFacts& node = field.truth.nodes().at(name);
    const std::string flavor = field.truth.quotas().FlavorOf(node.labels);
    rooms.push_back({node.rack, flavor, field.truth.quotas().CellOf(field.queue, flavor), gpus});
  }
  for (const Cells& cells : WaysToCharge(field.gang, rooms)) {
    for (const Rack& rack : RacksToTry(field.gang.rack, rooms)) {
      if (Search(field, rack, cells).Place(0, rooms, field.usage)) return true;
    }
  }
  return false;
}

std::string TextOf(const Wanting& gang) {
  std::vector<int64_t> gpus;
  for (const Wanting::Pod& pod : gang.pods) gpus.push_back(pod.gpus);
  return absl::StrJoin(gpus, "+");
}

}  // namespace

std::vector<std::set<std::string>> WaysToKeepRoom(const Truth& truth, const ForWhom& whom) {
  std::set<std::string> promised;        // nodes, to whom others leave
  std::map<std::string, int64_t> stand;  // of gangs that have lost some
  for (const auto& [key, pod] : truth.pods()) {
    const auto group = truth.groups().find(pod.gang);
    if (pod.ended() || pod.gang == whom.gang || whom.gone.contains(pod.gang)) continue;
    const bool known = group != truth.groups().end();
    const bool promises = pod.node.empty() && !pod.nominated.empty();
    const bool loses = known && !pod.node.empty() && group->second.reason == "QuorumLost";
    if (!promises && !loses) continue;
    if (known && SharesQuota(truth, pod.gang, whom.queue)) return {};
    if (promises) promised.insert(pod.nominated);
    if (loses) ++stand[pod.gang];
  }
  int64_t lost = 0;
  for (const auto& [gang, members] : stand) {
    lost += std::max<int64_t>(1, truth.groups().at(gang).min_member - members);
  }
  if (lost > kMostLost) return {};
  std::set<std::set<std::string>> ways = {promised};
  for (; lost > 0; --lost) {
    std::set<std::set<std::string>> longer;
    for (const std::set<std::string>& way : ways) {
      for (const auto& [name, node] : truth.nodes()) {
        longer.insert(way);
        std::set<std::string> more = way;
        more.insert(name);
        longer.insert(std::move(more));
      }
    }
    ways = std::move(longer);
  }
  return {ways.begin(), ways.end()};
}

std::vector<Wanting> WholeGangsWaiting(const Truth& truth) {
  std::vector<Wanting> found;
  for (const auto& [key, group] : truth.groups()) {
    if (group.sliced) continue;
    Members members = MembersOf(truth, key);
    Wanting gang{.key = key};
    // Those may count still, or be of a run that is over: its leader knows.
    members.understood = members.understood && truth.CleanedOf(key) == 0;
    if (!members.understood || !TakeQuorum(group, members, gang)) continue;
    bool together = !group.in_one_rack || Pin(members.stand[""], gang.rack);
    for (const auto& [name, rules] : group.sub_groups) {
      if (rules.in_one_rack) {
        together = together && Pin(members.stand[name], gang.sub_group_racks[name]);
      }
    }
    if (together) found.push_back(std::move(gang));
  }
  return found;
}

bool MayBeHeldUp(const Truth& truth, const std::string& gang) {
  const std::string& queue = truth.groups().at(gang).queue;
  if (queue.empty()) return false;
  const auto rules = truth.quotas().queues().find(queue);
  if (rules == truth.quotas().queues().end() || rules->second.stop != "None") return true;
  return rules->second.strict && std::ranges::any_of(truth.pods(), [&](const auto& pod) {
           const auto group = truth.groups().find(pod.second.gang);
           const bool lets_in =
               !IsOfTenant(pod.first) ||
               truth.selections().MaySelectSince(queue, kTenantNamespace, absl::InfinitePast());
           return pod.second.gang != gang && group != truth.groups().end() && lets_in &&
                  group->second.queue == queue && pod.second.node.empty() && !pod.second.ended();
         });
}

bool CouldStart(const Truth& truth, const Wanting& gang, const GangNames& gone,
                const std::set<std::string>& held) {
  const std::string& queue = truth.groups().at(gang.key).queue;
  const Field field{.truth = truth,
                    .gang = gang,
                    .queue = queue,
                    .usage = UsageKnown(truth, {}, Doubt::kAgainst, gone)};
  const std::vector<std::set<std::string>> ways =
      WaysToKeepRoom(truth, {.gang = gang.key, .gone = gone, .queue = queue});
  return !ways.empty() && std::ranges::all_of(ways, [&](std::set<std::string> kept) {
    kept.insert(held.begin(), held.end());
    return FitsBeside(field, kept, gone);
  });
}

bool CouldStartWithout(const Truth& truth, const std::string& waiting, const std::string& runs) {
  const std::vector<Wanting> gangs = WholeGangsWaiting(truth);
  const auto gang = std::ranges::find(gangs, waiting, &Wanting::key);
  return gang != gangs.end() && !MayBeHeldUp(truth, waiting) && CouldStart(truth, *gang, {runs});
}

void CheckNothingRunnableWaits(Truth& truth, Holds holds, absl::Time now) {
  for (const Wanting& gang : WholeGangsWaiting(truth)) {
    const Truth::GroupFacts& group = truth.groups().at(gang.key);
    if (IsOfTenant(gang.key) || MayBeHeldUp(truth, gang.key)) continue;
    // Whether room is held rightly is left to the scheduler's own check, and to the end of the
    // hold.
    if (group.reason == "HeldByReservation") continue;
    // Neither a repair nor a member beyond the quorum says so, nor who evicts others beside it.
    const bool says_so = group.reason != "QuorumLost" && group.reason != "Bound" &&
                         group.reason != "WaitingForPreemption";
    if (!says_so && holds == Holds::kSome) continue;
    if (!CouldStart(truth, gang)) continue;
    truth.Violated(now, absl::StrCat("NothingRunnableWaits: ", gang.key, " needs ", TextOf(gang),
                                     " GPUs and there is room for them; phase ", group.phase,
                                     ", reason ", group.reason));
  }
}

}  // namespace maniple::sim
