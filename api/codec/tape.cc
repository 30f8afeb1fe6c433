#include "api/codec/tape.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/codec/json_scan.h"

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

using ItemSink = absl::FunctionRef<void(const Tape&)>;

// Writes tokens, and in list mode cuts the elements of "items" out of the root object.
class Recorder final {
 public:
  explicit Recorder(Tape& tape) : tape_(&tape), head_(tape) {}
  Recorder(TapeReader::ListTapes tapes, ItemSink& sink)
      : tape_(&tapes.head), head_(tapes.head), item_(&tapes.item), sink_(&sink) {}

  bool Null() { return Scalar(TokenType::kNull, "", TextLasts::kYes); }
  bool Bool(bool value) {
    return Scalar(TokenType::kBool, value ? "true" : "false", TextLasts::kYes);
  }
  bool Number(absl::string_view text) { return Scalar(TokenType::kNumber, text, TextLasts::kYes); }
  bool String(absl::string_view text, TextLasts lasts) {
    return Scalar(TokenType::kString, text, lasts);
  }
  bool Key(absl::string_view key, TextLasts lasts) {
    items_follow_ = item_ != nullptr && depth_ == 1 && key == "items";
    Add(TokenType::kKey, key, lasts);
    return !tape_->full();
  }
  bool PassesOver(absl::string_view key) const { return IsPassedOver(key); }
  bool Open(Bracket bracket) {
    if (bracket == Bracket::kArray && items_follow_) return OpenItems();
    items_follow_ = false;
    tape_->Open(bracket == Bracket::kArray ? TokenType::kArray : TokenType::kObject);
    ++depth_;
    return !tape_->full();
  }
  bool Close(Bracket bracket) {
    if (bracket == Bracket::kArray && InItems() && depth_ == kItemsDepth) {
      tape_ = &head_;
      --depth_;
      return true;
    }
    tape_->Close();
    --depth_;
    return ValueEnded();
  }

  // Why the scan was stopped here; "" when it was not.
  std::string Refusal() const { return tape_->full() ? "an object has too many values" : refusal_; }

 private:
  static constexpr size_t kItemsDepth =
      2;  // open containers between two items: the root and "items"

  bool InItems() const { return tape_ == item_; }
  bool OpenItems() {
    items_follow_ = false;
    if (seen_items_) {
      refusal_ = "\"items\" stands twice";
      return false;
    }
    seen_items_ = true;
    tape_->Add(TokenType::kNull, "");  // what the head shows of the items
    tape_ = item_;
    ++depth_;
    return true;
  }
  void Add(TokenType type, absl::string_view text, TextLasts lasts) {
    tape_->Add(type, lasts == TextLasts::kYes ? text : tape_->Kept(text));
  }
  bool Scalar(TokenType type, absl::string_view text, TextLasts lasts) {
    items_follow_ = false;
    Add(type, text, lasts);
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

  Tape* tape_;
  Tape& head_;
  Tape* item_ = nullptr;
  ItemSink* sink_ = nullptr;
  size_t depth_ = 0;
  bool items_follow_ = false;
  bool seen_items_ = false;
  std::string refusal_;
};

absl::Status Scan(absl::string_view text, ScanMemory& memory, Recorder& recorder) {
  JsonScan<Recorder> scan(text, memory, recorder);
  if (scan.Run()) return absl::OkStatus();
  const std::string refusal = recorder.Refusal();
  return absl::InvalidArgumentError(absl::StrCat("invalid JSON at byte ", scan.offset(), ": ",
                                                 refusal.empty() ? scan.problem() : refusal));
}

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

absl::string_view Tape::Kept(absl::string_view text) {
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

absl::Status TapeReader::Read(absl::string_view text, Tape& tape) {
  tape.Clear();
  Recorder recorder(tape);
  return Scan(text, memory_, recorder);
}

absl::Status TapeReader::ReadList(absl::string_view text, ListTapes tapes, ItemSink on_item) {
  tapes.head.Clear();
  tapes.item.Clear();
  Recorder recorder(tapes, on_item);
  return Scan(text, memory_, recorder);
}

}  // namespace maniple
