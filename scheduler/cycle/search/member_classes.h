// A class: members of a gang that are alike to a search of several shapes.
// They have one shape, one sub-group as far as the quorum asks, and the same domains.
// Two placements differ only by the number of members of each class.
//
// A *state* is a number of members for every class but one, packed into one index.
// Of the last class, which has the most members, a search keeps the most that fit beside a state.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/cycle/search/search_question.h"
#include "scheduler/cycle/topology/member_groups.h"

namespace maniple {

struct MemberClass {
  static constexpr int32_t kNone = -1;

  uint32_t kind = 0;
  int32_t sub_group = kNone;   // if the quorum asks for members of it
  std::vector<size_t> groups;  // that bind its members to one domain each
  int64_t members = 0;
};

using PackingState = uint32_t;

// The numbers that a choice of members must reach.
struct QuorumTarget {
  std::vector<int64_t> most;   // by class: members that are asked for at all
  std::vector<int64_t> needs;  // by sub-group
  int64_t total = 0;
};

class MemberClasses final {
 public:
  static constexpr size_t kMostClasses = 64, kFewClasses = 8;

  // `groups` null: no members are bound to each other.
  MemberClasses(const QuorumProblem& problem, const std::vector<Kind>& kinds,
                const MemberGroups* groups);

  // False: there are more than kMostClasses, and nothing else is known.
  [[nodiscard]] bool known() const { return !classes_.empty() && classes_.size() <= kMostClasses; }
  // False: there are more than kFewClasses, or more states than a search goes through, and nothing
  // is known of states.
  [[nodiscard]] bool few() const { return few_; }
  [[nodiscard]] const std::vector<MemberClass>& all() const { return classes_; }
  [[nodiscard]] const std::vector<uint32_t>& of_want() const { return of_want_; }
  // Slices first, then sub-groups; the indices of MemberClass::groups.
  [[nodiscard]] const std::vector<const MemberGroup*>& groups() const { return groups_; }

  // Classes that make up the state, in the order in which a node is asked for them; `last` is
  // asked for after them.
  [[nodiscard]] const std::vector<uint32_t>& others() const { return others_; }
  [[nodiscard]] uint32_t last() const { return last_; }
  [[nodiscard]] PackingState states() const { return states_; }
  [[nodiscard]] PackingState StepOf(uint32_t cls) const { return step_[cls]; }
  [[nodiscard]] int64_t CountIn(PackingState state, uint32_t cls) const {
    return state / step_[cls] % (classes_[cls].members + 1);
  }
  // The rest of `state` once `placed` are placed, member by member.
  [[nodiscard]] PackingState Less(PackingState state, PackingState placed) const;
  // By class; `last`: of the last one.
  [[nodiscard]] std::vector<int64_t> CountsOf(PackingState state, int64_t last) const;

  // The quorum, and the least that any quorum takes of one group.
  [[nodiscard]] QuorumTarget Quorum() const;
  [[nodiscard]] QuorumTarget LeastOf(size_t group) const;
  [[nodiscard]] bool Meets(const QuorumTarget& target, PackingState state, int64_t last) const;
  // Members that make the quorum of so many of each class, in order of rank; null: none found.
  [[nodiscard]] std::optional<std::vector<size_t>> Select(std::span<const int64_t> counts) const;

 private:
  void NumberWants(const MemberGroups* groups);
  void NumberStates(const std::vector<Kind>& kinds);

  const QuorumProblem& problem_;
  std::vector<MemberClass> classes_;
  std::vector<uint32_t> of_want_;
  std::vector<const MemberGroup*> groups_;
  std::vector<uint32_t> others_;
  std::vector<PackingState> step_;  // by class
  uint32_t last_ = 0;
  PackingState states_ = 1;
  bool few_ = true;
};

}  // namespace maniple
