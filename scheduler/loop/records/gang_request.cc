#include "scheduler/loop/records/gang_request.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/base/fingerprint.h"
#include "scheduler/loop/records/whole_units.h"

namespace maniple {
namespace {

int32_t SubGroupOf(const Gang& gang, const Member& member) {
  const bool named = std::cmp_less(member.rank.sub_group, gang.spec.sub_groups.size());
  return named && member.rank.sub_group >= 0 ? member.rank.sub_group : -1;
}

// The part of the need that the wants can fill.
QuorumNeed WithinReach(const QuorumNeed& need, const std::vector<Want>& wants) {
  QuorumNeed out{.sub_groups = std::vector<int32_t>(need.sub_groups.size(), 0)};
  int32_t of_sub_groups = 0;
  for (const int32_t part : need.sub_groups) of_sub_groups += part;
  int32_t others = 0;  // wants that no sub-group minimum asks for
  for (const Want& want : wants) {
    const auto part = static_cast<size_t>(want.sub_group);
    if (want.sub_group >= 0 && out.sub_groups[part] < need.sub_groups[part]) {
      ++out.sub_groups[part];
      ++out.total;
    } else {
      ++others;
    }
  }
  out.total += std::min(others, std::max(0, need.total - of_sub_groups));
  return out;
}

// Whoever comes late to a gang that runs is welcome by itself, unless it is part of a unit.
bool IsOneByOne(const Gang& gang, const GangBinding& binding) {
  const bool in_units = gang.foreign != nullptr && !gang.foreign->unit_sizes.empty();
  return binding.phase() == BindPhase::kGrowing && !in_units;
}

void AddTopology(Fingerprint& print, const TopologyRequest& topology) {
  print.Add(topology.required);
  print.Add(topology.preferred);
  print.Add(static_cast<uint64_t>(topology.slice_size));
  print.Add(topology.slice_level);
  print.Add(topology.topology_name);
}

void AddTopologies(Fingerprint& print, const PodGroupSpec& spec) {
  AddTopology(print, spec.topology);
  for (const SubGroup& part : spec.sub_groups) {
    print.Add(part.name);
    print.Add(static_cast<uint64_t>(part.min_member));
    AddTopology(print, part.topology);
  }
}

void AppendTopology(std::string& key, const TopologyRequest& topology) {
  for (const std::string* part :
       {&topology.required, &topology.preferred, &topology.slice_level, &topology.topology_name}) {
    absl::StrAppend(&key, "/", *part);
  }
  absl::StrAppend(&key, "/", topology.slice_size);
}

bool HasSlices(const GangRequest& request) {
  return request.topology.slice_size > 0 ||
         std::ranges::any_of(request.sub_group_topologies,
                             [](const TopologyRequest& part) { return part.slice_size > 0; });
}

// Gangs with equal keys are equally hard to place.
std::string ClassKeyOf(const GangRequest& request) {
  if (!request.pinned.empty() || !request.own_holds.empty()) {
    return absl::StrCat("gang ", request.gang.index());
  }
  std::map<std::pair<int32_t, ShapeId>, int32_t> counts;
  for (const Want& want : request.wants) ++counts[{want.sub_group, want.shape}];
  std::string key = absl::StrCat(request.scope == DecideScope::kQuorum ? "quorum " : "surplus ",
                                 request.need.total);
  for (const int32_t part : request.need.sub_groups) absl::StrAppend(&key, ",", part);
  for (const auto& [what, count] : counts) {
    // A quorum cares which members there are, not how many there are beyond it.
    absl::StrAppend(&key, " ", what.first, ":", what.second.index(), "x",
                    counts.size() == 1 ? request.need.total : count);
  }
  if (!request.outranked.empty()) {
    Fingerprint rooms;
    for (const PromisedRoom& room : request.outranked) {
      rooms.Add(uint64_t{room.node.index()} << 32 | room.shape.index());
    }
    absl::StrAppend(&key, " over ", rooms.value());
  }
  AppendTopology(key, request.topology);
  for (const TopologyRequest& part : request.sub_group_topologies) {
    absl::StrAppend(&key, " sub-group");
    if (part != TopologyRequest{}) AppendTopology(key, part);
  }
  if (HasSlices(request)) {
    for (const Want& want : request.wants) {
      absl::StrAppend(&key, " ", want.rank.group, ".", want.rank.index);
    }
  }
  return key;
}

bool IsMisplaced(const GangBinding* binding, PodId pod) {
  return binding != nullptr && binding->StateOf(pod) == BindState::kMisplaced;
}

}  // namespace

namespace {

bool AsksForDomains(const TopologyRequest& topology) {
  return !topology.required.empty() || topology.slice_size > 0;
}

bool BindsToDomains(const GangRequest& request) {
  return AsksForDomains(request.topology) ||
         std::ranges::any_of(request.sub_group_topologies, AsksForDomains);
}

// Each member that stands, or may yet be bound, is on a node that is gone. The node may come back
// with them, and then binds the rest to its domain.
bool DomainIsInDoubt(const RequestInput& input, const GangRequest& request) {
  if (!BindsToDomains(request) || !request.pinned.empty()) return false;
  return std::ranges::any_of(input.gang.members, [&input](const Member& member) {
    if (member.state == MemberState::kBound) return true;
    if (input.binding == nullptr) return false;
    const std::optional<BindState> state = input.binding->StateOf(member.pod);
    return state.has_value() && (IsComing(*state) || CountsAsBound(*state));
  });
}

// A part that its producer makes late starts whole, as the gang did. While none of its members is
// placed, single ones are no replacements.
void WaitForWholeParts(const Gang& gang, GangRequest& request) {
  if (gang.foreign == nullptr) return;
  const size_t parts = std::min(gang.foreign->starts.size(), gang.spec.sub_groups.size());
  std::vector<int32_t> short_by(parts, 0);
  for (size_t i = 0; i < parts; ++i) {
    const bool late = gang.foreign->starts[i] != PartStart::kTogether;
    if (late) short_by[i] = gang.spec.sub_groups[i].min_member;
  }
  const auto part_of = [parts](int32_t sub_group) {
    return sub_group < 0 ? parts : static_cast<size_t>(sub_group);
  };
  for (const Pinned& placed : request.pinned) {
    if (const size_t part = part_of(placed.sub_group); part < parts) short_by[part] = 0;
  }
  for (const Want& want : request.wants) {
    if (const size_t part = part_of(want.sub_group); part < parts) --short_by[part];
  }
  std::erase_if(request.wants, [&](const Want& want) {
    const size_t part = part_of(want.sub_group);
    return part < parts && short_by[part] > 0;
  });
}

// A tenant may declare as many as it likes, and each costs a look at each decision.
constexpr size_t kMostFollowers = 4096;

// Whoever follows a leader comes once that one is bound. Once one is there, its own pod tells more.
void AddFollowers(const Gang& gang, GangRequest& request) {
  if (gang.foreign == nullptr || gang.foreign->followers_of_each == 0) return;
  const auto each = static_cast<size_t>(gang.foreign->followers_of_each);
  const auto leads = [](const auto& member) { return member.sub_group == 0; };
  if (!std::ranges::all_of(request.wants, leads)) return;
  if (request.wants.size() * each > kMostFollowers) return;
  for (const Want& leader : request.wants) {
    request.followers.insert(request.followers.end(), each,
                             Want{.pod = PodId(), .shape = leader.shape});
  }
}

}  // namespace

GangRequest RequestFor(const RequestInput& input, absl::FunctionRef<bool(PodId)> may_plan) {
  const Gang& gang = input.gang;
  GangRequest request{.gang = gang.id,
                      .name = absl::StrCat(gang.key.namespace_name, "/", gang.key.name),
                      .queue = gang.queue,
                      .topology = gang.spec.topology,
                      .own_holds = input.holds,
                      .outranked = input.outranked};
  for (const SubGroup& part : gang.spec.sub_groups) {
    request.sub_group_topologies.push_back(part.topology);
    request.sub_group_names.push_back(part.name);
  }
  const std::vector<int32_t> rank_groups = RankGroupsOf(gang);
  for (size_t i = 0; i < gang.members.size(); ++i) {
    const Member& member = gang.members[i];
    const int32_t sub_group = SubGroupOf(gang, member);
    const RankPlace rank{.group = rank_groups[i], .index = member.rank.index};
    // A misplaced member does not count, so it holds no other to its domain.
    if (IsMisplaced(input.binding, member.pod)) continue;
    const std::optional<NodeId> in_hand =
        input.binding == nullptr ? std::nullopt : input.binding->PlacedOn(member.pod);
    if (in_hand.has_value()) {
      request.pinned.push_back({member.pod, *in_hand, member.shape, sub_group, member.name, rank});
    } else if (member.state == MemberState::kBound && member.node.valid()) {
      request.pinned.push_back(
          {member.pod, member.node, member.shape, sub_group, member.name, rank});
    } else if (member.state == MemberState::kPending && may_plan(member.pod) &&
               (input.binding == nullptr || input.binding->MayPlan(member.pod))) {
      request.wants.push_back({member.pod, member.shape, sub_group, rank});
    }
  }
  WaitForWholeParts(gang, request);
  if (input.kind == ItemKind::kRepair && DomainIsInDoubt(input, request)) request.wants.clear();
  switch (input.kind) {
    case ItemKind::kQuorum:
      request.need = Assemble(gang).need;
      AddFollowers(gang, request);
      break;
    case ItemKind::kRepair:
      if (input.binding != nullptr) {
        request.need = WithinReach(input.binding->NeedOf(gang), request.wants);
        if (IsOneByOne(gang, *input.binding)) {
          request.need = {.total = std::min(1, request.need.total),
                          .sub_groups = std::vector<int32_t>(request.need.sub_groups.size())};
        }
      }
      break;
    case ItemKind::kSurplus:
      request.scope = DecideScope::kSurplus;
      MarkUnits(gang, request);
      break;
  }
  return request;
}

absl::string_view ItemName(ItemKind kind) {
  switch (kind) {
    case ItemKind::kRepair:
      return "repair";
    case ItemKind::kQuorum:
      return "quorum";
    case ItemKind::kSurplus:
      return "surplus";
  }
  return "";
}

bool MoreRoomMayHelp(const Decision& decision) {
  const auto* rejection = std::get_if<Rejection>(&decision);
  if (rejection == nullptr) return false;
  switch (rejection->code) {
    case RejectionCode::kQuotaExceeded:
    case RejectionCode::kNoFit:
    case RejectionCode::kTopologyNoFit:
    case RejectionCode::kSearchLimitReached:
      return true;
    case RejectionCode::kExceedsMaxQuota:
    case RejectionCode::kNeverFits:
    case RejectionCode::kVolumesNotReady:
    case RejectionCode::kUnsupported:
    case RejectionCode::kInvalidSpec:
      return false;
  }
  return false;
}

ParkFacts ParkFactsFor(const GangRequest& request, const Rejection& rejection,
                       absl::Time cool_end) {
  ParkFacts facts{.class_key = ClassKeyOf(request)};
  if (!request.queue.empty()) absl::StrAppend(&facts.class_key, " in ", request.queue);
  switch (rejection.code) {
    case RejectionCode::kQuotaExceeded:
      facts.relief = kReliefQuota | kReliefNodes | kReliefLoss | kReliefQueue;
      if (rejection.nodes_in_the_way) facts.relief |= kReliefRoom;
      break;
    case RejectionCode::kExceedsMaxQuota:
      facts.relief = kReliefNodes | kReliefQueue;
      // Other flavors were ruled out because no node is large enough.
      if (rejection.nodes_in_the_way) facts.relief |= kReliefRoom | kReliefCapacity;
      facts.blocks = false;
      break;
    case RejectionCode::kNoFit:
    case RejectionCode::kTopologyNoFit:
    case RejectionCode::kSearchLimitReached:
      facts.relief = kReliefRoom | kReliefNodes | kReliefLoss | kReliefQueue;
      if (rejection.quota_in_the_way) facts.relief |= kReliefQuota;
      break;
    case RejectionCode::kNeverFits:
      facts.relief = kReliefRoom | kReliefNodes | kReliefCapacity | kReliefQueue;
      facts.blocks = false;
      break;
    case RejectionCode::kVolumesNotReady:  // it may start any moment: nothing passes it
      facts.relief = kReliefNodes | kReliefQueue;
      break;
    case RejectionCode::kUnsupported:
    case RejectionCode::kInvalidSpec:
      facts.relief = kReliefNodes | kReliefQueue;
      facts.blocks = false;
      break;
  }
  // With several shapes, room for one may set another free to move: any room may help.
  const bool one_shape = std::ranges::all_of(
      request.wants, [&](const Want& want) { return want.shape == request.wants.front().shape; });
  // Where the gang holds room itself, that room looks taken to others. Where members stand, the
  // domains of their nodes may change, which are full.
  const bool follows_others = !request.pinned.empty() && BindsToDomains(request);
  if (one_shape && !request.wants.empty() && request.own_holds.empty() && !follows_others) {
    facts.smallest_shape = request.wants.front().shape;
  }
  // A rejection names only the first obstacle on each node, and one domain only. So a node that
  // cools down may matter even where the rejection does not say so.
  if ((facts.relief & kReliefNodes) != 0) facts.until = cool_end;
  return facts;
}

uint64_t FingerprintOf(const Gang& gang) {
  Fingerprint print;
  print.Add(static_cast<uint64_t>(gang.group_exists));
  print.Add(gang.problem);
  print.Add(gang.queue);
  print.Add(static_cast<uint64_t>(static_cast<int64_t>(gang.priority)));
  print.Add(static_cast<uint64_t>(gang.preempts));
  print.Add(static_cast<uint64_t>(gang.cleaned.count()));
  print.Add(static_cast<uint64_t>(gang.spec.min_member));
  if (gang.foreign != nullptr) {
    print.Add(static_cast<uint64_t>(gang.foreign->followers_of_each));
    for (const int32_t size : gang.foreign->unit_sizes) print.Add(static_cast<uint64_t>(size));
  }
  print.Add(static_cast<uint64_t>(
      absl::ToInt64Seconds(ExpectedRuntime(gang).value_or(absl::InfiniteDuration()))));
  AddTopologies(print, gang.spec);
  for (const Member& member : gang.members) {
    print.Add(static_cast<uint64_t>(member.rank.index));
    print.Add(member.rank.job);
    print.Add(member.pod.index());
    print.Add(member.shape.index());
    print.Add(static_cast<uint64_t>(member.state));
    print.Add(member.node.valid() ? member.node.index() : ~uint64_t{0});
    print.Add(static_cast<uint64_t>(member.rank.sub_group));
  }
  return print.value();
}

uint64_t FingerprintOfAsk(const PodGroupSpec& spec) {
  Fingerprint print;
  print.Add(spec.queue);
  print.Add(static_cast<uint64_t>(spec.min_member));
  AddTopologies(print, spec);
  return print.value();
}

}  // namespace maniple
