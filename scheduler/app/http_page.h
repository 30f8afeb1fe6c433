// What the HTTP surface is asked and what it answers, as data. Any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "api/base/secret.h"

namespace maniple {

struct HttpQuestion {
  std::string target;  // path and query
  Secret token;        // the bearer token that came with it; empty: none
  absl::Time asked_at = absl::InfinitePast();
};

struct HttpPage {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  // Shared by all who read it at the same time; null is an empty page.
  std::shared_ptr<const std::string> body;
};

[[nodiscard]] inline HttpPage TextPage(int status, std::string text) {
  return {.status = status, .body = std::make_shared<const std::string>(std::move(text))};
}

}  // namespace maniple
