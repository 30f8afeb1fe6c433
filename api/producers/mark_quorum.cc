#include "api/producers/mark_quorum.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "api/codec/json.h"
#include "api/producers/fields.h"

namespace maniple {
namespace {

// The largest number that a pod says; absent: none says one.
std::optional<int64_t> LargestCount(MarkField field, const std::vector<PodMarks>& members,
                                    std::string& problem) {
  std::optional<int64_t> most;
  for (const PodMarks& marks : members) {
    if (!marks.Has(field)) continue;
    const std::optional<int64_t> count = ParseCount(marks.Get(field));
    if (!count.has_value()) {
      problem = absl::StrCat("metadata.annotations[", MarkWords(field),
                             "] of a pod: must be a whole number");
    }
    most = std::max(most.value_or(0), count.value_or(0));
  }
  return most;
}

MarkQuorum OfKueue(const std::vector<PodMarks>& members) {
  MarkQuorum out;
  const bool one_by_one = std::any_of(members.begin(), members.end(), [](const PodMarks& marks) {
    return marks.Get(MarkField::kKueueServing) == "true" ||
           marks.Get(MarkField::kKueueFast) == "true";
  });
  const std::optional<int64_t> total = LargestCount(MarkField::kKueueTotal, members, out.problem);
  if (one_by_one) return out;
  out.minimum = total.value_or(1);
  if (!total.has_value()) {
    out.problem = absl::StrCat("metadata.annotations[", MarkWords(MarkField::kKueueTotal),
                               "] of a pod: is missing");
  }
  return out;
}

MarkQuorum OfKoordinator(const std::vector<PodMarks>& members) {
  MarkQuorum out;
  out.minimum = LargestCount(MarkField::kKoordinatorMinimum, members, out.problem).value_or(1);
  return out;
}

// Which pods carry the table of task groups differs from producer to producer. A group counts once
// it has a pod: a driver starts its executors itself.
MarkQuorum OfYunikorn(const std::vector<PodMarks>& members) {
  MarkQuorum out;
  std::map<std::string, int64_t> groups;
  for (const PodMarks& marks : members) {
    const absl::string_view text = marks.Get(MarkField::kTaskGroups);
    if (text.empty()) continue;
    const absl::StatusOr<Json> table = Json::Parse(text);
    if (!table.ok() || table->type() != Json::Type::kArray) {
      out.problem = absl::StrCat("metadata.annotations[", MarkWords(MarkField::kTaskGroups),
                                 "] of a pod: must be a JSON list");
      continue;
    }
    for (const Json& group : table->items()) {
      int64_t& most = groups[group["name"].AsString()];
      most = std::max(most, std::clamp<int64_t>(group["minMember"].AsInt(), 0, kMostMembers));
    }
  }
  for (const auto& [name, members_of] : groups) {
    if (members_of > 0 && !name.empty()) {
      out.parts.push_back({.name = name, .members = members_of, .late = true});
    }
  }
  return out;
}

}  // namespace

MarkQuorum QuorumOfMarks(MarkField dialect, const std::vector<PodMarks>& members) {
  if (dialect == MarkField::kKueue) return OfKueue(members);
  if (dialect == MarkField::kYunikorn) return OfYunikorn(members);
  return OfKoordinator(members);
}

absl::string_view DialectName(MarkField dialect) {
  if (dialect == MarkField::kKueue) return "kueue";
  return dialect == MarkField::kYunikorn ? "yunikorn" : "koordinator";
}

}  // namespace maniple
