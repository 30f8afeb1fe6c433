// What the headers of a request say beside its target. Inside http_conversation.cc only.
#pragma once

#include <boost/beast/http.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "api/base/secret.h"

namespace maniple {

// The API server's proxy keeps a reader's Authorization to itself, so there is a second header.
template <typename Request>
[[nodiscard]] Secret TokenIn(const Request& request) {
  if (const auto own = request.find("X-Maniple-Token"); own != request.end()) {
    return Secret(std::string(own->value()));
  }
  const auto found = request.find(boost::beast::http::field::authorization);
  if (found == request.end()) return Secret();
  absl::string_view value(found->value().data(), found->value().size());
  if (!absl::StartsWithIgnoreCase(value, "bearer ")) return Secret();
  value.remove_prefix(7);
  return Secret(std::string(absl::StripLeadingAsciiWhitespace(value)));
}

template <typename Request>
[[nodiscard]] bool AcceptsGzip(const Request& request) {
  const auto value = request[boost::beast::http::field::accept_encoding];
  return absl::StrContains(absl::string_view(value.data(), value.size()), "gzip");
}

}  // namespace maniple
