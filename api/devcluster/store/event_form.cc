#include "api/devcluster/store/event_form.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace maniple::devcluster {
namespace {

struct FieldNames {
  absl::string_view stored;  // core/v1
  absl::string_view newer;   // events.k8s.io/v1
};
constexpr std::array<FieldNames, 7> kRenamed = {{
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
}};

bool IsNewerEvent(const ResourceType& type) {
  return type.group == "events.k8s.io" && type.kind == "Event";
}

absl::string_view Renamed(absl::string_view name, absl::string_view FieldNames::*from,
                          absl::string_view FieldNames::*to) {
  for (const FieldNames& names : kRenamed) {
    if (names.*from == name) return names.*to;
  }
  // reportingInstance, eventTime, type, reason, action, related, series, metadata: the same.
  return name;
}

Json WithNames(const Json& event, absl::string_view FieldNames::*from,
               absl::string_view FieldNames::*to) {
  Json out = Json::Object();
  for (const auto& [name, value] : event.members()) out.Set(Renamed(name, from, to), value);
  return out;
}

}  // namespace

ObjectPtr ShownAs(const ResourceType& type, const ObjectPtr& stored) {
  if ((*stored)["apiVersion"].AsString() == type.api_version()) return stored;
  Json shown =
      IsNewerEvent(type) ? WithNames(*stored, &FieldNames::stored, &FieldNames::newer) : *stored;
  shown.Set("apiVersion", type.api_version());
  return ObjectPtr(std::move(shown));
}

Json StoredForm(const ResourceType& type, Json shown) {
  if (!IsNewerEvent(type)) return shown;
  Json stored = WithNames(shown, &FieldNames::newer, &FieldNames::stored);
  stored.Set("apiVersion", "v1");
  return stored;
}

std::string StoredFieldPath(const ResourceType& type, absl::string_view field) {
  if (!IsNewerEvent(type)) return std::string(field);
  const size_t dot = std::min(field.find('.'), field.size());
  return absl::StrCat(Renamed(field.substr(0, dot), &FieldNames::newer, &FieldNames::stored),
                      field.substr(dot));
}

}  // namespace maniple::devcluster
