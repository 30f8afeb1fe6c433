#include "api/codec/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/codec/utf8.h"

namespace maniple {
namespace {

constexpr absl::string_view kTagPrefix = "tag:yaml.org,2002:";

bool IsOneOf(absl::string_view text, std::initializer_list<absl::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool IsNull(absl::string_view text) { return IsOneOf(text, {"", "~", "null", "Null", "NULL"}); }

std::optional<bool> AsBool(absl::string_view text) {
  if (IsOneOf(text, {"true", "True", "TRUE"})) return true;
  if (IsOneOf(text, {"false", "False", "FALSE"})) return false;
  return std::nullopt;
}

bool AllOf(absl::string_view text, absl::string_view set) {
  return !text.empty() && text.find_first_not_of(set) == absl::string_view::npos;
}

absl::string_view WithoutSign(absl::string_view text) {
  return !text.empty() && (text[0] == '-' || text[0] == '+') ? text.substr(1) : text;
}

// An integer beyond int64 becomes a double, as in JSON.
std::optional<Json> AsInt(absl::string_view text) {
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'o')) {
    const bool hex = text[1] == 'x';
    const absl::string_view digits = text.substr(2);
    if (!AllOf(digits, hex ? "0123456789abcdefABCDEF" : "01234567")) return std::nullopt;
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 8);
    if (error != std::errc()) return std::nullopt;
    return Json(value);
  }
  if (!AllOf(WithoutSign(text), "0123456789")) return std::nullopt;
  int64_t value = 0;
  if (absl::SimpleAtoi(text, &value)) return Json(value);
  double large = 0;
  if (absl::SimpleAtod(text, &large) && std::isfinite(large)) return Json(large);
  return std::nullopt;
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool LooksLikeFloat(absl::string_view text) {
  absl::string_view rest = WithoutSign(text);
  const auto take_digits = [&rest] {
    const size_t count = std::min(rest.find_first_not_of("0123456789"), rest.size());
    rest.remove_prefix(count);
    return count;
  };
  size_t digits = take_digits();
  if (!rest.empty() && rest[0] == '.') {
    rest.remove_prefix(1);
    digits += take_digits();
  }
  if (digits == 0) return false;
  if (rest.empty()) return true;
  if (rest[0] != 'e' && rest[0] != 'E') return false;
  rest = WithoutSign(rest.substr(1));
  return AllOf(rest, "0123456789");
}

std::optional<Json> AsFloat(absl::string_view text) {
  double value = 0;
  if (!LooksLikeFloat(text) || !absl::SimpleAtod(text, &value) || !std::isfinite(value)) {
    return std::nullopt;
  }
  return Json(value);
}

bool IsInfinityOrNan(absl::string_view text) {
  return IsOneOf(WithoutSign(text), {".inf", ".Inf", ".INF"}) ||
         IsOneOf(text, {".nan", ".NaN", ".NAN"});
}

absl::Status Misfit(absl::string_view tag, absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", Printable(Utf8Prefix(text, 64)), "\" is no ", Printable(tag)));
}

absl::StatusOr<Json> ResolvePlain(absl::string_view text) {
  if (IsNull(text)) return Json();
  if (const std::optional<bool> value = AsBool(text)) return Json(*value);
  if (std::optional<Json> value = AsInt(text)) return *std::move(value);
  if (std::optional<Json> value = AsFloat(text)) return *std::move(value);
  if (IsInfinityOrNan(text) || LooksLikeFloat(text)) {
    return absl::InvalidArgumentError(absl::StrCat("the number ", Utf8Prefix(text, 64),
                                                   " has no JSON form; quote it to mean a text"));
  }
  return Json(text);
}

}  // namespace

absl::StatusOr<Json> ResolveYamlScalar(absl::string_view tag, absl::string_view text) {
  if (tag == "?") return ResolvePlain(text);
  if (tag == "!" || tag.empty()) return Json(text);
  if (tag.substr(0, kTagPrefix.size()) != kTagPrefix) {
    return absl::InvalidArgumentError(absl::StrCat("unknown tag ", Printable(tag)));
  }
  const absl::string_view type = tag.substr(kTagPrefix.size());
  if (type == "str") return Json(text);
  if (type == "null") return IsNull(text) ? absl::StatusOr<Json>(Json()) : Misfit(type, text);
  if (type == "bool") {
    const std::optional<bool> value = AsBool(text);
    return value.has_value() ? absl::StatusOr<Json>(Json(*value)) : Misfit(type, text);
  }
  std::optional<Json> value;
  if (type == "int") value = AsInt(text);
  if (type == "float") value = AsFloat(text);
  if (value.has_value()) return *std::move(value);
  if (type == "int" || type == "float") return Misfit(type, text);
  return absl::InvalidArgumentError(absl::StrCat("unknown tag !!", Printable(type)));
}

bool IsYamlCharacter(absl::string_view character) {
  const auto byte = static_cast<unsigned char>(character.back());
  if (character.size() == 1) return byte >= 0x20 && byte != 0x7F;
  if (character.size() == 2) return character.front() != '\xC2' || byte >= 0xA0;
  // U+2028, U+2029, U+FEFF, U+FFFE and U+FFFF.
  return !IsOneOf(character,
                  {"\xE2\x80\xA8", "\xE2\x80\xA9", "\xEF\xBB\xBF", "\xEF\xBF\xBE", "\xEF\xBF\xBF"});
}

bool IsPlainYamlText(absl::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  // Indicators that start something else, and all that could start a number or a date of YAML 1.1.
  if (absl::string_view("-?:,[]{}#&*!|>'\"%@`=<+.0123456789~").find(text.front()) !=
      absl::string_view::npos) {
    return false;
  }
  if (text.find(": ") != absl::string_view::npos || text.find(" #") != absl::string_view::npos) {
    return false;
  }
  const std::string lower = absl::AsciiStrToLower(text);
  if (IsOneOf(lower, {"null", "true", "false", "yes", "no", "on", "off", "y", "n"})) return false;
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8SequenceLength(text, at);
    if (length == 0 || !IsYamlCharacter(text.substr(at, length))) return false;
    at += length;
  }
  return true;
}

}  // namespace maniple
