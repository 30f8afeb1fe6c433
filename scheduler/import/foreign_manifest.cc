#include "scheduler/import/foreign_manifest.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace maniple {

ForeignManifest ForeignManifest::Part(Json part) const {
  ForeignManifest out(std::move(part), file_, line_);
  out.prefix_ = "";
  return out;
}

absl::string_view ForeignManifest::group() const {
  const absl::string_view version = object_["apiVersion"].AsString();
  const size_t slash = version.find('/');
  return slash == absl::string_view::npos ? "" : version.substr(0, slash);
}

std::string ForeignManifest::PathOf(absl::string_view field) const {
  return absl::StrCat(prefix_, field);
}

const Json& ForeignManifest::Take(absl::string_view path) {
  taken_.emplace(path);
  return object_["spec"].At(path);
}

const Json& ForeignManifest::TakeAny(std::initializer_list<absl::string_view> paths) {
  for (const absl::string_view path : paths) {
    if (!object_["spec"].At(path).is_null()) return Take(path);
  }
  static const Json* const absent = new Json();
  return *absent;
}

void ForeignManifest::HasNoCounterpart(absl::string_view path, absl::string_view why,
                                       Findings& findings) {
  const Json& value = Take(path);
  if (value.is_null() ||
      (!value.is_bool() && !value.is_number() && !value.is_string() && value.size() == 0)) {
    return;
  }
  Note(PathOf(path), absl::StrCat("not carried over: ", why), findings);
}

void ForeignManifest::Note(absl::string_view path, absl::string_view message,
                           Findings& findings) const {
  Tell(ManifestFinding::Severity::kNote, path, message, findings);
}

void ForeignManifest::Error(absl::string_view path, absl::string_view message,
                            Findings& findings) const {
  Tell(ManifestFinding::Severity::kError, path, message, findings);
}

void ForeignManifest::TellOthers(absl::string_view path, const Json& value,
                                 std::initializer_list<absl::string_view> known,
                                 Findings& findings) const {
  for (const auto& [name, member] : value.members()) {
    if (std::ranges::find(known, name) == known.end()) {
      Note(absl::StrCat(path, ".", name), "not carried over: the field is not known here",
           findings);
    }
  }
}

void ForeignManifest::TellTheRest(Findings& findings) const {
  for (const auto& [name, value] : object_["spec"].members()) TellUntaken(name, value, findings);
}

void ForeignManifest::TellUntaken(const std::string& path, const Json& value,
                                  Findings& findings) const {
  if (taken_.contains(path)) return;
  const auto below = taken_.lower_bound(path + ".");
  if (below != taken_.end() && absl::StartsWith(*below, path + ".")) {
    for (const auto& [name, member] : value.members()) {
      TellUntaken(absl::StrCat(path, ".", name), member, findings);
    }
    return;
  }
  if (value.is_null()) return;
  Note(PathOf(path), "not carried over: the field is not known here", findings);
}

void ForeignManifest::Tell(ManifestFinding::Severity severity, absl::string_view path,
                           absl::string_view message, Findings& findings) const {
  const std::string where =
      namespace_name().empty() ? name() : absl::StrCat(namespace_name(), "/", name());
  findings.push_back({.severity = severity,
                      .file = file_,
                      .line = line_,
                      .path = std::string(path),
                      .message = absl::StrCat(kind(), " ", where, ": ", message)});
}

}  // namespace maniple
