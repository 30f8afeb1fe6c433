#include "api/validation/pattern.h"

#include <re2/re2.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace maniple {

Pattern::Pattern(std::unique_ptr<const re2::RE2> expression) : expression_(std::move(expression)) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

absl::StatusOr<Pattern> Pattern::Compile(absl::string_view expression) {
  constexpr size_t kMaxLength = 16 * 1024;
  if (expression.size() > kMaxLength) {
    return absl::InvalidArgumentError(
        absl::StrCat("a pattern of ", expression.size(), " bytes is longer than ", kMaxLength));
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  auto compiled = std::make_unique<const re2::RE2>(
      re2::StringPiece(expression.data(), expression.size()), options);
  if (!compiled->ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("pattern ", expression.substr(0, 200), ": ", compiled->error()));
  }
  return Pattern(std::move(compiled));
}

bool Pattern::Matches(absl::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression_);
}

}  // namespace maniple
