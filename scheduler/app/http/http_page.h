// What the HTTP surface is asked and what it answers, as data. Any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "api/base/secret.h"

namespace maniple {

struct HttpQuestion {
  std::string target;  // path and query
  std::string host;    // by which name or address the reader calls us; "" = none was said
  Secret token;        // the bearer token that came with it; empty: none
  bool accepts_gzip = false;
  absl::Time asked_at = absl::InfinitePast();
};

// A page that goes on, piece by piece. On the thread of its listener.
class HttpStream {
 public:
  using Piece = std::shared_ptr<const std::string>;
  virtual ~HttpStream() = default;
  // Nullopt: there is none yet; it is asked again when there is news, and after a second. Null: the
  // end.
  [[nodiscard]] virtual std::optional<Piece> Next(absl::Time now) = 0;
};

struct HttpPage {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers;  // further ones
  // Shared by all who read it at the same time; null is an empty page.
  std::shared_ptr<const std::string> body;
  std::function<std::unique_ptr<HttpStream>()> open_stream;  // in place of a body; null: none
};

[[nodiscard]] inline HttpPage TextPage(int status, std::string text) {
  return {.status = status, .body = std::make_shared<const std::string>(std::move(text))};
}

}  // namespace maniple
