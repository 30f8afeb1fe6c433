// What an import tells of, for tests: "note spec.priority Queue q: not carried over".
#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/import/import.h"

namespace maniple {

inline std::vector<std::string> NotesOf(const ImportResult& result) {
  std::vector<std::string> out;
  for (const ManifestFinding& found : result.findings) {
    const bool error = found.severity == ManifestFinding::Severity::kError;
    out.push_back(absl::StrCat(error ? "error " : "note ", found.path, " ", found.message));
  }
  return out;
}

}  // namespace maniple
