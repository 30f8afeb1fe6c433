// POST pods/binding: the one write by which a pod gets its node.
#pragma once

#include "api/codec/json.h"
#include "api/devcluster/store/writes.h"
#include "api/devcluster/types/api_error.h"

namespace maniple::devcluster {

// Checks what kube-apiserver checks (the pod exists, is not deleted, not assigned, not gated; uid
// and resourceVersion of the Binding are preconditions) and no more: not that the node exists or
// has room. `pod` comes from the URL.
MaybeError BindPod(const Cluster& cluster, const ObjectName& pod, const Json& binding,
                   DryRun dry_run);

}  // namespace maniple::devcluster
