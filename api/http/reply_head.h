// The header lines of a reply, as they come, into an HttpHead.
#pragma once

#include <optional>

#include "absl/strings/string_view.h"
#include "api/http/http.h"

namespace maniple {

class ReplyHead final {
 public:
  // The finished head, after the blank line that ends it. Interim replies (1xx) are passed over.
  [[nodiscard]] std::optional<HttpHead> OnLine(absl::string_view line);

 private:
  HttpHead head_;
};

}  // namespace maniple
