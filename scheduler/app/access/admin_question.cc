#include "scheduler/app/access/admin_question.h"

#include <utility>

#include "absl/strings/str_split.h"
#include "api/http/http.h"

namespace maniple {

AdminQuestion ParseAdminTarget(absl::string_view target) {
  AdminQuestion out;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(target, absl::MaxSplits('?', 1));
  out.path = std::string(parts.first);
  for (const absl::string_view pair : absl::StrSplit(parts.second, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> kv =
        absl::StrSplit(pair, absl::MaxSplits('=', 1));
    const std::string key = QueryDecoded(kv.first);
    if (key == "namespace") out.namespace_name = QueryDecoded(kv.second);
    if (key == "since") out.since = QueryDecoded(kv.second);
    if (key == "name") out.name = QueryDecoded(kv.second);
    if (key == "leader") out.of_leader = kv.second == "true";
  }
  if (out.path == "/explain" && out.namespace_name.empty()) out.namespace_name = "default";
  return out;
}

bool IsAdminPath(absl::string_view path) {
  return path == "/explain" || path == "/gangs" || path == "/nodes" || path == "/queues" ||
         path == "/cohorts" || path == "/usage";
}

}  // namespace maniple
