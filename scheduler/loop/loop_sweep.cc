// What tenants size, and nobody uses any more, is given back (ClusterState::Sweep).
#include <vector>

#include "scheduler/loop/leadership.h"

namespace maniple {

std::vector<ShapeId> Leadership::ShapesKept() const {
  std::vector<ShapeId> kept;
  const auto keep = [&kept](ShapeId shape) {
    if (shape.valid()) kept.push_back(shape);
  };
  queue_->ForEachShape(keep);
  for (const auto& [id, record] : records_) {
    if (record->binding.has_value()) record->binding->ForEachShape(keep);
    for (const HeldVacancy& held : record->holds) keep(held.vacancy.shape);
    for (const GangBinding::Known& known : record->bound) keep(known.shape);
    if (record->claim.has_value()) {
      for (const Claim::Room& room : record->claim->rooms) keep(room.shape);
    }
    if (record->reservation.has_value()) {
      for (const Reservation::Room& room : record->reservation->rooms) keep(room.shape);
    }
  }
  return kept;
}

void Leadership::ForgetUnusedNotes() {
  absl::erase_if(last_noted_, [](const auto& noted) { return noted.second.expired(); });
}

}  // namespace maniple
