#include "api/codec/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/codec/utf8.h"
#include "api/codec/yaml_scalar.h"

namespace maniple {
namespace {

// What anchors and aliases may add to a document, counted as one per value plus the bytes of its
// strings.
constexpr size_t kMostExpansion = 10'000'000;
// What the table of lines may hold in bytes of paths; later nodes answer with their nearest
// recorded ancestor.
constexpr size_t kMostPathBytes = 64'000'000;
constexpr int kMostDepth = Json::kMaxDepth;

struct Size {
  size_t weight = 1;
  int depth = 0;
};

Size SizeOf(const Json& value) {
  Size size{1 + value.AsString().size(), 0};
  const auto add = [&size](const Json& child) {
    const Size inner = SizeOf(child);
    size.weight += inner.weight;
    size.depth = std::max(size.depth, inner.depth + 1);
  };
  for (const Json& item : value.items()) add(item);
  for (const Json::Member& member : value.members()) {
    size.weight += member.first.size();
    add(member.second);
  }
  return size;
}

struct RepeatedKey final : YAML::ParserException {
  using ParserException::ParserException;
};

// Builds Json from yaml-cpp's events. Refuses by throwing YAML::ParserException, which ParseYaml
// turns into a Status: the event interface has no other way to stop.
class YamlBuilder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    // yaml-cpp makes document after document of a token that it cannot place, such as a lone "]".
    if (mark.pos == document_start_) Refuse(mark, "nothing can start here");
    document_start_ = mark.pos;
    document_ = YamlDocument();
    document_.line = mark.line + 1;
    open_.clear();
    anchors_.clear();
    expansion_ = 0;
    path_bytes_ = 0;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Put(mark, Json(), anchor, KeyText{"", false});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (!IsUtf8(text)) Refuse(mark, "invalid UTF-8");
    const bool plain = tag == "?";
    absl::StatusOr<Json> value = ResolveYamlScalar(tag, text);
    if (!value.ok()) Refuse(mark, std::string(value.status().message()));
    Put(mark, *std::move(value), anchor, KeyText{text, plain});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) Refuse(mark, "an alias inside the node it names");
    Spend(mark, found->second.size.weight);
    if (static_cast<int>(open_.size()) + found->second.size.depth > kMostDepth) RefuseDepth(mark);
    Put(mark, found->second.value, 0, KeyText{found->second.value.AsString(), false});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    if (!tag.empty() && tag != "?" && tag != "!" && tag != "tag:yaml.org,2002:seq") {
      Refuse(mark, absl::StrCat("a list cannot have the tag ", Printable(tag)));
    }
    Open(mark, Json::Type::kArray, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    if (!tag.empty() && tag != "?" && tag != "!" && tag != "tag:yaml.org,2002:map") {
      Refuse(mark, absl::StrCat("a map cannot have the tag ", Printable(tag)));
    }
    Open(mark, Json::Type::kObject, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapEnd() override { Close(); }

  YamlDocument Take() { return std::move(document_); }

 private:
  // How a scalar reads when it stands as a key.
  struct KeyText {
    std::string text;
    bool plain = false;
  };
  struct Frame {
    Json::Type type = Json::Type::kArray;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    std::string path;
    std::vector<Json> items;
    std::vector<Json::Member> members;
    std::vector<Json> merged;  // values of "<<" keys
    absl::flat_hash_set<std::string> keys;
    std::optional<KeyText> key;  // the key whose value comes next
  };
  struct Anchored {
    Json value;
    Size size;
  };

  [[noreturn]] static void Refuse(const YAML::Mark& mark, const std::string& why) {
    throw YAML::ParserException(mark, why);
  }
  [[noreturn]] static void RefuseDepth(const YAML::Mark& mark) {
    Refuse(mark, absl::StrCat("nested deeper than ", kMostDepth));
  }
  void Spend(const YAML::Mark& mark, size_t weight) {
    expansion_ += weight;
    if (expansion_ > kMostExpansion) {
      Refuse(mark, "anchors and aliases expand to more than 10 MB");
    }
  }

  bool AwaitsKey() const {
    return !open_.empty() && open_.back().type == Json::Type::kObject &&
           !open_.back().key.has_value();
  }
  std::string PathHere() const {
    if (open_.empty()) return "";
    const Frame& top = open_.back();
    if (top.type == Json::Type::kArray) return absl::StrCat(top.path, "[", top.items.size(), "]");
    return top.path.empty() ? top.key->text : absl::StrCat(top.path, ".", top.key->text);
  }
  std::string RecordLine(const YAML::Mark& mark) {
    std::string path = PathHere();
    path_bytes_ += path.size();
    if (path_bytes_ <= kMostPathBytes) document_.lines.emplace_back(path, mark.line + 1);
    return path;
  }

  void Open(const YAML::Mark& mark, Json::Type type, YAML::anchor_t anchor) {
    if (AwaitsKey()) Refuse(mark, "a key must be a scalar");
    if (open_.size() >= kMostDepth) RefuseDepth(mark);
    Frame frame;
    frame.path = RecordLine(mark);
    frame.type = type;
    frame.mark = mark;
    frame.anchor = anchor;
    open_.push_back(std::move(frame));
  }
  void Close() {
    Frame frame = std::move(open_.back());
    open_.pop_back();
    Json value = frame.type == Json::Type::kArray ? Json::Array(std::move(frame.items))
                                                  : MapOf(std::move(frame));
    Store(frame.mark, std::move(value), frame.anchor);
  }
  // What "<<" brings in stands only where the map itself says nothing; earlier ones win.
  static Json MapOf(Frame frame) {
    for (Json& source : frame.merged) {
      for (Json::Member& member : source.mutable_members()) {
        if (frame.keys.insert(member.first).second) frame.members.push_back(std::move(member));
      }
    }
    return Json::Object(std::move(frame.members));
  }

  // A scalar or alias: a key if one is due, else a value.
  void Put(const YAML::Mark& mark, Json value, YAML::anchor_t anchor, KeyText as_key) {
    if (!AwaitsKey()) {
      RecordLine(mark);
      Store(mark, std::move(value), anchor);
      return;
    }
    if (value.is_array() || value.is_object()) Refuse(mark, "a key must be a scalar");
    Remember(mark, value, anchor);
    const bool merges = as_key.plain && as_key.text == "<<";
    if (!merges && !open_.back().keys.insert(as_key.text).second) {
      throw RepeatedKey(mark, absl::StrCat("the key \"", Printable(Utf8Prefix(as_key.text, 64)),
                                           "\" stands twice in one map"));
    }
    open_.back().key = std::move(as_key);
  }
  void Remember(const YAML::Mark& mark, const Json& value, YAML::anchor_t anchor) {
    if (anchor == 0) return;
    const Size size = SizeOf(value);
    Spend(mark, size.weight);
    anchors_[anchor] = Anchored{value, size};
  }
  void Store(const YAML::Mark& mark, Json value, YAML::anchor_t anchor) {
    Remember(mark, value, anchor);
    if (open_.empty()) {
      document_.value = std::move(value);
      return;
    }
    Frame& top = open_.back();
    if (top.type == Json::Type::kArray) {
      top.items.push_back(std::move(value));
      return;
    }
    const KeyText key = *std::move(top.key);
    top.key.reset();
    if (key.plain && key.text == "<<") {
      Merge(mark, std::move(value), top);
    } else {
      top.members.emplace_back(key.text, std::move(value));
    }
  }
  void Merge(const YAML::Mark& mark, Json value, Frame& into) {
    std::vector<Json> sources;
    if (value.is_array()) {
      sources = std::move(value.mutable_items());
    } else {
      sources.push_back(std::move(value));
    }
    for (Json& source : sources) {
      if (!source.is_object()) Refuse(mark, "\"<<\" merges maps only");
      into.merged.push_back(std::move(source));
    }
  }

  YamlDocument document_;
  std::vector<Frame> open_;
  absl::flat_hash_map<YAML::anchor_t, Anchored> anchors_;
  size_t expansion_ = 0;
  size_t path_bytes_ = 0;
  int document_start_ = -1;  // in the text; grows from document to document
};

absl::Status Failure(const YAML::Exception& error) {
  if (error.mark.is_null()) {
    return absl::InvalidArgumentError(absl::StrCat("invalid YAML: ", Printable(error.msg)));
  }
  return absl::InvalidArgumentError(absl::StrCat("line ", error.mark.line + 1, ", column ",
                                                 error.mark.column + 1, ": ",
                                                 Printable(Utf8Prefix(error.msg, 300))));
}

// Throws YAML::Exception.
std::vector<YamlDocument> ParseDocuments(absl::string_view text) {
  std::vector<YamlDocument> documents;
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  YamlBuilder builder;
  while (parser.HandleNextDocument(builder)) {
    YamlDocument document = builder.Take();
    if (!document.value.is_null()) documents.push_back(std::move(document));
  }
  return documents;
}

// The text as JSON, if it is that and nothing else.
std::optional<YamlDocument> JsonDocument(absl::string_view text) {
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start == absl::string_view::npos || (text[start] != '{' && text[start] != '[')) {
    return std::nullopt;
  }
  absl::StatusOr<Json> json = Json::Parse(text);
  if (!json.ok()) return std::nullopt;
  const auto line = static_cast<int>(std::count(text.begin(), text.begin() + start, '\n')) + 1;
  return YamlDocument{*std::move(json), line, {}};
}

// UTF-16 and UTF-32 begin with a mark, and have NUL bytes in every text.
bool IsBinary(absl::string_view text) {
  const bool wide = absl::StartsWith(text, "\xFF\xFE") || absl::StartsWith(text, "\xFE\xFF") ||
                    absl::StartsWith(text, absl::string_view("\0\0\xFE\xFF", 4));
  return !wide && absl::StrContains(text, absl::string_view("\0", 1));
}

}  // namespace

int YamlDocument::LineOf(absl::string_view path) const {
  while (!path.empty()) {
    for (const auto& [known, at] : lines) {
      if (known == path) return at;
    }
    const size_t cut = path.find_last_of(".[");
    path = cut == absl::string_view::npos ? absl::string_view() : path.substr(0, cut);
  }
  return line;
}

std::vector<ManifestItem> ItemsOf(const YamlDocument& document) {
  const Json& value = document.value;
  if (!absl::EndsWith(value["kind"].AsString(), "List") || !value["items"].is_array()) {
    return {{.value = value, .path = "", .line = document.line}};
  }
  // At once: LineOf looks at all lines.
  const absl::flat_hash_map<absl::string_view, int> line_of(document.lines.begin(),
                                                            document.lines.end());
  const int line_of_list = document.LineOf("items");
  std::vector<ManifestItem> items;
  for (const Json& item : value["items"].items()) {
    std::string path = absl::StrCat("items[", items.size(), "]");
    const auto known = line_of.find(path);
    const int line = known != line_of.end() ? known->second : line_of_list;
    items.push_back({.value = item, .path = std::move(path), .line = line});
  }
  return items;
}

absl::StatusOr<std::vector<YamlDocument>> ParseYaml(absl::string_view text) {
  try {
    return ParseDocuments(text);
  } catch (const RepeatedKey& error) {
    return Failure(error);
  } catch (const YAML::Exception& error) {
    // JSON is YAML, but yaml-cpp does not know all of its escapes.
    if (std::optional<YamlDocument> json = JsonDocument(text)) {
      return std::vector<YamlDocument>{*std::move(json)};
    }
    if (IsBinary(text)) return absl::InvalidArgumentError("is no text: it holds NUL bytes");
    return Failure(error);
  }
}

}  // namespace maniple
