// Looks again at a reserved place before the pod is bound to it: other pods may have come
// meanwhile, and the node may have changed.
#include <algorithm>
#include <vector>

#include "scheduler/cycle/decide.h"
#include "scheduler/cycle/topology/topology.h"
#include "scheduler/loop/flight/flights.h"

namespace maniple {
namespace {

// Whether some node is refused for the pods on it and around it.
bool IsRefusedForPods(const Decision& decision) {
  const auto* rejection = std::get_if<Rejection>(&decision);
  return rejection != nullptr &&
         std::ranges::any_of(rejection->reasons, [](const NodeReasonCount& count) {
           const ReasonId id = count.reason.id;
           return id == kReasonPodAffinity || id == kReasonPodAntiAffinity ||
                  id == kReasonKeptAway || id == kReasonSpread || id == kReasonSpreadKey;
         });
}

// A pod of the one shape looks at what pods of the other are.
bool Minds(const PodShape& one, const PodShape& other) {
  return one.terms != nullptr &&
         std::ranges::any_of(other.counts, [&one](const PodCountChange& change) {
           return LooksAtCount(*one.terms, change.count);
         });
}

}  // namespace

bool Flights::Misplaced(const Case& c, PodId pod, NodeId node) {
  const auto anybody = [](const Member&) { return true; };
  if (ApartFromOthers(c, node, c.gang.spec.topology, anybody)) return true;
  const auto member = std::ranges::find(c.gang.members, pod, &Member::pod);
  if (member == c.gang.members.end()) return false;
  const int32_t part = member->rank.sub_group;
  if (part < 0 || static_cast<size_t>(part) >= c.gang.spec.sub_groups.size()) return false;
  return ApartFromOthers(c, node, c.gang.spec.sub_groups[static_cast<size_t>(part)].topology,
                         [part](const Member& other) { return other.rank.sub_group == part; });
}

bool Flights::ApartFromOthers(const Case& c, NodeId node, const TopologyRequest& asked,
                              absl::FunctionRef<bool(const Member&)> among) {
  if (asked.required.empty()) return false;
  LevelStore levels;
  const auto choice = ResolveTopology(desk_.Picture(), {.topology = asked}, levels);
  if (!choice.ok()) return false;
  const DomainLevel& level = *choice->gang.required_level();
  // A node outside the level is apart from none.
  const auto apart = [&level](NodeId a, NodeId b) {
    const uint32_t in_a = level.DomainOf(a), in_b = level.DomainOf(b);
    return in_a != in_b && in_a != DomainLevel::kOutside && in_b != DomainLevel::kOutside;
  };
  // Only landed members count: where somebody else binds the whole gang, ours may never land.
  return std::ranges::any_of(c.gang.members, [&](const Member& member) {
    const std::optional<NodeId> other = c.record.binding->LandedOn(member.pod);
    return other.has_value() && among(member) && apart(node, *other);
  });
}

bool Flights::PlanIsTorn(const Case& c) {
  GangRequest asked{.topology = c.gang.spec.topology};
  for (const SubGroup& part : c.gang.spec.sub_groups) {
    asked.sub_group_topologies.push_back(part.topology);
    asked.sub_group_names.push_back(part.name);
  }
  LevelStore levels;
  const auto choice = ResolveTopology(desk_.Picture(), asked, levels);
  if (!choice.ok()) return false;
  const auto is_torn = [&c](const DomainWish& wish, int32_t part) {
    return wish.required_level() != nullptr && IsTorn(c, *wish.required_level(), part);
  };
  if (is_torn(choice->gang, -1)) return true;
  for (size_t i = 0; i < choice->sub_groups.size(); ++i) {
    if (is_torn(choice->sub_groups[i], static_cast<int32_t>(i))) return true;
  }
  return false;
}

// `part`: a sub-group; -1: all members.
bool Flights::IsTorn(const Case& c, const DomainLevel& level, int32_t part) {
  std::optional<uint32_t> domain;
  for (const Member& member : c.gang.members) {
    if (part >= 0 && member.rank.sub_group != part) continue;
    std::optional<NodeId> node = c.record.PlaceWhileVolumesAreBound(member.pod);
    const bool is_planned = node.has_value();
    if (!is_planned && c.record.binding.has_value()) {
      node = c.record.binding->LandedOn(member.pod);
    } else if (!is_planned && member.state == MemberState::kBound && member.node.valid()) {
      node = member.node;
    }
    if (!node.has_value()) continue;
    const uint32_t in = level.DomainOf(*node);
    // A node outside the level is apart from none, but nothing is planned there.
    if (in == DomainLevel::kOutside && !is_planned) continue;
    if (in == DomainLevel::kOutside || domain.value_or(in) != in) return true;
    domain = in;
  }
  return false;
}

bool Flights::PlaceIsStillGood(const Case& c, PodId pod, NodeId node) {
  return RoomIsStillThere(c, pod, node) && TermsStillHold(c, pod, node);
}

bool Flights::RoomIsStillThere(const Case& c, PodId pod, NodeId node) {
  const PodFacts* facts = desk_.state.FindPod(pod);
  return facts != nullptr && facts->reserved == node &&
         desk_.state.StillFits(facts->shape, node, c.gang.priority);
}

// Decides afresh on affinity and spread, of the pod and of pods around it, for this pod and node
// alone. The pod counts as absent, and holds for later do not matter.
bool Flights::TermsStillHold(const Case& c, PodId pod, NodeId node) {
  const ShapeId shape = desk_.state.FindPod(pod)->shape;
  const Snapshot& snapshot = desk_.Picture();
  const PodShape& known = snapshot.tables->ShapeOf(shape);
  if (!desk_.state.AsksOfPods(shape) && known.matches.empty()) return true;
  GangRequest request{.gang = c.gang.id,
                      .wants = {{.pod = pod, .shape = shape}},
                      .need = {.total = 1},
                      .outranked = desk_.state.PromisedBelow(c.gang.priority)};
  std::vector<FreedRoom> freed = {{.node = node, .shape = shape}};
  if (snapshot.holds != nullptr) {
    for (const HeldRoom& held : *snapshot.holds) {
      if (held.node == node || Minds(known, snapshot.tables->ShapeOf(held.shape)))
        freed.push_back({held.node, held.shape, Occupant::kHold});
    }
  }
  Supposition there(
      {.snapshot = snapshot, .request = request, .now = c.now, .seed = desk_.options.seed},
      desk_.ledger.tree(), std::nullopt);
  there.Free(freed);
  there.Restrict({node}, Supposition::To::kThese);
  if (FindPlan(there.Input(), desk_.options.profile).has_value()) return true;
  // Volumes that are set aside for the pod may look taken, and that is no matter here.
  const VolumeNeeds* volumes = known.constraints.volumes.get();
  return volumes != nullptr && !volumes->unbound.empty() &&
         !IsRefusedForPods(Decide(there.Input(), desk_.options.profile));
}

}  // namespace maniple
