#include "scheduler/loop/records/reservation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/base/time_text.h"

namespace maniple {

Demand Beyond(const Demand& whole, const Demand& part) {
  Demand beyond;
  for (const CellAmount& all : whole) {
    const auto some = std::ranges::find(part, all.cell, &CellAmount::cell);
    const Amount left = some == part.end() ? all.amount : all.amount - some->amount;
    if (left > Amount(0)) beyond.push_back({all.cell, left});
  }
  return beyond;
}

Demand Lacking(const Reservation& reservation) {
  return Beyond(reservation.demand, reservation.held);
}

std::string StartText(const Reservation& reservation) {
  const std::string time = TimeText(reservation.start);
  return reservation.end == EndIs::kKnown ? time : absl::StrCat(time, " or so");
}

std::string DelayText(const Reservation& reservation) {
  if (reservation.start <= reservation.first_start) return "";
  return absl::StrCat(", first planned for ", TimeText(reservation.first_start));
}

}  // namespace maniple
