// YAML of a value, as people write it.
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "api/codec/utf8.h"
#include "api/codec/yaml.h"
#include "api/codec/yaml_scalar.h"

namespace maniple {
namespace {

// No reader has to look further than so many characters for the colon behind a key (YAML 1.2, 7.4).
constexpr size_t kLongestSimpleKey = 1024;

// Of a character of two or three bytes, or of ASCII.
uint32_t CodeOf(absl::string_view character) {
  const uint32_t lead = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return lead;
  uint32_t code = character.size() == 2 ? lead & 0x1F : lead & 0x0F;
  for (const char c : character.substr(1)) code = code << 6 | (static_cast<uint32_t>(c) & 0x3F);
  return code;
}

// A JSON string is a YAML string, save for characters that no reader of YAML takes as they are;
// JSON may escape them.
std::string Text(const std::string& text) {
  if (IsPlainYamlText(text)) return text;
  const std::string json = JsonEscaped(text);
  std::string out = "\"";
  for (size_t at = 0; at < json.size();) {
    const size_t length = Utf8SequenceLength(json, at);
    const absl::string_view character = absl::string_view(json).substr(at, length);
    if (IsYamlCharacter(character)) {
      absl::StrAppend(&out, character);
    } else {
      absl::StrAppend(&out, "\\u", absl::Hex(CodeOf(character), absl::kZeroPad4));
    }
    at += length;
  }
  return out + "\"";
}

bool IsBlock(const Json& value) { return value.size() > 0; }

std::string Inline(const Json& value) {
  if (value.is_string()) return Text(value.AsString());
  return value.Dump();  // numbers, true, false, null, [] and {} read the same
}

// Writes a non-empty list or map, every line but the first indented by `indent`; the first
// continues the current line.
void WriteBlock(const Json& value, size_t indent, std::string& out);

// The value after "- ": a block inside starts on the same line.
void WriteItem(const Json& item, size_t indent, std::string& out) {
  out += "- ";
  if (IsBlock(item)) {
    WriteBlock(item, indent + 2, out);
  } else {
    absl::StrAppend(&out, Inline(item), "\n");
  }
}

void WriteMember(const Json::Member& member, size_t indent, std::string& out) {
  const std::string key = Text(member.first);
  if (key.size() > kLongestSimpleKey) {
    absl::StrAppend(&out, "? ", key, "\n", std::string(indent, ' '), ":");
  } else {
    absl::StrAppend(&out, key, ":");
  }
  const Json& value = member.second;
  if (!IsBlock(value)) {
    absl::StrAppend(&out, " ", Inline(value), "\n");
    return;
  }
  // As kubectl does, a list stands at the indentation of its key.
  const size_t inner = value.is_array() ? indent : indent + 2;
  absl::StrAppend(&out, "\n", std::string(inner, ' '));
  WriteBlock(value, inner, out);
}

void WriteBlock(const Json& value, size_t indent, std::string& out) {
  bool first = true;
  const auto next_line = [&] {
    if (!first) out.append(indent, ' ');
    first = false;
  };
  for (const Json& item : value.items()) {
    next_line();
    WriteItem(item, indent, out);
  }
  for (const Json::Member& member : value.members()) {
    next_line();
    WriteMember(member, indent, out);
  }
}

}  // namespace

std::string DumpYaml(const Json& value) {
  std::string out;
  if (IsBlock(value)) {
    WriteBlock(value, 0, out);
  } else {
    absl::StrAppend(&out, Inline(value), "\n");
  }
  return out;
}

}  // namespace maniple
