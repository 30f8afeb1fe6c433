// An optional value that is kept on the heap: eight bytes where there is none. For what few objects
// of many have, or have only for a while.
//
//   Rare<Claim> claim;
//   claim.emplace();  claim->until = …;  if (claim.has_value()) Use(*claim);  claim.reset();
#pragma once

#include <memory>
#include <utility>

namespace maniple {

template <typename T>
class Rare final {
 public:
  Rare() = default;
  Rare& operator=(T value) {
    value_ = std::make_unique<T>(std::move(value));
    return *this;
  }
  template <typename... Args>
  T& emplace(Args&&... args) {
    value_ = std::make_unique<T>(std::forward<Args>(args)...);
    return *value_;
  }
  void reset() { value_.reset(); }

  [[nodiscard]] bool has_value() const { return value_ != nullptr; }
  // REQUIRES: has_value(). As constant as the Rare itself.
  [[nodiscard]] T& operator*() { return *value_; }
  [[nodiscard]] const T& operator*() const { return *value_; }
  [[nodiscard]] T* operator->() { return value_.get(); }
  [[nodiscard]] const T* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace maniple
