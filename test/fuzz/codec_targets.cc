#include "test/fuzz/codec_targets.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/codec/decode.h"
#include "api/codec/json.h"
#include "api/codec/kubernetes_time.h"
#include "api/codec/quantity.h"
#include "api/codec/utf8.h"
#include "api/codec/yaml.h"

namespace maniple {
namespace {

// The answer in words, for comparison.
std::string Said(const DecodedObject& object) {
  const auto* invalid = std::get_if<ObjectInvalid>(&object.what);
  return absl::StrCat(object.key.namespace_name, "/", object.key.name, " ", object.uid, " ",
                      object.resource_version, " ",
                      invalid != nullptr ? absl::StrCat("invalid: ", invalid->problem) : "valid");
}

std::string Said(const absl::StatusOr<WatchMessage>& message) {
  if (!message.ok()) return std::string(message.status().message());
  if (const auto* change = std::get_if<WatchChange>(&*message)) return Said(change->object);
  if (const auto* bookmark = std::get_if<WatchBookmark>(&*message)) {
    return absl::StrCat("bookmark ", bookmark->resource_version);
  }
  if (const auto* failure = std::get_if<WatchFailure>(&*message)) {
    return absl::StrCat("failure ", failure->code, failure->reason, failure->message);
  }
  return absl::StrCat("ignored ", std::get<WatchIgnored>(*message).what);
}

std::string ProblemWithProblem(const DecodedObject& object) {
  const auto* invalid = std::get_if<ObjectInvalid>(&object.what);
  if (invalid != nullptr && invalid->problem.empty()) return "an invalid object without a problem";
  for (const char c : invalid != nullptr ? invalid->problem : std::string()) {
    if (static_cast<unsigned char>(c) < 0x20) return "a control character in a problem";
  }
  return "";
}

}  // namespace

std::string FuzzJson(absl::string_view bytes) {
  const absl::StatusOr<Json> json = Json::Parse(bytes);
  if (!json.ok()) return json.status().message().empty() ? "an error without message" : "";
  for (const std::string& text : {json->Dump(), json->DumpPretty()}) {
    const absl::StatusOr<Json> back = Json::Parse(text);
    if (!back.ok())
      return absl::StrCat("what was written does not parse: ", back.status().message());
    if (!(*back == *json)) return absl::StrCat("read back as another value: ", text);
    if (back->Dump() != json->Dump()) return "written differently the second time";
  }
  return "";
}

std::string FuzzYaml(absl::string_view bytes) {
  const absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(bytes);
  if (!documents.ok())
    return documents.status().message().empty() ? "an error without message" : "";
  for (const YamlDocument& document : *documents) {
    const std::string text = DumpYaml(document.value);
    const absl::StatusOr<std::vector<YamlDocument>> back = ParseYaml(text);
    if (!back.ok()) {
      return absl::StrCat("what was written does not parse: ", back.status().message(), "\n", text);
    }
    if (back->size() != 1 || !(back->front().value == document.value)) {
      return absl::StrCat("read back as another value: ", text);
    }
  }
  return "";
}

std::string FuzzQuantity(absl::string_view bytes) {
  const absl::StatusOr<Quantity> quantity = Quantity::Parse(bytes);
  if (!quantity.ok()) return quantity.status().message().size() < 400 ? "" : "a long error";
  const int64_t milli = quantity->Milli().units();
  const int64_t units = quantity->Units().units();
  if (milli == Amount::Max().units() || milli == Amount::Min().units()) return "";
  const int64_t rounded = milli / 1000 + (milli % 1000 > 0 ? 1 : milli % 1000 < 0 ? -1 : 0);
  if (rounded != units) return absl::StrCat(milli, " milli-units, but ", units, " units");
  if (quantity->IsWhole() && milli != units * 1000) return "whole, but not in milli-units";
  const absl::StatusOr<Amount> back = ParseAmount("cpu", FormatAmount("cpu", quantity->Milli()));
  return back.ok() && *back == quantity->Milli() ? "" : "read back as another amount";
}

std::string FuzzWatchLine(absl::string_view bytes) {
  const bool is_json = Json::Parse(bytes).ok();
  Decoder decoder;
  for (int i = 0; i < kResourceKinds; ++i) {
    const auto kind = static_cast<ResourceKind>(i);
    const absl::StatusOr<WatchMessage> message = decoder.WatchLine(kind, bytes);
    if (is_json && absl::StrContains(message.status().message(), "invalid JSON")) {
      return absl::StrCat("refused JSON: ", message.status().message());
    }
    if (Said(message) != Said(decoder.WatchLine(kind, bytes))) return "two answers to one line";
    if (!message.ok()) continue;
    if (const auto* change = std::get_if<WatchChange>(&*message)) {
      if (std::string wrong = ProblemWithProblem(change->object); !wrong.empty()) return wrong;
    }
  }
  return "";
}

std::string FuzzList(absl::string_view bytes) {
  const absl::StatusOr<Json> json = Json::Parse(bytes);
  Decoder decoder;
  for (int i = 0; i < kResourceKinds; ++i) {
    std::string wrong;
    size_t items = 0;
    const absl::StatusOr<ListHead> head =
        decoder.List(static_cast<ResourceKind>(i), bytes, [&](const DecodedObject& object) {
          ++items;
          if (wrong.empty()) wrong = ProblemWithProblem(object);
        });
    if (!wrong.empty()) return wrong;
    if (json.ok() && head.ok() && items != (*json)["items"].size()) return "lost or invented items";
  }
  return "";
}

std::string FuzzStatus(absl::string_view bytes) {
  constexpr int kHttpCode = 503;
  const ApiStatus status = DecodeStatus(kHttpCode, bytes);
  if (status.code < 100 || status.code > 599) return absl::StrCat("code ", status.code);
  if (status.retry_after.has_value() &&
      (*status.retry_after <= absl::ZeroDuration() || *status.retry_after > absl::Minutes(1))) {
    return absl::StrCat("told to come back after ", absl::FormatDuration(*status.retry_after));
  }
  for (const std::string& text : {status.message, status.reason}) {
    if (text.size() > 1024) return "a long text";
    if (Printable(text) != text) return absl::StrCat("not printable: ", text);
  }
  const absl::StatusOr<Json> json = Json::Parse(bytes);
  if (!json.ok() || (*json)["kind"].AsString() != "Status") {
    return status.reason.empty() && status.code == kHttpCode ? "" : "a Status of nothing";
  }
  const std::string& reason = (*json)["reason"].AsString();
  return reason.size() > 100 || status.reason == Printable(reason) ? "" : "another reason";
}

std::string FuzzTime(absl::string_view bytes) {
  const absl::StatusOr<absl::Time> time = ParseKubernetesTime(bytes);
  if (!time.ok()) return time.status().message().size() < 400 ? "" : "a long error";
  absl::Time second_opinion;
  if (!absl::ParseTime(absl::RFC3339_full, bytes, &second_opinion, nullptr)) {
    return "Abseil reads no time";
  }
  // Abseil keeps quarters of a nanosecond.
  if (absl::AbsDuration(second_opinion - *time) >= absl::Nanoseconds(1)) {
    return absl::StrCat("Abseil reads ", absl::FormatTime(second_opinion));
  }
  const std::string micros = FormatKubernetesMicroTime(*time);
  // The offset may lead out of the years that can be written.
  if (micros.size() != std::string("2006-01-02T15:04:05.000000Z").size()) return "";
  const absl::StatusOr<absl::Time> back = ParseKubernetesTime(micros);
  const absl::Duration lost = back.ok() ? *time - *back : absl::InfiniteDuration();
  return lost >= absl::ZeroDuration() && lost < absl::Microseconds(1)
             ? ""
             : absl::StrCat("read back from ", micros, " as another time");
}

}  // namespace maniple
