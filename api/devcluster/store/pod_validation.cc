#include "api/devcluster/store/pod_validation.h"

#include <algorithm>
#include <limits>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/codec/quantity.h"
#include "api/devcluster/store/pod_terms_validation.h"
#include "api/devcluster/types/names.h"

namespace maniple::devcluster {
namespace {

constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();

std::string AmountText(const Json& amount) {
  return amount.is_string() ? amount.AsString() : amount.Dump();
}

bool IsExtended(absl::string_view resource) {
  return absl::StrContains(resource, '/') && !absl::StrContains(resource, "kubernetes.io/");
}

bool MayOvercommit(absl::string_view resource) {
  return !IsExtended(resource) && !absl::StartsWith(resource, "hugepages-");
}

void ValidateResourceName(absl::string_view name, absl::string_view field,
                          std::vector<StatusCause>& causes) {
  const std::vector<std::string> problems = QualifiedNameProblems(name);
  AppendInvalid(causes, field, name, problems);
  if (!problems.empty() || absl::StrContains(name, '/')) return;
  if (name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
      absl::StartsWith(name, "hugepages-")) {
    return;
  }
  if (name == "pods" || name == "storage") {
    causes.push_back(InvalidValue(field, name, "must be a standard resource for containers"));
    return;
  }
  causes.push_back(
      InvalidValue(field, name, "must be a standard resource type or fully qualified"));
  causes.push_back(InvalidValue(field, name, "must be a standard resource for containers"));
}

void ValidateAmounts(const Json& amounts, absl::string_view field,
                     std::vector<StatusCause>& causes) {
  for (const auto& [name, amount] : amounts.members()) {
    const std::string at = absl::StrCat(field, "[", name, "]");
    ValidateResourceName(name, at, causes);
    const absl::StatusOr<Quantity> parsed = Quantity::Parse(AmountText(amount));
    if (!parsed.ok()) continue;  // refused while decoding
    if (*parsed < Quantity()) {
      causes.push_back(InvalidValue(at, AmountText(amount), "must be greater than or equal to 0"));
    }
    if (IsExtended(name) && !parsed->IsWhole()) {
      causes.push_back(InvalidValue(at, AmountText(amount), "must be an integer"));
    }
  }
}

void ValidateResources(const Json& resources, absl::string_view field,
                       std::vector<StatusCause>& causes) {
  const std::string limits_at = absl::StrCat(field, ".limits");
  const std::string requests_at = absl::StrCat(field, ".requests");
  ValidateAmounts(resources["limits"], limits_at, causes);
  ValidateAmounts(resources["requests"], requests_at, causes);
  for (const auto& [name, amount] : resources["requests"].members()) {
    const absl::StatusOr<Quantity> request = Quantity::Parse(AmountText(amount));
    const Json* limit_json = resources["limits"].Find(name);
    if (limit_json == nullptr) {
      if (!MayOvercommit(name)) {
        causes.push_back(
            RequiredValue(limits_at, "Limit must be set for non overcommitable resources"));
      }
      continue;
    }
    const absl::StatusOr<Quantity> limit = Quantity::Parse(AmountText(*limit_json));
    if (!request.ok() || !limit.ok()) continue;
    if (*request != *limit && !MayOvercommit(name)) {
      causes.push_back(InvalidValue(
          requests_at, AmountText(amount),
          absl::StrCat("must be equal to ", name, " limit of ", AmountText(*limit_json))));
    } else if (*request > *limit) {
      causes.push_back(InvalidValue(requests_at, AmountText(amount),
                                    absl::StrCat("must be less than or equal to ", name,
                                                 " limit of ", AmountText(*limit_json))));
    }
  }
}

void ValidatePorts(const Json& ports, absl::string_view field, std::vector<StatusCause>& causes) {
  for (size_t i = 0; i < ports.size(); ++i) {
    const Json& port = ports.items()[i];
    const std::string at = absl::StrCat(field, "[", i, "]");
    const int64_t container_port = port["containerPort"].AsInt();
    if (container_port == 0) {
      causes.push_back(RequiredValue(absl::StrCat(at, ".containerPort"), ""));
    } else if (container_port < 1 || container_port > 65535) {
      causes.push_back(InvalidValue(absl::StrCat(at, ".containerPort"), container_port,
                                    "must be between 1 and 65535, inclusive"));
    }
    const int64_t host_port = port["hostPort"].AsInt();
    if (host_port < 0 || host_port > 65535) {
      causes.push_back(InvalidValue(absl::StrCat(at, ".hostPort"), host_port,
                                    "must be between 1 and 65535, inclusive"));
    }
    const std::string& protocol = port["protocol"].AsString();
    if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
      causes.push_back(
          NotSupportedValue(absl::StrCat(at, ".protocol"), protocol, {"SCTP", "TCP", "UDP"}));
    }
  }
}

// Their names, without those of volumes that are refused.
std::set<std::string> ValidateVolumes(const Json& volumes, absl::string_view field,
                                      std::vector<StatusCause>& causes) {
  std::set<std::string> names;
  for (size_t i = 0; i < volumes.size(); ++i) {
    const std::string at = absl::StrCat(field, "[", i, "].name");
    const std::string& name = volumes.items()[i]["name"].AsString();
    if (name.empty()) {
      causes.push_back(RequiredValue(at, ""));
    } else if (names.contains(name)) {
      causes.push_back(DuplicateValue(at, name));
    } else if (const std::vector<std::string> problems = DnsLabelProblems(name);
               !problems.empty()) {
      AppendInvalid(causes, at, name, problems);
    } else {
      names.insert(name);
    }
  }
  return names;
}

void ValidateMounts(const Json& mounts, absl::string_view field,
                    const std::set<std::string>& volumes, std::vector<StatusCause>& causes) {
  std::set<std::string> paths;
  for (size_t i = 0; i < mounts.size(); ++i) {
    const std::string name_at = absl::StrCat(field, "[", i, "].name");
    const std::string path_at = absl::StrCat(field, "[", i, "].mountPath");
    const std::string& name = mounts.items()[i]["name"].AsString();
    const std::string& path = mounts.items()[i]["mountPath"].AsString();
    if (name.empty()) causes.push_back(RequiredValue(name_at, ""));
    if (!volumes.contains(name)) causes.push_back(NotFoundValue(name_at, name));
    if (path.empty()) causes.push_back(RequiredValue(path_at, ""));
    if (!paths.insert(path).second) {
      causes.push_back(InvalidValue(path_at, Json(path), "must be unique"));
    }
  }
}

void ValidateContainers(const Json& containers, absl::string_view field,
                        const std::set<std::string>& volumes, std::set<std::string>& names,
                        std::vector<StatusCause>& causes) {
  for (size_t i = 0; i < containers.size(); ++i) {
    const Json& container = containers.items()[i];
    const std::string at = absl::StrCat(field, "[", i, "]");
    const std::string& name = container["name"].AsString();
    if (name.empty()) {
      causes.push_back(RequiredValue(absl::StrCat(at, ".name"), ""));
    } else {
      AppendInvalid(causes, absl::StrCat(at, ".name"), name, DnsLabelProblems(name));
    }
    if (container["image"].AsString().empty()) {
      causes.push_back(RequiredValue(absl::StrCat(at, ".image"), ""));
    }
    ValidatePorts(container["ports"], absl::StrCat(at, ".ports"), causes);
    ValidateMounts(container["volumeMounts"], absl::StrCat(at, ".volumeMounts"), volumes, causes);
    const std::string& pull = container["imagePullPolicy"].AsString();
    if (pull != "Always" && pull != "IfNotPresent" && pull != "Never") {
      causes.push_back(NotSupportedValue(absl::StrCat(at, ".imagePullPolicy"), pull,
                                         {"Always", "IfNotPresent", "Never"}));
    }
    ValidateResources(container["resources"], absl::StrCat(at, ".resources"), causes);
    if (!name.empty() && !names.insert(name).second) {
      causes.push_back(DuplicateValue(absl::StrCat(at, ".name"), name));
    }
  }
}

void ValidateTolerations(const Json& tolerations, absl::string_view field,
                         std::vector<StatusCause>& causes) {
  for (size_t i = 0; i < tolerations.size(); ++i) {
    const Json& toleration = tolerations.items()[i];
    const std::string at = absl::StrCat(field, "[", i, "]");
    const std::string& key = toleration["key"].AsString();
    const std::string& op = toleration["operator"].AsString();
    const std::string& effect = toleration["effect"].AsString();
    const std::string& value = toleration["value"].AsString();
    if (!key.empty())
      AppendInvalid(causes, absl::StrCat(at, ".key"), key, QualifiedNameProblems(key));
    if (key.empty() && op != "Exists") {
      causes.push_back(InvalidValue(absl::StrCat(at, ".operator"), op,
                                    "operator must be Exists when `key` is empty, which means "
                                    "\"match all values and all keys\""));
    }
    if (toleration["tolerationSeconds"].is_number() && effect != "NoExecute") {
      causes.push_back(InvalidValue(absl::StrCat(at, ".effect"), effect,
                                    "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (op == "Exists" && !value.empty()) {
      causes.push_back(InvalidValue(absl::StrCat(at, ".operator"), value,
                                    "value must be empty when `operator` is 'Exists'"));
    } else if (op != "Exists" && op != "Equal" && !op.empty()) {
      causes.push_back(NotSupportedValue(absl::StrCat(at, ".operator"), op, {"Equal", "Exists"}));
    }
    if (!effect.empty() && effect != "NoSchedule" && effect != "PreferNoSchedule" &&
        effect != "NoExecute") {
      causes.push_back(NotSupportedValue(absl::StrCat(at, ".effect"), effect,
                                         {"NoSchedule", "PreferNoSchedule", "NoExecute"}));
    }
  }
}

void ValidateGates(const Json& gates, absl::string_view field, std::vector<StatusCause>& causes) {
  std::set<std::string> seen;
  for (size_t i = 0; i < gates.size(); ++i) {
    const std::string& name = gates.items()[i]["name"].AsString();
    const std::string at = absl::StrCat(field, "[", i, "]");
    AppendInvalid(causes, at, name, QualifiedNameProblems(name));
    if (!seen.insert(name).second) causes.push_back(DuplicateValue(at, name));
  }
}

void ValidateChoice(const Json& spec, absl::string_view member, absl::string_view field,
                    const std::vector<std::string>& choices, std::vector<StatusCause>& causes) {
  const std::string& value = spec[member].AsString();
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  causes.push_back(NotSupportedValue(absl::StrCat(field, ".", member), value, choices));
}

// spec without the members that a check of its own has looked at.
Json Without(Json spec, std::initializer_list<absl::string_view> members) {
  for (const absl::string_view member : members) spec.Erase(member);
  return spec;
}

void CopyImages(const Json& from, Json& to, absl::string_view list) {
  Json* containers = to.Find(list);
  if (containers == nullptr || !containers->is_array()) return;
  for (size_t i = 0; i < containers->size(); ++i) {
    Json& container = containers->mutable_items()[i];
    if (container.is_object()) container.Set("image", from[list].items()[i]["image"]);
  }
}

bool ValidateContainerChange(const Json& old_list, const Json& list, absl::string_view field,
                             std::vector<StatusCause>& causes) {
  if (old_list.size() != list.size()) {
    causes.push_back(ForbiddenValue(field, "pod updates may not add or remove containers"));
    return false;
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (list.items()[i]["image"].AsString().empty()) {
      causes.push_back(RequiredValue(absl::StrCat(field, "[", i, "].image"), ""));
    }
  }
  return true;
}

void ValidateOnlyAddedTolerations(const Json& old_spec, const Json& spec,
                                  std::vector<StatusCause>& causes) {
  for (const Json& old_toleration : old_spec["tolerations"].items()) {
    const Json wanted = Without(old_toleration, {"tolerationSeconds"});
    const std::vector<Json>& now = spec["tolerations"].items();
    if (std::none_of(now.begin(), now.end(), [&](const Json& toleration) {
          return Without(toleration, {"tolerationSeconds"}) == wanted;
        })) {
      causes.push_back(
          ForbiddenValue("spec.tolerations",
                         "existing toleration can not be modified except its tolerationSeconds"));
      return;
    }
  }
  ValidateTolerations(spec["tolerations"], "spec.tolerations", causes);
}

void ValidateOnlyRemovedGates(const Json& old_spec, const Json& spec,
                              std::vector<StatusCause>& causes) {
  const std::vector<Json>& old_gates = old_spec["schedulingGates"].items();
  for (size_t i = 0; i < spec["schedulingGates"].size(); ++i) {
    const Json& gate = spec["schedulingGates"].items()[i];
    if (std::find(old_gates.begin(), old_gates.end(), gate) != old_gates.end()) continue;
    causes.push_back(
        ForbiddenValue(absl::StrCat("spec.schedulingGates[", i, "].name"),
                       absl::StrCat("only deletion is allowed, but found new scheduling gate '",
                                    gate["name"].AsString(), "'")));
  }
}

void ValidateDeadlineChange(const Json& old_spec, const Json& spec,
                            std::vector<StatusCause>& causes) {
  const Json& old_deadline = old_spec["activeDeadlineSeconds"];
  const Json& deadline = spec["activeDeadlineSeconds"];
  constexpr absl::string_view kField = "spec.activeDeadlineSeconds";
  if (deadline.is_number()) {
    if (deadline.AsInt() < 0 || deadline.AsInt() > kMaxInt32) {
      causes.push_back(
          InvalidValue(kField, deadline, "must be between 0 and 2147483647, inclusive"));
    } else if (old_deadline.is_number() && old_deadline.AsInt() < deadline.AsInt()) {
      causes.push_back(
          InvalidValue(kField, deadline, "must be less than or equal to previous value"));
    }
  } else if (old_deadline.is_number()) {
    causes.push_back(
        InvalidValue(kField, nullptr, "must not update from a positive integer to nil value"));
  }
}

}  // namespace

void ValidatePodSpec(const Json& spec, absl::string_view field, std::vector<StatusCause>& causes) {
  const auto at = [&](absl::string_view member) { return absl::StrCat(field, ".", member); };
  std::set<std::string> names;
  const std::set<std::string> volumes = ValidateVolumes(spec["volumes"], at("volumes"), causes);
  if (spec["containers"].size() == 0) {
    causes.push_back(RequiredValue(at("containers"), ""));
  }
  ValidateContainers(spec["containers"], at("containers"), volumes, names, causes);
  ValidateContainers(spec["initContainers"], at("initContainers"), volumes, names, causes);
  ValidateChoice(spec, "restartPolicy", field, {"Always", "OnFailure", "Never"}, causes);
  ValidateChoice(spec, "dnsPolicy", field,
                 {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"}, causes);
  for (const auto& [key, value] : spec["nodeSelector"].members()) {
    AppendInvalid(causes, at("nodeSelector"), key, QualifiedNameProblems(key));
    AppendInvalid(causes, at("nodeSelector"), value.AsString(),
                  LabelValueProblems(value.AsString()));
  }
  ValidateAffinity(spec["affinity"], at("affinity"), causes);
  ValidateGates(spec["schedulingGates"], at("schedulingGates"), causes);
  ValidateTopologySpread(spec["topologySpreadConstraints"], at("topologySpreadConstraints"),
                         causes);
  if (const std::string& node = spec["nodeName"].AsString(); !node.empty()) {
    AppendInvalid(causes, at("nodeName"), node, DnsSubdomainProblems(node));
  }
  if (const Json& deadline = spec["activeDeadlineSeconds"]; deadline.is_number()) {
    if (deadline.AsInt() < 1 || deadline.AsInt() > kMaxInt32) {
      causes.push_back(InvalidValue(at("activeDeadlineSeconds"), deadline,
                                    "must be between 1 and 2147483647, inclusive"));
    }
  }
  if (const Json& grace = spec["terminationGracePeriodSeconds"];
      grace.is_number() && grace.AsInt() < 0) {
    causes.push_back(InvalidValue(at("terminationGracePeriodSeconds"), grace,
                                  "must be greater than or equal to 0"));
  }
  ValidateTolerations(spec["tolerations"], at("tolerations"), causes);
  if (const Json& policy = spec["preemptionPolicy"]; policy.is_string()) {
    ValidateChoice(spec, "preemptionPolicy", field, {"Never", "PreemptLowerPriority"}, causes);
  }
  ValidateAmounts(spec["overhead"], at("overhead"), causes);
}

void ValidateNewPod(const Json& pod, std::vector<StatusCause>& causes) {
  ValidatePodSpec(pod["spec"], "spec", causes);
  if (!pod["spec"]["nodeName"].AsString().empty() && pod["spec"]["schedulingGates"].size() > 0) {
    causes.push_back(ForbiddenValue("spec.nodeName",
                                    "cannot be set until all schedulingGates have been cleared"));
  }
}

void ValidatePodChange(const Json& old_pod, const Json& pod, std::vector<StatusCause>& causes) {
  const Json& old_spec = old_pod["spec"];
  const Json& spec = pod["spec"];
  if (old_spec == spec) return;
  ValidatePodSpec(spec, "spec", causes);
  if (!ValidateContainerChange(old_spec["containers"], spec["containers"], "spec.containers",
                               causes) ||
      !ValidateContainerChange(old_spec["initContainers"], spec["initContainers"],
                               "spec.initContainers", causes)) {
    return;
  }
  ValidateDeadlineChange(old_spec, spec, causes);
  ValidateOnlyAddedTolerations(old_spec, spec, causes);
  ValidateOnlyRemovedGates(old_spec, spec, causes);

  const std::initializer_list<absl::string_view> checked = {"activeDeadlineSeconds", "tolerations",
                                                            "schedulingGates"};
  Json rest = Without(spec, checked);
  CopyImages(old_spec, rest, "containers");
  CopyImages(old_spec, rest, "initContainers");
  Json old_rest = Without(old_spec, checked);
  if (old_spec["schedulingGates"].size() > 0) {
    const Json& selector = spec["nodeSelector"];
    const auto& old_terms = old_spec["nodeSelector"].members();
    if (std::any_of(old_terms.begin(), old_terms.end(), [&](const Json::Member& term) {
          return !(selector[term.first] == term.second);
        })) {
      causes.push_back(InvalidValue(
          "spec.nodeSelector", selector,
          "only additions to spec.nodeSelector are allowed (no mutations or deletions)"));
    }
    for (Json* side : {&rest, &old_rest}) {
      side->Erase("nodeSelector");
      if (Json* affinity = side->Find("affinity"); affinity != nullptr && affinity->is_object()) {
        affinity->Erase("nodeAffinity");
        if (affinity->size() == 0) side->Erase("affinity");
      }
    }
  }
  if (rest == old_rest) return;
  causes.push_back(ForbiddenValue(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,"
      "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
      "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
      "set to 1 if it was previously negative)"));
}

void ValidatePodStatusChange(const Json& old_pod, const Json& pod,
                             std::vector<StatusCause>& causes) {
  const std::string& nominated = pod["status"]["nominatedNodeName"].AsString();
  const bool changed = nominated != old_pod["status"]["nominatedNodeName"].AsString();
  if (changed && !nominated.empty()) {
    AppendInvalid(causes, "status.nominatedNodeName", nominated, DnsSubdomainProblems(nominated));
    if (!old_pod["spec"]["nodeName"].AsString().empty()) {
      causes.push_back(ForbiddenValue("status.nominatedNodeName",
                                      "may not be set on pods that are already bound to a node"));
    }
  }
  if (!(pod["status"]["qosClass"] == old_pod["status"]["qosClass"])) {
    causes.push_back(
        InvalidValue("status.qosClass", pod["status"]["qosClass"], "field is immutable"));
  }
}

}  // namespace maniple::devcluster
