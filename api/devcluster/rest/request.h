// An API request taken apart: which resource, which query, which body, which form of reply.
//
// Functions of data.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/devcluster/rest/api_exchange.h"
#include "api/devcluster/store/writes.h"
#include "api/devcluster/types/api_error.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

inline constexpr size_t kMaxBodyBytes = 3 * 1024 * 1024;

// The parameters after '?', percent-decoded. The first value of a name counts.
class Query final {
 public:
  Query() = default;
  explicit Query(absl::string_view text);
  // "" when absent.
  [[nodiscard]] const std::string& Get(absl::string_view name) const;
  [[nodiscard]] bool Has(absl::string_view name) const;
  [[nodiscard]] std::vector<std::string> All(absl::string_view name) const;
  // "", "1", "true", as Go's ParseBool has them; anything else is false.
  [[nodiscard]] bool IsTrue(absl::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

// /api/v1/namespaces/NS/pods/NAME/status
struct ResourcePath {
  std::string group, version, namespace_name, plural, name, subresource;
  bool watch = false;  // the old form /api/v1/watch/…
};
// nullopt when the path is none of a resource.
[[nodiscard]] std::optional<ResourcePath> ParseResourcePath(absl::string_view path);

// A request for a resource type that exists.
struct ResourceRequest {
  const ApiRequest& http;
  const ResourceType& type;
  ResourcePath path;
  Query query;
};

// The body as JSON, whatever its content type. Errors as kube-apiserver words them for `kind`.
ApiOr<Json> DecodeBody(const ApiRequest& request, absl::string_view kind);
// DecodeBody, and apiVersion and kind are those of `type` (filled in for built-in types).
ApiOr<Json> DecodeObject(const ApiRequest& request, const ResourceType& type);

// dryRun=; 422 when it is neither absent nor "All".
ApiOr<DryRun> ParseDryRun(const Query& query, absl::string_view options_kind);

// What the client wants back.
enum class ReplyForm { kJson, kYaml, kTable, kPartialMetadata };
// Whether the header names a form that the server can write. A client of protobuf gets JSON.
[[nodiscard]] bool IsAcceptable(absl::string_view accept);
[[nodiscard]] ReplyForm ParseAccept(absl::string_view accept);

// 422 about the options of a request ("ListOptions").
[[nodiscard]] ApiError InvalidOptions(absl::string_view kind, std::vector<StatusCause> causes);

}  // namespace maniple::devcluster
