// What a search may still spend, shared by all that it looks at. A step is about as long as asking
// for one number in memory.
#pragma once

#include <cstdint>

namespace maniple {

class SearchWork final {
 public:
  explicit SearchWork(int64_t steps) : left_(steps) {}

  void Spend(int64_t steps) { left_ -= steps; }
  [[nodiscard]] bool spent() const { return left_ < 0; }

 private:
  int64_t left_;
};

}  // namespace maniple
