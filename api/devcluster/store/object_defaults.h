// What kube-apiserver fills in for built-in kinds, and the status it starts or keeps them with.
//
// Pure functions of the object, but for the time and randomness of a new one.
#pragma once

#include "absl/time/time.h"
#include "api/base/random.h"
#include "api/codec/json.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

// API defaults: applied to every object that comes in, new or changed.
void DefaultObject(const ResourceType& type, Json& object);

// What a new object gets besides: its first status, labels and addresses that the server gives.
struct Birth {
  absl::Time now;
  Random& random;
};
void StartObject(const ResourceType& type, Json& object, const Birth& birth);

}  // namespace maniple::devcluster
