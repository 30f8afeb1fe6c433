#include "scheduler/cli/selected_names.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/clock.h"
#include "api/base/status_macros.h"
#include "api/http/curl_transport.h"
#include "api/http/http.h"
#include "scheduler/cli/collection_pages.h"

namespace maniple {
namespace {

std::string KeyOf(const Json& named) {
  return absl::StrCat(named["namespace"].AsString(), "/", named["name"].AsString());
}

// "/api/v1/pods" → "/api/v1/namespaces/research/pods".
std::string CollectionIn(ResourceKind kind, const std::string& namespace_name) {
  const std::string whole(ResourceCollectionPath(kind));
  if (namespace_name.empty() || !IsNamespaced(kind)) return whole;
  const size_t slash = whole.rfind('/');
  return absl::StrCat(whole.substr(0, slash), "/namespaces/", UrlEncoded(namespace_name),
                      whole.substr(slash));
}

}  // namespace

absl::StatusOr<SelectedNames> SelectedNames::Ask(const ClientConfig& config, ResourceKind kind,
                                                 const std::string& namespace_name,
                                                 const std::string& selector) {
  ASSIGN_OR_RETURN(const std::unique_ptr<CurlTransport> transport,
                   CurlTransport::Create(config, RealClock(), {}));
  const auto read = [&](ResourceKind of, absl::flat_hash_set<std::string>& names) {
    return ReadPages(*transport, CollectionIn(of, namespace_name), selector,
                     [&names](const Json& page) {
                       for (const Json& item : page["items"].items()) {
                         names.insert(KeyOf(item["metadata"]));
                       }
                     });
  };
  SelectedNames selected;
  RETURN_IF_ERROR(read(kind, selected.objects_));
  if (kind == ResourceKind::kPodGroup) {
    RETURN_IF_ERROR(read(ResourceKind::kPod, selected.lone_pods_));
  }
  return selected;
}

Json SelectedNames::Of(const Json& list) const {
  Json items = Json::Array();
  for (const Json& item : list["items"].items()) {
    const auto& names = item["singleton"].AsBool() ? lone_pods_ : objects_;
    if (names.contains(KeyOf(item))) items.Append(item);
  }
  Json kept = list;
  kept.Set("items", std::move(items));
  return kept;
}

}  // namespace maniple
