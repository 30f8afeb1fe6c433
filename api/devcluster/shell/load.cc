#include "api/devcluster/shell/load.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/files.h"
#include "api/base/status_macros.h"
#include "api/codec/yaml.h"

namespace maniple::devcluster {
namespace {

absl::Status Refuse(LoadedObject at, const YamlDocument& document, const std::string& path,
                    absl::string_view why) {
  at.line = document.LineOf(path);
  return absl::InvalidArgumentError(absl::StrCat(at.Where(), path, ": ", why));
}

// `path` is where the object stands in its document: "" or "items[3]".
absl::Status Check(const LoadedObject& loaded, const YamlDocument& document,
                   const std::string& path) {
  const std::string dot = path.empty() ? "" : absl::StrCat(path, ".");
  if (!loaded.object.is_object()) {
    return Refuse(loaded, document, path.empty() ? "document" : path, "not an object");
  }
  for (const char* field : {"apiVersion", "kind"}) {
    if (loaded.object[field].AsString().empty()) {
      return Refuse(loaded, document, absl::StrCat(dot, field), "missing");
    }
  }
  if (loaded.object["metadata"]["name"].AsString().empty() &&
      loaded.object["metadata"]["generateName"].AsString().empty()) {
    return Refuse(loaded, document, absl::StrCat(dot, "metadata.name"), "missing");
  }
  return absl::OkStatus();
}

absl::Status AddDocument(const std::string& file, const YamlDocument& document,
                         std::vector<LoadedObject>& out) {
  for (ManifestItem& item : ItemsOf(document)) {
    LoadedObject loaded{std::move(item.value), file, item.line};
    RETURN_IF_ERROR(Check(loaded, document, item.path));
    out.push_back(std::move(loaded));
  }
  return absl::OkStatus();
}

int CreationOrder(const Json& object) {
  const std::string& kind = object["kind"].AsString();
  if (kind == "CustomResourceDefinition") return 0;
  if (kind == "Namespace") return 1;
  if (kind == "PriorityClass" || kind == "RuntimeClass") return 2;
  return kind == "Pod" ? 4 : 3;
}

}  // namespace

std::string LoadedObject::Where() const { return absl::StrCat(file, ":", line, ": "); }

absl::StatusOr<std::vector<LoadedObject>> LoadManifests(const std::vector<std::string>& paths) {
  std::vector<LoadedObject> out;
  for (const std::string& path : paths) {
    const size_t before = out.size();
    if (path.empty()) return absl::InvalidArgumentError("--load \"\": want a file or a folder");
    ASSIGN_OR_RETURN(const std::vector<std::string> files, ManifestFilesAt(path));
    for (const std::string& file : files) {
      ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(file));
      const absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text);
      if (!documents.ok()) return Annotate(documents.status(), file);
      for (const YamlDocument& document : *documents) {
        RETURN_IF_ERROR(AddDocument(file, document, out));
      }
    }
    if (out.size() == before) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": holds no object"));
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const LoadedObject& a, const LoadedObject& b) {
    return CreationOrder(a.object) < CreationOrder(b.object);
  });
  return out;
}

}  // namespace maniple::devcluster
