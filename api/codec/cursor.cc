#include "api/codec/cursor.h"

#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/codec/kubernetes_time.h"
#include "api/codec/utf8.h"

namespace maniple {
namespace {

constexpr size_t kMostKeyShown = 80;

bool IsPlainKey(absl::string_view key) {
  static constexpr absl::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !key.empty() && key.find_first_not_of(kPlain) == absl::string_view::npos;
}

}  // namespace

std::string Cursor::Path() const {
  std::vector<const Cursor*> steps;
  for (const Cursor* at = this; at->parent_ != nullptr; at = at->parent_) steps.push_back(at);
  std::string path;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const Cursor& at = **step;
    if (at.index_ >= 0) {
      absl::StrAppend(&path, "[", at.index_, "]");
    } else if (IsPlainKey(at.key_) && at.key_.size() <= kMostKeyShown) {
      absl::StrAppend(&path, path.empty() ? "" : ".", at.key_);
    } else {
      absl::StrAppend(&path, "[", Printable(Utf8Prefix(at.key_, kMostKeyShown)), "]");
    }
  }
  return path;
}

void Cursor::Refuse(absl::string_view reason) const {
  if (problem_->found()) return;
  const std::string path = Path();
  problem_->Note(path.empty() ? std::string(reason) : absl::StrCat(path, ": ", reason));
}

bool Cursor::Expect(TokenType type, absl::string_view name) const {
  if (token_->type == type) return true;
  if (!is_null()) Refuse(absl::StrCat("must be ", name));
  return false;
}

Cursor::Range Cursor::Members() const {
  static constexpr Token kNothing{nullptr, 0, 1, TokenType::kObject};
  Range range(*this, Range::Kind::kMembers);
  if (!Expect(TokenType::kObject, "an object")) {
    range.begin_ = range.end_ = &kNothing;
  }
  return range;
}

Cursor::Range Cursor::Items() const {
  static constexpr Token kNothing{nullptr, 0, 1, TokenType::kArray};
  Range range(*this, Range::Kind::kItems);
  if (!Expect(TokenType::kArray, "a list")) range.begin_ = range.end_ = &kNothing;
  return range;
}

bool Cursor::HasAny() const { return token_->extent > 1; }

absl::string_view Cursor::View() const {
  if (!Expect(TokenType::kString, "a text")) return "";
  if (!IsUtf8(token_->view())) {
    Refuse("is no valid UTF-8");
    return "";
  }
  return token_->view();
}

absl::string_view Cursor::CheckedKey() const {
  if (IsUtf8(key_)) return key_;
  Refuse("the key is no valid UTF-8");
  return "";
}

bool Cursor::Bool() const {
  return Expect(TokenType::kBool, "true or false") && token_->view() == "true";
}

int64_t Cursor::Int(Bounds bounds) const {
  const absl::string_view text = token_->view();
  int64_t value = 0;
  if (is_null()) return 0;
  const bool whole = type() == TokenType::kNumber &&
                     text.find_first_not_of("-0123456789") == absl::string_view::npos;
  if (whole && absl::SimpleAtoi(text, &value) && value >= bounds.least && value <= bounds.most) {
    return value;
  }
  Refuse(absl::StrCat("must be a whole number from ", bounds.least, " to ", bounds.most));
  return 0;
}

int32_t Cursor::Int32() const {
  return static_cast<int32_t>(
      Int({std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()}));
}

absl::Duration Cursor::Seconds() const {
  return absl::Seconds(Int({0, std::numeric_limits<int32_t>::max()}));
}

absl::Time Cursor::Time() const {
  const absl::StatusOr<absl::Time> time = ParseKubernetesTime(View());
  if (time.ok()) return *time;
  Refuse(time.status().message());
  return absl::InfinitePast();
}

Quantity Cursor::Amount() const {
  const absl::string_view text = type() == TokenType::kNumber ? token_->view() : View();
  const absl::StatusOr<Quantity> quantity = Quantity::Parse(text);
  if (quantity.ok()) return *quantity;
  Refuse(quantity.status().message());
  return Quantity();
}

std::vector<std::string> Cursor::Texts() const {
  std::vector<std::string> out;
  for (const Cursor& item : Items()) out.push_back(item.Text());
  return out;
}

}  // namespace maniple
