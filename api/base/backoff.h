// The one policy of waiting before trying again: exponential, jittered, reset by success.
//
//   Backoff backoff({.first = absl::Milliseconds(800), .most = absl::Seconds(30)});
//   absl::Time retry_at = now + backoff.Next(random);
#pragma once

#include <algorithm>

#include "absl/time/time.h"
#include "api/base/random.h"

namespace maniple {

struct BackoffPolicy {
  absl::Duration first = absl::Milliseconds(800);
  absl::Duration most = absl::Seconds(30);
};

class Backoff final {
 public:
  explicit Backoff(BackoffPolicy policy) : policy_(policy), next_(policy.first) {}

  // The wait before the next attempt, in [d, 2d) for d = first, 2 first, 4 first … most.
  absl::Duration Next(Random& random) {
    const absl::Duration d = next_;
    next_ = std::min(policy_.most, next_ * 2);
    return random.Jittered(d);
  }
  void Reset() { next_ = policy_.first; }

 private:
  BackoffPolicy policy_;
  absl::Duration next_;
};

}  // namespace maniple
