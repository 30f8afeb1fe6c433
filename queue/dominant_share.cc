#include "queue/dominant_share.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace maniple {
namespace {

using UnsignedWide = unsigned __int128;

constexpr int kMantissaAndMore = 62;  // bits: those of a double, and enough to round by

int LeadingZeros(UnsignedWide value) {
  const auto high = static_cast<uint64_t>(value >> 64);
  return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<uint64_t>(value));
}

// a / b, rounded once, so that equal ratios are equal and the order of ratios is kept. REQUIRES:
// b > 0, both below 2^127.
double Ratio(UnsignedWide a, UnsignedWide b) {
  UnsignedWide quotient = a / b;
  UnsignedWide rest = a % b;
  int shift = 0;
  while (rest != 0 && quotient < (UnsignedWide{1} << kMantissaAndMore)) {
    const int step = std::min(LeadingZeros(rest), 64);
    rest <<= step;
    quotient = (quotient << step) | (rest / b);
    rest %= b;
    shift += step;
  }
  if (rest != 0) quotient |= 1;  // more than half must not look like half
  return std::ldexp(static_cast<double>(quotient), -shift);
}

}  // namespace

int64_t DominantShare::RoundedUp() const {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const double up = std::ceil(permille);
  return infinite || up >= 0x1p63 ? kMax : static_cast<int64_t>(up);
}

DominantShare ShareOf(Amount borrowed, Amount lendable, int64_t weight_milli) {
  if (borrowed <= Amount() || lendable <= Amount()) return {};
  const auto permille = UnsignedWide{1000} * static_cast<uint64_t>(borrowed.units());
  const auto of = static_cast<uint64_t>(lendable.units());
  if (weight_milli <= 0) return {.infinite = true, .permille = Ratio(permille, of)};
  return {.permille =
              Ratio(permille * 1000, UnsignedWide{of} * static_cast<uint64_t>(weight_milli))};
}

}  // namespace maniple
