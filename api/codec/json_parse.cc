// Json::Parse: a SAX handler of RapidJSON that builds the value.
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/charconv.h"
#include "absl/strings/str_cat.h"
#include "api/codec/json.h"
#include "api/codec/text_stream.h"
#include "api/codec/utf8.h"
#include "rapidjson/error/en.h"
#include "rapidjson/reader.h"

namespace maniple {
namespace {

// Builds the value bottom up. What open containers hold so far stands on one stack, so a container
// is made at its end with exactly the room it needs.
class Builder final : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
 public:
  using Size = rapidjson::SizeType;

  // Only an escape can make half a character in a text that is valid UTF-8 as a whole.
  enum class Escapes { kNone, kSome };
  explicit Builder(Escapes escapes) : escapes_(escapes) {
    stack_.reserve(kLikelyOpen);
    open_.reserve(kLikelyOpen);
  }

  bool Null() { return Put(Json()); }
  bool Bool(bool value) { return Put(Json(value)); }
  // Numbers come raw: RapidJSON rounds some doubles wrongly and turns the largest ones into errors.
  bool RawNumber(const Ch* end, Size size, bool) {
    const char* const text = TextStream::NumberBefore(end, size).data();
    int64_t whole = 0;
    if (const auto read = std::from_chars(text, end, whole);
        read.ec == std::errc() && read.ptr == end) {
      return Put(Json(whole));
    }
    double value = 0;
    const auto read = absl::from_chars(text, end, value);
    // Too large comes as the largest there is, too small as the smallest or as zero.
    const bool too_large = read.ec == std::errc::result_out_of_range && std::abs(value) > 1;
    return too_large ? Refuse("a number out of range") : Put(Json(value));
  }
  bool String(const Ch* text, Size size, bool) {
    const absl::string_view string(text, size);
    return IsText(string) && Put(Json(string));
  }
  bool Key(const Ch* text, Size size, bool) {
    stack_.emplace_back(std::string(text, size), Json());
    return IsText(stack_.back().first);
  }
  bool StartArray() { return Open(Bracket::kArray); }
  bool StartObject() { return Open(Bracket::kObject); }
  bool EndArray(Size) { return Close(); }
  bool EndObject(Size) { return Close(); }

  // For Int to Double, which RapidJSON never calls: the numbers come raw.
  bool Default() { return false; }

  // Why the parse was stopped by this handler; "" when it was not.
  const std::string& refusal() const { return refusal_; }
  // REQUIRES: a whole value was read.
  Json Take() { return std::move(stack_.front().second); }

 private:
  enum class Bracket : uint8_t { kArray, kObject };
  struct Opened {
    Bracket bracket;
    size_t start;  // of its contents on the stack
  };

  bool Open(Bracket bracket) {
    if (open_.size() >= Json::kMaxDepth) {
      return Refuse(absl::StrCat("nested deeper than ", Json::kMaxDepth));
    }
    open_.push_back({bracket, stack_.size()});
    return true;
  }
  bool Close() {
    const Opened closed = open_.back();
    open_.pop_back();
    const auto begin = stack_.begin() + static_cast<ptrdiff_t>(closed.start);
    Json value;
    if (closed.bracket == Bracket::kArray) {
      std::vector<Json> items;
      items.reserve(stack_.size() - closed.start);
      for (auto at = begin; at != stack_.end(); ++at) items.push_back(std::move(at->second));
      value = Json::Array(std::move(items));
    } else {
      value = Json::Object(std::vector<Json::Member>(std::make_move_iterator(begin),
                                                     std::make_move_iterator(stack_.end())));
    }
    stack_.erase(begin, stack_.end());
    return Put(std::move(value));
  }
  bool Refuse(std::string why) {
    refusal_ = std::move(why);
    return false;
  }
  bool IsText(absl::string_view text) {
    return escapes_ == Escapes::kNone || !HasEncodedSurrogate(text) ||
           Refuse("a lone surrogate in a string");
  }
  // In an object the key waits on the stack for its value.
  bool Put(Json&& value) {
    if (!open_.empty() && open_.back().bracket == Bracket::kObject) {
      stack_.back().second = std::move(value);
    } else {
      stack_.emplace_back(std::string(), std::move(value));
    }
    return true;
  }

  // Larger than most; what is more grows as usual.
  static constexpr size_t kLikelyOpen = 32;

  Escapes escapes_;
  std::vector<Json::Member> stack_;
  std::vector<Opened> open_;
  std::string refusal_;
};
}  // namespace

absl::StatusOr<Json> Json::Parse(absl::string_view text) {
  // Before anything else: fast, and the strings need no second look.
  if (const size_t at = FindInvalidUtf8(text); at != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("invalid JSON at byte ", at, ": invalid UTF-8"));
  }
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseInsituFlag;
  TextStream stream(text);
  rapidjson::Reader reader;
  const bool plain = text.find('\\') == absl::string_view::npos;
  Builder builder(plain ? Builder::Escapes::kNone : Builder::Escapes::kSome);
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (!builder.refusal().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid JSON at byte ", stream.Tell(), ": ", builder.refusal()));
  }
  if (result.IsError()) {
    return absl::InvalidArgumentError(absl::StrCat("invalid JSON at byte ", result.Offset(), ": ",
                                                   rapidjson::GetParseError_En(result.Code())));
  }
  // RapidJSON takes a NUL byte after the value for the end of the text.
  if (stream.Tell() != text.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid JSON at byte ", stream.Tell(), ": NUL after the document"));
  }
  return builder.Take();
}
}  // namespace maniple
