#include "scheduler/cycle/search/bound_request.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

namespace maniple {

BoundRequest::BoundRequest(const CycleInput& cycle, const GangRequest& request,
                           const Profile& profile)
    : cycle_(cycle), profile_(profile) {
  NumberShapes(request);
  member_counts_.emplace(*cycle.snapshot.tables, shapes_);
}

// Gives every distinct shape of the wants a number.
void BoundRequest::NumberShapes(const GangRequest& request) {
  std::vector<uint32_t> kind_of_want;
  absl::flat_hash_map<ShapeId, uint32_t> known;
  for (const Want& want : request.wants) {
    const auto [it, is_new] = known.try_emplace(want.shape, static_cast<uint32_t>(shapes_.size()));
    kind_of_want.push_back(it->second);
    if (!is_new) continue;
    shapes_.push_back(want.shape);
    scored_as_.push_back(ImagesMatter(want) ? want.scored_as : want.shape);
  }
  problem_ = ProblemOf(request, std::move(kind_of_want), static_cast<uint32_t>(shapes_.size()));
}

// Where no node has an image, all pods of the shape may share what is remembered of it.
bool BoundRequest::ImagesMatter(const Want& want) const {
  if (!want.scored_as.valid()) return false;
  const Snapshot& snapshot = cycle_.snapshot;
  return std::ranges::any_of(
      snapshot.tables->ShapeOf(want.scored_as).images,
      [&snapshot](ImageId image) { return FactsOf(*snapshot.images, image).nodes > 0; });
}

BoundKinds BoundRequest::Bind(Question question, const Overlay& overlay) const {
  CycleInput cycle = cycle_;
  cycle.question = question;
  cycle.members = shapes_;
  cycle.member_counts = &*member_counts_;
  BoundKinds kinds;
  kinds.bound.reserve(shapes_.size());
  for (size_t k = 0; k < shapes_.size(); ++k) {
    const PodShape& shape = cycle.snapshot.tables->ShapeOf(scored_as_[k]);
    overlay.Spend(BoundShape::StepsToBind(cycle.snapshot, shape));
    auto& bound = kinds.bound.emplace_back(
        overlay.spent() ? absl::ResourceExhaustedError("the work of the search is spent")
                        : BoundShape::Bind(cycle, shape, profile_));
    kinds.kinds.push_back({.shape = shapes_[k], .bound = bound.ok() ? &*bound : nullptr});
  }
  return kinds;
}

}  // namespace maniple
