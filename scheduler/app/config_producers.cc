#include "scheduler/app/config_producers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace maniple {
namespace {

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

}  // namespace

void ReadProducersConfig(const Json& map, const std::string& path, Problems& problems,
                         ProducersConfig& out) {
  Section section(map, path, problems);
  section.Read("kinds", [&](const Json& v, const std::string& at) {
    ReadKinds(v, at, problems, out.kinds);
  });
  section.Read("queues", [&](const Json& v, const std::string& at) {
    ReadQueues(v, at, problems, out.queues);
  });
  section.Read("statuses", [&](const Json& v, const std::string& at) {
    Section statuses(v, at, problems);
    statuses.Bool("xk8s", out.write_xk8s_status);
    statuses.Bool("volcano", out.write_volcano_status);
    statuses.Close();
  });
  section.Read("rules", [&](const Json& v, const std::string& at) {
    if (!v.is_array()) return problems.Wrong(at, "a list", v);
    out.has_rules = !v.items().empty();
  });
  section.Close();
}

}  // namespace maniple
