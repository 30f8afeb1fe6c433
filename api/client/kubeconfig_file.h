// One kubeconfig file as YAML, read field by field with errors that name file, line and path.
// Inside api/client only.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/base/secret.h"
#include "api/codec/json.h"
#include "api/codec/yaml.h"

namespace maniple {

class KubeconfigFile final {
 public:
  // NotFound when there is no such file.
  [[nodiscard]] static absl::StatusOr<KubeconfigFile> Read(const std::string& path);

  [[nodiscard]] const Json& root() const { return document_.value; }
  [[nodiscard]] const std::string& path() const { return path_; }
  // `file` itself when absolute or empty, else relative to the folder of this file.
  [[nodiscard]] std::string Resolve(const std::string& file) const;
  // InvalidArgument "FILE:LINE: PATH: problem".
  [[nodiscard]] absl::Status Wrong(absl::string_view path, absl::string_view problem) const;

 private:
  KubeconfigFile(std::string path, YamlDocument document);

  std::string path_;
  YamlDocument document_;
};

enum class NameInErrors { kShown, kLeftOut };  // of a file

// A map inside a file. An absent one has every field absent.
class KubeconfigMap final {
 public:
  KubeconfigMap(const KubeconfigFile& file, const Json& value, std::string path)
      : file_(&file), value_(&value), path_(std::move(path)) {}

  // "" or false or empty when absent; InvalidArgument when of another type.
  [[nodiscard]] absl::StatusOr<std::string> Text(absl::string_view key) const;
  [[nodiscard]] absl::StatusOr<Secret> SecretText(absl::string_view key) const;
  [[nodiscard]] absl::StatusOr<bool> Flag(absl::string_view key) const;
  [[nodiscard]] absl::StatusOr<std::vector<std::string>> Texts(absl::string_view key) const;
  [[nodiscard]] absl::StatusOr<std::vector<KubeconfigMap>> Maps(absl::string_view key) const;
  [[nodiscard]] absl::StatusOr<KubeconfigMap> Map(absl::string_view key) const;
  // Base64 in, bytes out.
  [[nodiscard]] absl::StatusOr<std::string> Data(absl::string_view key) const;
  // A path of a file that must be readable, resolved.
  [[nodiscard]] absl::StatusOr<std::string> FilePath(
      absl::string_view key, NameInErrors name = NameInErrors::kShown) const;

  [[nodiscard]] bool Has(absl::string_view key) const { return !(*value_)[key].is_null(); }
  [[nodiscard]] const Json& value() const { return *value_; }
  [[nodiscard]] const KubeconfigFile& file() const { return *file_; }
  [[nodiscard]] absl::Status Wrong(absl::string_view key, absl::string_view problem) const;

 private:
  [[nodiscard]] std::string PathOf(absl::string_view key) const;

  const KubeconfigFile* file_;
  const Json* value_;
  std::string path_;
};

[[nodiscard]] bool HasControlCharacter(absl::string_view text);

}  // namespace maniple
