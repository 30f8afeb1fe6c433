// Recipes of other projects' controllers for one job: its objects and pods, in their order,
// and what each waits for. Shapes and waits are those of the real controllers.
//
// Plain values and a pure function; producers.h carries them out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple::sim {

// The namespace of the pods and objects of these jobs.
inline constexpr char kJobsNamespace[] = "jobs";
// A pod or gang, by "namespace/name", that another project's controller makes.
[[nodiscard]] bool IsOfProducer(absl::string_view key);
// On their pods, for the checks alone: the unit of pods that start together.
inline constexpr char kUnitLabel[] = "example.com/unit";

struct JobObject {
  std::string api_version, kind, plural, name;
  Json spec;
  std::string owner;  // "Kind/name" of an object, or of a pod, that is made before; "" = none
  Json annotations = Json::Object();
  int with_part = -1;  // it is made with the pods of this part; -1: at once
};

struct JobPart {
  std::string prefix;  // pods are PREFIX-INDEX …
  int first = 0;       // … from this index on
  int pods = 1;
  int gpus = 1;       // of each
  std::string unit;   // of the pods that start together
  std::string owner;  // as of an object
  std::vector<std::pair<std::string, std::string>> labels, annotations;
  std::string index_label;  // "" = none
  std::string helps;        // a unit whose lost pods these can replace; "" = none

  // The event that the controller waits for before it makes any of the pods.
  enum class After : uint8_t {
    kNothing,
    kPhaseIsOpen,  // of the Volcano group
    kOthersRun,    // all pods of the part before
    kOthersStand,  // … are bound
  } after = After::kNothing;
};

struct JobRecipe {
  std::vector<JobObject> objects;  // in order; owners first
  std::vector<JobPart> parts;
  // By unit: so many of its pods start together or not at all.
  std::map<std::string, int> least;
  // The loss of one pod costs all of them, and everything is made anew.
  bool restarts_whole = false;
};

inline constexpr int kJobKinds = 11;
inline constexpr int kFirstThatScales = 9;  // all kinds from this one on
// Its recipe for another size is the same but for its first object and the pods of its last part.
[[nodiscard]] bool CanBeScaled(int kind);
// REQUIRES: 0 <= kind < kJobKinds, size >= 1.
[[nodiscard]] JobRecipe RecipeFor(int kind, const std::string& name, int size);

// Definitions of the kinds that no API server has by itself, and whose files are not installed.
[[nodiscard]] std::vector<Json> JobDefinitions();

}  // namespace maniple::sim
