// Objects that the API server would take, but nobody has ever written: drawn from fuzz bytes.
//
// Owned by one run of a target. What they name begins with `salt`, so that other salts give objects
// that share nothing.
//
//   StrangeObjects strange(bytes, "a");
//   const StrangeObject pod = strange.DrawPod("p1");   // perhaps with 1,700 terms on other pods
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "api/model/object.h"
#include "test/fuzz/byte_source.h"

namespace maniple {

struct StrangeObject {
  Object object;
  size_t bytes = 0;  // about as many as the API server would send of it
};

class StrangeObjects final {
 public:
  StrangeObjects(ByteSource& bytes, absl::string_view salt) : bytes_(bytes), salt_(salt) {}

  [[nodiscard]] StrangeObject DrawPod(absl::string_view name);
  [[nodiscard]] StrangeObject DrawNode(absl::string_view name);
  [[nodiscard]] StrangeObject DrawPodGroup(absl::string_view name);

 private:
  [[nodiscard]] std::string Word(absl::string_view kind, int number);
  [[nodiscard]] LabelSelector DrawSelector(int number);
  void AddTerms(Pod& pod);
  void AddConstraints(Pod& pod);
  void AddLabels(StringMap& labels, int most);
  void AddResources(ResourceAmounts& amounts);
  [[nodiscard]] TopologyRequest DrawTopology();

  ByteSource& bytes_;
  const std::string salt_;
  size_t counted_ = 0;  // of the object being drawn
};

}  // namespace maniple
