// What of a pod's spec decides where it may run, beside its requests. Private to this room.
#pragma once

#include <string>
#include <vector>

#include "api/codec/cursor.h"
#include "api/model/model.h"

namespace maniple {

// To nodes; for affinity to pods see api/codec/decode_pod_terms.h.
void ReadAffinity(const Cursor& affinity, PodConstraints& constraints);
[[nodiscard]] std::vector<Toleration> ReadTolerations(const Cursor& tolerations);

// Which port of the node a container's port takes when it names none.
enum class HostPortDefault { kNone, kContainerPort };
void ReadHostPorts(const Cursor& ports, HostPortDefault otherwise, std::vector<HostPort>& out);

// Adds to `unsupported` the paths of rules that need a kubelet of a new kind.
void ReadRestartRules(const Cursor& rules, std::vector<std::string>& unsupported);
// The volumes that tie the pod to nodes. Claims of ephemeral volumes come out as the volume's name
// alone: theirs begins with the pod's.
[[nodiscard]] PodVolumes ReadPodVolumes(const Cursor& volumes);

}  // namespace maniple
