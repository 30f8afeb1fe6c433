#include "api/producers/mark_quorum.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/codec/json.h"
#include "api/producers/fields.h"

namespace maniple {
namespace {

// The lists of all pods of a gang are read anew whenever one of its pods says something else.
constexpr size_t kMostListBytes = 64 << 10;
// "namespace/name" of what Kubernetes lets exist.
constexpr size_t kMostNameBytes = 63 + 1 + 253;

std::string PathOf(MarkField field) {
  return absl::StrCat("metadata.annotations[", MarkWords(field), "] of a pod: ");
}

// Lists that the pods of a gang carry: each is read once, and so many bytes of them in all.
class Lists final {
 public:
  Lists(MarkField field, std::string& problem) : field_(field), problem_(problem) {}

  // The list of the pod is to be read. `own`: what else its meaning depends on.
  [[nodiscard]] bool IsNew(const PodMarks& marks, absl::string_view own) {
    const absl::string_view text = marks.Get(field_);
    if (bytes_ > kMostListBytes || !known_.insert({own, text}).second) return false;
    bytes_ += text.size();
    if (bytes_ <= kMostListBytes) return true;
    problem_ = absl::StrCat(PathOf(field_), "the lists of its pods have more than 64 KiB");
    return false;
  }

 private:
  const MarkField field_;
  std::string& problem_;
  absl::btree_set<std::pair<absl::string_view, absl::string_view>> known_;
  size_t bytes_ = 0;
};

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

// Koordinator's gangs that start together.
struct Bundle {
  std::vector<std::string> names;  // in the namespace of the pod, sorted
  std::string elsewhere;           // one that is in another: "namespace/name"
};
Bundle BundleOf(const PodMarks& marks) {
  const std::string own(marks.Get(MarkField::kKoordinator));
  const Bundle alone{.names = {own}, .elsewhere = ""};
  const absl::string_view text = marks.Get(MarkField::kKoordinatorGroups);
  if (text.size() > kMostListBytes) return alone;
  const absl::StatusOr<Json> list = Json::Parse(text);
  absl::btree_set<std::string> names;
  std::string elsewhere;
  if (list.ok() && list->type() == Json::Type::kArray) {
    for (const Json& item : list->items()) {
      const std::pair<absl::string_view, absl::string_view> halves =
          absl::StrSplit(item.AsString(), absl::MaxSplits('/', 1));
      if (halves.second.empty()) continue;
      if (halves.first == marks.Get(MarkField::kNamespace)) {
        names.emplace(halves.second);
      } else {
        elsewhere = item.AsString();
      }
    }
  }
  if (!names.contains(own)) return alone;
  return {.names = {names.begin(), names.end()}, .elsewhere = std::move(elsewhere)};
}

// Half of a bundle must not start: a gang is of one namespace.
std::string TroubleOf(const Bundle& bundle) {
  if (bundle.elsewhere.empty()) return "";
  const bool told = bundle.elsewhere.size() <= kMostNameBytes;
  return absl::StrCat(PathOf(MarkField::kKoordinatorGroups), told ? bundle.elsewhere : "one",
                      " is of another namespace; only gangs of one namespace start together");
}

// Of gangs that start together each is a part; one that has no pod yet has to have one.
MarkQuorum OfKoordinator(const std::vector<PodMarks>& members) {
  MarkQuorum out;
  std::map<std::string, std::vector<PodMarks>> gangs;
  Lists lists(MarkField::kKoordinatorGroups, out.problem);
  for (const PodMarks& marks : members) {
    const absl::string_view own = marks.Get(MarkField::kKoordinator);
    if (lists.IsNew(marks, own)) {
      const Bundle bundle = BundleOf(marks);
      for (const std::string& name : bundle.names) gangs[name];
      if (std::string trouble = TroubleOf(bundle); !trouble.empty()) out.problem = trouble;
    }
    gangs[std::string(own)].push_back(marks);
  }
  for (const auto& [name, pods] : gangs) {
    const int64_t minimum =
        LargestCount(MarkField::kKoordinatorMinimum, pods, out.problem).value_or(1);
    out.parts.push_back({.name = name, .members = std::max<int64_t>(minimum, 1)});
  }
  if (out.parts.size() > 1) return out;
  out.minimum = out.parts.front().members;
  out.parts.clear();
  return out;
}

// Which pods carry the table of task groups differs from producer to producer. A group counts once
// it has a pod: a driver starts its executors itself.
MarkQuorum OfYunikorn(const std::vector<PodMarks>& members) {
  MarkQuorum out;
  std::map<std::string, int64_t> groups;
  Lists lists(MarkField::kTaskGroups, out.problem);
  for (const PodMarks& marks : members) {
    const absl::string_view text = marks.Get(MarkField::kTaskGroups);
    if (text.empty() || !lists.IsNew(marks, "")) continue;
    const std::string path = PathOf(MarkField::kTaskGroups);
    const absl::StatusOr<Json> table = Json::Parse(text);
    if (!table.ok() || table->type() != Json::Type::kArray) {
      out.problem = absl::StrCat(path, "must be a JSON list");
      continue;
    }
    for (const Json& group : table->items()) {
      if (const Json::Type type = group["minMember"].type();
          type != Json::Type::kInt && type != Json::Type::kNull) {
        out.problem = absl::StrCat(path, "minMember must be a whole number");
      }
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

std::vector<std::string> KoordinatorGroups(const PodMarks& marks) { return BundleOf(marks).names; }

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
