// An optional value on the heap: eight bytes where there is none.
// For values that few of many objects have, or have only for a while.
//
//   Rare<Claim> claim;
//   claim.emplace();  claim->until = …;  if (claim.has_value()) Use(*claim);  claim.reset();
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

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

// A vector that is empty nearly always: eight bytes then.
template <typename T>
class RareVector final {
 public:
  RareVector& operator=(std::vector<T> values) {
    values_.reset();
    if (!values.empty()) values_ = std::make_unique<std::vector<T>>(std::move(values));
    return *this;
  }
  void push_back(T value) {
    if (values_ == nullptr) values_ = std::make_unique<std::vector<T>>();
    values_->push_back(std::move(value));
  }
  void clear() { values_.reset(); }
  template <typename Predicate>
  void EraseIf(const Predicate& predicate) {
    if (values_ == nullptr) return;
    std::erase_if(*values_, predicate);
    if (values_->empty()) clear();
  }

  [[nodiscard]] size_t size() const { return values_ == nullptr ? 0 : values_->size(); }
  [[nodiscard]] bool empty() const { return values_ == nullptr; }
  // As constant as the RareVector itself.
  [[nodiscard]] T* begin() { return values_ == nullptr ? nullptr : values_->data(); }
  [[nodiscard]] T* end() { return begin() + size(); }
  [[nodiscard]] const T* begin() const { return values_ == nullptr ? nullptr : values_->data(); }
  [[nodiscard]] const T* end() const { return begin() + size(); }

 private:
  std::unique_ptr<std::vector<T>> values_;  // null: it is empty
};

}  // namespace maniple
