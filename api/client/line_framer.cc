#include "api/client/line_framer.h"

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

// A buffer that once held a huge line is given back rather than kept for ever.
constexpr size_t kKeptCapacity = 1 << 20;

absl::string_view WithoutCarriageReturn(absl::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace

absl::Status LineFramer::Feed(absl::string_view chunk,
                              absl::FunctionRef<Go(absl::string_view)> line) {
  while (!chunk.empty()) {
    const size_t end = chunk.find('\n');
    const absl::string_view piece = chunk.substr(0, end);
    if (partial_.size() + piece.size() > longest_line_) {
      Reset();
      return absl::ResourceExhaustedError(
          absl::StrCat("a line is longer than ", longest_line_, " bytes"));
    }
    if (end == absl::string_view::npos) {
      partial_.append(piece.data(), piece.size());
      return absl::OkStatus();
    }
    chunk.remove_prefix(end + 1);
    absl::string_view whole = piece;
    std::string joined;
    if (!partial_.empty()) {
      partial_.append(piece.data(), piece.size());
      joined.swap(partial_);
      whole = joined;
    }
    whole = WithoutCarriageReturn(whole);
    const Go go = whole.empty() ? Go::kOn : line(whole);
    if (!joined.empty() && joined.capacity() <= kKeptCapacity) {
      joined.clear();
      partial_.swap(joined);
    }
    if (go == Go::kStop) {
      Reset();
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

}  // namespace maniple
