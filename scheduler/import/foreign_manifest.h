// One object of another scheduler, read field by field. It keeps count of the fields that
// were read: at the end all other fields of its spec are reported.
//
//   ForeignManifest queue = …;
//   ours.Set("cohort", queue.Take("cohortName"));
//   queue.HasNoCounterpart("admissionChecks", "nothing is asked before a gang starts", findings);
//   queue.TellTheRest(findings);
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/validation/manifest.h"

namespace maniple {

using Findings = std::vector<ManifestFinding>;

class ForeignManifest final {
 public:
  ForeignManifest(Json object, std::string file, int line)
      : object_(std::move(object)), file_(std::move(file)), line_(line) {}

  // Another object that stands in this one. Reports name its fields without "spec.", as they stand.
  [[nodiscard]] ForeignManifest Part(Json part) const;

  [[nodiscard]] absl::string_view group() const;  // of the apiVersion: "kueue.x-k8s.io"; "" = core
  [[nodiscard]] const std::string& kind() const { return object_["kind"].AsString(); }
  [[nodiscard]] const std::string& name() const { return object_.At("metadata.name").AsString(); }
  [[nodiscard]] const std::string& namespace_name() const {
    return object_.At("metadata.namespace").AsString();
  }
  // The whole object; reads outside of the spec are not counted.
  [[nodiscard]] const Json& whole() const { return object_; }

  // The field of the spec by its dotted path, null when absent; from now on it counts as read.
  const Json& Take(absl::string_view path);
  // The first of several names of one field that is there.
  const Json& TakeAny(std::initializer_list<absl::string_view> paths);

  // As reports name the field.
  [[nodiscard]] std::string PathOf(absl::string_view field) const;
  // Reports that the field is not carried over, and why, if it is there.
  void HasNoCounterpart(absl::string_view path, absl::string_view why, Findings& findings);
  void Note(absl::string_view path, absl::string_view message, Findings& findings) const;
  void Error(absl::string_view path, absl::string_view message, Findings& findings) const;
  // Reports members of `value`, which stands at `path`, that are not among the known ones.
  void TellOthers(absl::string_view path, const Json& value,
                  std::initializer_list<absl::string_view> known, Findings& findings) const;
  // Reports fields of the spec that were neither taken nor reported: unknown here,
  // so not carried over.
  void TellTheRest(Findings& findings) const;

 private:
  void TellUntaken(const std::string& path, const Json& value, Findings& findings) const;
  void Tell(ManifestFinding::Severity severity, absl::string_view path, absl::string_view message,
            Findings& findings) const;

  Json object_;
  std::string file_;
  int line_;
  const char* prefix_ = "spec.";              // of the paths of fields
  std::set<std::string, std::less<>> taken_;  // dotted paths below spec
};

using ForeignManifests = std::vector<ForeignManifest>;

}  // namespace maniple
