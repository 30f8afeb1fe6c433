#include "scheduler/cli/left_out.h"

#include "absl/strings/string_view.h"

namespace maniple {
namespace {

bool AreContainers(absl::string_view name, const Json& value) {
  return value.is_array() &&
         (name == "containers" || name == "initContainers" || name == "ephemeralContainers");
}

void LeaveOutOf(Json& container) {
  for (const char* field : {"env", "envFrom", "command", "args", "lifecycle", "livenessProbe",
                            "readinessProbe", "startupProbe", "volumeMounts"}) {
    container.Erase(field);
  }
}

}  // namespace

// Each kind of job has its templates elsewhere. Parsed JSON is no deeper than the parser allows.
void LeaveOutWhatRuns(Json& object) {
  if (object.is_array()) {
    for (Json& item : object.mutable_items()) LeaveOutWhatRuns(item);
  }
  if (!object.is_object()) return;
  for (auto& [name, value] : object.mutable_members()) {
    if (!AreContainers(name, value)) {
      LeaveOutWhatRuns(value);
      continue;
    }
    for (Json& container : value.mutable_items()) LeaveOutOf(container);
  }
}

}  // namespace maniple
