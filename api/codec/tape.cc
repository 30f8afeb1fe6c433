#include "api/codec/tape.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/codec/text_stream.h"
#include "rapidjson/error/en.h"
#include "rapidjson/reader.h"

namespace maniple {
namespace {

constexpr size_t kChunkBytes = 32 * 1024;
// What a tape keeps for the next text; the rest of an unusually large one is given back.
constexpr size_t kKeptTokens = 64 * 1024;

// Fields whose lists or objects no decoder reads, wherever they stand. A label or resource of such
// a name is not passed over: its value is a string.
constexpr std::array kPassedOver = std::to_array<absl::string_view>({
    "addresses",
    "args",
    "command",
    "configMap",
    "daemonEndpoints",
    "downwardAPI",
    "env",
    "envFrom",
    "ephemeralContainerStatuses",
    "fieldsV1",
    "hostIPs",
    "imagePullSecrets",
    "lastState",
    "lifecycle",
    "livenessProbe",
    "managedFields",
    "nodeInfo",
    "podIPs",
    "projected",
    "readinessProbe",
    "securityContext",
    "startupProbe",
    "state",
    "volumeMounts",
    "volumesAttached",
    "volumesInUse",
});
static_assert(std::is_sorted(kPassedOver.begin(), kPassedOver.end()));

bool IsPassedOver(absl::string_view key, TapeReader::Passing passing) {
  if (passing == TapeReader::Passing::kManagedFields) return key == "managedFields";
  return std::binary_search(kPassedOver.begin(), kPassedOver.end(), key);
}

using ItemSink = absl::FunctionRef<void(const Tape&)>;

// The SAX handler: writes tokens, and in list mode cuts the elements of "items" out of the root
// object.
class Recorder final : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Recorder> {
 public:
  using Size = rapidjson::SizeType;

  Recorder(TextStream& stream, Tape& tape, TapeReader::Passing passing)
      : stream_(stream), passing_(passing), tape_(&tape), head_(tape) {}
  Recorder(TextStream& stream, TapeReader::ListTapes tapes, ItemSink& sink)
      : stream_(stream),
        passing_(tapes.passing),
        tape_(&tapes.head),
        head_(tapes.head),
        item_(&tapes.item),
        sink_(&sink) {}

  bool Null() { return Scalar(TokenType::kNull, ""); }
  bool Bool(bool value) { return Scalar(TokenType::kBool, value ? "true" : "false"); }
  bool RawNumber(const Ch* end, Size size, bool) {
    return Scalar(TokenType::kNumber, TextStream::NumberBefore(end, size));
  }
  bool String(const Ch* text, Size size, bool) {
    return Scalar(TokenType::kString, Lasting({text, size}));
  }
  bool Key(const Ch* text, Size size, bool) {
    const absl::string_view key(text, size);
    items_follow_ = item_ != nullptr && depth_ == 1 && key == "items";
    tape_->Add(TokenType::kKey, Lasting(key));
    if (stream_.ContainerFollows() && IsPassedOver(key, passing_)) stream_.PassOver();
    return !tape_->full();
  }
  bool StartArray() {
    if (items_follow_) {
      items_follow_ = false;
      if (seen_items_) return Refuse("\"items\" stands twice");
      seen_items_ = true;
      tape_->Add(TokenType::kNull, "");  // what the head shows of the items
      tape_ = item_;
      ++depth_;
      return true;
    }
    return Open(TokenType::kArray);
  }
  bool StartObject() { return Open(TokenType::kObject); }
  bool EndArray(Size) {
    if (InItems() && depth_ == kItemsDepth) {
      tape_ = &head_;
      --depth_;
      return true;
    }
    return Close();
  }
  bool EndObject(Size) { return Close(); }

  // For Int to Double, which RapidJSON never calls: the numbers come raw.
  bool Default() { return false; }

  // Why the parse was stopped by this handler; "" when it was not.
  std::string Refusal() const { return tape_->full() ? "an object has too many values" : refusal_; }

 private:
  // Open containers between two items: the root and "items".
  static constexpr size_t kItemsDepth = 2;

  bool InItems() const { return tape_ == item_; }
  bool Refuse(absl::string_view why) {
    refusal_ = std::string(why);
    return false;
  }
  absl::string_view Lasting(absl::string_view text) {
    return stream_.InPlace() ? text : tape_->Keep(text);
  }
  bool Scalar(TokenType type, absl::string_view text) {
    items_follow_ = false;
    tape_->Add(type, text);
    return ValueEnded();
  }
  bool Open(TokenType type) {
    items_follow_ = false;
    tape_->Open(type);
    ++depth_;
    return !tape_->full();
  }
  bool Close() {
    tape_->Close();
    --depth_;
    return ValueEnded();
  }
  bool ValueEnded() {
    if (tape_->full()) return false;
    if (InItems() && depth_ == kItemsDepth) {
      (*sink_)(*item_);
      item_->Clear();
    }
    return true;
  }

  TextStream& stream_;
  const TapeReader::Passing passing_;
  Tape* tape_;
  Tape& head_;
  Tape* item_ = nullptr;
  ItemSink* sink_ = nullptr;
  size_t depth_ = 0;
  bool items_follow_ = false;
  bool seen_items_ = false;
  std::string refusal_;
};

}  // namespace

void Tape::Clear() {
  if (tokens_.capacity() > kKeptTokens) {
    tokens_ = {};
    open_ = {};
  }
  tokens_.clear();
  open_.clear();
  if (chunks_.size() > 1 || (!chunks_.empty() && chunks_.back().size > kChunkBytes))
    chunks_.clear();
  used_ = 0;
}

absl::string_view Tape::Keep(absl::string_view text) {
  if (chunks_.empty() || chunks_.back().size - used_ < text.size()) {
    const size_t size = std::max(kChunkBytes, text.size());
    chunks_.push_back(Chunk{std::unique_ptr<char[]>(new char[size]), size});
    used_ = 0;
  }
  char* at = chunks_.back().bytes.get() + used_;
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  used_ += text.size();
  return {at, text.size()};
}

void Tape::Add(TokenType type, absl::string_view text) {
  tokens_.push_back(Token{text.data(), static_cast<uint32_t>(text.size()), 1, type});
}

void Tape::Open(TokenType type) {
  open_.push_back(static_cast<uint32_t>(tokens_.size()));
  tokens_.push_back(Token{nullptr, 0, 1, type});
}

void Tape::Close() {
  const uint32_t start = open_.back();
  open_.pop_back();
  tokens_[start].extent = static_cast<uint32_t>(tokens_.size()) - start;
}

// Keeps RapidJSON's own stack from one text to the next.
class TapeReader::Impl final {
 public:
  absl::Status Run(TextStream& stream, Recorder& recorder) {
    constexpr unsigned kFlags = rapidjson::kParseIterativeFlag |
                                rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseInsituFlag;
    const rapidjson::ParseResult result = reader_.Parse<kFlags>(stream, recorder);
    if (result.IsError()) {
      const std::string refusal = recorder.Refusal();
      return absl::InvalidArgumentError(absl::StrCat(
          "invalid JSON at byte ", stream.Tell(), ": ",
          refusal.empty() ? rapidjson::GetParseError_En(result.Code()) : refusal.c_str()));
    }
    // RapidJSON takes a NUL byte after the value for the end of the text.
    if (!stream.AtEnd()) {
      return absl::InvalidArgumentError(
          absl::StrCat("invalid JSON at byte ", stream.Tell(), ": NUL after the document"));
    }
    return absl::OkStatus();
  }

 private:
  rapidjson::Reader reader_;
};

TapeReader::TapeReader() : impl_(std::make_unique<Impl>()) {}
TapeReader::~TapeReader() = default;

absl::Status TapeReader::Read(absl::string_view text, Tape& tape, Passing passing) {
  tape.Clear();
  TextStream stream(text);
  Recorder recorder(stream, tape, passing);
  return impl_->Run(stream, recorder);
}

absl::Status TapeReader::ReadList(absl::string_view text, ListTapes tapes, ItemSink on_item) {
  tapes.head.Clear();
  tapes.item.Clear();
  TextStream stream(text);
  Recorder recorder(stream, tapes, on_item);
  return impl_->Run(stream, recorder);
}

}  // namespace maniple
