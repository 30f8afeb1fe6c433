// How many random worlds a test plays: as many as a variable of the environment says, else a number
// of its own, of which MANIPLE_WORLDS_PERCENT are played. A sanitizer looks at memory, not at the
// answers, and takes ten times as long for each; test/full_oracles.py asks for far more.
//
//   for (int64_t seed = first; seed < first + Worlds("MANIPLE_HELP_WORLDS", 600); ++seed) …
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "api/base/check.h"

namespace maniple {

// A whole number from the environment.
[[nodiscard]] inline int64_t Setting(const char* name, int64_t otherwise) {
  const char* given = std::getenv(name);
  if (given == nullptr) return otherwise;
  int64_t value = 0;
  CHECK(absl::SimpleAtoi(given, &value)) << name << "=" << given;
  return value;
}

// Of those that a test plays by itself.
[[nodiscard]] inline int64_t Worlds(int64_t of) {
  return std::max<int64_t>(1, of * Setting("MANIPLE_WORLDS_PERCENT", 100) / 100);
}
[[nodiscard]] inline int64_t Worlds(const char* name, int64_t otherwise) {
  return Setting(name, Worlds(otherwise));
}

}  // namespace maniple
