// Who waits though it need not: the invariants that decide a gang by plain counting. Gangs whose
// pods ask for more than resources, and nodes with properties of their own, are left to
// ParkedCannotStart.
#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/support/invariants.h"
#include "test/support/quota_facts.h"

namespace maniple::invariants {
namespace {

// A gang that stands by with its whole quorum, all pods alike.
struct Waiting {
  const GangView* gang = nullptr;
  const Pod* pod = nullptr;  // one of them
  int64_t need = 0;
};

// What is free and used, in a world that may differ from the real one.
struct Books {
  std::map<std::string, std::map<std::string, int64_t>> free;  // node → resource → amount
  QuotaFacts::Usage usage;
};
enum class Within { kNominal, kLegal };

// What stands in the way, if anything does, is room or quota.
bool LacksRoomOrQuota(const TurnFacts& facts, const GangView& gang) {
  const bool by_stage = gang.stage == "quota" || gang.stage == "nodes" || gang.stage == "topology";
  if (!by_stage && !gang.phase.empty()) return false;
  if (facts.troubled.contains(GangName(gang))) return false;
  if (gang.singleton) return true;
  const auto group = facts.told.groups.find(GangName(gang));
  if (group == facts.told.groups.end()) return false;
  const PodGroupSpec& spec = group->second.spec;
  return spec.topology == TopologyRequest() && spec.sub_groups.empty() &&
         !group->second.status.last_undone_at.has_value();
}

bool AsksForResourcesOnly(const Pod& pod) {
  PodConstraints plain;
  plain.requests = pod.constraints.requests;
  plain.tolerations = pod.constraints.tolerations;
  plain.preferred_node_terms = pod.constraints.preferred_node_terms;
  return pod.constraints == plain && pod.volumes.empty() && pod.meta.annotations.empty() &&
         pod.scheduling_gates.empty() && pod.node_name.empty() && !pod.meta.deleted.has_value();
}

// Somebody who stands may want to be apart from it.
bool MayBeKeptAway(const TurnFacts& facts, const Pod& pod) {
  return std::ranges::any_of(facts.told.pods, [&pod](const auto& entry) {
    return std::ranges::any_of(
        entry.second.constraints.pod_terms.apart, [&pod](const PodAffinityTerm& term) {
          return term.selector.has_value() && term.selector->Matches(pod.meta.labels);
        });
  });
}

std::optional<Waiting> PlainlyWaiting(const TurnFacts& facts, const GangView& gang) {
  if (!LacksRoomOrQuota(facts, gang)) return std::nullopt;
  Waiting waiting{.gang = &gang, .pod = nullptr, .need = gang.min_member};
  int64_t pending = 0;
  for (const GangMemberView& member : gang.pods) {
    if (member.state == "succeeded") --waiting.need;
    if (member.state == "bound" || member.state == "running" || member.state == "binding")
      return std::nullopt;  // what it lacks is for a repair
    if (member.state != "pending") continue;
    const auto pod = facts.told.pods.find(absl::StrCat(gang.namespace_name, "/", member.pod));
    if (pod == facts.told.pods.end() || !AsksForResourcesOnly(pod->second)) return std::nullopt;
    if (MayBeKeptAway(facts, pod->second)) return std::nullopt;
    if (waiting.pod != nullptr && waiting.pod->constraints != pod->second.constraints)
      return std::nullopt;
    waiting.pod = &pod->second;
    ++pending;
  }
  if (waiting.need <= 0 || pending < waiting.need) return std::nullopt;
  return waiting;
}

bool IsPlain(const TurnFacts& facts, const Node& node) {
  const auto& labels = node.meta.labels.entries();
  return !node.unschedulable && node.taints.empty() &&
         !facts.doubtful_nodes.contains(node.meta.name) &&
         std::ranges::none_of(labels, [](const auto& label) {
           return absl::StartsWith(label.first, "nvidia.com/");
         });
}

// Room that is kept for somebody's nomination is not counted as taken anywhere.
bool SomebodyIsNominated(const TurnFacts& facts) {
  return std::ranges::any_of(facts.told.pods, [](const auto& entry) {
    const Pod& pod = entry.second;
    return !pod.nominated_node_name.empty() && pod.node_name.empty() && !Ended(pod);
  });
}

Books BooksOf(const TurnFacts& facts, const QuotaFacts& quotas) {
  Books books{.free = {}, .usage = UsageByPods(facts, quotas)};
  for (const NodeRow& row : facts.view.nodes) {
    for (const NodeResourceView& resource : row.resources) {
      books.free[row.name][resource.resource] = resource.free.units();
    }
  }
  // With what is held, which pods do not tell.
  for (const QueueView& queue : facts.view.queues) {
    if (!quotas.Active(queue.name)) continue;
    for (const QuotaUsageView& row : queue.usage) {
      QuotaFacts::Wide& used = books.usage[{queue.name, {row.flavor, row.resource}}];
      used = std::max<QuotaFacts::Wide>(used, row.used.units());
    }
  }
  return books;
}

// Whether so many pods may be charged on nodes of the flavor.
bool QuotaAllows(const QuotaFacts& quotas, const Waiting& waiting, const std::string& flavor,
                 Within within, QuotaFacts::Usage usage) {
  const std::string& queue = waiting.gang->queue;
  quotas.Charge(queue, *waiting.pod, flavor, waiting.need, usage);
  for (const auto& [resource, amount] : RequestsOf(*waiting.pod)) {
    const QuotaFacts::Where where = quotas.WhereCounted(queue, resource, flavor);
    if (where.rule == QuotaFacts::Where::Rule::kUnlimited) continue;
    if (where.rule == QuotaFacts::Where::Rule::kForbidden) return false;
    if (!quotas.Illegal(queue, where.cell, usage).empty()) return false;
    const bool nominal = usage.at({queue, where.cell}) <= quotas.Nominal(queue, where.cell);
    if (within == Within::kNominal && !nominal) return false;
  }
  return true;
}

bool LimitsWhatIsDerived(const Told& told) {
  const auto lists = [](const auto& entry) {
    return std::ranges::any_of(entry.second.quotas, [](const FlavorQuota& quota) {
      return std::ranges::find(quota.resources, kDerivedResource, &QuotaAmount::resource) !=
             quota.resources.end();
    });
  };
  return std::ranges::any_of(told.queues, lists) || std::ranges::any_of(told.cohorts, lists);
}

// By counting how many of its pods each node takes, flavor by flavor.
bool Fits(const TurnFacts& facts, const QuotaFacts& quotas, const Waiting& waiting, Within within,
          const Books& books) {
  const std::string& queue = waiting.gang->queue;
  if (!queue.empty()) {
    const auto rules = facts.told.queues.find(queue);
    if (!quotas.Active(queue) || rules->second.stop != StopPolicy::kNone) return false;
    if (LimitsWhatIsDerived(facts.told)) return false;
  }
  std::map<std::string, int64_t> places;  // by flavor
  for (const auto& [name, node] : facts.told.nodes) {
    const auto free = books.free.find(name);
    if (!IsPlain(facts, node) || free == books.free.end()) continue;
    int64_t count = waiting.need;
    for (const auto& [resource, amount] : RoomOf(*waiting.pod)) {
      const auto it = free->second.find(resource);
      const int64_t left = it == free->second.end() ? 0 : std::max<int64_t>(0, it->second);
      if (amount > 0) count = std::min(count, left / amount);
    }
    places[queue.empty() ? "" : quotas.FlavorOf(name)] += count;
  }
  return std::ranges::any_of(places, [&](const auto& place) {
    return place.second >= waiting.need &&
           (queue.empty() || QuotaAllows(quotas, waiting, place.first, within, books.usage));
  });
}

// In the order of one Queue. It may have waited less long than its creation says.
bool ComesBefore(const GangView& a, const GangView& b) {
  const auto key = [](const GangView& gang) {
    return std::make_tuple(-int64_t{gang.priority}, gang.created, GangName(gang));
  };
  return key(a) < key(b);
}

// As if what was placed for later gangs of its Queue had not been.
Books WithoutLater(const TurnFacts& facts, const QuotaFacts& quotas, const GangView& gang,
                   Books books, std::string& passed_by) {
  for (const PlacedItem& item : facts.placed) {
    const auto later = std::ranges::find(facts.view.gangs, item.gang, GangName);
    if (item.item == "repair" || later == facts.view.gangs.end() || later->queue != gang.queue)
      continue;
    const bool passes = item.item == "surplus" || ComesBefore(gang, *later);
    if (!passes || facts.made_room.contains(item.gang) || item.gang == GangName(gang)) continue;
    if (facts.in_held_room.contains(item.gang)) continue;  // which was not the other's to use
    if (item.held_room_moved) continue;
    passed_by = item.gang;
    for (const auto& [key, node] : item.node_of) {
      const auto pod = facts.told.pods.find(key);
      if (pod == facts.told.pods.end()) continue;
      for (const auto& [resource, amount] : RoomOf(pod->second))
        books.free[node][resource] += amount;
      if (gang.queue.empty()) continue;
      quotas.Charge(gang.queue, pod->second, quotas.FlavorOf(node), -1, books.usage);
    }
  }
  return books;
}

}  // namespace

Violations NoStarvation(const TurnFacts& facts) {
  Violations found;
  if (facts.placed.empty() || SomebodyIsNominated(facts)) return found;
  const QuotaFacts quotas(facts.told);
  const Books books = BooksOf(facts, quotas);
  for (const GangView& gang : facts.view.gangs) {
    const std::optional<Waiting> waiting = PlainlyWaiting(facts, gang);
    if (!waiting.has_value()) continue;
    std::string passed_by;
    const Books earlier = WithoutLater(facts, quotas, gang, books, passed_by);
    if (passed_by.empty() || !Fits(facts, quotas, *waiting, Within::kNominal, earlier)) continue;
    found.push_back(absl::StrCat("NoStarvation: ", passed_by, " passes ", GangName(gang),
                                 " of the same queue, whose ", waiting->need,
                                 " pods had room within the nominal quota (", gang.reason, ": ",
                                 gang.message, ")"));
  }
  return found;
}

Violations NothingRunnableWaits(const TurnFacts& facts) {
  Violations found;
  if (facts.more || SomebodyIsNominated(facts)) return found;
  const QuotaFacts quotas(facts.told);
  const Books books = BooksOf(facts, quotas);
  for (const GangView& gang : facts.view.gangs) {
    const auto rules = facts.told.queues.find(gang.queue);
    const bool strict =
        rules != facts.told.queues.end() && rules->second.ordering == QueueOrdering::kStrictFifo;
    if (strict && gang.queue_position != 1) continue;
    const std::optional<Waiting> waiting = PlainlyWaiting(facts, gang);
    if (!waiting.has_value() || !Fits(facts, quotas, *waiting, Within::kLegal, books)) continue;
    found.push_back(absl::StrCat("NothingRunnableWaits: ", GangName(gang), " needs ", waiting->need,
                                 " pods placed, has room and quota for them, and waits: ",
                                 gang.phase, " (", gang.reason, ": ", gang.message, ")"));
  }
  return found;
}

}  // namespace maniple::invariants
