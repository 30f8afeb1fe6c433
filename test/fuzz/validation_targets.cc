#include "test/fuzz/validation_targets.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/codec/json.h"
#include "api/codec/kubernetes_time.h"
#include "api/validation/cel.h"
#include "api/validation/format.h"
#include "api/validation/manifest.h"
#include "api/validation/schema.h"

namespace maniple {
namespace {

struct Outcome {
  std::optional<bool> truth;
  std::string said;  // the type of another value, or the error
  bool spent = false;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// None: it does not compile.
std::optional<Outcome> Evaluated(absl::string_view rule, const Json& self, CelBudget& budget) {
  const absl::StatusOr<CelProgram> program = CelProgram::Compile(rule);
  if (!program.ok()) return std::nullopt;
  const absl::StatusOr<CelValue> value = program->Evaluate({.self = &self}, budget);
  Outcome out;
  if (!value.ok()) {
    out.said = std::string(value.status().message());
    out.spent = absl::IsResourceExhausted(value.status());
  } else if (const bool* truth = value->As<bool>()) {
    out.truth = *truth;
  } else {
    out.said = std::string(value->Type());
  }
  return out;
}

std::vector<std::string> Texts(const std::vector<FieldError>& errors) {
  std::vector<std::string> out;
  for (const FieldError& error : errors) {
    out.push_back(absl::StrCat(error.path, ": ", error.message));
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

std::string FuzzCel(absl::string_view bytes) {
  const std::pair<absl::string_view, absl::string_view> halves =
      absl::StrSplit(bytes, absl::MaxSplits('\n', 1));
  const absl::string_view rule = halves.first;
  const absl::StatusOr<Json> parsed = Json::Parse(halves.second);
  const Json self = parsed.ok() ? *parsed : Json();
  CelBudget budget;
  const int64_t before = budget.remaining;
  const std::optional<Outcome> outcome = Evaluated(rule, self, budget);
  if (!outcome.has_value()) return "";
  const int64_t cost = before - budget.remaining;
  if (cost < 0) return "a budget that grows";
  // One operation may still be under way when the bound is met.
  if (cost > 4'000'000) return absl::StrCat("costs ", cost);
  CelBudget second;
  if (Evaluated(rule, self, second) != outcome || second.remaining != budget.remaining) {
    return "two answers";
  }
  if (!outcome->truth.has_value() || cost > 100'000 || absl::StrContains(rule, "//")) return "";
  for (const absl::string_view more :
       {") && true", ") || false", ") == true", ") ? true : false"}) {
    CelBudget third;
    const std::optional<Outcome> same = Evaluated(absl::StrCat("(", rule, more), self, third);
    // The longer rule may be nested too deeply.
    if (same.has_value() && !same->spent && same->truth != outcome->truth) {
      return absl::StrCat("with \"", more, "\": ", same->said);
    }
  }
  return "";
}

std::string FuzzSchema(absl::string_view bytes) {
  const std::pair<absl::string_view, absl::string_view> halves =
      absl::StrSplit(bytes, absl::MaxSplits("\n---\n", 1));
  const absl::StatusOr<Json> source = Json::Parse(halves.first);
  const absl::StatusOr<Json> object = Json::Parse(halves.second);
  if (!source.ok() || !object.ok()) return "";
  const absl::StatusOr<StructuralSchema> schema = StructuralSchema::Compile(*source);
  if (!schema.ok()) return schema.status().message().empty() ? "an error without message" : "";

  const std::vector<FieldError> errors = schema->Validate(*object);
  if (errors.size() > 100) return absl::StrCat(errors.size(), " errors");
  if (schema->Validate(*object) != errors) return "two answers";

  Json pruned = *object;
  schema->Prune(pruned);
  if (!schema->UnknownFields(pruned).empty()) return "unknown fields are left";
  if (schema->UnknownFields(*object).empty() != (pruned == *object)) return "pruned, or not";
  Json again = pruned;
  schema->Prune(again);
  if (!(again == pruned)) return "pruned a second time";

  Json defaulted = *object;
  schema->Default(defaulted);
  again = defaulted;
  schema->Default(again);
  if (!(again == defaulted)) {
    return absl::StrCat("defaulted a second time: ", defaulted.Dump(), " to ", again.Dump());
  }
  if (absl::StrContains(halves.first, "oldSelf") || errors.size() == 100) return "";
  const std::vector<std::string> at_update = Texts(schema->Validate(*object, &*object));
  const std::vector<std::string> at_create = Texts(errors);
  return std::ranges::includes(at_create, at_update) ? "" : "an update of nothing finds more";
}

std::string FuzzManifest(absl::string_view bytes) {
  const int64_t lines = 1 + std::ranges::count(bytes, '\n');
  for (const ManifestFinding& finding : ValidateManifests({{"a.yaml", std::string(bytes)}})) {
    if (finding.message.empty()) return "a finding of nothing";
    if (finding.line < 1 || finding.line > lines) {
      return absl::StrCat("line ", finding.line, " of ", lines, ": ", finding.message);
    }
  }
  return "";
}

std::string FuzzFormats(absl::string_view bytes) {
  // Nothing may stand behind a zero byte, at which libc stops.
  const std::string text = absl::StrReplaceAll(bytes, {{absl::string_view("\0", 1), "zero"}});
  // kube-apiserver takes leading zeros, as Go once did.
  std::vector<std::string> parts = absl::StrSplit(text, '.');
  for (std::string& part : parts) part.erase(0, std::min(part.find_first_not_of('0'), part.size()));
  for (std::string& part : parts) part.insert(0, part.empty() ? "0" : "");
  in6_addr address;
  if (MatchesFormat(StringFormat::kIpv4, bytes) &&
      inet_pton(AF_INET, absl::StrJoin(parts, ".").c_str(), &address) != 1) {
    return "libc sees no IPv4";
  }
  if (MatchesFormat(StringFormat::kIpv6, bytes) &&
      inet_pton(AF_INET6, text.c_str(), &address) != 1) {
    return "libc sees no IPv6";
  }
  std::string decoded;
  if (MatchesFormat(StringFormat::kByte, bytes) && !absl::Base64Unescape(bytes, &decoded)) {
    return "Abseil sees no base64";
  }
  const absl::StatusOr<absl::Time> kubernetes = ParseKubernetesTime(bytes);
  const std::optional<absl::Time> date_time = ParseDateTime(bytes);
  if (kubernetes.ok() && bytes.size() <= 64 && !date_time.has_value()) return "no date-time";
  if (kubernetes.ok() && date_time.has_value() &&
      absl::AbsDuration(*kubernetes - *date_time) >= absl::Nanoseconds(1)) {
    return "another time";
  }
  if (const std::optional<absl::Duration> duration = ParseGoDuration(bytes)) {
    const std::optional<absl::Duration> back = ParseGoDuration(absl::FormatDuration(*duration));
    if (absl::AbsDuration(*duration) < absl::Hours(24 * 365) && back != duration) {
      return absl::StrCat(absl::FormatDuration(*duration), " is another duration");
    }
  }
  return "";
}

}  // namespace maniple
