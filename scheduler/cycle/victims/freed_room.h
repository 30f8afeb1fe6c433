// The room that a gang would have if some running pods were gone, kept up pod by pod.
//
// Counts the members of each shape that every node takes, in all and per topology domain where the
// gang requires one; freeing the pods of a victim asks only their nodes again. For one shape the
// count is the truth, unless it has slices or a sub-group has a wish of its own. For several shapes
// it is a bound from above. Where filters couple members across nodes it says nothing, and room
// counts as enough. One thread, for the length of a decision; borrows its arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plugins/framework/gang_pod_counts.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/cycle/question/quorum.h"
#include "scheduler/cycle/question/quota_ask.h"
#include "scheduler/cycle/room/bound_shape.h"
#include "scheduler/cycle/room/overlay.h"
#include "scheduler/cycle/topology/topology.h"

namespace maniple {

// The distinct shapes of a request, and its members by them.
struct RequestKinds {
  std::vector<ShapeId> shapes;  // by kind, in order of first sight
  QuorumProblem problem;        // without a budget
};
[[nodiscard]] RequestKinds KindsOf(const GangRequest& request);

class FreedRoomCount final {
 public:
  // One option per kind, or none at all: any node.
  FreedRoomCount(const DecideInput& input, const Profile& profile, const RequestKinds& kinds,
                 const std::vector<const QuotaOption*>& options);
  FreedRoomCount(const FreedRoomCount&) = delete;
  FreedRoomCount& operator=(const FreedRoomCount&) = delete;

  // Not ok: a plugin refuses a shape, the topology makes no sense, or the work of the search is
  // spent. Then nothing else may be asked.
  [[nodiscard]] const absl::Status& status() const { return status_; }
  // Enough() is the truth, not only a bound.
  [[nodiscard]] bool exact() const { return exact_; }

  void Free(std::span<const FreedRoom> pods);
  void TakeBack(std::span<const FreedRoom> pods);
  // Takes all pods back.
  void Reset();

  // The quorum fits, in one domain where that is required.
  [[nodiscard]] bool Enough() const;
  [[nodiscard]] bool EnoughIn(uint32_t domain) const;
  // False: no domain is required, and all nodes are domain 0.
  [[nodiscard]] bool by_domain() const { return level_ != nullptr; }
  [[nodiscard]] uint32_t domain_count() const { return domain_count_; }
  // DomainLevel::kOutside: in none.
  [[nodiscard]] uint32_t DomainOf(NodeId node) const;
  // Members of all kinds that the node, or the domain, takes.
  [[nodiscard]] int64_t RoomAt(NodeId node) const;
  [[nodiscard]] int64_t RoomIn(uint32_t domain) const;

 private:
  enum class Change : uint8_t { kFree, kTakeBack };
  void Apply(std::span<const FreedRoom> pods, Change change);
  void TakeBack(const FreedRoom& pod);
  void Recount(NodeId node);

  void StartOverlay();
  // True: counts are no longer kept up, and must not be used.
  [[nodiscard]] bool Spent() const {
    return input_.request.work != nullptr && input_.request.work->spent();
  }

  const DecideInput& input_;
  const Snapshot& snapshot_;
  const RequestKinds& kinds_;
  MemberPodCounts member_counts_;
  absl::Status status_;
  bool exact_ = true;
  bool additive_ = true;            // no node's room depends on others: counts are bounds
  std::optional<Overlay> overlay_;  // always there
  Overlay::Checkpoint at_first_ = 0;
  std::vector<BoundShape> bound_;  // by kind
  LevelStore levels_;
  DomainChoice choice_;
  const DomainLevel* level_ = nullptr;
  std::optional<uint32_t> only_domain_;  // where members stand already
  uint32_t domain_count_ = 1;
  std::vector<std::vector<int32_t>> room_on_;  // by kind, then node index
  std::vector<std::vector<int64_t>> room_in_;  // by domain, then kind
  std::vector<std::vector<int32_t>> room_on_at_first_;
  std::vector<std::vector<int64_t>> room_in_at_first_;
};

}  // namespace maniple
