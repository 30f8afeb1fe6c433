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

std::vector<Json> Read(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  CHECK(!error) << folder << ": " << error.message() << ": run from the root of the repository";
  std::sort(files.begin(), files.end());
  std::vector<Json> out;
  for (const std::string& file : files) {
    std::ifstream in(file);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const auto documents = ParseYaml(text);
    CHECK(documents.ok()) << file << ": " << documents.status();
    for (const YamlDocument& document : *documents) out.push_back(document.value);
  }
  CHECK(!out.empty()) << folder << " holds no CustomResourceDefinition";
  return out;
}

}  // namespace

const std::vector<Json>& InstalledCrds() {
  static const std::vector<Json> crds = Read(kCrdFolder);
  return crds;
}

const std::vector<Json>& ProducerCrds() {
  static const std::vector<Json> crds = Read(std::string(kCrdFolder) + "/producers");
  return crds;
}

}  // namespace maniple
