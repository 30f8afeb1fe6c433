// What is said at the head of an answer. Inside the files of HTTP conversations only; pure.
#pragma once

#include <boost/beast/http.hpp>

#include "scheduler/app/http/http_page.h"

namespace maniple {

// `Head` is a response of Beast.
template <typename Head>
void SetHead(const HttpPage& page, bool goes_on, Head& head) {
  using boost::beast::http::field;
  head.result(static_cast<unsigned>(page.status));
  head.set(field::content_type, page.content_type);
  for (const auto& [name, value] : page.headers) head.set(name, value);
  if (page.status == 405) head.set(field::allow, "GET, HEAD");
  if (page.status == 401) head.set(field::www_authenticate, "Bearer");
  if (page.status == 503) head.set(field::retry_after, "1");
  head.keep_alive(goes_on);
}

}  // namespace maniple
