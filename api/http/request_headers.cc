#include "api/http/request_headers.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/http/http.h"

namespace maniple {
namespace {

std::vector<std::string> HeaderLines(const std::string& content_type,
                                     const Credentials& credentials,
                                     const Impersonation& impersonation) {
  std::vector<std::string> lines = {"Accept: application/json", "Expect:"};
  lines.push_back(absl::StrCat("Content-Type:", content_type.empty() ? "" : " ", content_type));
  if (!credentials.authorization().empty()) {
    lines.push_back(absl::StrCat("Authorization: ", credentials.authorization().Reveal()));
  }
  if (!impersonation.user.empty()) {
    lines.push_back(absl::StrCat("Impersonate-User: ", impersonation.user));
  }
  if (!impersonation.uid.empty()) {
    lines.push_back(absl::StrCat("Impersonate-Uid: ", impersonation.uid));
  }
  for (const std::string& group : impersonation.groups) {
    lines.push_back(absl::StrCat("Impersonate-Group: ", group));
  }
  for (const auto& [key, value] : impersonation.extra) {
    lines.push_back(absl::StrCat("Impersonate-Extra-", UrlEncoded(key), ": ", value));
  }
  return lines;
}

}  // namespace

std::shared_ptr<const CurlList> RequestHeaders::For(const std::string& content_type,
                                                    const Credentials& credentials) {
  if (generation_ != credentials.generation()) {
    by_content_type_.clear();
    generation_ = credentials.generation();
  }
  std::shared_ptr<const CurlList>& list = by_content_type_[content_type];
  if (list == nullptr) {
    list = std::make_shared<const CurlList>(
        MakeCurlList(HeaderLines(content_type, credentials, impersonation_)));
  }
  return list;
}

}  // namespace maniple
