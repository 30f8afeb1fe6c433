// `maniple hold`, `release` and `requeue`: the user's own hands on a gang, under the user's own
// rights. The scheduler is only told, through the API server.
#pragma once

#include <string>

#include "scheduler/cli/admin_client.h"

namespace maniple {

struct HandsRequest {
  AdminClientOptions client;
  std::string namespace_name;  // "": that of the context
  std::string gang;  // its PodGroup, a pod without one, or what declares it: "pytorchjob/train"
  // Deletes pods, too, that no controller will make again.
  bool force = false;
  // json, yaml or name: prints the objects that were written or deleted, in place of a sentence.
  std::string output;
};

// Annotates its PodGroup, or the pod that has none, so that nothing of it starts; or takes that
// back. Of a job with several gangs it is all of their PodGroups. Returns the exit status.
[[nodiscard]] int RunHold(const HandsRequest& request);
[[nodiscard]] int RunRelease(const HandsRequest& request);
// Deletes the pods of it that have a node: its controller makes them again, and it waits in line
// like any other. Refuses all of it where some have no controller, unless forced, or are other pods
// than those that the scheduler knows.
[[nodiscard]] int RunRequeue(const HandsRequest& request);

}  // namespace maniple
