#include "scheduler/report/decision_entry.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/codec/json.h"
#include "scheduler/report/message.h"

namespace maniple {

std::string LineOf(const DecisionEntry& entry) {
  return absl::StrCat(entry.what, " ",
                      entry.gang.name.empty() ? entry.subject : GangText(entry.gang), entry.rest);
}

absl::string_view TextOf(const DecisionEntry& entry) {
  absl::string_view text = entry.rest;
  if (!absl::ConsumePrefix(&text, ": ")) absl::ConsumePrefix(&text, " ");
  return text;
}

std::string JsonLineOf(const DecisionEntry& entry) {
  Json line =
      Json::Object({{"at", absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", entry.at, absl::UTCTimeZone())},
                    {"what", std::string(entry.what)}});
  const auto add = [&line](const char* name, absl::string_view text) {
    if (!text.empty()) line.Set(name, std::string(text));
  };
  add("namespace", entry.gang.namespace_name);
  add("name", entry.gang.name);
  add("queue", entry.queue);
  add("subject", entry.subject);
  add("text", TextOf(entry));
  add("refused", entry.refused);
  if (entry.steps > 0) line.Set("steps", entry.steps);
  return line.Dump();
}

}  // namespace maniple
