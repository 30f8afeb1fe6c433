// Files of manifests, and what is found in them. Plain values.
#pragma once

#include <string>

namespace maniple {

struct ManifestFile {
  std::string name;  // for the findings only
  std::string text;  // YAML or JSON, any number of documents
};

struct ManifestFinding {
  enum class Severity { kNote, kError };

  Severity severity = Severity::kError;
  std::string file;
  int line = 0;      // from 1
  std::string path;  // inside the object; "" = the object or file as a whole
  std::string message;
};

}  // namespace maniple
