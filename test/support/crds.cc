#include "test/support/crds.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "api/base/check.h"
#include "api/codec/yaml.h"

namespace maniple {
namespace {

std::vector<Json> Read() {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kCrdFolder, error)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  CHECK(!error) << kCrdFolder << ": " << error.message() << ": run from the root of the repository";
  std::sort(files.begin(), files.end());
  std::vector<Json> out;
  for (const std::string& file : files) {
    std::ifstream in(file);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const auto documents = ParseYaml(text);
    CHECK(documents.ok()) << file << ": " << documents.status();
    for (const YamlDocument& document : *documents) out.push_back(document.value);
  }
  CHECK(!out.empty()) << kCrdFolder << " holds no CustomResourceDefinition";
  return out;
}

}  // namespace

const std::vector<Json>& InstalledCrds() {
  static const std::vector<Json> crds = Read();
  return crds;
}

}  // namespace maniple
