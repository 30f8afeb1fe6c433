// Strong ids and the interner that hands them out.
//
//   using NodeId = Id<struct NodeTag>;
//   Interner<ResourceId> resources;
//   // Dense and stable, in order of first sight.
//   ResourceId gpu = resources.Intern("nvidia.com/gpu");
//
// An Id is a dense index, never reused by an Interner. One owner thread per Interner.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <ostream>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "api/base/check.h"

namespace maniple {

template <typename Tag>
class Id final {
 public:
  constexpr Id() = default;  // none
  constexpr explicit Id(uint32_t index) : index_(index) {}

  [[nodiscard]] constexpr bool valid() const { return index_ != kNone; }
  [[nodiscard]] constexpr uint32_t index() const { return index_; }

  friend constexpr auto operator<=>(Id, Id) = default;
  template <typename H>
  friend H AbslHashValue(H h, Id id) {
    return H::combine(std::move(h), id.index_);
  }
  friend std::ostream& operator<<(std::ostream& out, Id id) {
    return id.valid() ? out << '#' << id.index_ : out << "#none";
  }

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  uint32_t index_ = kNone;
};

template <typename IdType>
class Interner final {
 public:
  Interner() = default;
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;

  IdType Intern(absl::string_view name) {
    if (const auto it = ids_.find(name); it != ids_.end()) return it->second;
    const IdType id(static_cast<uint32_t>(names_.size()));
    names_.emplace_back(name);
    ids_.emplace(names_.back(), id);
    return id;
  }
  [[nodiscard]] std::optional<IdType> Find(absl::string_view name) const {
    const auto it = ids_.find(name);
    if (it == ids_.end()) return std::nullopt;
    return it->second;
  }
  // REQUIRES: id came from this interner.
  [[nodiscard]] const std::string& Name(IdType id) const {
    CHECK_LT(id.index(), names_.size());
    return names_[id.index()];
  }
  [[nodiscard]] size_t size() const { return names_.size(); }

 private:
  std::deque<std::string> names_;  // a deque keeps the views in ids_ valid
  absl::flat_hash_map<absl::string_view, IdType> ids_;
};

}  // namespace maniple
