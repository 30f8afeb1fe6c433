#include "api/producers/gang_names.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/base/fingerprint.h"

namespace maniple {

std::string NameOf(const ForeignKind& kind, absl::string_view name) {
  return absl::StrCat(kind.kind, " ", name, " (", kind.group, ")");
}

std::string StableGroupName(absl::string_view name,
                            std::initializer_list<absl::string_view> identity) {
  constexpr size_t kMostName = 63 - 9;
  std::string out;
  for (const char c : name.substr(0, kMostName)) {
    const bool plain = absl::ascii_isalnum(static_cast<unsigned char>(c));
    if (plain || !out.empty()) out.push_back(plain ? absl::ascii_tolower(c) : '-');
  }
  if (out.empty()) out = "gang";
  Fingerprint print;
  print.Add(name);
  for (const absl::string_view text : identity) print.Add(text);
  const uint64_t value = print.value();
  return absl::StrCat(out, "-",
                      absl::Hex(static_cast<uint32_t>(value ^ (value >> 32)), absl::kZeroPad8));
}

}  // namespace maniple
