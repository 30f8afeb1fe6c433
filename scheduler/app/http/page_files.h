// The files of the page as HTTP gives them out: there is no data of the cluster in them, so they
// are open to everybody. Immutable once made.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "scheduler/app/http/http_page.h"

namespace maniple {

// The browser runs and asks what comes from here, and nothing else.
inline constexpr char kContentSecurityPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

class PageFiles final {
 public:
  PageFiles();

  // "/" or "/assets/page-….js"; nothing: there is no such file.
  [[nodiscard]] std::optional<HttpPage> Find(absl::string_view path, bool accepts_gzip) const;

 private:
  struct File {
    HttpPage page, gzipped;
  };
  std::map<std::string, File, std::less<>> files_;  // by path
};

}  // namespace maniple
