// Packing by counting: the domains that hold so many pods of one shape,
// and the domain of each slice. Pure functions over numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"

namespace maniple {

// A domain, as far as counting goes.
struct Bin {
  uint32_t domain = 0;
  int64_t room = 0;   // pods
  bool held = false;  // members stand there already: it costs nothing more
};

enum class BinRoom : uint8_t {
  kAddsUp,  // it fits wherever the sum of the room is large enough
  kMayNot,  // only `fits` can tell
};

// Choices of bins that fit, as positions: of the fewest, those with the least room in all,
// at most kMostTies of them. Held bins are in each. None: not even all bins fit.
// `fits` must be monotone. Of few bins every choice is looked at; of many, the largest first.
inline constexpr size_t kMostTies = 32;
[[nodiscard]] std::vector<std::vector<uint32_t>> FewestBins(
    std::span<const Bin> bins, BinRoom how,
    absl::FunctionRef<bool(const std::vector<uint32_t>&)> fits);

// Pods that must be in one bin together.
struct PackItem {
  int64_t pods = 0;                  // one at least
  std::optional<uint32_t> bound_to;  // position of a bin
};
struct Packing {
  enum class Answer : uint8_t { kFits, kDoesNotFit, kGaveUp };
  Answer answer = Answer::kDoesNotFit;
  std::vector<uint32_t> bin_of;  // kFits: by item
};
// Exact, unless it gives up: equal items are counted, others tried within bounds.
// REQUIRES: no room is negative.
[[nodiscard]] Packing Pack(std::span<const PackItem> items, std::span<const int64_t> room);

// At most so many pods of the items can be placed, also if items may be cut short.
[[nodiscard]] int64_t MostPacked(std::span<const PackItem> items, std::span<const int64_t> room);

}  // namespace maniple
