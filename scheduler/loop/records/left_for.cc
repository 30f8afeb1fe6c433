#include "scheduler/loop/records/left_for.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/base/fingerprint.h"

namespace maniple {
namespace {

constexpr size_t kMostRemembered = 4;
constexpr absl::string_view kOfQueue = " of queue ", kUid = " (uid=", kTerms = ", terms=";

// Cuts off what stands after the last `mark`; none when there is no mark.
std::optional<std::string> CutAfter(absl::string_view mark, absl::string_view& text) {
  const size_t at = text.rfind(mark);
  if (at == absl::string_view::npos) return std::nullopt;
  std::string tail(text.substr(at + mark.size()));
  text = text.substr(0, at);
  return tail;
}

std::optional<LeftFor> ParseOne(absl::string_view text) {
  if (!absl::ConsumeSuffix(&text, ")")) return std::nullopt;
  LeftFor left;
  const std::optional<std::string> terms = CutAfter(kTerms, text);
  const std::optional<std::string> uid = CutAfter(kUid, text);
  if (!terms.has_value() || !uid.has_value() || uid->empty()) return std::nullopt;
  if (!absl::SimpleHexAtoi(*terms, &left.terms)) return std::nullopt;
  left.uid = *uid;
  left.queue = CutAfter(kOfQueue, text).value_or("");
  left.name = std::string(text);
  return left;
}

}  // namespace

uint64_t TermsOf(const LeavingTerms& terms) {
  Fingerprint print;
  print.Add(terms.quotas);
  print.Add(static_cast<uint64_t>(int64_t{terms.priority}));
  print.Add(static_cast<uint64_t>(int64_t{terms.preemptor_priority}));
  print.Add(static_cast<uint64_t>(absl::ToUnixSeconds(terms.queued)));
  print.Add(static_cast<uint64_t>(absl::ToUnixSeconds(terms.preemptor_queued)));
  return print.value();
}

void Remember(LeftFor left, std::vector<LeftFor>& all) {
  std::erase_if(all, [&left](const LeftFor& known) { return known.uid == left.uid; });
  all.push_back(std::move(left));
  if (all.size() > kMostRemembered) all.erase(all.begin());
}

std::string LeftForText(const std::vector<LeftFor>& all) {
  std::string text;
  for (const LeftFor& left : all) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", left.name);
    if (!left.queue.empty()) absl::StrAppend(&text, kOfQueue, left.queue);
    absl::StrAppend(&text, kUid, left.uid, kTerms, absl::Hex(left.terms), ")");
  }
  return text;
}

std::vector<LeftFor> ParseLeftFor(absl::string_view text) {
  std::vector<LeftFor> all;
  for (const absl::string_view part : absl::StrSplit(text, "; ", absl::SkipEmpty())) {
    if (std::optional<LeftFor> left = ParseOne(part)) Remember(*std::move(left), all);
  }
  return all;
}

}  // namespace maniple
