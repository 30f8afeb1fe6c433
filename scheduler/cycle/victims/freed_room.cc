#include "scheduler/cycle/victims/freed_room.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "api/base/check.h"
#include "api/base/sort_unique.h"

namespace maniple {

RequestKinds KindsOf(const GangRequest& request) {
  RequestKinds kinds;
  std::vector<uint32_t> kind_of_want;
  absl::flat_hash_map<ShapeId, uint32_t> known;
  for (const Want& want : request.wants) {
    const auto [it, is_new] =
        known.try_emplace(want.shape, static_cast<uint32_t>(kinds.shapes.size()));
    kind_of_want.push_back(it->second);
    if (is_new) kinds.shapes.push_back(want.shape);
  }
  const auto count = static_cast<uint32_t>(kinds.shapes.size());
  kinds.problem = ProblemOf(request, std::move(kind_of_want), count);
  return kinds;
}

FreedRoomCount::FreedRoomCount(const DecideInput& input, const Profile& profile,
                               const RequestKinds& kinds,
                               const std::vector<const QuotaOption*>& options)
    : input_(input),
      snapshot_(input.snapshot),
      kinds_(kinds),
      member_counts_(*input.snapshot.tables, kinds.shapes) {
  const CycleInput cycle{.snapshot = input.snapshot,
                         .now = input.now,
                         .seed = input.seed,
                         .question = Question::kNow,
                         .members = kinds.shapes,
                         .member_counts = &member_counts_};
  for (const ShapeId shape : kinds.shapes) {
    if (Spent()) {
      status_ = absl::ResourceExhaustedError("the work of the search is spent");
      return;
    }
    absl::StatusOr<BoundShape> bound =
        BoundShape::Bind(cycle, snapshot_.tables->ShapeOf(shape), profile);
    status_.Update(bound.status());
    if (!status_.ok()) return;
    bound_.push_back(*std::move(bound));
  }
  absl::StatusOr<DomainChoice> choice = ResolveTopology(snapshot_, input.request, levels_);
  status_.Update(choice.status());
  if (!status_.ok()) return;
  choice_ = *std::move(choice);
  if (choice_.gang.required) {
    level_ = choice_.gang.required_level();
    domain_count_ = static_cast<uint32_t>(level_->paths.size());
    only_domain_ = DomainOfPinned(snapshot_, *level_, input.request.pinned);
  }
  const bool bound_together = choice_.gang.slice != nullptr || !choice_.sub_groups.empty();
  additive_ = std::ranges::all_of(
      bound_, [](const BoundShape& bound) { return bound.counts_prove() && bound.local(); });
  exact_ = bound_.size() == 1 && additive_ && !bound_together;
  StartOverlay();

  room_in_.assign(domain_count_, std::vector<int64_t>(bound_.size(), 0));
  for (size_t k = 0; k < bound_.size(); ++k) {
    if (!options.empty() && options[k]->nodes.has_value()) {
      bound_[k].RestrictTo(&*options[k]->nodes);
    }
    std::vector<int32_t>& rooms = room_on_.emplace_back(snapshot_.blocks.size() * kBlockNodes, 0);
    for (const NodeRoom& room : bound_[k].RoomOn(*overlay_, nullptr).nodes) {
      rooms[room.node.index()] = room.pods;
      const uint32_t domain = DomainOf(room.node);
      if (domain != DomainLevel::kOutside) room_in_[domain][k] += room.pods;
    }
  }
  room_on_at_first_ = room_on_;
  room_in_at_first_ = room_in_;
}

void FreedRoomCount::StartOverlay() {
  overlay_.emplace(snapshot_, Overlay::View::kNow, input_.request.work);
  for (const HoldId hold : input_.request.own_holds) {
    if (const HeldRoom* room = snapshot_.FindHold(hold)) {
      overlay_->Free(room->node, room->shape, Occupant::kHold);
    }
  }
  for (const PromisedRoom& room : input_.request.outranked) {
    overlay_->Free(room.node, room.shape, Occupant::kHold);
  }
  for (const FreedRoom& room : input_.freed) overlay_->Free(room.node, room.shape, room.of);
  at_first_ = overlay_->Mark();
}

void FreedRoomCount::Reset() {
  overlay_->Rollback(at_first_);
  room_on_ = room_on_at_first_;
  room_in_ = room_in_at_first_;
}

uint32_t FreedRoomCount::DomainOf(NodeId node) const {
  if (level_ == nullptr) return 0;
  return node.index() < level_->domain_of.size() ? level_->domain_of[node.index()]
                                                 : DomainLevel::kOutside;
}

int64_t FreedRoomCount::RoomAt(NodeId node) const {
  int64_t room = 0;
  for (const std::vector<int32_t>& rooms : room_on_) room += rooms[node.index()];
  return room;
}

int64_t FreedRoomCount::RoomIn(uint32_t domain) const {
  return std::accumulate(room_in_[domain].begin(), room_in_[domain].end(), int64_t{0});
}

bool FreedRoomCount::EnoughIn(uint32_t domain) const {
  if (only_domain_.has_value() && *only_domain_ != domain) return false;
  if (!additive_) return true;
  if (exact_) return room_in_[domain].front() >= kinds_.problem.total;
  return !ProvenShortage(kinds_.problem, room_in_[domain]).has_value();
}

bool FreedRoomCount::Enough() const {
  for (uint32_t domain = 0; domain < domain_count_; ++domain) {
    if (EnoughIn(domain)) return true;
  }
  return false;
}

void FreedRoomCount::Recount(NodeId node) {
  constexpr int64_t kStepsPerLook = 100;
  overlay_->Spend(kStepsPerLook * static_cast<int64_t>(bound_.size()));
  if (Spent()) return;
  const uint32_t domain = DomainOf(node);
  for (size_t k = 0; k < bound_.size(); ++k) {
    const int32_t room = bound_[k].RoomAt(*overlay_, node);
    int32_t& known = room_on_[k][node.index()];
    if (domain != DomainLevel::kOutside) room_in_[domain][k] += room - known;
    known = room;
  }
}

void FreedRoomCount::TakeBack(const FreedRoom& pod) {
  switch (pod.of) {
    case Occupant::kPod:
      overlay_->Place(pod.node, pod.shape);
      return;
    case Occupant::kHold:
      overlay_->Promise(pod.node, pod.shape);
      return;
    case Occupant::kNobody:
      break;
  }
  CHECK(false) << "only pods and holds are victims";
}

void FreedRoomCount::Apply(std::span<const FreedRoom> pods, Change change) {
  // Pods of one gang often share nodes; each node is counted once.
  std::vector<NodeId> nodes;
  for (const FreedRoom& pod : pods) {
    switch (change) {
      case Change::kFree:
        overlay_->Free(pod.node, pod.shape, pod.of);
        break;
      case Change::kTakeBack:
        TakeBack(pod);
        break;
    }
    nodes.push_back(pod.node);
  }
  SortUnique(nodes);
  for (const NodeId node : nodes) Recount(node);
}

void FreedRoomCount::Free(std::span<const FreedRoom> pods) { Apply(pods, Change::kFree); }
void FreedRoomCount::TakeBack(std::span<const FreedRoom> pods) { Apply(pods, Change::kTakeBack); }

}  // namespace maniple
