// ImageLocality: nodes that have the pod's images already, the larger and the more common the
// better.
//
// Formula: kube-scheduler's plugin of that name. An image counts by its size times the share of
// nodes that have it, lest the first node to pull it draws all pods; the sum is worth nothing up to
// 23 MiB and everything from 1000 MiB for each container.
#include "plugins/factories.h"

#include <algorithm>
#include <vector>

namespace maniple {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr int64_t kLeast = 23 * kMebibyte;
constexpr int64_t kMostPerContainer = 1000 * kMebibyte;

class BoundImageLocality final : public NodeScore {
 public:
  BoundImageLocality(const Snapshot& snapshot, const PodShape& shape)
      : most_(kMostPerContainer * static_cast<int64_t>(shape.images.size())) {
    const auto all = static_cast<double>(snapshot.node_count());
    for (const ImageId image : shape.images) {
      const ImageFacts facts = FactsOf(*snapshot.images, image);
      if (facts.nodes == 0) continue;
      const double worth =
          static_cast<double>(facts.bytes) * (static_cast<double>(facts.nodes) / all);
      // Beyond the most that all containers can count for, more makes no difference,
      // and sums stay small.
      const auto counted = static_cast<int64_t>(std::min(worth, static_cast<double>(most_)));
      images_.push_back({.image = image, .bytes = counted});
      total_ += counted;
    }
  }

  // No node has enough of the images to be told from a node without.
  [[nodiscard]] bool indifferent() const { return total_ <= kLeast; }

  int64_t Score(const NodeView& node) const override {
    const std::vector<ImageRows>& there = node.block.rows().images;
    int64_t bytes = 0;
    for (const Counted& counted : images_) {
      const auto at = std::ranges::lower_bound(there, counted.image, {}, &ImageRows::image);
      const bool held = at != there.end() && at->image == counted.image && at->rows.Test(node.row);
      if (held) bytes += counted.bytes;
    }
    return kMostScore * (std::clamp(bytes, kLeast, most_) - kLeast) / (most_ - kLeast);
  }

 private:
  struct Counted {
    ImageId image;
    int64_t bytes = 0;  // its size by the share of nodes that have it
  };

  int64_t most_;
  std::vector<Counted> images_;  // that some node has
  int64_t total_ = 0;
};

class ImageLocality final : public ScorePlugin {
 public:
  absl::string_view name() const override { return "ImageLocality"; }
  std::unique_ptr<NodeScore> Bind(const CycleInput& cycle, const PodShape& shape) const override {
    auto bound = std::make_unique<BoundImageLocality>(cycle.snapshot, shape);
    if (bound->indifferent()) return nullptr;
    return bound;
  }
};

}  // namespace

std::unique_ptr<const ScorePlugin> MakeImageLocality() { return std::make_unique<ImageLocality>(); }

}  // namespace maniple
