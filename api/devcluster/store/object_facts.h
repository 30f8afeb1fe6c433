// What is asked of every object, and of every pod.
#pragma once

#include <string>

#include "api/codec/json.h"

namespace maniple::devcluster {

[[nodiscard]] inline const std::string& UidOf(const Json& object) {
  return object["metadata"]["uid"].AsString();
}

[[nodiscard]] inline bool IsLeaving(const Json& object) {
  return object["metadata"]["deletionTimestamp"].is_string();
}

[[nodiscard]] inline bool HasEnded(const Json& pod) {
  const std::string& phase = pod["status"]["phase"].AsString();
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace maniple::devcluster
