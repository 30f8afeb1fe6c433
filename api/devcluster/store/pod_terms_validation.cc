#include "api/devcluster/store/pod_terms_validation.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "api/devcluster/types/names.h"

namespace maniple::devcluster {
namespace {

using Causes = std::vector<StatusCause>;

constexpr absl::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr absl::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr absl::string_view kDoNotSchedule = "DoNotSchedule";
constexpr absl::string_view kScheduleAnyway = "ScheduleAnyway";

// visit(item, "field[i]") for each item of a list.
template <typename F>
void ForEachItem(const Json& list, absl::string_view field, const F& visit) {
  for (size_t i = 0; i < list.size(); ++i) {
    visit(list.items()[i], absl::StrCat(field, "[", i, "]"));
  }
}

bool IsOneOf(absl::string_view text, absl::string_view a, absl::string_view b) {
  return text == a || text == b;
}

StatusCause UnknownOperator(absl::string_view at, const Json& requirement) {
  return InvalidValue(absl::StrCat(at, ".operator"), Json(requirement["operator"].AsString()),
                      "not a valid selector operator");
}

void ValidateLabelKey(absl::string_view key, absl::string_view field, Causes& causes) {
  AppendInvalid(causes, field, key, QualifiedNameProblems(key));
}

void ValidateLabelValues(const Json& requirement, absl::string_view at, Causes& causes) {
  ForEachItem(requirement["values"], absl::StrCat(at, ".values"),
              [&](const Json& value, const std::string& value_at) {
                AppendInvalid(causes, value_at, value.AsString(),
                              LabelValueProblems(value.AsString()));
              });
}

// Nodes are also compared by number.
enum class Operators { kOfPods, kOfNodes };

// All of a requirement on labels but its values.
void ValidateRequirement(const Json& requirement, absl::string_view at, Operators operators,
                         Causes& causes) {
  const std::string& op = requirement["operator"].AsString();
  const size_t count = requirement["values"].size();
  const std::string values_at = absl::StrCat(at, ".values");
  if (IsOneOf(op, "In", "NotIn")) {
    if (count == 0) {
      causes.push_back(
          RequiredValue(values_at, "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (IsOneOf(op, "Exists", "DoesNotExist")) {
    if (count > 0) {
      causes.push_back(ForbiddenValue(
          values_at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else if (operators == Operators::kOfNodes && IsOneOf(op, "Gt", "Lt")) {
    if (count != 1) {
      causes.push_back(RequiredValue(
          values_at, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    }
  } else {
    causes.push_back(UnknownOperator(at, requirement));
  }
  ValidateLabelKey(requirement["key"].AsString(), absl::StrCat(at, ".key"), causes);
}

void ValidateLabelSelector(const Json& selector, absl::string_view field, Causes& causes) {
  const std::string labels_at = absl::StrCat(field, ".matchLabels");
  for (const auto& [key, value] : selector["matchLabels"].members()) {
    ValidateLabelKey(key, labels_at, causes);
    AppendInvalid(causes, labels_at, value.AsString(), LabelValueProblems(value.AsString()));
  }
  ForEachItem(selector["matchExpressions"], absl::StrCat(field, ".matchExpressions"),
              [&](const Json& requirement, const std::string& at) {
                ValidateRequirement(requirement, at, Operators::kOfPods, causes);
                ValidateLabelValues(requirement, at, causes);
              });
}

// Keys whose values on the new pod join the selector of a term.
void ValidateKeysOfOwnLabels(const Json& term, absl::string_view member, absl::string_view at,
                             Causes& causes) {
  const std::string field = absl::StrCat(at, ".", member);
  if (term[member].size() > 0 && !term["labelSelector"].is_object()) {
    causes.push_back(ForbiddenValue(field, "must not be specified when labelSelector is not set"));
    return;
  }
  ForEachItem(term[member], field, [&](const Json& key, const std::string& key_at) {
    ValidateLabelKey(key.AsString(), key_at, causes);
  });
}

// ---------------------------------------------------------------- terms about nodes

// A field of nodes; there is only their name.
void ValidateNodeField(const Json& requirement, absl::string_view at, Causes& causes) {
  const std::string& key = requirement["key"].AsString();
  const std::string values_at = absl::StrCat(at, ".values");
  if (!IsOneOf(requirement["operator"].AsString(), "In", "NotIn")) {
    causes.push_back(UnknownOperator(at, requirement));
  } else if (requirement["values"].size() != 1) {
    causes.push_back(RequiredValue(
        values_at,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  }
  if (key != "metadata.name") {
    causes.push_back(
        InvalidValue(absl::StrCat(at, ".key"), Json(key), "not a valid field selector key"));
    return;
  }
  ForEachItem(requirement["values"], values_at, [&](const Json& name, const std::string& name_at) {
    AppendInvalid(causes, name_at, name.AsString(), DnsSubdomainProblems(name.AsString()));
  });
}

// Kubernetes lets any text be a value of a term that is only preferred.
enum class NodeTerm { kRequired, kPreferred };

void ValidateNodeTerm(const Json& term, absl::string_view field, NodeTerm kind, Causes& causes) {
  ForEachItem(term["matchExpressions"], absl::StrCat(field, ".matchExpressions"),
              [&](const Json& requirement, const std::string& at) {
                ValidateRequirement(requirement, at, Operators::kOfNodes, causes);
                if (kind == NodeTerm::kRequired) ValidateLabelValues(requirement, at, causes);
              });
  ForEachItem(term["matchFields"], absl::StrCat(field, ".matchFields"),
              [&](const Json& requirement, const std::string& at) {
                ValidateNodeField(requirement, at, causes);
              });
}

void ValidateWeight(const Json& preference, absl::string_view at, Causes& causes) {
  const int64_t weight = preference["weight"].AsInt();
  if (weight >= 1 && weight <= 100) return;
  causes.push_back(
      InvalidValue(absl::StrCat(at, ".weight"), Json(weight), "must be in the range 1-100"));
}

void ValidateNodeAffinity(const Json& affinity, absl::string_view field, Causes& causes) {
  if (const Json& required = affinity[kRequired]; required.is_object()) {
    const std::string terms_at = absl::StrCat(field, ".", kRequired, ".nodeSelectorTerms");
    const Json& terms = required["nodeSelectorTerms"];
    if (terms.size() == 0) {
      causes.push_back(RequiredValue(terms_at, "must have at least one node selector term"));
    }
    ForEachItem(terms, terms_at, [&](const Json& term, const std::string& at) {
      ValidateNodeTerm(term, at, NodeTerm::kRequired, causes);
    });
  }
  ForEachItem(affinity[kPreferred], absl::StrCat(field, ".", kPreferred),
              [&](const Json& preferred, const std::string& at) {
                ValidateWeight(preferred, at, causes);
                ValidateNodeTerm(preferred["preference"], absl::StrCat(at, ".preference"),
                                 NodeTerm::kPreferred, causes);
              });
}

// ---------------------------------------------------------------- terms about pods

void ValidatePodTerm(const Json& term, absl::string_view at, Causes& causes) {
  for (const absl::string_view selector : {"labelSelector", "namespaceSelector"}) {
    ValidateLabelSelector(term[selector], absl::StrCat(at, ".", selector), causes);
  }
  for (const Json& name : term["namespaces"].items()) {
    AppendInvalid(causes, absl::StrCat(at, ".namespace"), name.AsString(),
                  DnsLabelProblems(name.AsString()));
  }
  for (const absl::string_view keys : {"matchLabelKeys", "mismatchLabelKeys"}) {
    ValidateKeysOfOwnLabels(term, keys, at, causes);
  }
  const std::string key_at = absl::StrCat(at, ".topologyKey");
  const std::string& key = term["topologyKey"].AsString();
  if (key.empty()) causes.push_back(RequiredValue(key_at, "can not be empty"));
  ValidateLabelKey(key, key_at, causes);
}

void ValidatePodAffinity(const Json& affinity, absl::string_view field, Causes& causes) {
  ForEachItem(affinity[kRequired], absl::StrCat(field, ".", kRequired),
              [&](const Json& term, const std::string& at) { ValidatePodTerm(term, at, causes); });
  ForEachItem(affinity[kPreferred], absl::StrCat(field, ".", kPreferred),
              [&](const Json& preferred, const std::string& at) {
                ValidateWeight(preferred, at, causes);
                ValidatePodTerm(preferred["podAffinityTerm"], absl::StrCat(at, ".podAffinityTerm"),
                                causes);
              });
}

// ---------------------------------------------------------------- topology spread

// Each pair of key and action stands once; the first of two is the one that is named.
void ValidateNotRepeated(const Json& constraints, size_t index, absl::string_view at,
                         Causes& causes) {
  const Json& one = constraints.items()[index];
  for (size_t i = index + 1; i < constraints.size(); ++i) {
    const Json& other = constraints.items()[i];
    if (one["topologyKey"].AsString() != other["topologyKey"].AsString() ||
        one["whenUnsatisfiable"].AsString() != other["whenUnsatisfiable"].AsString()) {
      continue;
    }
    causes.push_back(DuplicateValue(absl::StrCat(at, ".{topologyKey, whenUnsatisfiable}"),
                                    absl::StrCat("{", one["topologyKey"].AsString(), ", ",
                                                 one["whenUnsatisfiable"].AsString(), "}")));
    return;
  }
}

void ValidateMinDomains(const Json& constraint, absl::string_view at, Causes& causes) {
  const Json& domains = constraint["minDomains"];
  const std::string& when = constraint["whenUnsatisfiable"].AsString();
  if (!domains.is_number()) return;
  const std::string field = absl::StrCat(at, ".minDomains");
  if (domains.AsInt() <= 0) {
    causes.push_back(InvalidValue(field, domains, "must be greater than zero"));
  }
  if (when != kDoNotSchedule) {
    causes.push_back(InvalidValue(
        field, domains,
        absl::StrCat("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ", when)));
  }
}

void ValidateConstraint(const Json& constraint, absl::string_view at, Causes& causes) {
  ValidateMinDomains(constraint, at, causes);
  for (const absl::string_view policy : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) {
    const Json& value = constraint[policy];
    if (value.is_string() && !IsOneOf(value.AsString(), "Honor", "Ignore")) {
      causes.push_back(
          NotSupportedValue(absl::StrCat(at, ".", policy), value.AsString(), {"Honor", "Ignore"}));
    }
  }
  ValidateKeysOfOwnLabels(constraint, "matchLabelKeys", at, causes);
  ValidateLabelSelector(constraint["labelSelector"], absl::StrCat(at, ".labelSelector"), causes);
}

}  // namespace

void ValidateAffinity(const Json& affinity, absl::string_view field, Causes& causes) {
  ValidateNodeAffinity(affinity["nodeAffinity"], absl::StrCat(field, ".nodeAffinity"), causes);
  for (const absl::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    ValidatePodAffinity(affinity[kind], absl::StrCat(field, ".", kind), causes);
  }
}

void ValidateTopologySpread(const Json& constraints, absl::string_view field, Causes& causes) {
  for (size_t i = 0; i < constraints.size(); ++i) {
    const Json& constraint = constraints.items()[i];
    const std::string at = absl::StrCat(field, "[", i, "]");
    const std::string& when = constraint["whenUnsatisfiable"].AsString();
    if (const int64_t skew = constraint["maxSkew"].AsInt(); skew <= 0) {
      causes.push_back(
          InvalidValue(absl::StrCat(at, ".maxSkew"), Json(skew), "must be greater than zero"));
    }
    if (constraint["topologyKey"].AsString().empty()) {
      causes.push_back(RequiredValue(absl::StrCat(at, ".topologyKey"), "can not be empty"));
    }
    if (!IsOneOf(when, kDoNotSchedule, kScheduleAnyway)) {
      causes.push_back(
          NotSupportedValue(absl::StrCat(at, ".whenUnsatisfiable"), when,
                            {std::string(kDoNotSchedule), std::string(kScheduleAnyway)}));
    }
    ValidateNotRepeated(constraints, i, at, causes);
    ValidateConstraint(constraint, at, causes);
  }
}

}  // namespace maniple::devcluster
