// One pod shape with every filter and score of the profile bound to it, for one decision.
//
// Answers how many pods of the shape each node can take, by counting: masks per node class, then
// columns, then caps per node. One thread; borrows snapshot and profile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "plugins/framework/cluster_filter.h"
#include "plugins/framework/filter.h"
#include "plugins/framework/profile.h"
#include "plugins/framework/score.h"
#include "plugins/framework/snapshot.h"
#include "scheduler/cycle/room/overlay.h"
#include "scheduler/cycle/room/room_cache.h"
#include "scheduler/cycle/room/shape_room.h"

namespace maniple {

class BoundShape final {
 public:
  // Bind spends about so many steps (search_work.h).
  [[nodiscard]] static int64_t StepsToBind(const Snapshot& snapshot, const PodShape& shape);
  // The error of the first plugin that refuses the shape as such.
  [[nodiscard]] static absl::StatusOr<BoundShape> Bind(const CycleInput& cycle,
                                                       const PodShape& shape,
                                                       const Profile& profile);

  [[nodiscard]] const PodShape& shape() const { return *shape_; }
  // False when some filter couples members across nodes: then caps do not add up,
  // and a node is asked for one more member at a time.
  [[nodiscard]] bool counts_prove() const { return counts_prove_; }
  // False when members may make room for each other: then RoomOn is not even an upper bound.
  // AtMostOn is one.
  [[nodiscard]] bool bounds_prove() const { return bounds_prove_; }
  // Whether a member that is placed may change which node is best for the next.
  [[nodiscard]] bool compares() const { return !comparing_.empty(); }
  // Whether the room on a node follows from that node alone.
  [[nodiscard]] bool local() const { return around_.empty(); }
  // Columns of labels whose values all members of the gang must share, wherever they are placed.
  // Among nodes that share them, counts prove as they do otherwise.
  [[nodiscard]] std::vector<size_t> OneDomainOf(const Overlay& overlay);

  // From now on only these nodes take the shape, by its quota; null: every node. Borrowed.
  void RestrictTo(const NodeSet* nodes) { allowed_ = nodes; }
  [[nodiscard]] const NodeSet* allowed() const { return allowed_; }
  // From now on ByBlockOn looks there first. REQUIRES: it was bound to the question "now", and
  // the cache began with this snapshot. Borrowed.
  void Remember(RoomCache* cache) { cache_ = cache; }

  // The pod is to be there only where no other node will do.
  [[nodiscard]] bool IsLastResort(const NodeView& node) const;

  // The room for pods of the shape on the overlay as it stands; `within` null = anywhere.
  [[nodiscard]] ShapeRoom RoomOn(const Overlay& overlay, const NodeSet* within);
  // An upper bound, by node, on the members that fit one after the other; the same as RoomOn where
  // bounds prove.
  [[nodiscard]] ShapeRoom AtMostOn(const Overlay& overlay, const NodeSet* within);
  // … and in all.
  [[nodiscard]] int64_t LimitOn(const Overlay& overlay, const NodeSet* within);
  // The same as RoomOn, ready to be asked for the best of the nodes (RankedRoom).
  [[nodiscard]] RoomByBlock ByBlockOn(const Overlay& overlay, const NodeSet* within);
  // How many more pods of the shape the node takes.
  [[nodiscard]] int32_t RoomAt(const Overlay& overlay, NodeId node);
  // Why nodes take no pod, once per node of `within`: answers that follow from the class first,
  // then in the order of the profile. Nodes that do take some are left out.
  void ForEachRefusal(const Overlay& overlay, const NodeSet* within,
                      absl::FunctionRef<void(NodeId, const Verdict&)> visit);

  // Why the node takes no pod on another overlay than the one that is looked at; none: it takes
  // one. The look at that one stays as it is.
  [[nodiscard]] std::optional<Reason> WhyNotOn(const Overlay& other, NodeId node);

  // The nodes of `room` with all that ranks them, in its order. REQUIRES: all that fit.
  [[nodiscard]] std::vector<RankedNode> Ranked(const Overlay& overlay, const ShapeRoom& room);
  // The same for some of them. REQUIRES: they are among what ByBlockOn or Ranked last saw.
  [[nodiscard]] std::vector<RankedNode> RankedOf(const Overlay& overlay,
                                                 const ShapeRoom& room) const;

 private:
  BoundShape() = default;

  [[nodiscard]] int64_t MostOf(const ShapeRoom& at_most) const;
  // Called before filters or scores that look around are asked.
  void LookAround(const Overlay& overlay);
  void Compare(const Overlay& overlay, absl::FunctionRef<void(NodeSet&)> mark_fitting);
  // Weighted scores of the nodes of `room`, in its order.
  [[nodiscard]] std::vector<int64_t> Scores(const Overlay& overlay, const ShapeRoom& room) const;
  enum class Fits : uint8_t { kNow, kEver };

  [[nodiscard]] const Verdict& OfClass(const NodeView& node);
  void Narrow(const Overlay& overlay, uint32_t block, Fits when, NodeMask& fits);
  void AddRoomIn(const Overlay& overlay, uint32_t block, const NodeSet* within, Fits when,
                 ShapeRoom& room);

  [[nodiscard]] bool Allows(NodeId node) const {
    return allowed_ == nullptr ||
           (BlockOf(node) < allowed_->size() && (*allowed_)[BlockOf(node)].Test(RowOf(node)));
  }

  const PodShape* shape_ = nullptr;
  // Steps of one look at a block, for narrowing filters, for those that look around,
  // and for scores.
  int64_t narrow_steps_ = 0, around_steps_ = 0, score_steps_ = 0, compare_steps_ = 0;
  const NodeSet* allowed_ = nullptr;
  RoomCache* cache_ = nullptr;
  // In the order of the profile, as are the three below.
  std::vector<std::unique_ptr<NodeFilter>> filters_;
  struct Dynamic {
    const NodeFilter* filter;
    FilterCoupling coupling;
    const ClusterFilter* across = nullptr;  // itself, of kAcrossNodes
  };
  std::vector<const NodeFilter*> of_class_, capping_;
  std::vector<Dynamic> dynamic_;
  std::vector<const ClusterFilter*> across_;
  std::vector<ClusterFilter*> around_;
  std::vector<NodeScore*> comparing_;
  bool may_be_remembered_ = true;
  const Overlay* seen_ = nullptr;  // by the filters that look around, at this edition
  uint64_t seen_edition_ = 0;
  struct Weighted {
    std::unique_ptr<NodeScore> score;
    int64_t weight = 1;
  };
  std::vector<Weighted> scores_;
  std::vector<std::optional<Verdict>> class_verdicts_;  // by class; none = not asked yet
  bool counts_prove_ = true;
  bool bounds_prove_ = true;
};

}  // namespace maniple
