// What the headers of a request say beside its target. Inside http_conversation.cc only.
#pragma once

#include <boost/beast/http.hpp>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "api/base/secret.h"

namespace maniple {

// The API server's proxy keeps a reader's Authorization to itself, so there is a second header.
template <typename Request>
[[nodiscard]] Secret TokenIn(const Request& request) {
  if (const auto own = request.find("X-Maniple-Token");
      own != request.end() && !own->value().empty()) {
    return Secret(std::string(own->value()));
  }
  const auto found = request.find(boost::beast::http::field::authorization);
  if (found == request.end()) return Secret();
  absl::string_view value(found->value().data(), found->value().size());
  if (!absl::StartsWithIgnoreCase(value, "bearer ")) return Secret();
  value.remove_prefix(7);
  return Secret(std::string(absl::StripLeadingAsciiWhitespace(value)));
}

// Of "gzip;q=0.5": whether the number is more than nothing; without one it is.
[[nodiscard]] inline bool IsWanted(absl::string_view coding) {
  const size_t at = coding.find(';');
  if (at == absl::string_view::npos) return true;
  absl::string_view quality = absl::StripAsciiWhitespace(coding.substr(at + 1));
  if (!absl::ConsumePrefix(&quality, "q=") && !absl::ConsumePrefix(&quality, "Q=")) return true;
  return quality.find_first_of("123456789") != absl::string_view::npos;
}

// "*" is not taken for it: who means gzip names it.
template <typename Request>
[[nodiscard]] bool AcceptsGzip(const Request& request) {
  const auto value = request[boost::beast::http::field::accept_encoding];
  for (const absl::string_view coding :
       absl::StrSplit(absl::string_view(value.data(), value.size()), ',')) {
    const absl::string_view name = absl::StripAsciiWhitespace(coding.substr(0, coding.find(';')));
    if (absl::EqualsIgnoreCase(name, "gzip")) return IsWanted(coding);
  }
  return false;
}

}  // namespace maniple
