#include "scheduler/state/member_index.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace maniple {
namespace {

using NamesByName = absl::flat_hash_map<std::string, MemberIndex::Names>;

const MemberIndex::Names& NamesIn(const NamesByName& all, absl::string_view name) {
  static const auto* const kNobody = new MemberIndex::Names();
  const auto found = all.find(name);
  return found != all.end() ? found->second : *kNobody;
}

void EraseIn(NamesByName& all, absl::string_view of, absl::string_view name) {
  const auto found = all.find(of);
  if (found == all.end()) return;
  found->second.erase(name);
  if (found->second.empty()) all.erase(found);
}

}  // namespace

bool MemberIndex::Matches(const Selectors& selectors, absl::string_view name,
                          const StringMap& labels) {
  return std::ranges::any_of(selectors.patterns,
                             [&](const Pattern& pattern) { return pattern.Matches(name); }) ||
         std::ranges::any_of(selectors.labels, [&](const LabelSelector& selector) {
           return selector.Matches(labels);
         });
}

void MemberIndex::Link(absl::string_view owner, absl::string_view name) {
  members_of_[owner].emplace(name);
  owners_of_[name].emplace(owner);
}

void MemberIndex::Unlink(absl::string_view owner, absl::string_view name) {
  EraseIn(members_of_, owner, name);
  EraseIn(owners_of_, name, owner);
}

StringMap MemberIndex::AskedOf(const StringMap& labels) const {
  StringMap asked;
  for (const std::string& key : asked_) {
    if (const std::string* value = labels.Find(key); value != nullptr) asked.Set(key, *value);
  }
  return asked;
}

void MemberIndex::AskAbout(const std::vector<LabelSelector>& selectors, LabelSource labels_of) {
  const size_t before = asked_.size();
  for (const LabelSelector& selector : selectors) {
    for (const SelectorRequirement& one : selector.requirements) asked_.insert(one.key);
  }
  if (asked_.size() == before) return;
  for (auto& [name, labels] : there_) labels = AskedOf(labels_of(name));
}

std::vector<std::string> MemberIndex::Select(absl::string_view owner,
                                             const std::vector<HyperNodeMember>& selectors,
                                             LabelSource labels_of) {
  Selectors chosen;
  for (const HyperNodeMember& selector : selectors) {
    if (selector.labels.has_value()) {
      chosen.labels.push_back(*selector.labels);
    } else if (!selector.name.empty()) {
      chosen.names.insert(selector.name);
    } else if (absl::StatusOr<Pattern> pattern = Pattern::Compile(selector.pattern); pattern.ok()) {
      chosen.patterns.push_back(*std::move(pattern));
    }
  }
  Names members = chosen.names;
  if (!chosen.patterns.empty() || !chosen.labels.empty()) {
    AskAbout(chosen.labels, labels_of);
    for (const auto& [name, labels] : there_) {
      if (Matches(chosen, name, labels)) members.insert(name);
    }
  }
  std::vector<std::string> changed;
  std::ranges::set_symmetric_difference(members, MembersOf(owner), std::back_inserter(changed));
  for (const std::string& name : changed) {
    members.contains(name) ? Link(owner, name) : Unlink(owner, name);
  }
  by_pattern_.erase(owner);
  by_labels_.erase(owner);
  if (!chosen.patterns.empty()) by_pattern_.emplace(owner);
  if (!chosen.labels.empty()) by_labels_.emplace(owner);
  if (selectors.empty()) {
    selectors_.erase(owner);
  } else {
    selectors_.insert_or_assign(std::string(owner), std::move(chosen));
  }
  return changed;
}

void MemberIndex::Put(absl::string_view name, const StringMap& labels) {
  const auto look = [&](const std::string& owner) {
    const Selectors& selectors = selectors_.at(owner);
    const bool is_member = selectors.names.contains(name) || Matches(selectors, name, labels);
    if (is_member == OwnersOf(name).contains(owner)) return;
    is_member ? Link(owner, name) : Unlink(owner, name);
  };
  StringMap asked = AskedOf(labels);
  const auto [known, is_new] = there_.try_emplace(name);
  const bool has_others = known->second != asked;
  known->second = std::move(asked);
  if (is_new) {
    for (const std::string& owner : by_pattern_) look(owner);
  }
  if (is_new || has_others) {
    for (const std::string& owner : by_labels_) look(owner);
  }
}

void MemberIndex::Remove(absl::string_view name) {
  there_.erase(name);
  const Names owners = OwnersOf(name);
  for (const std::string& owner : owners) {
    if (!selectors_.at(owner).names.contains(name)) Unlink(owner, name);
  }
}

const MemberIndex::Names& MemberIndex::OwnersOf(absl::string_view name) const {
  return NamesIn(owners_of_, name);
}
const MemberIndex::Names& MemberIndex::MembersOf(absl::string_view owner) const {
  return NamesIn(members_of_, owner);
}

}  // namespace maniple
