// A regular expression that takes linear time on any input: RE2, the dialect of kube-apiserver.
// Immutable, any thread.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace re2 {
class RE2;
}

namespace maniple {

class Pattern final {
 public:
  // InvalidArgument when it is no RE2 expression, or one that needs more than 1 MiB.
  static absl::StatusOr<Pattern> Compile(absl::string_view expression);

  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  // Unanchored, as `pattern` of OpenAPI and matches() of CEL are.
  [[nodiscard]] bool Matches(absl::string_view text) const;

 private:
  explicit Pattern(std::unique_ptr<const re2::RE2> expression);

  std::unique_ptr<const re2::RE2> expression_;
};

}  // namespace maniple
