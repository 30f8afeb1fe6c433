// Cuts a byte stream, chunked in any way, into lines; the unfinished line is bounded.
//
//   LineFramer framer(64 << 20);
//   absl::Status status = framer.Feed(chunk, [&](absl::string_view line) { return Handle(line); });
#pragma once

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace maniple {

class LineFramer final {
 public:
  enum class Go { kOn, kStop };

  explicit LineFramer(size_t longest_line) : longest_line_(longest_line) {}

  // Calls `line` for each line that is complete now, without its end ("\n" or "\r\n"); blank lines
  // are left out. After kStop the rest of the chunk is dropped. ResourceExhausted when a line grows
  // beyond the bound: then the stream is lost.
  [[nodiscard]] absl::Status Feed(absl::string_view chunk,
                                  absl::FunctionRef<Go(absl::string_view)> line);

  // Bytes of the unfinished line.
  [[nodiscard]] size_t partial() const { return partial_.size(); }
  // Forgets the unfinished line and gives back its memory.
  void Reset() { std::string().swap(partial_); }

 private:
  size_t longest_line_;
  std::string partial_;
};

}  // namespace maniple
