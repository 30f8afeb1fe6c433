// Kubernetes quantities ("100m", "1.5Gi", "2e3"), exactly: to nano, saturating, never through a
// double. Grammar and rounding: k8s.io/apimachinery/pkg/api/resource; see kubernetes.io "Quantity".
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/base/amount.h"

namespace maniple {

class Quantity final {
 public:
  Quantity() = default;

  // InvalidArgument quoting the text (at most 64 characters of it) when it is no quantity. Finer
  // than nano rounds away from zero; larger than 2^63-1 units saturates.
  static absl::StatusOr<Quantity> Parse(absl::string_view text);

  // Rounded up (away from zero), as kube-scheduler reads cpu (milli) and everything else (units).
  // Saturating.
  [[nodiscard]] Amount Milli() const;
  [[nodiscard]] Amount Units() const;
  // True when it is a whole number of units, as extended resources must be.
  [[nodiscard]] bool IsWhole() const;

  // Exact, saturating like a parsed one.
  Quantity& operator+=(const Quantity& other);
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend auto operator<=>(const Quantity&, const Quantity&) = default;

 private:
  // units_ + nanos_ * 1e-9, both of the same sign, |nanos_| < 1e9.
  int64_t units_ = 0;
  int64_t nanos_ = 0;
};

// cpu in milli, everything else in units: the amount the scheduler counts with.
[[nodiscard]] absl::StatusOr<Amount> ParseAmount(absl::string_view resource,
                                                 absl::string_view text);
// The inverse for messages and status, exact and as Kubernetes itself would write it: cpu 1500 ->
// "1500m", 2000 -> "2"; bytes 1610612736 -> "1536Mi"; others as plain integers.
[[nodiscard]] std::string FormatAmount(absl::string_view resource, Amount amount);

}  // namespace maniple
