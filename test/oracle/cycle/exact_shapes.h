// Whether a gang of several shapes fits, exactly, by numbers alone. For cycle_shapes_oracle_test.
//
// Goes through every choice of domains for the gang and its sub-groups, of flavors for the shapes
// and of members for the quorum, and puts them on one node after the other, remembering which rests
// did not fit on the nodes that remain.
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "test/oracle/cycle/shapes_world.h"

namespace maniple {

// Members of one shape and sub-group.
struct WorldClass {
  int shape = 0, sub_group = -1;
  int members = 0;
};

class ExactShapes final {
 public:
  explicit ExactShapes(const ShapesWorld& world)
      : world_(world),
        flavor_of_(world.shapes.size(), -1),
        domain_of_(world.sub_groups.size(), -1) {
    for (const WorldMember& member : world.members) {
      const auto at = std::ranges::find_if(classes_, [&member](const WorldClass& it) {
        return it.shape == member.shape && it.sub_group == member.sub_group;
      });
      if (at != classes_.end()) {
        ++at->members;
      } else {
        classes_.push_back({.shape = member.shape, .sub_group = member.sub_group, .members = 1});
      }
    }
  }

  bool Fits() {
    return AnyFlavors(0, [this] {
      return AnyQuorum(0, {}, [this](const std::vector<int>& counts) {
        return QuotaCovers(counts) && FitsSomewhere(counts);
      });
    });
  }

 private:
  using Counts = std::vector<int>;  // by class
  using Question = std::function<bool()>;

  bool AnyFlavors(size_t shape, const Question& ask) {
    if (world_.quota.empty() || shape == world_.shapes.size()) return ask();
    for (size_t flavor = 0; flavor < world_.quota.size(); ++flavor) {
      flavor_of_[shape] = static_cast<int>(flavor);
      if (AnyFlavors(shape + 1, ask)) return true;
    }
    return false;
  }
  bool AnyQuorum(size_t cls, Counts counts, const std::function<bool(const Counts&)>& ask) const {
    if (cls == classes_.size()) return IsQuorum(counts) && ask(counts);
    counts.push_back(0);
    for (; counts.back() <= classes_[cls].members; ++counts.back()) {
      if (AnyQuorum(cls + 1, counts, ask)) return true;
    }
    return false;
  }
  [[nodiscard]] bool IsQuorum(const Counts& counts) const {
    int total = 0, least = 0;
    std::vector<int> parts(world_.sub_groups.size(), 0);
    for (size_t c = 0; c < counts.size(); ++c) {
      total += counts[c];
      if (classes_[c].sub_group >= 0) {
        parts[static_cast<size_t>(classes_[c].sub_group)] += counts[c];
      }
    }
    for (size_t g = 0; g < parts.size(); ++g) {
      least += world_.sub_groups[g].needs;
      if (parts[g] < world_.sub_groups[g].needs) return false;
    }
    return total == std::max(least, world_.min_member);
  }
  [[nodiscard]] bool QuotaCovers(const Counts& counts) const {
    std::vector<int> left = world_.quota;
    for (size_t c = 0; c < counts.size() && !left.empty(); ++c) {
      const auto shape = static_cast<size_t>(classes_[c].shape);
      int& of_flavor = left[static_cast<size_t>(flavor_of_[shape])];
      of_flavor -= counts[c] * world_.shapes[shape].gpus;
      if (of_flavor < 0) return false;
    }
    return true;
  }
  bool FitsSomewhere(const Counts& counts) {
    std::set<int> domains;
    for (int n = 0; n < static_cast<int>(world_.nodes.size()); ++n) {
      domains.insert(world_.DomainOf(n, world_.required));
    }
    return std::ranges::any_of(domains, [&](int domain) {
      std::vector<int> nodes;
      for (int n = 0; n < static_cast<int>(world_.nodes.size()); ++n) {
        if (world_.DomainOf(n, world_.required) == domain) nodes.push_back(n);
      }
      return AnyDomains(0, nodes, counts);
    });
  }
  bool AnyDomains(size_t group, const std::vector<int>& nodes, const Counts& counts) {
    if (group == world_.sub_groups.size()) {
      failed_.clear();
      return Put(nodes, 0, counts);
    }
    int members = 0;
    for (size_t c = 0; c < counts.size(); ++c) {
      if (classes_[c].sub_group == static_cast<int>(group)) members += counts[c];
    }
    const WorldLevel level = world_.sub_groups[group].required;
    std::set<int> domains;
    for (const int node : nodes) domains.insert(world_.DomainOf(node, level));
    if (members == 0 || level == WorldLevel::kNone) domains = {-1};
    return std::ranges::any_of(domains, [&](int domain) {
      domain_of_[group] = domain;
      return EnoughFor(static_cast<int>(group), nodes, counts) &&
             AnyDomains(group + 1, nodes, counts);
    });
  }
  // Only so that not every choice of domains is gone through: GPUs free in all.
  [[nodiscard]] bool EnoughFor(int group, const std::vector<int>& nodes,
                               const Counts& counts) const {
    int gpus = 0;
    for (const int node : nodes) {
      const int domain = domain_of_[static_cast<size_t>(group)];
      const WorldLevel level = world_.sub_groups[static_cast<size_t>(group)].required;
      if (domain >= 0 && world_.DomainOf(node, level) != domain) continue;
      gpus += world_.nodes[static_cast<size_t>(node)].gpus;
    }
    for (size_t c = 0; c < counts.size(); ++c) {
      if (classes_[c].sub_group != group) continue;
      gpus -= counts[c] * world_.shapes[static_cast<size_t>(classes_[c].shape)].gpus;
    }
    return gpus >= 0;
  }

  [[nodiscard]] bool MayUse(int node, const WorldClass& cls) const {
    const WorldShape& shape = world_.shapes[static_cast<size_t>(cls.shape)];
    const WorldNode& it = world_.nodes[static_cast<size_t>(node)];
    const int flavor = flavor_of_[static_cast<size_t>(cls.shape)];
    if (shape.pool >= 0 && shape.pool != it.pool) return false;
    if (flavor >= 0 && flavor != it.pool) return false;
    if (cls.sub_group < 0) return true;
    const int domain = domain_of_[static_cast<size_t>(cls.sub_group)];
    const WorldLevel level = world_.sub_groups[static_cast<size_t>(cls.sub_group)].required;
    return domain < 0 || world_.DomainOf(node, level) == domain;
  }
  // What is left of the members, on the nodes from `at` on.
  bool Put(const std::vector<int>& nodes, size_t at, const Counts& left) {
    if (std::ranges::all_of(left, [](int members) { return members == 0; })) return true;
    if (at == nodes.size() || failed_.contains({at, left})) return false;
    WorldNode node = world_.nodes[static_cast<size_t>(nodes[at])];
    if (Fill(nodes, at, 0, node, left)) return true;
    failed_.emplace(at, left);
    return false;
  }
  // As many members of each class from `cls` on as the node takes, and then fewer.
  bool Fill(const std::vector<int>& nodes, size_t at, size_t cls, const WorldNode& node,
            const Counts& left) {
    if (cls == classes_.size()) return Put(nodes, at + 1, left);
    const WorldShape& shape = world_.shapes[static_cast<size_t>(classes_[cls].shape)];
    int most = MayUse(nodes[at], classes_[cls]) ? left[cls] : 0;
    if (shape.gpus > 0) most = std::min(most, node.gpus / shape.gpus);
    if (shape.cores > 0) most = std::min(most, node.cores / shape.cores);
    if (shape.port) most = std::min(most, node.port_taken ? 0 : 1);
    for (; most >= 0; --most) {
      WorldNode with = node;
      with.gpus -= most * shape.gpus;
      with.cores -= most * shape.cores;
      with.port_taken = with.port_taken || (shape.port && most > 0);
      Counts rest = left;
      rest[cls] -= most;
      if (Fill(nodes, at, cls + 1, with, rest)) return true;
    }
    return false;
  }

  const ShapesWorld& world_;
  std::vector<WorldClass> classes_;
  std::vector<int> flavor_of_;  // by shape; -1: any
  std::vector<int> domain_of_;  // by sub-group; -1: any
  std::set<std::pair<size_t, Counts>> failed_;
};

}  // namespace maniple
