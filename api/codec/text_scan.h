// Runs of a JSON text that need no look at each byte. Private to this room.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace maniple {

// What ends a run besides a quote, a backslash and a control character.
enum class RunEnds { kAtThose, kAtNonAscii };

// The first byte at or after `at` that ends the run; `end` when none does.
template <RunEnds kEnds>
const char* EndOfRun(const char* at, const char* end) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  constexpr uint64_t kHigh = 0x80 * kOnes;
  // The lowest bit that is set stands in the first byte that ends the run; above it, bits mean
  // nothing. Eight bytes at a time, where the first of them is the lowest.
  const auto found = [](uint64_t word) {
    const auto zero_byte = [](uint64_t bytes) { return (bytes - kOnes) & ~bytes; };
    uint64_t ends = zero_byte(word ^ (kOnes * '"')) | zero_byte(word ^ (kOnes * '\\')) |
                    ((word - kOnes * 0x20) & ~word);
    if constexpr (kEnds == RunEnds::kAtNonAscii) ends |= word;
    return ends & kHigh;
  };
  if constexpr (std::endian::native == std::endian::little) {
    for (; static_cast<size_t>(end - at) >= sizeof(uint64_t); at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, at, sizeof word);
      if (const uint64_t ends = found(word); ends != 0) return at + std::countr_zero(ends) / 8;
    }
  }
  for (; at != end; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte < 0x20 || byte == '"' || byte == '\\') return at;
    if (kEnds == RunEnds::kAtNonAscii && byte >= 0x80) return at;
  }
  return end;
}

}  // namespace maniple
