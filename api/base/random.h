// Randomness that is handed in, never taken: a small splittable generator with a seed (SplitMix64,
// Steele et al. 2014).
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace maniple {

class Random final {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // Uniform in [0, bound). REQUIRES: bound > 0.
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  // Uniform in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  // Uniform in [d, 2d): the jitter of client-go.
  absl::Duration Jittered(absl::Duration d) { return d + d * Unit(); }

 private:
  uint64_t state_;
};

}  // namespace maniple
