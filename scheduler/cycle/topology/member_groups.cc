#include "scheduler/cycle/topology/member_groups.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace maniple {
namespace {

const DomainWish* WishOf(const DomainChoice& choice, int32_t sub_group) {
  const bool own = sub_group >= 0 && static_cast<size_t>(sub_group) < choice.sub_groups.size();
  if (own && choice.sub_groups[static_cast<size_t>(sub_group)].slice != nullptr) {
    return &choice.sub_groups[static_cast<size_t>(sub_group)];
  }
  return choice.gang.slice != nullptr ? &choice.gang : nullptr;
}

// The slices of one request, found by number.
class SliceBook final {
 public:
  SliceBook(const Snapshot& snapshot, const GangRequest& request, const DomainChoice& choice)
      : snapshot_(snapshot), request_(request), choice_(choice) {}

  void Fill(MemberGroups& groups) {
    for (size_t i = 0; i < request_.pinned.size(); ++i) {
      const Pinned& member = request_.pinned[i];
      const DomainWish* wish = WishOf(choice_, member.sub_group);
      if (wish == nullptr || !snapshot_.HasNode(member.node)) continue;
      Slice(*wish, member.rank, NumberOfPinned(*wish, member)).pinned.push_back(i);
    }
    for (size_t i = 0; i < request_.wants.size(); ++i) {
      const Want& want = request_.wants[i];
      const DomainWish* wish = WishOf(choice_, want.sub_group);
      if (wish == nullptr) continue;
      Slice(*wish, want.rank, NumberOfWant(*wish, want)).wants.push_back(i);
    }
    for (auto& [key, slice] : slices_) {
      if (slice.wants.empty()) continue;
      std::vector<Pinned> standing;
      for (const size_t i : slice.pinned) standing.push_back(request_.pinned[i]);
      slice.bound_to = DomainOfPinned(snapshot_, *slice.level, standing);
      for (const size_t want : slice.wants) {
        groups.slice_of[want] = static_cast<int32_t>(groups.slices.size());
      }
      groups.slices.push_back(std::move(slice));
    }
  }

 private:
  // Members with and without a rank are counted apart.
  using Key = std::tuple<int32_t, bool, int64_t>;

  MemberGroup& Slice(const DomainWish& wish, const RankPlace& rank, int64_t number) {
    MemberGroup& slice = slices_[{rank.group, rank.index < 0, number / wish.slice_size}];
    slice.level = wish.slice.get();
    return slice;
  }

  // Without a rank: members of one domain stand together, and each domain begins a slice.
  int64_t NumberOfPinned(const DomainWish& wish, const Pinned& member) {
    if (member.rank.index >= 0) return member.rank.index;
    Unranked& unranked = unranked_[member.rank.group];
    const uint32_t domain = wish.slice->DomainOf(member.node);
    auto [at, is_new] = unranked.next_in.try_emplace(domain, 0);
    if (is_new || at->second % wish.slice_size == 0) {
      at->second = unranked.next;
      unranked.next += wish.slice_size;
    }
    return at->second++;
  }

  int64_t NumberOfWant(const DomainWish& wish, const Want& want) {
    if (want.rank.index >= 0) return want.rank.index;
    Unranked& unranked = unranked_[want.rank.group];
    for (auto& [domain, next] : unranked.next_in) {
      if (domain != DomainLevel::kOutside && next % wish.slice_size != 0) return next++;
    }
    // After the standing members, whose last slice is whole.
    return unranked.next++;
  }

  struct Unranked {
    std::map<uint32_t, int64_t> next_in;  // by domain: the number for its next member
    int64_t next = 0;
  };
  const Snapshot& snapshot_;
  const GangRequest& request_;
  const DomainChoice& choice_;
  std::map<Key, MemberGroup> slices_;
  std::map<int32_t, Unranked> unranked_;
};

void AddSubGroups(const Snapshot& snapshot, const GangRequest& request, const DomainChoice& choice,
                  MemberGroups& groups) {
  for (size_t g = 0; g < choice.sub_groups.size(); ++g) {
    const DomainLevel* level = choice.sub_groups[g].required_level();
    if (level == nullptr) continue;
    MemberGroup group{.level = level, .wants = {}, .pinned = {}, .bound_to = {}};
    std::vector<Pinned> standing;
    for (size_t i = 0; i < request.pinned.size(); ++i) {
      if (request.pinned[i].sub_group != static_cast<int32_t>(g)) continue;
      if (!snapshot.HasNode(request.pinned[i].node)) continue;
      group.pinned.push_back(i);
      standing.push_back(request.pinned[i]);
    }
    for (size_t i = 0; i < request.wants.size(); ++i) {
      if (request.wants[i].sub_group != static_cast<int32_t>(g)) continue;
      group.wants.push_back(i);
      groups.sub_group_of[i] = static_cast<int32_t>(groups.sub_groups.size());
    }
    if (group.wants.empty()) continue;
    group.bound_to = DomainOfPinned(snapshot, *level, standing);
    groups.sub_groups.push_back(std::move(group));
  }
}

std::vector<MemberGroup> Some(const std::vector<MemberGroup>& groups,
                              const std::vector<int32_t>& new_place, std::vector<int32_t>& of) {
  std::vector<MemberGroup> some;
  for (const MemberGroup& group : groups) {
    MemberGroup part = group;
    part.wants.clear();
    for (const size_t want : group.wants) {
      const int32_t place = new_place[want];
      if (place == MemberGroups::kNone) continue;
      part.wants.push_back(static_cast<size_t>(place));
      of[static_cast<size_t>(place)] = static_cast<int32_t>(some.size());
    }
    if (!part.wants.empty()) some.push_back(std::move(part));
  }
  return some;
}

}  // namespace

bool MemberGroups::Stuck(size_t want) const {
  const auto torn = [want](const std::vector<MemberGroup>& groups, const std::vector<int32_t>& of) {
    return !of.empty() && of[want] != kNone && groups[static_cast<size_t>(of[want])].torn();
  };
  return torn(slices, slice_of) || torn(sub_groups, sub_group_of);
}

MemberGroups MemberGroups::Unbound() const {
  MemberGroups unbound;
  unbound.slice_of.assign(slice_of.size(), kNone);
  unbound.sub_group_of.assign(sub_group_of.size(), kNone);
  return unbound;
}

MemberGroups MemberGroups::Of(const std::vector<size_t>& wants) const {
  MemberGroups part;
  part.slice_of.assign(wants.size(), kNone);
  part.sub_group_of.assign(wants.size(), kNone);
  std::vector<int32_t> new_place(slice_of.size(), kNone);
  for (size_t i = 0; i < wants.size(); ++i) new_place[wants[i]] = static_cast<int32_t>(i);
  part.slices = Some(slices, new_place, part.slice_of);
  part.sub_groups = Some(sub_groups, new_place, part.sub_group_of);
  return part;
}

MemberGroups GroupsOf(const Snapshot& snapshot, const GangRequest& request,
                      const DomainChoice& choice) {
  MemberGroups groups;
  groups.slice_of.assign(request.wants.size(), MemberGroups::kNone);
  groups.sub_group_of.assign(request.wants.size(), MemberGroups::kNone);
  SliceBook(snapshot, request, choice).Fill(groups);
  AddSubGroups(snapshot, request, choice, groups);
  return groups;
}

}  // namespace maniple
