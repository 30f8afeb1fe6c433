// Which Kubernetes this server says it is.
#pragma once

namespace maniple::devcluster {

// As GET /version, `kubectl version` and the kubelets of its nodes show it.
inline constexpr const char* kServedKubernetesVersion = "v1.36.0-maniple";

}  // namespace maniple::devcluster
