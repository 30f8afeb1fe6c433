#include "scheduler/loop/records/reservation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/base/time_text.h"

namespace maniple {

Demand Lacking(const Reservation& reservation) {
  Demand lacking;
  for (const CellAmount& part : reservation.demand) {
    const auto held = std::ranges::find(reservation.held, part.cell, &CellAmount::cell);
    const Amount left = held == reservation.held.end() ? part.amount : part.amount - held->amount;
    if (left > Amount(0)) lacking.push_back({part.cell, left});
  }
  return lacking;
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
