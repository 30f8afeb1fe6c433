#include "scheduler/replay/object_shape.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/base/status_macros.h"

namespace maniple {
namespace {

std::string NameOf(const Json& object) {
  return absl::StrCat(object["kind"].AsString(), " ", object.At("metadata.name").AsString());
}

absl::Status MayBeObject(const Json& object, absl::string_view path) {
  const Json& value = object.At(path);
  if (value.is_null() || value.is_object()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(NameOf(object), ": ", path, ": no object"));
}

}  // namespace

absl::Status CheckShape(const Json& object) {
  if (object["kind"].AsString().empty()) {
    return absl::InvalidArgumentError("an object has no kind");
  }
  RETURN_IF_ERROR(MayBeObject(object, "metadata"));
  if (object.At("metadata.name").AsString().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(object["kind"].AsString(), ": metadata.name: it has none"));
  }
  for (const char* path : {"metadata.labels", "metadata.annotations", "spec"}) {
    RETURN_IF_ERROR(MayBeObject(object, path));
  }
  return absl::OkStatus();
}

absl::Status CheckJobShape(const Json& job) {
  for (const char* path :
       {"spec.template", "spec.template.metadata", "spec.template.metadata.labels",
        "spec.template.metadata.annotations", "spec.template.spec"}) {
    RETURN_IF_ERROR(MayBeObject(job, path));
  }
  return absl::OkStatus();
}

}  // namespace maniple
