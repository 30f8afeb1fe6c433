// A gang's request as its search sees it: the distinct shapes of its members, numbered, and what
// the profile's plugins make of each.
//
// Made once for each decision, and constant. Borrows snapshot, request and profile.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "plugins/framework/gang_pod_counts.h"
#include "plugins/framework/profile.h"
#include "scheduler/cycle/question/decision.h"
#include "scheduler/cycle/question/quorum.h"
#include "scheduler/cycle/room/bound_shape.h"
#include "scheduler/cycle/room/overlay.h"
#include "scheduler/cycle/search/search_question.h"

namespace maniple {

// The distinct shapes of a request with the profile bound to them.
struct BoundKinds {
  std::vector<absl::StatusOr<BoundShape>> bound;
  std::vector<Kind> kinds;  // parallel; they point into `bound`, which moves but never grows
};

class BoundRequest final {
 public:
  BoundRequest(const CycleInput& cycle, const GangRequest& request, const Profile& profile);
  BoundRequest(const BoundRequest&) = delete;
  BoundRequest& operator=(const BoundRequest&) = delete;

  [[nodiscard]] const std::vector<ShapeId>& shapes() const { return shapes_; }
  // The quorum over these shapes, without a budget of quota.
  [[nodiscard]] const QuorumProblem& problem() const { return problem_; }
  // Spends the work of `overlay`. A shape that comes after the work is spent is refused, so the
  // caller asks next whether it is.
  [[nodiscard]] BoundKinds Bind(Question question, const Overlay& overlay) const;

 private:
  void NumberShapes(const GangRequest& request);
  [[nodiscard]] bool ImagesMatter(const Want& want) const;

  CycleInput cycle_;
  const Profile& profile_;
  std::vector<ShapeId> shapes_;     // the distinct ones, in order of first sight
  std::vector<ShapeId> scored_as_;  // parallel
  QuorumProblem problem_;
  std::optional<MemberPodCounts> member_counts_;  // of the shapes
};

}  // namespace maniple
