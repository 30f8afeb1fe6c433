// The picture of the cluster that ClusterState publishes. Its type stands where plugins can see it.
#pragma once

#include "plugins/framework/snapshot.h"  // IWYU pragma: export
