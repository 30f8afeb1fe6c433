// The Table form of objects (meta.k8s.io/v1): what `kubectl get` prints.
//
// Functions of data. A list, a single object and the object of a watch event all become a Table; a
// watch wraps a Table of one row in each event.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/codec/json.h"

namespace maniple::devcluster {

struct ResourceType;  // api/devcluster/types/resource_type.h: decides the columns

// The query parameter includeObject: what the member `object` of each row holds.
enum class RowObject { kMetadata, kNone, kFull };
// "" and "Metadata", "None", "Object"; anything else is kMetadata.
[[nodiscard]] RowObject ParseRowObject(absl::string_view include_object);

struct TableOptions {
  RowObject row_object = RowObject::kMetadata;
  absl::Time now;
};

// `list_metadata` is the metadata of the list (resourceVersion, continue, remainingItemCount) or of
// the one object.
[[nodiscard]] Json ToTable(const ResourceType& type, absl::Span<const Json* const> objects,
                           const Json& list_metadata, const TableOptions& options);

// {kind PartialObjectMetadata, apiVersion meta.k8s.io/v1, metadata}: also the answer to an Accept
// that asks for it.
[[nodiscard]] Json ToPartialMetadata(const Json& object);

}  // namespace maniple::devcluster
