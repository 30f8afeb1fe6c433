// The work that a search may spend, and has spent, shared by all its parts.
//
// A step is about as long as asking for one number in memory: a nanosecond or two. Steps are
// counted and never measured, so that the same question always ends at the same step. Answers
// remembered from earlier questions are charged as if they were counted again, for the same reason.
//
//   SearchWork work(200'000'000);
//   SearchWork part(10'000'000, &work);  // the whole spends all that the part spends
//   while (!part.spent()) part.Spend(Look());
#pragma once

#include <cstdint>

namespace maniple {

class SearchWork final {
 public:
  // `whole` is borrowed; null: `most` is the only limit.
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
