#include "scheduler/app/config/config_producers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace maniple {
namespace {

constexpr size_t kMostRules = 100;

std::string NameOf(const ForeignKind& kind) { return absl::StrCat(kind.resource, ".", kind.group); }

std::string KnownNames() {
  std::vector<std::string> names;
  for (const ForeignKind& kind : BuiltinForeignKinds()) names.push_back(NameOf(kind));
  std::sort(names.begin(), names.end());
  return absl::StrJoin(names, ", ");
}

void ReadKinds(const Json& list, const std::string& path, Problems& problems, ForeignKinds& out) {
  if (!list.is_array()) return problems.Wrong(path, "a list of kinds such as jobs.batch", list);
  const ForeignKinds& known = BuiltinForeignKinds();
  std::vector<bool> chosen(known.size());
  for (size_t i = 0; i < list.items().size(); ++i) {
    const Json& item = list.items()[i];
    const std::string at = absl::StrCat(path, "[", i, "]");
    const auto found = std::find_if(known.begin(), known.end(), [&item](const ForeignKind& kind) {
      return item.is_string() && NameOf(kind) == item.AsString();
    });
    if (found == known.end()) {
      problems.Wrong(at, absl::StrCat("one of ", KnownNames()), item);
    } else if (chosen[found - known.begin()]) {
      problems.Add(at, absl::StrCat(item.AsString(), " stands twice"));
    } else {
      chosen[found - known.begin()] = true;
    }
  }
  out.clear();
  for (size_t i = 0; i < known.size(); ++i) {
    if (chosen[i]) out.push_back(known[i]);
  }
}

void ReadQueues(const Json& map, const std::string& path, Problems& problems,
                std::vector<std::pair<std::string, std::string>>& out) {
  Section section(map, path, problems);
  section.ReadAll([&](const std::string& theirs, const Json& ours, const std::string& at) {
    if (!ours.is_string() || ours.AsString().empty()) {
      return problems.Wrong(at, "the name of a Queue", ours);
    }
    out.emplace_back(theirs, ours.AsString());
  });
  std::sort(out.begin(), out.end());
}

bool IsPath(const std::string& path) {
  const std::vector<absl::string_view> steps = absl::StrSplit(path, '.');
  return std::find(steps.begin(), steps.end(), "") == steps.end();
}

std::string ProblemOfPath(const std::string& path) {
  return IsPath(path) ? "" : "is no path such as spec.replicas";
}

ForeignKind ReadRule(const Json& map, const std::string& path, Problems& problems) {
  ForeignKind out;
  OwnerRule& rule = out.rule.emplace();
  Section section(map, path, problems);
  section.String("group", out.group);
  section.Strings("versions", out.versions);
  section.String("resource", out.resource);
  section.String("kind", out.kind);
  section.Strings("minimums", rule.minimums, ProblemOfPath);
  section.Strings("replicas", rule.replicas, ProblemOfPath);
  section.Strings("priorityClasses", rule.priority_classes, ProblemOfPath);
  section.Strings("queues", rule.queues, ProblemOfPath);
  section.String("partLabel", rule.part_label);
  section.Close();
  for (const auto& [field, value] :
       {std::pair{"group", &out.group}, std::pair{"resource", &out.resource},
        std::pair{"kind", &out.kind}}) {
    if (value->empty()) problems.Add(absl::StrCat(path, ".", field), "is required");
  }
  if (out.versions.empty()) problems.Add(path + ".versions", "needs at least one version");
  if (rule.minimums.empty() && rule.replicas.empty()) {
    problems.Add(path, "needs minimums or replicas, or it makes no gangs");
  }
  return out;
}

void ReadRules(const Json& list, const std::string& path, Problems& problems, ForeignKinds& out) {
  if (!list.is_array()) return problems.Wrong(path, "a list", list);
  if (list.items().size() > kMostRules) {
    return problems.Add(path, absl::StrCat("has more than ", kMostRules, " entries"));
  }
  for (size_t i = 0; i < list.items().size(); ++i) {
    const std::string at = absl::StrCat(path, "[", i, "]");
    ForeignKind kind = ReadRule(list.items()[i], at, problems);
    const auto is_same = [name = NameOf(kind)](const ForeignKind& other) {
      return NameOf(other) == name;
    };
    const ForeignKinds& known = BuiltinForeignKinds();
    if (std::any_of(known.begin(), known.end(), is_same)) {
      problems.Add(at, absl::StrCat(NameOf(kind), " is known without a rule"));
    } else if (std::any_of(out.begin(), out.end(), is_same)) {
      problems.Add(at, absl::StrCat(NameOf(kind), " stands twice"));
    }
    out.push_back(std::move(kind));
  }
}

}  // namespace

void ReadProducersConfig(const Json& map, const std::string& path, Problems& problems,
                         ProducersConfig& out) {
  Section section(map, path, problems);
  section.Part("kinds", ReadKinds, out.kinds);
  section.Part("queues", ReadQueues, out.queues);
  section.Map("statuses", [&](Section& statuses) {
    statuses.Bool("xk8s", out.write_xk8s_status);
    statuses.Bool("volcano", out.write_volcano_status);
  });
  section.Part("rules", ReadRules, out.kinds);
  section.Close();
}

}  // namespace maniple
