#include "test/support/invariants.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "test/support/quota_facts.h"

namespace maniple::invariants {
namespace {

using Room = std::map<std::string, int64_t>;  // by resource

std::map<std::string, Room> TakenByNode(const TurnFacts& facts) {
  std::map<std::string, Room> taken;
  for (const PodOnNode& entry : PodsOnNodes(facts)) {
    for (const auto& [resource, amount] : RoomOf(*entry.pod)) taken[entry.node][resource] += amount;
  }
  return taken;
}

// Room that other schedulers have promised to pods of theirs counts as taken, too.
void AddPromised(const TurnFacts& facts, std::map<std::string, Room>& taken) {
  for (const auto& [key, pod] : facts.told.pods) {
    const bool promised = pod.scheduler_name != "maniple" && !pod.nominated_node_name.empty() &&
                          pod.node_name.empty() && !pod.meta.deleted.has_value() && !Ended(pod);
    if (!promised) continue;
    for (const auto& [resource, amount] : RoomOf(pod)) {
      taken[pod.nominated_node_name][resource] += amount;
    }
  }
}

const GangView* FindGang(const TurnFacts& facts, const std::string& name) {
  const auto it = std::ranges::find(facts.view.gangs, name, GangName);
  return it == facts.view.gangs.end() ? nullptr : &*it;
}

int64_t CountIf(const GangView& gang, absl::string_view state) {
  return std::ranges::count(gang.pods, state, &GangMemberView::state);
}

// Members that stand or are on their way, or have succeeded, be it that they were cleaned away
// since; `sub_group` "" = of any.
int64_t Counted(const TurnFacts& facts, const GangView& gang, absl::string_view sub_group = "") {
  const auto cleaned = facts.told.cleaned_away.find(GangName(gang));
  const auto group = facts.told.groups.find(GangName(gang));
  // What an earlier process has seen stands in the status.
  const int64_t told =
      group == facts.told.groups.end() ? 0 : group->second.status.members.succeeded;
  const int64_t gone = std::max(told - CountIf(gang, "succeeded"),
                                cleaned == facts.told.cleaned_away.end() ? 0 : cleaned->second);
  return gone + std::ranges::count_if(gang.pods, [&](const GangMemberView& member) {
           const bool counts = member.state == "bound" || member.state == "running" ||
                               member.state == "binding" || member.state == "succeeded";
           if (!counts || sub_group.empty()) return counts;
           const auto pod =
               facts.told.pods.find(absl::StrCat(gang.namespace_name, "/", member.pod));
           return pod != facts.told.pods.end() &&
                  pod->second.meta.labels.Get(kSubGroupLabel) == sub_group;
         });
}

bool Stands(const GangMemberView& member) {
  return member.state == "bound" || member.state == "running";
}

// "namespace/name" of the pod that is to be bound; "" for any other request.
std::string BoundBy(const HttpRequest& request) {
  if (request.method != HttpMethod::kPost || !absl::EndsWith(request.target, "/binding")) return "";
  const std::vector<std::string> parts = absl::StrSplit(request.target, '/');
  return absl::StrCat(parts.at(4), "/", parts.at(6));
}

// What Queues show to be in use is what their pods take, and what may be held.
void CheckSums(const TurnFacts& facts, const QuotaFacts& quotas, const QuotaFacts::Usage& usage,
               Violations& found) {
  for (const QueueView& queue : facts.view.queues) {
    if (!quotas.Active(queue.name)) continue;
    for (const QuotaUsageView& row : queue.usage) {
      if (row.resource == kDerivedResource) continue;
      const auto it = usage.find({queue.name, {row.flavor, row.resource}});
      const QuotaFacts::Wide sum = it == usage.end() ? 0 : it->second;
      const QuotaFacts::Wide shown = row.used.units();
      if (shown == sum || (shown > sum && SomebodyMayHold(facts))) continue;
      found.push_back(absl::StrCat("QuotaLegal: queue ", queue.name, " shows ", row.used.units(),
                                   " of ", row.resource, " ", row.flavor,
                                   " in use, and its pods take ", static_cast<int64_t>(sum)));
    }
  }
}

void CheckAdmission(const TurnFacts& facts, const PlacedItem& item, const QuotaFacts& quotas,
                    const QuotaFacts::Usage& usage, Violations& found) {
  using Rule = QuotaFacts::Where::Rule;
  const auto charged = facts.charged_to.find(item.gang);
  if (charged == facts.charged_to.end() || charged->second.empty()) return;
  const std::string& queue = charged->second;
  if (!quotas.Active(queue) || facts.told.queues.at(queue).stop != StopPolicy::kNone) {
    found.push_back(absl::StrCat("QuotaLegal: ", item.gang, " starts from queue ", queue,
                                 ", which is not open"));
    return;
  }
  for (const auto& [key, node] : item.node_of) {
    const auto pod = facts.told.pods.find(key);
    if (pod == facts.told.pods.end()) continue;
    for (const auto& [resource, amount] : RequestsOf(pod->second)) {
      const QuotaFacts::Where where = quotas.WhereCounted(queue, resource, quotas.FlavorOf(node));
      std::string why;
      if (where.rule == Rule::kCounted) why = quotas.Illegal(queue, where.cell, usage);
      if (where.rule == Rule::kForbidden) {
        why = absl::StrCat("queue ", queue, " uses flavor \"", where.cell.flavor,
                           "\", which it may not");
      }
      if (why.empty()) continue;
      found.push_back(
          absl::StrCat("QuotaLegal: once ", key, " has its place on ", node, ", ", why));
    }
  }
}

}  // namespace

Violations NeverOversubscribed(const TurnFacts& facts) {
  std::set<std::string> touched;
  for (const PlacedItem& item : facts.placed) {
    for (const auto& [pod, node] : item.node_of) touched.insert(node);
  }
  Violations found;
  if (touched.empty()) return found;
  for (const auto& [name, taken] : TakenByNode(facts)) {
    const auto node = facts.told.nodes.find(name);
    if (!touched.contains(name) || node == facts.told.nodes.end()) continue;
    for (const auto& [resource, amount] : taken) {
      const int64_t offered = OfferOf(node->second, resource);
      if (amount <= offered) continue;
      found.push_back(absl::StrCat("NeverOversubscribed: ", name, " offers ", offered, " of ",
                                   resource, ", and ", amount, " are taken or promised"));
    }
  }
  return found;
}

Violations GangAllOrNothing(const TurnFacts& facts) {
  Violations found;
  for (const PlacedItem& item : facts.placed) {
    const GangView* gang = item.item == "quorum" ? FindGang(facts, item.gang) : nullptr;
    if (gang == nullptr) continue;
    const auto lacks = [&](const std::string& what, int64_t have, int64_t need) {
      if (have >= need) return;
      found.push_back(absl::StrCat("GangAllOrNothing: the quorum of ", item.gang,
                                   " was placed with ", have, " of ", need, what));
    };
    lacks(" members", Counted(facts, *gang), gang->min_member);
    const auto group = facts.told.groups.find(item.gang);
    if (gang->singleton || group == facts.told.groups.end()) continue;
    // Of a gang that others declare, the pods' labels do not say of which part they are.
    if (!group->second.spec.source.empty()) continue;
    for (const SubGroup& sub : group->second.spec.sub_groups) {
      lacks(absl::StrCat(" members of sub-group ", sub.name), Counted(facts, *gang, sub.name),
            sub.min_member);
    }
  }
  for (const GangView& gang : facts.view.gangs) {
    const auto standing = std::ranges::count_if(gang.pods, Stands);
    const bool in_hand = gang.phase == "Binding" || gang.reason == "QuorumLost" ||
                         gang.reason == "Preempted" || gang.stage == "members";
    // Its quorum has been raised: whoever comes late is awaited.
    if (gang.quorum_met > 0 && Counted(facts, gang) >= gang.quorum_met) continue;
    if (standing == 0 || in_hand || Counted(facts, gang) >= gang.min_member) continue;
    found.push_back(absl::StrCat("GangAllOrNothing: ", GangName(gang), " holds ", standing,
                                 " pods, its quorum is ", gang.min_member,
                                 ", and nobody is about it: ", gang.phase, " (", gang.reason, ")"));
  }
  return found;
}

Violations BoundAtMostOnce(const TurnFacts& facts) {
  Violations found;
  for (const auto& [key, pod] : facts.told.pods) {
    const auto first = facts.first_node.find(pod.meta.uid);
    if (first == facts.first_node.end() || first->second == pod.node_name) continue;
    found.push_back(absl::StrCat("BoundAtMostOnce: ", key, " moved from ", first->second, " to ",
                                 pod.node_name));
  }
  for (const WriteCommand& write : facts.writes) {
    const std::string key = BoundBy(write.request);
    if (key.empty()) continue;
    const auto it = facts.told.pods.find(key);
    const Pod* pod = it == facts.told.pods.end() ? nullptr : &it->second;
    if (pod != nullptr && pod->node_name.empty() && !pod->meta.deleted.has_value() && !Ended(*pod))
      continue;
    found.push_back(absl::StrCat("BoundAtMostOnce: a bind is sent for ", key, ", which is ",
                                 pod == nullptr           ? "gone"
                                 : pod->node_name.empty() ? "ending"
                                                          : "bound to " + pod->node_name));
  }
  return found;
}

Violations QuotaLegal(const TurnFacts& facts) {
  const QuotaFacts quotas(facts.told);
  const QuotaFacts::Usage usage = UsageByPods(facts, quotas);
  Violations found;
  CheckSums(facts, quotas, usage, found);
  for (const PlacedItem& item : facts.placed) {
    if (item.item != "repair") CheckAdmission(facts, item, quotas, usage, found);
  }
  return found;
}

Violations ReservationsMatchState(const TurnFacts& facts) {
  Violations found;
  std::map<std::string, Room> taken = TakenByNode(facts);
  AddPromised(facts, taken);
  const bool may_be_held = SomebodyMayHold(facts);
  for (const auto& [name, node] : facts.told.nodes) {
    const auto row = std::ranges::find(facts.view.nodes, name, &NodeRow::name);
    if (row == facts.view.nodes.end()) {
      found.push_back(absl::StrCat("ReservationsMatchState: node ", name, " is not shown"));
      continue;
    }
    std::map<std::string, std::pair<int64_t, int64_t>> shown;  // offered and free
    for (const NodeResourceView& resource : row->resources) {
      shown[resource.resource] = {resource.allocatable.units(), resource.free.units()};
    }
    for (const auto& [resource, amount] : taken[name]) {
      // A name that no node has is counted nowhere.
      const bool offered = std::ranges::any_of(facts.told.nodes, [&, &what = resource](auto& one) {
        return OfferOf(one.second, what) > 0;
      });
      if (offered) shown.try_emplace(resource, 0, 0);
    }
    for (const auto& [resource, amounts] : shown) {
      const auto& [offered, free] = amounts;
      const int64_t held = OfferOf(node, resource) - taken[name][resource] - free;
      if (offered == OfferOf(node, resource) && (held == 0 || (held > 0 && may_be_held))) continue;
      found.push_back(absl::StrCat(
          "ReservationsMatchState: node ", name, " shows ", free, " of ", offered, " ", resource,
          " free; it offers ", OfferOf(node, resource), ", its pods take ", taken[name][resource],
          ", and ", may_be_held ? "some may be" : "nothing is", " held"));
    }
  }
  return found;
}

Violations NoPreemptionLoop(const TurnFacts& facts) {
  Violations found;
  if (facts.reversals != 0) {
    found.push_back(absl::StrCat("NoPreemptionLoop: ", facts.reversals, " reversals are counted"));
  }
  for (size_t later = 0; later < facts.preempted.size(); ++later) {
    const Preempted& now = facts.preempted[later];
    for (size_t earlier = 0; earlier < later; ++earlier) {
      const Preempted& then = facts.preempted[earlier];
      const bool reversed = then.victim == now.preemptor && then.preemptor == now.victim;
      const bool same = then.limits == now.limits &&
                        then.victim_priority == now.preemptor_priority &&
                        then.preemptor_priority == now.victim_priority;
      if (!reversed || !same) continue;
      found.push_back(absl::StrCat("NoPreemptionLoop: ", now.preemptor, " makes ", now.victim,
                                   " leave, which has made it leave before"));
    }
  }
  return found;
}

Violations EveryWriteHasAPrecondition(const TurnFacts& facts) {
  Violations found;
  for (const WriteCommand& write : facts.writes) {
    const HttpRequest& request = write.request;
    const bool on_a_pod =
        absl::EndsWith(request.target, "/binding") || absl::EndsWith(request.target, "/eviction");
    const bool creates = request.method == HttpMethod::kPost && !on_a_pod;
    if (request.method == HttpMethod::kGet || creates) continue;
    if (absl::StrContains(request.body, "\"uid\":\"") ||
        absl::StrContains(request.body, "\"resourceVersion\":\"")) {
      continue;
    }
    found.push_back(absl::StrCat("EveryWriteHasAPrecondition: ", HttpMethodName(request.method),
                                 " ", request.target, " has none"));
  }
  return found;
}

const std::vector<Invariant>& All() {
  static const std::vector<Invariant> kAll = {
      {"NeverOversubscribed", &NeverOversubscribed},
      {"GangAllOrNothing", &GangAllOrNothing},
      {"BoundAtMostOnce", &BoundAtMostOnce},
      {"QuotaLegal", &QuotaLegal},
      {"ReservationsMatchState", &ReservationsMatchState},
      {"NoStarvation", &NoStarvation},
      {"NoPreemptionLoop", &NoPreemptionLoop},
      {"NothingRunnableWaits", &NothingRunnableWaits},
      {"DomainsHold", &DomainsHold},
      {"EveryWriteHasAPrecondition", &EveryWriteHasAPrecondition},
  };
  return kAll;
}

Violations CheckAll(const TurnFacts& facts) {
  Violations found;
  for (const Invariant& invariant : All()) {
    for (std::string& violation : invariant.check(facts)) found.push_back(std::move(violation));
  }
  return found;
}

}  // namespace maniple::invariants
