#include "api/devcluster/rest/scale.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/devcluster/types/names.h"

namespace maniple::devcluster {
namespace {

std::string SelectorText(const Json& selector) {
  // A ReplicationController's selector is a map of labels by itself.
  const Json& labels = selector.Has("matchLabels") ? selector["matchLabels"] : selector;
  std::vector<std::string> terms;
  for (const auto& [key, value] : labels.members()) {
    if (value.is_string()) terms.push_back(absl::StrCat(key, "=", value.AsString()));
  }
  return absl::StrJoin(terms, ",");
}

}  // namespace

Json ScaleOf(const Json& object) {
  Json metadata = Json::Object();
  for (const absl::string_view field :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (object["metadata"].Has(field)) metadata.Set(field, object["metadata"][field]);
  }
  return Json::Object(
      {{"kind", Json("Scale")},
       {"apiVersion", Json("autoscaling/v1")},
       {"metadata", std::move(metadata)},
       {"spec", Json::Object({{"replicas", Json(object["spec"]["replicas"].AsInt())}})},
       {"status", Json::Object({{"replicas", Json(object["status"]["replicas"].AsInt())},
                                {"selector", Json(SelectorText(object["spec"]["selector"]))}})}});
}

ApiOr<Json> WithScale(const ResourceType& type, Json object, const Json& scale) {
  const Json& replicas = scale["spec"]["replicas"];
  if (replicas.AsInt() < 0) {
    return Invalid(type, object["metadata"]["name"].AsString(),
                   {InvalidValue("spec.replicas", replicas, "must be greater than or equal to 0")});
  }
  object.Mutable("spec").Set("replicas", replicas.AsInt());
  for (const absl::string_view field : {"uid", "resourceVersion"}) {
    const std::string& wanted = scale["metadata"][field].AsString();
    if (!wanted.empty()) object.Mutable("metadata").Set(field, wanted);
  }
  return object;
}

}  // namespace maniple::devcluster
