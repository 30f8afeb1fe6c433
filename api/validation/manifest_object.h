// One object of a manifest and where it stands; what was found. Private to this room.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/codec/yaml.h"
#include "api/validation/manifest_finding.h"

namespace maniple {

inline constexpr char kHyperNodeGroup[] = "topology.volcano.sh";

// Borrows the parsed file.
struct ManifestObject {
  size_t file = 0;  // index
  const YamlDocument* document = nullptr;
  std::string prefix;  // "items[2]" inside a List, else ""
  const Json* value = nullptr;

  std::string group, version, kind;
  std::string namespace_name;  // "default" where a namespaced object names none
  std::string name;

  [[nodiscard]] int LineOf(absl::string_view path) const;
  // "Queue team-a", "PodGroup default/train"
  [[nodiscard]] std::string Title() const;
};

// Collects in any order, hands out by file and line.
class ManifestFindings final {
 public:
  explicit ManifestFindings(const std::vector<ManifestFile>& files) : files_(files) {}

  void Error(const ManifestObject& object, absl::string_view path, std::string message);
  void Note(const ManifestObject& object, absl::string_view path, std::string message);
  // About a place that is no object.
  void At(ManifestFinding::Severity severity, size_t file, int line, std::string message);

  [[nodiscard]] std::vector<ManifestFinding> Take();

 private:
  struct Entry {
    size_t file;
    ManifestFinding finding;
  };
  void Add(ManifestFinding::Severity severity, const ManifestObject& object, absl::string_view path,
           std::string message);

  const std::vector<ManifestFile>& files_;
  std::vector<Entry> entries_;
};

// What objects say about each other.
void CheckReferences(const std::vector<ManifestObject>& objects, ManifestFindings& findings);
// Pods and pod templates that join gangs.
void CheckMembers(const std::vector<ManifestObject>& objects,
                  const std::vector<std::string>& scheduler_names, ManifestFindings& findings);

}  // namespace maniple
