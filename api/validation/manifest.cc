#include "api/validation/manifest.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/base/check.h"
#include "api/codec/json.h"
#include "api/codec/yaml.h"
#include "api/model/maniple_types.h"
#include "api/validation/crds.h"
#include "api/validation/manifest_object.h"
#include "api/validation/schema.h"
#include "api/validation/schema_walk.h"

namespace maniple {
namespace {

using Severity = ManifestFinding::Severity;

struct PlacedMessage {
  int line = 1;
  absl::string_view text;
};

// Takes the line apart that an error of the YAML reader begins with: "line 3, column 1: …".
PlacedMessage PlaceOf(absl::string_view message) {
  absl::string_view rest = message;
  int line = 1;
  if (!absl::ConsumePrefix(&rest, "line ")) return {1, message};
  const size_t end = rest.find(", ");
  if (end == absl::string_view::npos || !absl::SimpleAtoi(rest.substr(0, end), &line)) {
    return {1, message};
  }
  return {line, rest.substr(end + 2)};
}

bool IsDnsSubdomain(absl::string_view name) {
  const auto allowed = [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-' || c == '.';
  };
  const auto edge = [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); };
  return !name.empty() && name.size() <= 253 && edge(name.front()) && edge(name.back()) &&
         std::all_of(name.begin(), name.end(), allowed) && !absl::StrContains(name, "..") &&
         !absl::StrContains(name, ".-") && !absl::StrContains(name, "-.");
}

// Kinds outside our group that are looked into.
bool IsMemberKind(const ManifestObject& object) {
  constexpr absl::string_view kKinds[] = {"Pod",        "Job",          "CronJob",
                                          "Deployment", "StatefulSet",  "ReplicaSet",
                                          "DaemonSet",  "PriorityClass"};
  return std::find(std::begin(kKinds), std::end(kKinds), object.kind) != std::end(kKinds);
}

// Unchecked, but their tiers are levels that a PodGroup may name.
bool IsHyperNode(const ManifestObject& object) {
  return object.group == kHyperNodeGroup && object.kind == "HyperNode";
}

// API servers take other names, too, for roles, requests of certificates and IP addresses.
bool IsNamedFreely(const ManifestObject& object) {
  return object.group == "rbac.authorization.k8s.io" || object.group == "certificates.k8s.io" ||
         object.kind == "IPAddress";
}

bool HasPlace(const FieldError& error) { return error.path != kNoField; }

bool IsClusterScoped(absl::string_view kind) {
  return kind == "PriorityClass" || kind == "HyperNode";
}

class Reader {
 public:
  Reader(const ManipleSchemas& schemas, ManifestFindings& findings)
      : schemas_(schemas), findings_(findings) {}

  void Read(size_t file, const std::vector<YamlDocument>& documents) {
    if (documents.empty()) findings_.At(Severity::kError, file, 1, "holds no object");
    for (const YamlDocument& document : documents) {
      ReadObject({.file = file, .document = &document, .value = &document.value});
    }
  }

  [[nodiscard]] std::vector<ManifestObject> Take() { return std::move(objects_); }

 private:
  void ReadObject(ManifestObject object) {
    const Json& value = *object.value;
    if (!value.is_object() || value["kind"].AsString().empty() ||
        value["apiVersion"].AsString().empty()) {
      return findings_.Error(object, "", "is no Kubernetes object: apiVersion and kind are needed");
    }
    object.kind = value["kind"].AsString();
    const std::string& api_version = value["apiVersion"].AsString();
    const size_t slash = api_version.find('/');
    object.group = slash == std::string::npos ? "" : api_version.substr(0, slash);
    object.version = slash == std::string::npos ? api_version : api_version.substr(slash + 1);
    if (value["items"].is_array() && absl::EndsWith(object.kind, "List")) return ReadList(object);
    object.name = value.At("metadata.name").AsString();
    const bool ours = object.group == kManipleGroup;
    if (ours ? schemas_.IsNamespaced(object.kind) : !IsClusterScoped(object.kind)) {
      object.namespace_name = value.At("metadata.namespace").AsString();
      if (object.namespace_name.empty()) object.namespace_name = "default";
    }
    if (ours) {
      CheckOurs(object);
    } else {
      NoteUnchecked(object);
      // Without metadata it may be the configuration of a program, which no API server sees.
      if (IsMemberKind(object) || value["metadata"].is_object()) CheckName(object);
      if (!IsMemberKind(object) && !IsHyperNode(object)) return;
    }
    objects_.push_back(std::move(object));
  }

  // Once for each kind of a file.
  void NoteUnchecked(const ManifestObject& object) {
    if (object.kind == "PriorityClass") return;
    if (!unchecked_.insert({object.file, object.kind}).second) return;
    findings_.Note(object, "",
                   absl::StrCat("objects of kind ", object.kind, " are not checked",
                                IsMemberKind(object) ? ", except for names and gangs" : ""));
  }

  void CheckName(const ManifestObject& object) {
    if (object.name.empty()) {
      if (!object.value->At("metadata.generateName").AsString().empty()) return;
      return findings_.Error(object, "metadata.name", "Required value: a name is needed");
    }
    if (IsNamedFreely(object) || IsDnsSubdomain(object.name)) return;
    findings_.Error(object, "metadata.name",
                    absl::StrCat("Invalid value: ", Json(object.name).Dump(),
                                 ": must be a DNS subdomain name"));
  }

  void ReadList(const ManifestObject& list) {
    size_t index = 0;
    for (const Json& item : (*list.value)["items"].items()) {
      ManifestObject object = {.file = list.file, .document = list.document, .value = &item};
      object.prefix =
          absl::StrCat(list.prefix, list.prefix.empty() ? "" : ".", "items[", index++, "]");
      ReadObject(std::move(object));
    }
  }

  void CheckOurs(const ManifestObject& object) {
    const StructuralSchema* schema = schemas_.Find(object.kind);
    if (schema == nullptr) {
      return findings_.Error(object, "kind",
                             absl::StrCat(kManipleGroup, " has no kind ", object.kind));
    }
    if (object.version != kManipleVersion) {
      return findings_.Error(object, "apiVersion",
                             absl::StrCat("version ", object.version, " of ", kManipleGroup,
                                          " is unknown; this is ", kManipleVersion));
    }
    CheckName(object);
    for (const std::string& path : schema->UnknownFields(*object.value)) {
      findings_.Error(object, path, "unknown field");
    }
    Json stored = *object.value;
    schema->Prune(stored);
    schema->Default(stored);
    const std::vector<FieldError> errors = schema->Validate(stored);
    const bool placed = std::any_of(errors.begin(), errors.end(), HasPlace);
    for (const FieldError& error : errors) {
      // What has no place only repeats what has one, in the words of the server.
      if (HasPlace(error) || !placed) {
        findings_.Error(object, HasPlace(error) ? error.path : "", error.message);
      }
    }
  }

  const ManipleSchemas& schemas_;
  ManifestFindings& findings_;
  std::vector<ManifestObject> objects_;
  std::set<std::pair<size_t, std::string>> unchecked_;
};

void CheckRepeats(const std::vector<ManifestObject>& objects,
                  const std::vector<ManifestFile>& files, ManifestFindings& findings) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, const ManifestObject*>
      seen;
  for (const ManifestObject& object : objects) {
    if (object.name.empty()) continue;
    const auto [at, fresh] =
        seen.try_emplace({object.group, object.kind, object.namespace_name, object.name}, &object);
    if (fresh) continue;
    const ManifestObject& first = *at->second;
    findings.Error(object, "metadata.name",
                   absl::StrCat(object.Title(), " is defined twice, first at ",
                                files[first.file].name, ":", first.LineOf("metadata.name")));
  }
}

}  // namespace

int ManifestObject::LineOf(absl::string_view path) const {
  const absl::string_view dot = prefix.empty() || path.empty() ? "" : ".";
  return document->LineOf(absl::StrCat(prefix, dot, path));
}

std::string ManifestObject::Title() const {
  const std::string scope = namespace_name.empty() ? "" : absl::StrCat(namespace_name, "/");
  return absl::StrCat(kind, " ", scope, name);
}

void ManifestFindings::Error(const ManifestObject& object, absl::string_view path,
                             std::string message) {
  Add(Severity::kError, object, path, std::move(message));
}

void ManifestFindings::Note(const ManifestObject& object, absl::string_view path,
                            std::string message) {
  Add(Severity::kNote, object, path, std::move(message));
}

void ManifestFindings::At(Severity severity, size_t file, int line, std::string message) {
  entries_.push_back({file,
                      {.severity = severity,
                       .file = files_[file].name,
                       .line = line,
                       .path = "",
                       .message = std::move(message)}});
}

void ManifestFindings::Add(Severity severity, const ManifestObject& object, absl::string_view path,
                           std::string message) {
  At(severity, object.file, object.LineOf(path), std::move(message));
  entries_.back().finding.path = std::string(path);
}

std::vector<ManifestFinding> ManifestFindings::Take() {
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.file, a.finding.line) < std::tie(b.file, b.finding.line);
  });
  std::vector<ManifestFinding> findings;
  for (Entry& entry : entries_) findings.push_back(std::move(entry.finding));
  entries_.clear();
  return findings;
}

std::vector<ManifestFinding> ValidateManifests(const std::vector<ManifestFile>& files,
                                               const std::vector<std::string>& scheduler_names) {
  ManifestFindings findings(files);
  const absl::StatusOr<ManipleSchemas> schemas = ManipleSchemas::Load();
  CHECK(schemas.ok()) << schemas.status();
  std::vector<std::vector<YamlDocument>> parsed(files.size());  // objects borrow from these
  Reader reader(*schemas, findings);
  for (size_t i = 0; i < files.size(); ++i) {
    absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(files[i].text);
    if (!documents.ok()) {
      const PlacedMessage problem = PlaceOf(documents.status().message());
      findings.At(Severity::kError, i, problem.line, std::string(problem.text));
      continue;
    }
    parsed[i] = *std::move(documents);
    reader.Read(i, parsed[i]);
  }
  const std::vector<ManifestObject> objects = reader.Take();
  CheckRepeats(objects, files, findings);
  CheckReferences(objects, findings);
  CheckMembers(objects, scheduler_names, findings);
  return findings.Take();
}

}  // namespace maniple
