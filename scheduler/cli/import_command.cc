#include "scheduler/cli/import_command.h"

#include <iostream>

#include "absl/strings/str_cat.h"
#include "api/base/files.h"
#include "api/base/log.h"
#include "api/codec/yaml.h"
#include "scheduler/import/import.h"

namespace maniple {
namespace {

void Print(const ImportRequest& request, const std::vector<Json>& objects) {
  if (request.output == "json") {
    const Json list =
        Json::Object({{"apiVersion", "v1"}, {"kind", "List"}, {"items", Json::Array(objects)}});
    std::cout << list.DumpPretty() << "\n";
    return;
  }
  for (const Json& object : objects) std::cout << "---\n" << DumpYaml(object);
}

}  // namespace

int RunImport(const ImportRequest& request) {
  std::vector<ManifestFile> files;
  int errors = 0;
  for (const std::string& file : request.files) {
    absl::StatusOr<std::string> text = ReadWholeFile(file == "-" ? "/dev/stdin" : file);
    if (text.ok()) {
      files.push_back({.name = file == "-" ? "stdin" : file, .text = *std::move(text)});
    } else {
      std::cerr << "error: " << OneLine(text.status().message()) << "\n";
      ++errors;
    }
  }
  const ImportResult result = ImportObjects(*ImportFromNamed(request.from), files);
  Print(request, result.objects);
  int notes = 0;
  for (const ManifestFinding& finding : result.findings) {
    const bool error = finding.severity == ManifestFinding::Severity::kError;
    ++(error ? errors : notes);
    std::cerr << (error ? "error: " : "note: ")
              << OneLine(absl::StrCat(finding.file, ":", finding.line, ": ",
                                      finding.path.empty() ? "" : finding.path + ": ",
                                      finding.message))
              << "\n";
  }
  std::cerr << result.objects.size() << " objects, " << notes << " notes, " << errors
            << " errors\n";
  return errors > 0 ? 1 : 0;
}

}  // namespace maniple
