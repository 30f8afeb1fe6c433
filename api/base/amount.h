// An amount of one resource: milli-cores for cpu, whole units (bytes, devices, slots) for
// everything else.
//
// Signed, because free room may be negative (a device failed, another scheduler raced us), and
// saturating, because absurd input must neither wrap nor crash. Explicit construction: a bare int
// is not an amount.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <ostream>

namespace maniple {

class Amount final {
 public:
  constexpr Amount() = default;
  constexpr explicit Amount(int64_t units) : units_(units) {}

  static constexpr Amount Max() { return Amount(std::numeric_limits<int64_t>::max()); }
  static constexpr Amount Min() { return Amount(std::numeric_limits<int64_t>::min()); }

  [[nodiscard]] constexpr int64_t units() const { return units_; }

  friend constexpr auto operator<=>(Amount, Amount) = default;

  friend constexpr Amount operator+(Amount a, Amount b) {
    int64_t out = 0;
    if (!__builtin_add_overflow(a.units_, b.units_, &out)) return Amount(out);
    return a.units_ < 0 ? Min() : Max();
  }
  friend constexpr Amount operator-(Amount a, Amount b) {
    int64_t out = 0;
    if (!__builtin_sub_overflow(a.units_, b.units_, &out)) return Amount(out);
    return a.units_ < 0 ? Min() : Max();
  }
  friend constexpr Amount operator*(Amount a, int64_t times) {
    int64_t out = 0;
    if (!__builtin_mul_overflow(a.units_, times, &out)) return Amount(out);
    return (a.units_ < 0) == (times < 0) ? Max() : Min();
  }
  constexpr Amount& operator+=(Amount b) { return *this = *this + b; }
  constexpr Amount& operator-=(Amount b) { return *this = *this - b; }

  // How many whole `each` fit into this; 0 when this is negative. REQUIRES: each > 0.
  [[nodiscard]] constexpr int64_t CountOf(Amount each) const {
    return units_ <= 0 ? 0 : units_ / each.units_;
  }

  friend std::ostream& operator<<(std::ostream& out, Amount a);

 private:
  int64_t units_ = 0;
};

}  // namespace maniple
