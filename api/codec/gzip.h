// gzip, as files have it: a head, one deflated stream, a sum; and maybe more of the same behind it.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maniple {

[[nodiscard]] std::string Gzip(absl::string_view text);
// All that is in the file. InvalidArgument: it is cut off, damaged, no gzip file, or unpacks to
// more than so many bytes.
[[nodiscard]] absl::StatusOr<std::string> Gunzip(absl::string_view bytes, size_t most_bytes);
// By its first two bytes.
[[nodiscard]] bool IsGzip(absl::string_view bytes);

}  // namespace maniple
