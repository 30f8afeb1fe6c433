// Answers by fingerprint, without locks: a memo that any thread may read and write.
//
// A place holds the answer, and its check combined with the answer.
// Two words that different threads wrote do not match, and count as absent. Only for answers that
// follow from the facts behind the fingerprint: to compute one again gives the same.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

namespace maniple {

// Two numbers made of the same words; they are both equal for different words about once in 2^80
// pairs.
struct AnswerPrint {
  uint64_t place = 0x243f6a8885a308d3, check = 0x13198a2e03707344;

  void Add(uint64_t word) {
    place = (place ^ word) * 0x9e3779b97f4a7c15;
    place ^= place >> 32;
    check = (check + word) * 0x9fb21c651e98df25;
    check ^= check >> 29;
  }
};

class AnswerMemo final {
 public:
  // 2^bits places.
  explicit AnswerMemo(uint32_t bits) : places_(size_t{1} << bits), shift_(64 - bits) {}

  [[nodiscard]] std::optional<int64_t> Find(const AnswerPrint& print) const {
    const Place& place = places_[PlaceOf(print)];
    const uint64_t value = place.value.load(std::memory_order_relaxed);
    const uint64_t check = place.check.load(std::memory_order_relaxed);
    // A place that was never used would match the check zero; that check is never asked for.
    if ((check ^ value) != (print.check | 1)) return std::nullopt;
    return static_cast<int64_t>(value);
  }
  void Put(const AnswerPrint& print, int64_t answer) const {
    Place& place = places_[PlaceOf(print)];
    const auto value = static_cast<uint64_t>(answer);
    place.value.store(value, std::memory_order_relaxed);
    place.check.store((print.check | 1) ^ value, std::memory_order_relaxed);
  }

 private:
  struct Place {
    std::atomic<uint64_t> value{0}, check{0};
  };
  [[nodiscard]] size_t PlaceOf(const AnswerPrint& print) const {
    return (print.place * 0xbf58476d1ce4e5b9) >> shift_;
  }

  mutable std::vector<Place> places_;  // a memo: its contents change no answer
  uint32_t shift_;
};

}  // namespace maniple
