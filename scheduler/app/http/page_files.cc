#include "scheduler/app/http/page_files.h"

#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/codec/gzip.h"
#include "scheduler/page/page_assets.h"

namespace maniple {
namespace {

absl::string_view ContentTypeOf(absl::string_view name) {
  if (absl::EndsWith(name, ".html")) return "text/html; charset=utf-8";
  if (absl::EndsWith(name, ".js")) return "text/javascript; charset=utf-8";
  if (absl::EndsWith(name, ".css")) return "text/css; charset=utf-8";
  if (absl::EndsWith(name, ".txt")) return "text/plain; charset=utf-8";
  return "application/octet-stream";
}

}  // namespace

PageFiles::PageFiles() {
  for (const PageAsset& asset : PageAssets()) {
    const bool is_index = asset.name == "index.html";
    HttpPage page{.content_type = std::string(ContentTypeOf(asset.name)),
                  .headers = {{"X-Content-Type-Options", "nosniff"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Vary", "Accept-Encoding"},
                              {"Content-Security-Policy", kContentSecurityPolicy},
                              // All but the index have names that change with their bytes.
                              {"Cache-Control",
                               is_index ? "no-cache" : "public, max-age=31536000, immutable"}}};
    File file{.page = page, .gzipped = page};
    file.page.body = std::make_shared<const std::string>(asset.bytes);
    file.gzipped.body = std::make_shared<const std::string>(Gzip(asset.bytes));
    file.gzipped.headers.emplace_back("Content-Encoding", "gzip");
    files_.emplace(is_index ? "/" : absl::StrCat("/assets/", asset.name), std::move(file));
  }
}

std::optional<HttpPage> PageFiles::Find(absl::string_view path, bool accepts_gzip) const {
  const auto found = files_.find(path);
  if (found == files_.end()) return std::nullopt;
  return accepts_gzip ? found->second.gzipped : found->second.page;
}

}  // namespace maniple
