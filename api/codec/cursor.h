// One value on a tape, with its path and its way to complain.
//
// Reading never fails on the spot: a wrong type yields the neutral value and notes a problem with
// the path, the first one of an object stands, and the reading goes on, so that name and uid are
// known of a bad object too. As everywhere in Kubernetes, null is absent. A cursor borrows the
// tape, its parent cursor and the problem: all live on the stack of one decoding. Private to this
// room.
//
//   for (const Cursor& member : root.Members()) {
//     if (member.key() == "replicas") replicas = member.Int32();
//   }
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/codec/quantity.h"
#include "api/codec/tape.h"

namespace maniple {

// The first thing found wrong with an object: "spec.minMember: must be at least 1".
class Problem final {
 public:
  void Note(std::string text) {
    if (text_.empty()) text_ = std::move(text);
  }
  [[nodiscard]] bool found() const { return !text_.empty(); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Cursor final {
 public:
  Cursor(const Token& root, Problem& problem) : token_(&root), problem_(&problem) {}

  [[nodiscard]] TokenType type() const { return token_->type; }
  [[nodiscard]] bool is_null() const { return type() == TokenType::kNull; }
  [[nodiscard]] const Token& token() const { return *token_; }
  // Of a member its key; of an item "".
  [[nodiscard]] absl::string_view key() const { return key_; }

  // Notes "<path>: <reason>".
  void Refuse(absl::string_view reason) const;
  // "spec.containers[0].resources.requests[nvidia.com/gpu]", printable whatever the keys are.
  [[nodiscard]] std::string Path() const;

  class Range;
  // Of an object, without those that are null. Each is borrowed from the range's cursor, which must
  // outlive it.
  [[nodiscard]] Range Members() const;
  // Of a list.
  [[nodiscard]] Range Items() const;
  // Whether the object or list holds anything.
  [[nodiscard]] bool HasAny() const;

  // Valid UTF-8, or refused.
  [[nodiscard]] absl::string_view View() const;
  [[nodiscard]] std::string Text() const { return std::string(View()); }
  // The key as text that is kept (a label, a resource): valid UTF-8, or refused.
  [[nodiscard]] absl::string_view CheckedKey() const;
  [[nodiscard]] bool Bool() const;
  // A whole number written as one; else refused, naming the range.
  struct Bounds {
    int64_t least;
    int64_t most;
  };
  [[nodiscard]] int64_t Int(Bounds bounds) const;
  [[nodiscard]] int32_t Int32() const;
  // Whole seconds, none negative.
  [[nodiscard]] absl::Duration Seconds() const;
  [[nodiscard]] absl::Time Time() const;
  // A text or a bare number.
  [[nodiscard]] Quantity Amount() const;
  [[nodiscard]] std::vector<std::string> Texts() const;

 private:
  Cursor(const Token& token, const Cursor& parent, absl::string_view key, int64_t index)
      : token_(&token), problem_(parent.problem_), parent_(&parent), key_(key), index_(index) {}
  [[nodiscard]] bool Expect(TokenType type, absl::string_view name) const;

  const Token* token_;
  Problem* problem_;
  const Cursor* parent_ = nullptr;
  absl::string_view key_;
  int64_t index_ = -1;  // of an item
};

class Cursor::Range final {
 public:
  class Iterator final {
   public:
    Iterator(const Token* at, const Range& range) : at_(at), range_(&range) { SkipNulls(); }
    Cursor operator*() const {
      if (!range_->keyed_) return Cursor(*at_, range_->of_, "", index_);
      return Cursor(at_[1], range_->of_, at_->view(), -1);
    }
    Iterator& operator++() {
      Advance();
      SkipNulls();
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    void Advance() {
      ++index_;
      if (range_->keyed_) ++at_;
      at_ += at_->extent;
    }
    void SkipNulls() {
      while (range_->keyed_ && at_ != range_->end_ && at_[1].type == TokenType::kNull) Advance();
    }
    const Token* at_;
    const Range* range_;
    int64_t index_ = 0;
  };

  [[nodiscard]] Iterator begin() const { return Iterator(begin_, *this); }
  [[nodiscard]] Iterator end() const { return Iterator(end_, *this); }

 private:
  friend class Cursor;
  enum class Kind { kMembers, kItems };
  Range(const Cursor& of, Kind kind)
      : of_(of),
        begin_(of.token_ + 1),
        end_(of.token_ + of.token_->extent),
        keyed_(kind == Kind::kMembers) {}

  const Cursor& of_;
  const Token* begin_;
  const Token* end_;
  bool keyed_;
};

}  // namespace maniple
