#include "api/producers/fields.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace maniple {

void ForMember(const Cursor& of, absl::string_view name,
               absl::FunctionRef<void(const Cursor&)> read) {
  for (const Cursor& field : of.Members()) {
    if (field.key() == name) read(field);
  }
}

void NoteProblem(ForeignSpec& spec, std::string problem) {
  if (spec.problem.empty()) spec.problem = std::move(problem);
}

int64_t ReadCount(const Cursor& value, ForeignSpec& spec) {
  const int64_t count =
      value.Int({std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()});
  return CheckedCount(count, value.Path(), spec);
}

int64_t CheckedCount(int64_t count, absl::string_view path, ForeignSpec& spec) {
  if (count >= 0 && count <= kMostMembers) return count;
  NoteProblem(spec,
              absl::StrCat(path, ": must be from 0 to ", kMostMembers, " members, is ", count));
  return 0;
}

int64_t MembersOf(const ForeignSpec& spec) {
  int64_t sum = 0;
  for (const ForeignPart& part : spec.parts) sum += part.members;
  return sum;
}

const ForeignPart* PartNamed(const ForeignSpec& spec, absl::string_view name) {
  const auto found = std::find_if(spec.parts.begin(), spec.parts.end(),
                                  [&](const ForeignPart& part) { return part.name == name; });
  return found != spec.parts.end() ? &*found : nullptr;
}

std::optional<int64_t> ParseCount(absl::string_view text) {
  int64_t count = 0;
  if (text.find_first_not_of("0123456789") != absl::string_view::npos ||
      !absl::SimpleAtoi(text, &count) || count > kMostMembers) {
    return std::nullopt;
  }
  return count;
}

void PlaceTogether(const std::vector<size_t>& parts, const TopologyRequest& topology,
                   absl::string_view path, ForeignSpec& spec) {
  if (topology.required.empty() && topology.preferred.empty()) return;
  if (parts.size() == 1) {
    TopologyRequest& own = spec.parts[parts.front()].topology;
    if (own.required.empty()) own = topology;
  } else if (parts.size() == spec.parts.size()) {
    const std::string name = spec.topology.topology_name;
    spec.topology = topology;
    if (topology.topology_name.empty()) spec.topology.topology_name = name;
  } else if (!topology.required.empty()) {
    NoteProblem(spec, absl::StrCat(path, ": some of the groups cannot be kept within one ",
                                   topology.required, ", only one of them or all"));
  }
}

void ReadGroupField(const Cursor& field, ForeignSpec& spec) {
  if (field.key() == "minMember") {
    spec.minimum = ReadCount(field, spec);
  } else if (field.key() == "queue") {
    spec.queue = field.Text();
  } else if (field.key() == "priorityClassName") {
    spec.priority_class_name = field.Text();
  } else if (field.key() == "scheduleTimeoutSeconds") {
    // mpi-operator writes 0 where the user said nothing.
    const absl::Duration timeout = field.Seconds();
    if (timeout > absl::ZeroDuration()) spec.schedule_timeout = timeout;
  }
}

}  // namespace maniple
