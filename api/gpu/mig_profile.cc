#include "api/gpu/mig_profile.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace maniple {
namespace {

// Takes digits from the front: no sign, no leading zero, at most five of them.
std::optional<int32_t> TakeNumber(absl::string_view& text) {
  size_t digits = 0;
  while (digits < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[digits]))) {
    ++digits;
  }
  if (digits == 0 || digits > 5 || text[0] == '0') return std::nullopt;
  int32_t number = 0;
  if (!absl::SimpleAtoi(text.substr(0, digits), &number)) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

bool IsAttribute(absl::string_view text) {
  return !text.empty() && text.front() != '.' && text.back() != '.' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_islower(static_cast<unsigned char>(c)) ||
                  absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.';
         });
}

bool AreAttributes(absl::string_view text) {
  if (text.empty()) return true;
  if (text.size() > 32 || (text[0] != '+' && text[0] != '-')) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(text.substr(1), ',');
  return std::all_of(parts.begin(), parts.end(), IsAttribute);
}

}  // namespace

bool MigProfile::wants_media() const {
  if (attributes.empty() || attributes[0] != '+') return false;
  const std::vector<absl::string_view> parts =
      absl::StrSplit(absl::string_view(attributes).substr(1), ',');
  return std::any_of(parts.begin(), parts.end(),
                     [](absl::string_view part) { return part == "me" || part == "me.all"; });
}

std::optional<MigProfile> ParseMigProfile(absl::string_view text) {
  MigProfile profile;
  std::optional<int32_t> number = TakeNumber(text);
  if (!number.has_value()) return std::nullopt;
  if (absl::ConsumePrefix(&text, "c.")) {
    profile.compute_instance = *number;
    number = TakeNumber(text);
    if (!number.has_value()) return std::nullopt;
  }
  profile.compute = *number;
  if (!absl::ConsumePrefix(&text, "g.")) return std::nullopt;
  number = TakeNumber(text);
  if (!number.has_value() || !absl::ConsumePrefix(&text, "gb")) return std::nullopt;
  profile.gigabytes = *number;
  if (!AreAttributes(text) || profile.compute_instance > profile.compute) return std::nullopt;
  profile.attributes = std::string(text);
  return profile;
}

std::string MigProfileName(const MigProfile& profile) {
  return absl::StrCat(
      profile.compute_instance > 0 ? absl::StrCat(profile.compute_instance, "c.") : "",
      profile.compute, "g.", profile.gigabytes, "gb", profile.attributes);
}

std::string MigProfileLabel(const MigProfile& profile) {
  std::string label = MigProfileName(profile);
  std::replace(label.begin(), label.end(), '+', '.');
  return label;
}

std::string MigResourceName(const MigProfile& profile) {
  return absl::StrCat(kMigResourcePrefix, MigProfileLabel(profile));
}

std::optional<MigProfile> MigProfileOfResource(absl::string_view resource) {
  if (!absl::ConsumePrefix(&resource, kMigResourcePrefix)) return std::nullopt;
  // The '.' in "gb.me" stands for '+'; a '+' itself, or a ',', stands in no resource name.
  const size_t memory_end = resource.find("gb");
  if (memory_end == absl::string_view::npos) return std::nullopt;
  std::string text(resource);
  if (text.find_first_of("+,") != std::string::npos) return std::nullopt;
  if (memory_end + 2 < text.size() && text[memory_end + 2] == '.') text[memory_end + 2] = '+';
  return ParseMigProfile(text);
}

}  // namespace maniple
