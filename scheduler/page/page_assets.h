// The files of the browser's program, built into this one (web/bundle.sh).
#pragma once

#include <vector>

#include "absl/strings/string_view.h"

namespace maniple {

struct PageAsset {
  absl::string_view name;  // "index.html", "page-0123456789ab.js"
  absl::string_view bytes;
};
[[nodiscard]] const std::vector<PageAsset>& PageAssets();

}  // namespace maniple
