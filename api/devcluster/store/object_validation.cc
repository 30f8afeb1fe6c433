#include "api/devcluster/store/object_validation.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/codec/quantity.h"
#include "api/devcluster/store/pod_validation.h"
#include "api/devcluster/types/names.h"
#include "api/validation/priority_class.h"
#include "api/validation/schema.h"

namespace maniple::devcluster {
namespace {

using Causes = std::vector<StatusCause>;

void ValidatePriorityClass(const Json& object, Causes& causes) {
  const std::string& name = object["metadata"]["name"].AsString();
  const int64_t value = object["value"].AsInt();
  if (HasNameOfSystem(name)) {
    if (IsSystemPriorityClass(name, value)) return;
    causes.push_back(ForbiddenValue(
        "metadata.name",
        absl::StrCat("priority class names with 'system-' prefix are reserved for system use only. "
                     "error: ",
                     name, " is not a known system priority class")));
  } else if (value > kHighestUserPriority) {
    causes.push_back(
        ForbiddenValue("value", absl::StrCat("maximum allowed value of a user defined priority is ",
                                             kHighestUserPriority)));
  }
  const std::string& policy = object["preemptionPolicy"].AsString();
  if (policy != "PreemptLowerPriority" && policy != "Never") {
    causes.push_back(
        NotSupportedValue("preemptionPolicy", policy, {"Never", "PreemptLowerPriority"}));
  }
}

void ValidateLease(const Json& object, Causes& causes) {
  const Json& spec = object["spec"];
  if (const Json& seconds = spec["leaseDurationSeconds"];
      seconds.is_int() && seconds.AsInt() <= 0) {
    causes.push_back(InvalidValue("spec.leaseDurationSeconds", seconds, "must be greater than 0"));
  }
  if (const Json& count = spec["leaseTransitions"]; count.is_int() && count.AsInt() < 0) {
    causes.push_back(
        InvalidValue("spec.leaseTransitions", count, "must be greater than or equal to 0"));
  }
}

void ValidateBudgetAmount(const Json& spec, absl::string_view member, Causes& causes) {
  const Json& amount = spec[member];
  const std::string field = absl::StrCat("spec.", member);
  if (amount.is_int() && amount.AsInt() < 0) {
    causes.push_back(InvalidValue(field, amount, "must be greater than or equal to 0"));
  }
  if (!amount.is_string()) return;
  absl::string_view digits = amount.AsString();
  int percent = 0;
  if (!absl::ConsumeSuffix(&digits, "%") || !absl::SimpleAtoi(digits, &percent)) {
    causes.push_back(InvalidValue(field, amount,
                                  "a valid percent string must be a numeric string followed by an "
                                  "ending '%' (e.g. '1%',  or '93%', regex used for validation is "
                                  "'[0-9]+%')"));
  } else if (percent > 100) {
    causes.push_back(InvalidValue(field, amount, "must not be greater than 100%"));
  }
}

void ValidateDisruptionBudget(const Json& object, Causes& causes) {
  const Json& spec = object["spec"];
  if (!spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null()) {
    causes.push_back(
        InvalidValue("spec", spec, "minAvailable and maxUnavailable cannot be both set"));
  }
  ValidateBudgetAmount(spec, "minAvailable", causes);
  ValidateBudgetAmount(spec, "maxUnavailable", causes);
}

void ValidateNode(const Json& object, Causes& causes) {
  std::set<std::string> seen;
  const std::vector<Json>& taints = object["spec"]["taints"].items();
  for (size_t i = 0; i < taints.size(); ++i) {
    const std::string at = absl::StrCat("metadata.taints[", i, "]");
    const std::string& key = taints[i]["key"].AsString();
    const std::string& effect = taints[i]["effect"].AsString();
    AppendInvalid(causes, absl::StrCat(at, ".key"), key, QualifiedNameProblems(key));
    if (effect.empty()) {
      causes.push_back(RequiredValue(absl::StrCat(at, ".effect"), ""));
    } else if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
      causes.push_back(NotSupportedValue(absl::StrCat(at, ".effect"), effect,
                                         {"NoSchedule", "PreferNoSchedule", "NoExecute"}));
    }
    if (!seen.insert(absl::StrCat(key, ":", effect)).second) {
      causes.push_back(DuplicateValue(at, absl::StrCat(key, ":", effect)));
    }
  }
  for (const absl::string_view part : {"capacity", "allocatable"}) {
    for (const auto& [name, amount] : object["status"][part].members()) {
      const absl::StatusOr<Quantity> parsed = Quantity::Parse(amount.AsString());
      if (!parsed.ok() || *parsed >= Quantity()) continue;
      causes.push_back(InvalidValue(absl::StrCat("status.", part, "[", name, "]"), amount,
                                    "must be greater than or equal to 0"));
    }
  }
}

void ValidateEvent(const ResourceType& type, const Json& event, Causes& causes) {
  const std::string& ns = event["metadata"]["namespace"].AsString();
  const std::string& about = event["involvedObject"]["namespace"].AsString();
  const auto need = [&](absl::string_view member, absl::string_view field, size_t limit) {
    const std::string& text = event[member].AsString();
    if (text.empty()) causes.push_back(RequiredValue(field, ""));
    if (text.size() > limit) {
      causes.push_back(
          InvalidValue(field, "", absl::StrCat("can have at most ", limit, " characters")));
    }
  };
  const bool newer = type.group == "events.k8s.io";
  if (event["eventTime"].AsString().empty()) {
    const bool agrees = about.empty() ? ns == "default" : ns == about;
    if (!agrees) {
      causes.push_back(
          InvalidValue("involvedObject.namespace", about, "does not match event.namespace"));
    }
  } else {
    if (about.empty() && ns != "default" && ns != "kube-system") {
      causes.push_back(
          InvalidValue("involvedObject.namespace", about, "does not match event.namespace"));
    }
    const absl::string_view reporter = newer ? "reportingController" : "reportingComponent";
    const std::string& component = event["reportingComponent"].AsString();
    if (component.empty()) causes.push_back(RequiredValue(reporter, ""));
    AppendInvalid(causes, reporter, component, QualifiedNameProblems(component));
    need("reportingInstance", "reportingInstance", 128);
    need("action", "action", 128);
    need("reason", "reason", 128);
    if (event["message"].AsString().size() > 1024) {
      causes.push_back(InvalidValue("message", "", "can have at most 1024 characters"));
    }
  }
  if (!newer) return;
  if (const Json& series = event["series"]; series.is_object()) {
    if (series["count"].AsInt() < 2) {
      causes.push_back(InvalidValue("series.count", "", "should be at least 2"));
    }
    if (series["lastObservedTime"].AsString().empty()) {
      causes.push_back(RequiredValue("series.lastObservedTime", ""));
    }
  }
}

void ValidateNewerEvent(const Json& event, Causes& causes) {
  if (event["eventTime"].AsString().empty()) causes.push_back(RequiredValue("eventTime", ""));
  const std::string& kind = event["type"].AsString();
  if (kind != "Normal" && kind != "Warning") {
    causes.push_back(InvalidValue("type", "", absl::StrCat("has invalid value: ", kind)));
  }
  for (const absl::string_view member : {"firstTimestamp", "lastTimestamp"}) {
    if (event[member].is_string()) causes.push_back(InvalidValue(member, "", "needs to be unset"));
  }
  if (event["count"].AsInt() != 0) causes.push_back(InvalidValue("count", "", "needs to be unset"));
  if (event["source"].size() > 0) causes.push_back(InvalidValue("source", "", "needs to be unset"));
}

// The pods of a StatefulSet mount its claims by the names of their templates.
Json WithVolumesOfClaims(const Json& spec) {
  Json pod = spec["template"]["spec"];
  for (const Json& claim : spec["volumeClaimTemplates"].items()) {
    const Json& name = claim["metadata"]["name"];
    const std::vector<Json>& volumes = pod["volumes"].items();
    const bool given = std::any_of(volumes.begin(), volumes.end(),
                                   [&](const Json& volume) { return volume["name"] == name; });
    if (!given) pod.Mutable("volumes").Append(Json::Object({{"name", name}}));
  }
  return pod;
}

void ValidateWorkload(const Json& object, Causes& causes) {
  const Json& spec = object["spec"];
  if (spec["selector"].size() == 0) {
    causes.push_back(RequiredValue("spec.selector", ""));
  }
  ValidatePodSpec(WithVolumesOfClaims(spec), "spec.template.spec", causes);
}

void ValidateJob(const Json& object, Causes& causes) {
  const Json& spec = object["spec"];
  for (const absl::string_view member : {"parallelism", "completions", "backoffLimit"}) {
    if (spec[member].is_int() && spec[member].AsInt() < 0) {
      causes.push_back(InvalidValue(absl::StrCat("spec.", member), spec[member],
                                    "must be greater than or equal to 0"));
    }
  }
  ValidatePodSpec(spec["template"]["spec"], "spec.template.spec", causes);
  const std::string& restart = spec["template"]["spec"]["restartPolicy"].AsString();
  if (restart == "Always") {
    causes.push_back({.reason = "FieldValueRequired",
                      .message = "Required value: valid values: \"OnFailure\", \"Never\"",
                      .field = "spec.template.spec.restartPolicy"});
  }
}

void ValidateKeys(const Json& object, Causes& causes) {
  for (const absl::string_view member : {"data", "binaryData"}) {
    for (const auto& [key, value] : object[member].members()) {
      const bool fits = !key.empty() && key.size() <= 253 && key != "." &&
                        !absl::StartsWith(key, "..") &&
                        std::all_of(key.begin(), key.end(), [](char c) {
                          return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
                        });
      if (fits) continue;
      causes.push_back(InvalidValue(
          absl::StrCat(member, "[", key, "]"), Json(key),
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
          "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
          "'[-._a-zA-Z0-9]+')"));
    }
  }
}

void ValidateVolumeClaim(const Json& object, Causes& causes) {
  const Json& spec = object["spec"];
  if (spec["accessModes"].size() == 0) {
    causes.push_back(RequiredValue("spec.accessModes", "at least 1 access mode is required"));
  }
  if (spec["resources"]["requests"]["storage"].is_null()) {
    causes.push_back(RequiredValue("spec.resources[storage]", ""));
  }
}

void ValidateStorageClass(const Json& object, Causes& causes) {
  if (object["provisioner"].AsString().empty()) causes.push_back(RequiredValue("provisioner", ""));
}

void ValidateRuntimeClass(const Json& object, Causes& causes) {
  const std::string& handler = object["handler"].AsString();
  AppendInvalid(causes, "handler", handler, DnsLabelProblems(handler));
}

void ValidateCrdNames(const Json& crd, Causes& causes) {
  const Json& spec = crd["spec"];
  const Json& names = spec["names"];
  for (const absl::string_view member : {"plural", "singular", "kind", "listKind"}) {
    if (names[member].AsString().empty()) {
      causes.push_back(RequiredValue(absl::StrCat("spec.names.", member), ""));
    }
  }
  const std::string& group = spec["group"].AsString();
  const std::string want = absl::StrCat(names["plural"].AsString(), ".", group);
  if (crd["metadata"]["name"].AsString() != want) {
    causes.push_back(InvalidValue("metadata.name", crd["metadata"]["name"],
                                  "must be spec.names.plural+\".\"+spec.group"));
  }
  if (group.empty()) {
    causes.push_back(RequiredValue("spec.group", ""));
  } else if (!absl::StrContains(group, '.')) {
    causes.push_back(InvalidValue("spec.group", group, "should be a domain with at least one dot"));
  }
}

void ValidateCrd(const Json& crd, Causes& causes) {
  const Json& spec = crd["spec"];
  ValidateCrdNames(crd, causes);
  const std::string& scope = spec["scope"].AsString();
  if (scope.empty()) {
    causes.push_back(RequiredValue("spec.scope", ""));
  } else if (scope != "Cluster" && scope != "Namespaced") {
    causes.push_back(NotSupportedValue("spec.scope", scope, {"Cluster", "Namespaced"}));
  }
  int stored = 0;
  std::set<std::string> versions;
  for (size_t i = 0; i < spec["versions"].size(); ++i) {
    const Json& version = spec["versions"].items()[i];
    const std::string at = absl::StrCat("spec.versions[", i, "]");
    const std::string& name = version["name"].AsString();
    AppendInvalid(causes, absl::StrCat(at, ".name"), name, DnsLabelProblems(name));
    if (!versions.insert(name).second) {
      causes.push_back(
          InvalidValue("spec.versions", spec["versions"], "must contain unique version names"));
    }
    if (version["storage"].AsBool()) ++stored;
    if (!version["schema"]["openAPIV3Schema"].is_object()) {
      causes.push_back(RequiredValue(absl::StrCat(at, ".schema.openAPIV3Schema"), ""));
    }
  }
  if (stored != 1) {
    causes.push_back(InvalidValue("spec.versions", spec["versions"],
                                  "must have exactly one version marked as storage version"));
  }
  const std::string& strategy = spec["conversion"]["strategy"].AsString();
  if (strategy != "None") {
    causes.push_back(NotSupportedValue("spec.conversion.strategy", strategy, {"None"}));
  }
}

void ValidateAnyObject(const ResourceType& type, const Json& object, Causes& causes) {
  const std::string& kind = type.kind;
  if (kind == "PriorityClass") return ValidatePriorityClass(object, causes);
  if (kind == "Lease") return ValidateLease(object, causes);
  if (kind == "PodDisruptionBudget") return ValidateDisruptionBudget(object, causes);
  if (kind == "Node") return ValidateNode(object, causes);
  if (kind == "ConfigMap" || kind == "Secret") return ValidateKeys(object, causes);
  if (kind == "Event") return ValidateEvent(type, object, causes);
  if (kind == "Job") return ValidateJob(object, causes);
  if (kind == "PersistentVolumeClaim") return ValidateVolumeClaim(object, causes);
  if (kind == "StorageClass") return ValidateStorageClass(object, causes);
  if (kind == "RuntimeClass") return ValidateRuntimeClass(object, causes);
  if (kind == "CustomResourceDefinition") return ValidateCrd(object, causes);
  if (type.group == "apps") return ValidateWorkload(object, causes);
}

void RequireSame(const Json& old_object, const Json& object, absl::string_view path,
                 Causes& causes) {
  if (old_object.At(path) == object.At(path)) return;
  causes.push_back(InvalidValue(path, object.At(path), "field is immutable"));
}

void ValidateBySchema(const ResourceType& type, const Json& object, const Json* old_object,
                      Causes& causes) {
  if (type.schema == nullptr) return;
  for (const FieldError& error : type.schema->Validate(object, old_object)) {
    causes.push_back({.reason = std::string(FieldErrorReasonName(error.reason)),
                      .message = error.message,
                      .field = error.path});
  }
}

}  // namespace

void ValidateNewObject(const ResourceType& type, const Json& object, Causes& causes) {
  if (type.custom) return ValidateBySchema(type, object, nullptr, causes);
  if (type.kind == "Pod") return ValidateNewPod(object, causes);
  ValidateAnyObject(type, object, causes);
  if (type.group == "events.k8s.io") ValidateNewerEvent(object, causes);
}

void ValidateObjectChange(const ResourceType& type, const Json& old_object, const Json& object,
                          WritePart part, Causes& causes) {
  if (type.custom) return ValidateBySchema(type, object, &old_object, causes);
  if (type.kind == "Pod") {
    return part == WritePart::kStatus ? ValidatePodStatusChange(old_object, object, causes)
                                      : ValidatePodChange(old_object, object, causes);
  }
  if (part == WritePart::kStatus) return;
  ValidateAnyObject(type, object, causes);
  if (type.kind == "PriorityClass") {
    if (!(old_object["value"] == object["value"])) {
      causes.push_back(ForbiddenValue("value", "may not be changed in an update."));
    }
    RequireSame(old_object, object, "preemptionPolicy", causes);
  } else if (type.kind == "RuntimeClass") {
    RequireSame(old_object, object, "handler", causes);
  } else if (type.group == "apps") {
    RequireSame(old_object, object, "spec.selector", causes);
  } else if (type.kind == "Job") {
    RequireSame(old_object, object, "spec.selector", causes);
    RequireSame(old_object, object, "spec.template", causes);
    RequireSame(old_object, object, "spec.completionMode", causes);
  } else if (type.kind == "Secret" || type.kind == "ConfigMap") {
    if (!old_object["immutable"].AsBool()) return;
    RequireSame(old_object, object, "data", causes);
    RequireSame(old_object, object, "binaryData", causes);
  } else if (type.kind == "CustomResourceDefinition") {
    RequireSame(old_object, object, "spec.group", causes);
    RequireSame(old_object, object, "spec.names.kind", causes);
    RequireSame(old_object, object, "spec.names.plural", causes);
    RequireSame(old_object, object, "spec.scope", causes);
  } else if (type.group == "events.k8s.io") {
    for (const absl::string_view field :
         {"involvedObject", "reason", "message", "type", "eventTime", "action", "related",
          "reportingComponent", "reportingInstance"}) {
      RequireSame(old_object, object, field, causes);
    }
  }
}

}  // namespace maniple::devcluster
