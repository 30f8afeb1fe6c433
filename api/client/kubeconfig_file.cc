#include "api/client/kubeconfig_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/files.h"
#include "api/base/status_macros.h"

namespace maniple {
namespace {

constexpr off_t kLongestFile = 16 << 20;

// Only the place, since the text there may be a secret.
absl::Status NotYaml(const std::string& path, absl::string_view problem) {
  const bool has_place = absl::StartsWith(problem, "line ");
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": ", has_place ? problem.substr(0, problem.find(": ")) : "it", ": is no valid YAML"));
}

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return absl::ErrnoToStatus(errno, path);
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": is no file"));
  if (info.st_size > kLongestFile) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is larger than 16 MiB"));
  }
  return ReadWholeFile(path);
}

}  // namespace

bool HasControlCharacter(absl::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

KubeconfigFile::KubeconfigFile(std::string path, YamlDocument document)
    : path_(std::move(path)), document_(std::move(document)) {}

absl::StatusOr<KubeconfigFile> KubeconfigFile::Read(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadWhole(path));
  absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text);
  if (!documents.ok()) return NotYaml(path, documents.status().message());
  if (documents->empty()) documents->emplace_back();
  if (documents->size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": holds more than one YAML document"));
  }
  KubeconfigFile file(path, std::move(documents->front()));
  if (!file.root().is_null() && !file.root().is_object()) {
    return file.Wrong("", "is no kubeconfig: a map was expected");
  }
  const std::string& kind = file.root()["kind"].AsString();
  if (!kind.empty() && kind != "Config") {
    return file.Wrong("kind", absl::StrCat("is \"", kind.substr(0, 64), "\", not \"Config\""));
  }
  return file;
}

std::string KubeconfigFile::Resolve(const std::string& file) const {
  if (file.empty() || file[0] == '/') return file;
  const size_t slash = path_.rfind('/');
  if (slash == std::string::npos) return file;
  return absl::StrCat(path_.substr(0, slash + 1), file);
}

absl::Status KubeconfigFile::Wrong(absl::string_view path, absl::string_view problem) const {
  return absl::InvalidArgumentError(absl::StrCat(path_, ":", document_.LineOf(path), ": ", path,
                                                 path.empty() ? "" : ": ", problem));
}

std::string KubeconfigMap::PathOf(absl::string_view key) const {
  return path_.empty() || key.empty() ? absl::StrCat(path_, key) : absl::StrCat(path_, ".", key);
}

absl::Status KubeconfigMap::Wrong(absl::string_view key, absl::string_view problem) const {
  return file_->Wrong(PathOf(key), problem);
}

absl::StatusOr<std::string> KubeconfigMap::Text(absl::string_view key) const {
  const Json& value = (*value_)[key];
  if (value.is_null()) return std::string();
  if (!value.is_string()) return Wrong(key, "must be text");
  if (HasControlCharacter(value.AsString())) return Wrong(key, "holds a control character");
  return value.AsString();
}

absl::StatusOr<Secret> KubeconfigMap::SecretText(absl::string_view key) const {
  ASSIGN_OR_RETURN(std::string text, Text(key));
  return Secret(std::move(text));
}

absl::StatusOr<bool> KubeconfigMap::Flag(absl::string_view key) const {
  const Json& value = (*value_)[key];
  if (!value.is_null() && !value.is_bool()) return Wrong(key, "must be true or false");
  return value.AsBool();
}

absl::StatusOr<std::vector<std::string>> KubeconfigMap::Texts(absl::string_view key) const {
  const Json& value = (*value_)[key];
  if (!value.is_null() && !value.is_array()) return Wrong(key, "must be a list");
  std::vector<std::string> out;
  for (size_t i = 0; i < value.items().size(); ++i) {
    const Json& item = value.items()[i];
    if (!item.is_string() || absl::StrContains(item.AsString(), '\0')) {
      return Wrong(absl::StrCat(key, "[", i, "]"), "must be text");
    }
    out.push_back(item.AsString());
  }
  return out;
}

absl::StatusOr<std::vector<KubeconfigMap>> KubeconfigMap::Maps(absl::string_view key) const {
  const Json& value = (*value_)[key];
  if (!value.is_null() && !value.is_array()) return Wrong(key, "must be a list");
  std::vector<KubeconfigMap> out;
  for (size_t i = 0; i < value.items().size(); ++i) {
    const std::string name = absl::StrCat(key, "[", i, "]");
    if (!value.items()[i].is_object()) return Wrong(name, "must be a map");
    out.emplace_back(*file_, value.items()[i], PathOf(name));
  }
  return out;
}

absl::StatusOr<KubeconfigMap> KubeconfigMap::Map(absl::string_view key) const {
  const Json& value = (*value_)[key];
  if (!value.is_null() && !value.is_object()) return Wrong(key, "must be a map");
  return KubeconfigMap(*file_, value, PathOf(key));
}

absl::StatusOr<std::string> KubeconfigMap::Data(absl::string_view key) const {
  const Json& value = (*value_)[key];
  if (value.is_null()) return std::string();
  std::string bytes;
  if (!value.is_string() || !absl::Base64Unescape(value.AsString(), &bytes)) {
    return Wrong(key, "is not base64");
  }
  return bytes;
}

absl::StatusOr<std::string> KubeconfigMap::FilePath(absl::string_view key,
                                                    NameInErrors name) const {
  ASSIGN_OR_RETURN(const std::string text, Text(key));
  std::string path = file_->Resolve(text);
  if (!path.empty() && ::access(path.c_str(), R_OK) != 0) {
    const std::string file =
        name == NameInErrors::kShown ? absl::StrCat("file ", path) : "the file that it names";
    return Wrong(key, absl::ErrnoToStatus(errno, file).message());
  }
  return path;
}

}  // namespace maniple
