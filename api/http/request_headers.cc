#include "api/http/request_headers.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/http/http.h"

namespace maniple {

std::vector<std::string> RequestHeaders::Lines(const std::string& content_type,
                                               const Credentials& credentials) const {
  std::vector<std::string> lines = {"Accept: application/json", "Expect:"};
  lines.push_back(absl::StrCat("Content-Type:", content_type.empty() ? "" : " ", content_type));
  if (!credentials.authorization().empty()) {
    lines.push_back(absl::StrCat("Authorization: ", credentials.authorization().Reveal()));
  }
  absl::string_view token = credentials.authorization().Reveal();
  if (!absl::ConsumePrefix(&token, "Bearer ")) token = "";
  if (!shown_token_.empty()) token = shown_token_.Reveal();
  if (!token_header_.empty() && !token.empty()) {
    lines.push_back(absl::StrCat(token_header_, ": ", token));
  }
  if (!impersonation_.user.empty()) {
    lines.push_back(absl::StrCat("Impersonate-User: ", impersonation_.user));
  }
  if (!impersonation_.uid.empty()) {
    lines.push_back(absl::StrCat("Impersonate-Uid: ", impersonation_.uid));
  }
  for (const std::string& group : impersonation_.groups) {
    lines.push_back(absl::StrCat("Impersonate-Group: ", group));
  }
  for (const auto& [key, value] : impersonation_.extra) {
    lines.push_back(absl::StrCat("Impersonate-Extra-", UrlEncoded(key), ": ", value));
  }
  return lines;
}

void RequestHeaders::ShowToken(Secret other) {
  shown_token_ = std::move(other);
  by_content_type_.clear();
}

std::shared_ptr<const CurlList> RequestHeaders::For(const std::string& content_type,
                                                    const Credentials& credentials) {
  if (generation_ != credentials.generation()) {
    by_content_type_.clear();
    shown_token_ = Secret();  // the new credential may have one of its own
    generation_ = credentials.generation();
  }
  std::shared_ptr<const CurlList>& list = by_content_type_[content_type];
  if (list == nullptr) {
    list = std::make_shared<const CurlList>(MakeCurlList(Lines(content_type, credentials)));
  }
  return list;
}

}  // namespace maniple
