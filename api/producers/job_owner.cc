// Job of batch/v1 and StatefulSet of apps/v1: gangs of equal members.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "api/producers/fields.h"
#include "api/producers/kind_readers.h"

namespace maniple {
namespace {

// Of "1,3-5" four. What is no index or no range counts for nothing.
int64_t CountIndexes(absl::string_view text) {
  int64_t count = 0;
  for (const absl::string_view range : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(range, absl::MaxSplits('-', 1));
    const std::optional<int64_t> first = ParseCount(ends.first);
    const std::optional<int64_t> last =
        absl::StrContains(range, '-') ? ParseCount(ends.second) : first;
    if (first.has_value() && last.has_value() && *first <= *last) count += *last - *first + 1;
  }
  return count;
}

}  // namespace

ForeignSpec ReadJob(const Cursor& root) {
  ForeignSpec spec;
  int64_t parallelism = 1;
  std::optional<int64_t> completions;
  bool indexed = false;
  int64_t succeeded = 0;
  ForMember(root, "spec", [&](const Cursor& of) {
    for (const Cursor& field : of.Members()) {
      if (field.key() == "parallelism") parallelism = ReadCount(field, spec);
      if (field.key() == "completions") completions = ReadCount(field, spec);
      if (field.key() == "completionMode") indexed = field.View() == "Indexed";
    }
  });
  ForMember(root, "status", [&](const Cursor& of) {
    for (const Cursor& field : of.Members()) {
      if (field.key() == "succeeded") succeeded = ReadCount(field, spec);
      // With backoffLimitPerIndex alone: the others run on, and nobody takes the place of these.
      if (field.key() == "failedIndexes") spec.given_up = CountIndexes(field.View());
    }
  });
  spec.minimum = parallelism;
  const int64_t all = completions.value_or(parallelism);
  spec.most = std::min(parallelism, all);
  if (completions.has_value()) {
    spec.left = std::min(parallelism, std::max<int64_t>(all - succeeded - spec.given_up, 0));
  }
  spec.is_gang = indexed && completions == parallelism && parallelism > 1;
  return spec;
}

ForeignSpec ReadStatefulSet(const Cursor& root) {
  ForeignSpec spec;
  spec.is_gang = false;
  int64_t replicas = 1;
  bool at_once = false;
  ForMember(root, "spec", [&](const Cursor& of) {
    for (const Cursor& field : of.Members()) {
      if (field.key() == "replicas") replicas = ReadCount(field, spec);
      if (field.key() == "podManagementPolicy") at_once = field.View() == "Parallel";
    }
  });
  // In order, the second is made after the first is Ready: they never gather.
  spec.most = at_once ? replicas : 1;
  return spec;
}

}  // namespace maniple
