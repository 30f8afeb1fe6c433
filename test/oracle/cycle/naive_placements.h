// Every placement of a small gang, tried one by one: what is legal, written down as it is said,
// from labels and numbers alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/cycle/question/decision.h"
#include "test/oracle/cycle/topology_case.h"
#include "test/support/test_cluster.h"

namespace maniple {

// Everything about a case that labels and numbers say, and every placement of its members.
class NaivePlacements final {
 public:
  explicit NaivePlacements(const TopologyCase& c)
      : case_(c), sizes_(SizesWanted(c)), nodes_(static_cast<int>(c.labels.size())) {
    for (int n = 0; n < nodes_; ++n) free_.push_back(c.gpus[Index(n)] - c.used[Index(n)]);
    for (size_t m = 0; m < c.members.size(); ++m) {
      if (c.members[m].node < 0) wants_.push_back(m);
      on_.push_back(c.members[m].node);
    }
  }

  enum class Walk : uint8_t { kOn, kStop };
  // Calls visit() at every complete placement that breaks nothing, as on() says, until it stops.
  template <typename Visit>
  void ForEachPlacement(Visit&& visit) {
    Descend(0, visit);
  }
  [[nodiscard]] bool Any() {
    bool any = false;
    ForEachPlacement([&any] {
      any = true;
      return Walk::kStop;
    });
    return any;
  }
  [[nodiscard]] const std::vector<int>& on() const { return on_; }
  // Takes a plan over from where nothing is placed; not "": it breaks something.
  std::string Take(const Plan& plan, TestCluster& cluster) {
    for (const Placement& placement : plan.placements) {
      const size_t member = NumberOf(cluster.state().FindPod(placement.pod)->name);
      const size_t node = NumberOf(std::string(cluster.state().NodeName(placement.node)));
      if (on_[member] >= 0) return absl::StrCat("m", member, " twice");
      on_[member] = static_cast<int>(node);
      free_[node] -= case_.shapes[static_cast<size_t>(case_.members[member].shape)];
      if (free_[node] < 0) return absl::StrCat("too much on n", node);
    }
    if (!QuorumMet()) return "no quorum";
    return DomainsHold() ? "" : "a domain is broken";
  }

  // By the path of label values, "" when the node is in no domain of the level.
  [[nodiscard]] std::string DomainOf(int node, const std::string& word) const {
    const std::map<std::string, std::string>& labels = case_.labels[Index(node)];
    const auto value = [&labels](const std::string& key) {
      const auto it = labels.find(key);
      return it == labels.end() ? std::string() : it->second;
    };
    if (word == "nvlink" || word == kNvlinkLabel) return value(kNvlinkLabel);
    std::string path;
    for (int l = 0; l <= word.back() - '0'; ++l) {
      const std::string part = value(LevelLabel(l));
      if (part.empty()) return "";
      absl::StrAppend(&path, part, "/");
    }
    return path;
  }

  [[nodiscard]] bool QuorumMet() const {
    int placed = 0;
    std::vector<int> parts(case_.sub_group_needs.size(), 0);
    for (size_t m = 0; m < on_.size(); ++m) {
      if (on_[m] < 0) continue;
      ++placed;
      if (case_.members[m].sub_group >= 0) ++parts[static_cast<size_t>(case_.members[m].sub_group)];
    }
    for (size_t g = 0; g < parts.size(); ++g) {
      if (parts[g] < case_.sub_group_needs[g]) return false;
    }
    return placed >= case_.min_member;
  }

  // Together: all in one domain of the level.
  [[nodiscard]] bool Together(const std::vector<size_t>& members, const std::string& word) const {
    std::string common;
    for (const size_t m : members) {
      if (on_[m] < 0) continue;
      const std::string domain = DomainOf(on_[m], word);
      if (domain.empty() || (!common.empty() && common != domain)) return false;
      common = domain;
    }
    return true;
  }

  [[nodiscard]] bool DomainsHold() const {
    std::vector<size_t> all;
    std::map<int, std::vector<size_t>> sub_groups;
    std::map<std::tuple<int, int, int64_t>, std::vector<size_t>> slices;
    std::map<std::pair<int, int>, int64_t> position;
    for (size_t m = 0; m < on_.size(); ++m) {
      const DrawnMember& member = case_.members[m];
      all.push_back(m);
      sub_groups[member.sub_group].push_back(m);
      const TopologyRequest& sliced = SlicedBy(m);
      int64_t number = position[{member.sub_group, member.job}]++;
      if (member.index >= 0) number = member.index;
      if (sliced.slice_size == 0) continue;
      slices[{member.sub_group, member.job, number / sliced.slice_size}].push_back(m);
    }
    if (!case_.topology.required.empty() && !Together(all, case_.topology.required)) return false;
    for (const auto& [g, members] : sub_groups) {
      if (g < 0 || case_.sub_group_topologies[static_cast<size_t>(g)].required.empty()) continue;
      if (AnyWant(members) &&
          !Together(members, case_.sub_group_topologies[static_cast<size_t>(g)].required)) {
        return false;
      }
    }
    return std::all_of(slices.begin(), slices.end(), [&](const auto& slice) {
      return !AnyPlacedWant(slice.second) ||
             Together(slice.second, SlicedBy(slice.second.front()).slice_level);
    });
  }

  // In members; where there are several shapes, in GPUs of nodes that take any of them. REQUIRES:
  // somebody is to be placed.
  [[nodiscard]] int64_t RoomOn(int node) const {
    const int free = std::max(0, case_.gpus[Index(node)] - case_.used[Index(node)]);
    const int least = *sizes_.begin();
    if (sizes_.size() == 1) return free / least;
    return free >= least ? free : 0;
  }

 private:
  static size_t NumberOf(const std::string& name) {
    return static_cast<size_t>(std::atoi(name.c_str() + 1));
  }
  static size_t Index(int node) { return static_cast<size_t>(node); }
  [[nodiscard]] const TopologyRequest& SlicedBy(size_t member) const {
    const int g = case_.members[member].sub_group;
    const bool own = g >= 0 && case_.sub_group_topologies[static_cast<size_t>(g)].slice_size > 0;
    return own ? case_.sub_group_topologies[static_cast<size_t>(g)] : case_.topology;
  }
  // What stands already is a fact; only members that are placed now can break anything.
  [[nodiscard]] bool AnyPlacedWant(const std::vector<size_t>& members) const {
    return std::any_of(members.begin(), members.end(),
                       [&](size_t m) { return case_.members[m].node < 0 && on_[m] >= 0; });
  }
  [[nodiscard]] bool AnyWant(const std::vector<size_t>& members) const {
    return AnyPlacedWant(members);
  }

  template <typename Visit>
  Walk Descend(size_t at, Visit&& visit) {
    if (at == wants_.size()) return QuorumMet() && DomainsHold() ? visit() : Walk::kOn;
    const size_t member = wants_[at];
    Walk walk = Descend(at + 1, visit);
    const int gpus = case_.shapes[static_cast<size_t>(case_.members[member].shape)];
    for (int n = 0; n < nodes_ && walk == Walk::kOn; ++n) {
      if (free_[Index(n)] < gpus) continue;
      free_[Index(n)] -= gpus;
      on_[member] = n;
      walk = Descend(at + 1, visit);
      on_[member] = -1;
      free_[Index(n)] += gpus;
    }
    return walk;
  }

  const TopologyCase& case_;
  std::set<int> sizes_;
  int nodes_;
  std::vector<int> free_;
  std::vector<size_t> wants_;  // members that are to be placed
  std::vector<int> on_;        // by member: its node, or -1
};

}  // namespace maniple
