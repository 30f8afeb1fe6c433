// `maniple import kueue|volcano|kai|yunikorn FILE…`: our manifests to standard output, what has no
// counterpart to standard error.
#pragma once

#include <string>
#include <vector>

namespace maniple {

struct ImportRequest {
  std::string from;                // "kueue", "volcano" or "kai"
  std::vector<std::string> files;  // "-" is standard input
  std::string output;              // "", json or yaml
};

// The exit status: 1 if a file or object could not be translated; the rest was all the same.
[[nodiscard]] int RunImport(const ImportRequest& request);

}  // namespace maniple
