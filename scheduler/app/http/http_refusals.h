// How much a request may say, and what a peer is told whose request cannot be read. Inside
// http_conversation.cc only; pure.
#pragma once

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "scheduler/app/http/http_page.h"

namespace maniple {

inline constexpr std::uint32_t kMostHeaderBytes = 16 * 1024;
inline constexpr std::uint64_t kMostBodyBytes = 4 * 1024;

// `Parser` is a request parser of Beast.
template <typename Parser>
void Bound(Parser& parser) {
  parser.header_limit(kMostHeaderBytes);
  parser.body_limit(kMostBodyBytes);
}

// `error` ended the reading of a request. Nothing: the peer has gone or said too little in its
// time.
[[nodiscard]] inline std::optional<HttpPage> RefusalOf(boost::beast::error_code error) {
  using Http = boost::beast::http::error;
  if (error == Http::header_limit) {
    return TextPage(431,
                    absl::StrCat("the head of a request may have ", kMostHeaderBytes, " bytes\n"));
  }
  if (error == Http::body_limit) {
    return TextPage(413,
                    absl::StrCat("the body of a request may have ", kMostBodyBytes, " bytes\n"));
  }
  const bool gone = error == Http::end_of_stream || error == Http::partial_message;
  const bool of_http = error.category() == make_error_code(Http::bad_method).category();
  if (gone || !of_http) return std::nullopt;
  return TextPage(400, absl::StrCat("this is no request of HTTP/1.1: ", error.message(), "\n"));
}

[[nodiscard]] inline HttpPage RefusalOfChunks() {
  return TextPage(411, "a request is to say the length of its body\n");
}

}  // namespace maniple
