// The nodes that have each container image already, as their kubelets report.
#pragma once

#include <cstdint>
#include <vector>

#include "api/model/ids.h"
#include "plugins/framework/columns.h"

namespace maniple {

// The nodes of a block that have the image.
struct ImageRows {
  ImageId image;
  NodeMask rows;  // never empty
};

// Of the whole cluster.
struct ImageFacts {
  int64_t nodes = 0;  // that have it
  int64_t bytes = 0;  // the largest size that one of them reported
  friend auto operator<=>(const ImageFacts&, const ImageFacts&) = default;
};
using NodeImages = std::vector<ImageFacts>;  // by ImageId; beyond the end: no node has it

[[nodiscard]] inline ImageFacts FactsOf(const NodeImages& images, ImageId image) {
  return image.index() < images.size() ? images[image.index()] : ImageFacts{};
}

}  // namespace maniple
