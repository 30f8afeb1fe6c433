#include "api/model/event_key.h"

namespace maniple {

std::optional<ObjectKey> KeyOf(const ObjectEvent& event) {
  if (const auto* upserted = std::get_if<ObjectUpserted>(&event)) {
    const ObjectMeta& meta = MetaOf(upserted->object);
    return ObjectKey{KindOf(upserted->object), meta.namespace_name, meta.name};
  }
  if (const auto* deleted = std::get_if<ObjectDeleted>(&event)) return deleted->key;
  if (const auto* invalid = std::get_if<ObjectInvalid>(&event)) return invalid->key;
  return std::nullopt;
}

}  // namespace maniple
