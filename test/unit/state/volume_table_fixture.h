// A VolumeTable that is told by events, as ClusterState tells its own; shared by its tests.
#pragma once

#include <variant>

#include "api/model/object.h"
#include "scheduler/state/volume_table.h"

namespace maniple {

// Storage objects only.
inline void Tell(VolumeTable& table, const ObjectEvent& event) {
  if (const auto* upserted = std::get_if<ObjectUpserted>(&event)) {
    std::visit(
        [&table](const auto& object) {
          if constexpr (requires { table.Upsert(object); }) table.Upsert(object);
        },
        upserted->object);
  } else if (const auto* deleted = std::get_if<ObjectDeleted>(&event)) {
    table.Remove(deleted->key);
  } else if (const auto* invalid = std::get_if<ObjectInvalid>(&event)) {
    table.Refuse(invalid->key);
  }
}

}  // namespace maniple
