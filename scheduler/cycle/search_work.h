// What a search may spend, and what it has spent, shared by all that it looks at.
//
// A step is about as long as asking for one number in memory: a nanosecond or two. Counted and
// never measured, so that the same question always ends at the same step. What is remembered from
// earlier questions is charged as if it were counted again, for the same reason.
//
//   SearchWork work(200'000'000);
//   SearchWork part(10'000'000, &work);  // what the part spends, the whole spends, too
//   while (!part.spent()) part.Spend(Look());
#pragma once

#include <cstdint>

namespace maniple {

class SearchWork final {
 public:
  // `whole` is borrowed; null: this is all there is.
  explicit SearchWork(int64_t most, SearchWork* whole = nullptr) : most_(most), whole_(whole) {}

  void Spend(int64_t steps) {
    used_ += steps;
    if (whole_ != nullptr) whole_->Spend(steps);
  }
  [[nodiscard]] bool spent() const {
    return used_ > most_ || (whole_ != nullptr && whole_->spent());
  }
  [[nodiscard]] int64_t used() const { return used_; }
  [[nodiscard]] int64_t most() const { return most_; }

 private:
  int64_t most_;
  int64_t used_ = 0;
  SearchWork* whole_;
};

}  // namespace maniple
