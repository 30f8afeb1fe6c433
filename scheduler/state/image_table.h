// The images that nodes have, by name, and how common those are that some shape runs.
//
// Owned by NodeTable; scheduling thread. Nodes report fifty images or more, under several names
// each; only images that a shape names have an ImageId and are published.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "api/base/id.h"
#include "api/model/ids.h"
#include "api/model/model.h"
#include "plugins/framework/node_images.h"
#include "scheduler/state/swept_ids.h"

namespace maniple {

class ImageTable final {
 public:
  // Sets the images that the node has now, none when it is gone.
  // Returns the shapes' among them, sorted.
  [[nodiscard]] std::vector<ImageId> SetHeld(NodeId node, const std::vector<NodeImage>& images);
  // From now on the image is one that a shape runs. Returns the nodes that have it; none if it was
  // one already.
  [[nodiscard]] std::vector<NodeId> Follow(ImageId image, absl::string_view name);

  // From now on shapes run these images only.
  void KeepOnly(const UsedIds& images);

  [[nodiscard]] bool changed() const { return changed_; }
  [[nodiscard]] std::shared_ptr<const NodeImages> Publish();

 private:
  using NameId = Id<struct ImageNameTag>;
  struct Held {
    NameId name;
    int64_t bytes = 0;
    friend auto operator<=>(const Held&, const Held&) = default;
  };

  // The node's entry of the name, or null.
  [[nodiscard]] static const Held* HeldBy(const std::vector<Held>& node, NameId name);
  void Count(ImageId image, int64_t bytes);
  // The node that had it has it no more. The image is as large as the largest that is left.
  void Discount(ImageId image, const Held& gone);

  SweptIds<std::string, NameId> names_;
  std::vector<std::vector<Held>> by_node_;  // sorted by name, each name once
  absl::flat_hash_map<NameId, ImageId> followed_;
  NodeImages facts_;
  bool changed_ = false;
  std::shared_ptr<const NodeImages> published_ = std::make_shared<const NodeImages>();
};

}  // namespace maniple
