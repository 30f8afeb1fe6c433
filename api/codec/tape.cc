#include "api/codec/tape.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
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
    "images",
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

bool IsPassedOver(absl::string_view key) {
  return std::binary_search(kPassedOver.begin(), kPassedOver.end(), key);
}

// RapidJSON's input: the text, and the way around a value that is passed over.
class Stream final {
 public:
  using Ch = char;

  explicit Stream(absl::string_view text)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  Ch Peek() const { return at_ != end_ ? *at_ : '\0'; }
  Ch Take() {
    if (at_ == end_) return '\0';
    const Ch c = *at_++;
    if (at_ == end_ && resume_ != nullptr) Resume();
    return c;
  }
  size_t Tell() const { return static_cast<size_t>((resume_ != nullptr ? resume_ : at_) - begin_); }
  bool AtEnd() const { return at_ == end_; }

  // Called right after a key: whether a list or an object comes.
  bool ContainerFollows() const {
    const char* value = ValueAfterColon();
    return value != nullptr && (*value == '[' || *value == '{');
  }
  // Makes the list or object that follows look like null. Leaves everything as it is when it does
  // not end: then the reader will find out what is wrong. REQUIRES: ContainerFollows().
  void PassOver() {
    const char* after = EndOfContainer(ValueAfterColon());
    if (after == nullptr) return;
    resume_ = after;
    resume_end_ = end_;
    at_ = kDetour;
    end_ = kDetour + sizeof kDetour - 1;
  }

  // RapidJSON asks for these of any stream and calls them for in-situ parsing only.
  Ch* PutBegin() { return nullptr; }
  void Put(Ch) {}
  void Flush() {}
  size_t PutEnd(Ch*) { return 0; }

 private:
  static constexpr char kDetour[] = ":null";

  static bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  const char* SkipSpace(const char* at) const {
    while (at != end_ && IsSpace(*at)) ++at;
    return at;
  }
  const char* ValueAfterColon() const {
    const char* colon = SkipSpace(at_);
    if (colon == end_ || *colon != ':') return nullptr;
    const char* value = SkipSpace(colon + 1);
    return value != end_ ? value : nullptr;
  }
  const char* EndOfContainer(const char* at) const {
    size_t depth = 0;
    for (; at != end_; ++at) {
      switch (*at) {
        case '[':
        case '{':
          ++depth;
          break;
        case ']':
        case '}':
          if (--depth == 0) return at + 1;
          break;
        case '"':
          for (++at; at != end_ && *at != '"'; ++at) {
            if (*at == '\\' && ++at == end_) return nullptr;
          }
          if (at == end_) return nullptr;
          break;
        default:
          break;
      }
    }
    return nullptr;
  }
  void Resume() {
    at_ = resume_;
    end_ = resume_end_;
    resume_ = nullptr;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* resume_ = nullptr;  // set while on the detour
  const char* resume_end_ = nullptr;
};

using ItemSink = absl::FunctionRef<void(const Tape&)>;

// The SAX handler: writes tokens, and in list mode cuts the elements of "items" out of the root
// object.
class Recorder final : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Recorder> {
 public:
  using Size = rapidjson::SizeType;

  Recorder(Stream& stream, Tape& tape) : stream_(stream), tape_(&tape), head_(tape) {}
  Recorder(Stream& stream, TapeReader::ListTapes tapes, ItemSink& sink)
      : stream_(stream), tape_(&tapes.head), head_(tapes.head), item_(&tapes.item), sink_(&sink) {}

  bool Null() { return Scalar(TokenType::kNull, ""); }
  bool Bool(bool value) { return Scalar(TokenType::kBool, value ? "true" : "false"); }
  bool RawNumber(const Ch* text, Size size, bool) {
    return Scalar(TokenType::kNumber, absl::string_view(text, size));
  }
  bool String(const Ch* text, Size size, bool) {
    return Scalar(TokenType::kString, absl::string_view(text, size));
  }
  bool Key(const Ch* text, Size size, bool) {
    const absl::string_view key(text, size);
    items_follow_ = item_ != nullptr && depth_ == 1 && key == "items";
    tape_->Add(TokenType::kKey, key);
    if (stream_.ContainerFollows() && IsPassedOver(key)) stream_.PassOver();
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
  static constexpr size_t kItemsDepth =
      2;  // open containers between two items: the root and "items"

  bool InItems() const { return tape_ == item_; }
  bool Refuse(absl::string_view why) {
    refusal_ = std::string(why);
    return false;
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

  Stream& stream_;
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

const char* Tape::Keep(absl::string_view text) {
  if (chunks_.empty() || chunks_.back().size - used_ < text.size()) {
    const size_t size = std::max(kChunkBytes, text.size());
    chunks_.push_back(Chunk{std::unique_ptr<char[]>(new char[size]), size});
    used_ = 0;
  }
  char* at = chunks_.back().bytes.get() + used_;
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  used_ += text.size();
  return at;
}

void Tape::Add(TokenType type, absl::string_view text) {
  tokens_.push_back(Token{Keep(text), static_cast<uint32_t>(text.size()), 1, type});
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
  absl::Status Run(Stream& stream, Recorder& recorder) {
    constexpr unsigned kFlags =
        rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
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

absl::Status TapeReader::Read(absl::string_view text, Tape& tape) {
  tape.Clear();
  Stream stream(text);
  Recorder recorder(stream, tape);
  return impl_->Run(stream, recorder);
}

absl::Status TapeReader::ReadList(absl::string_view text, ListTapes tapes, ItemSink on_item) {
  tapes.head.Clear();
  tapes.item.Clear();
  Stream stream(text);
  Recorder recorder(stream, tapes, on_item);
  return impl_->Run(stream, recorder);
}

}  // namespace maniple
