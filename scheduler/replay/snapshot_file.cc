#include "scheduler/replay/snapshot_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/status_macros.h"
#include "api/codec/gzip.h"
#include "api/codec/kubernetes_time.h"

namespace maniple {
namespace {

constexpr char kKind[] = "ManipleSnapshot";

absl::Status Wrong(size_t line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
}

absl::StatusOr<absl::Time> ReadHead(const Json& head) {
  if (head["kind"].AsString() != kKind) return Wrong(1, "it is no snapshot of Maniple's");
  const int64_t version = head["version"].AsInt();
  if (version > kSnapshotVersion) {
    return Wrong(1, absl::StrCat("it is of version ", version, ", and this program reads up to ",
                                 kSnapshotVersion));
  }
  const absl::StatusOr<absl::Time> at = ParseKubernetesTime(head["at"].AsString());
  if (version < 1 || !at.ok()) return Wrong(1, "its version or its time makes no sense");
  return *at;
}

}  // namespace

std::string PackSnapshot(const ClusterSnapshot& snapshot) {
  std::string text = Json::Object({{"kind", kKind},
                                   {"version", kSnapshotVersion},
                                   {"at", FormatKubernetesTime(snapshot.at)}})
                         .Dump();
  for (const Json& object : snapshot.objects) absl::StrAppend(&text, "\n", object.Dump());
  const Json end = Json::Object({{"end", static_cast<int64_t>(snapshot.objects.size())}});
  absl::StrAppend(&text, "\n", end.Dump(), "\n");
  return Gzip(text);
}

bool IsSnapshot(absl::string_view bytes) {
  const absl::StatusOr<std::string> text = Gunzip(bytes, kMostSnapshotBytes);
  if (!text.ok()) return false;
  const absl::StatusOr<Json> head =
      Json::Parse(absl::string_view(*text).substr(0, text->find('\n')));
  return head.ok() && (*head)["kind"].AsString() == kKind;
}

absl::StatusOr<ClusterSnapshot> UnpackSnapshot(absl::string_view bytes, size_t most_bytes) {
  ASSIGN_OR_RETURN(const std::string text, Gunzip(bytes, most_bytes));
  ClusterSnapshot snapshot;
  size_t line = 0;
  for (const absl::string_view words : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    ++line;
    absl::StatusOr<Json> value = Json::Parse(words);
    if (!value.ok()) return Wrong(line, value.status().message());
    if (line == 1) {
      ASSIGN_OR_RETURN(snapshot.at, ReadHead(*value));
    } else if (value->Has("end")) {
      const bool whole = (*value)["end"].AsInt() == static_cast<int64_t>(snapshot.objects.size());
      return whole ? absl::StatusOr<ClusterSnapshot>(std::move(snapshot))
                   : Wrong(line, "objects are missing");
    } else {
      snapshot.objects.push_back(*std::move(value));
    }
  }
  return absl::InvalidArgumentError("it is cut off: its last line is missing");
}

}  // namespace maniple
