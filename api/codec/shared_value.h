// A value that its copies share until one of them is changed.
//
// Copies may live on different threads; each is used by one at a time, as any value.
//
//   SharedValue<std::vector<int>> a({1, 2}), b = a;   // one vector
//   b.Mutable().push_back(3);                         // now two
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace maniple {

template <typename T>
class SharedValue final {
 public:
  explicit SharedValue(T value) : node_(new Node(std::move(value))) {}
  SharedValue(const SharedValue& other) : node_(other.node_) {
    if (node_ != nullptr) node_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  SharedValue(SharedValue&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  SharedValue& operator=(SharedValue other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~SharedValue() {
    if (node_ != nullptr && Leave()) delete node_;
  }

  // An empty one after it was moved from.
  [[nodiscard]] const T& Get() const {
    static const T empty;
    return node_ != nullptr ? node_->value : empty;
  }
  // This copy's own.
  [[nodiscard]] T& Mutable() {
    if (node_ == nullptr) {
      node_ = new Node(T());
    } else if (node_->owners.load(std::memory_order_acquire) != 1) {
      *this = SharedValue(T(node_->value));
    }
    return node_->value;
  }
  // Whether both are the same without looking at them.
  [[nodiscard]] bool Shares(const SharedValue& other) const { return node_ == other.node_; }

 private:
  struct Node {
    explicit Node(T what) : value(std::move(what)) {}
    std::atomic<uint32_t> owners{1};
    T value;
  };

  // Whether this was the last owner. A single owner needs no exchange: nobody else can join.
  bool Leave() {
    return node_->owners.load(std::memory_order_acquire) == 1 ||
           node_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  Node* node_;
};

}  // namespace maniple
