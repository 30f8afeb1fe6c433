// A cluster as writes see it: the objects, the types, a source of randomness, and the time.
#pragma once

#include "absl/time/time.h"
#include "api/base/random.h"
#include "api/devcluster/store/store.h"
#include "api/devcluster/types/type_registry.h"

namespace maniple::devcluster {

// Everything a write may touch, and the time it happens at.
struct Cluster {
  Store& store;
  TypeRegistry& types;
  Random& random;  // uids, generated names
  absl::Time now;
};

}  // namespace maniple::devcluster
