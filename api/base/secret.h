// A string that must never reach a log, an error or a dump: tokens, passwords, private keys.
#pragma once

#include <ostream>
#include <string>
#include <utility>

namespace maniple {

class Secret final {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}

  // The only way to the value; grep for Reveal to audit every use.
  [[nodiscard]] const std::string& Reveal() const { return value_; }
  [[nodiscard]] bool empty() const { return value_.empty(); }

  friend bool operator==(const Secret&, const Secret&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Secret&) { return out << "<secret>"; }

 private:
  std::string value_;
};

}  // namespace maniple
