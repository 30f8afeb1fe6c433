#include "api/devcluster/types/names.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace maniple::devcluster {
namespace {

constexpr size_t kMaxAnnotationBytes = 256 * 1024;

constexpr absl::string_view kLabelRegex = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr absl::string_view kQualifiedRegex = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

bool IsLowerAlnum(char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); }

bool IsDnsLabel(absl::string_view text) {
  if (text.empty() || !IsLowerAlnum(text.front()) || !IsLowerAlnum(text.back())) return false;
  for (const char c : text) {
    if (!IsLowerAlnum(c) && c != '-') return false;
  }
  return true;
}

bool IsDnsSubdomain(absl::string_view text) {
  for (const absl::string_view label : absl::StrSplit(text, '.')) {
    if (!IsDnsLabel(label)) return false;
  }
  return true;
}

bool IsQualifiedPart(absl::string_view text) {
  if (text.empty() || !absl::ascii_isalnum(text.front()) || !absl::ascii_isalnum(text.back())) {
    return false;
  }
  for (const char c : text) {
    if (!absl::ascii_isalnum(c) && c != '-' && c != '_' && c != '.') return false;
  }
  return true;
}

std::string Explained(absl::string_view rule, absl::string_view regex,
                      const std::vector<absl::string_view>& examples) {
  std::vector<std::string> quoted;
  for (const absl::string_view example : examples)
    quoted.push_back(absl::StrCat("'", example, "', "));
  return absl::StrCat(rule, " (e.g. ", absl::StrJoin(quoted, " or "),
                      "regex used for validation is '", regex, "')");
}

std::string AtMost(int bytes) { return absl::StrCat("must be no more than ", bytes, " bytes"); }

const std::string& SubdomainRule() {
  static const auto& rule = *new std::string(Explained(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
      "'.', and must start and end with an alphanumeric character",
      absl::StrCat(kLabelRegex, "(\\.", kLabelRegex, ")*"), {"example.com"}));
  return rule;
}

std::string QualifiedRule() {
  return Explained(
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character",
      "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", {"MyName", "my.name", "123-abc"});
}

bool IsStandardFinalizer(absl::string_view name) {
  return name == "kubernetes" || name == "orphan" || name == "foregroundDeletion";
}

// Kubernetes looks for the domain in the kinds that it grew up with.
bool HasFinalizersOfDomains(const ResourceType& type) {
  return !type.custom && type.kind != "Lease" && type.kind != "CustomResourceDefinition";
}

}  // namespace

std::vector<std::string> DnsLabelProblems(absl::string_view text) {
  std::vector<std::string> problems;
  if (text.size() > 63) problems.push_back(AtMost(63));
  if (!IsDnsLabel(text)) {
    problems.push_back(Explained(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
        "must start and end with an alphanumeric character",
        kLabelRegex, {"my-name", "123-abc"}));
  }
  return problems;
}

std::vector<std::string> DnsSubdomainProblems(absl::string_view text) {
  std::vector<std::string> problems;
  if (text.size() > 253) problems.push_back(AtMost(253));
  if (!IsDnsSubdomain(text)) problems.push_back(SubdomainRule());
  return problems;
}

std::vector<std::string> Dns1035LabelProblems(absl::string_view text) {
  std::vector<std::string> problems;
  if (text.size() > 63) problems.push_back(AtMost(63));
  if (!IsDnsLabel(text) || absl::ascii_isdigit(text.front())) {
    problems.push_back(Explained(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character",
        "[a-z]([-a-z0-9]*[a-z0-9])?", {"my-name", "abc-123"}));
  }
  return problems;
}

std::vector<std::string> QualifiedNameProblems(absl::string_view text) {
  std::vector<std::string> problems;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  absl::string_view name = parts.back();
  if (parts.size() > 2) {
    problems.push_back(
        absl::StrCat("a valid label key ", QualifiedRule(),
                     " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"));
    return problems;
  }
  if (parts.size() == 2) {
    if (parts[0].empty()) {
      problems.push_back("prefix part must be non-empty");
    } else {
      for (const std::string& problem : DnsSubdomainProblems(parts[0])) {
        problems.push_back(absl::StrCat("prefix part ", problem));
      }
    }
  }
  if (name.empty()) {
    problems.push_back("name part must be non-empty");
  } else if (name.size() > 63) {
    problems.push_back(absl::StrCat("name part ", AtMost(63)));
  }
  if (!IsQualifiedPart(name)) problems.push_back(absl::StrCat("name part ", QualifiedRule()));
  return problems;
}

std::vector<std::string> LabelValueProblems(absl::string_view text) {
  std::vector<std::string> problems;
  if (text.size() > 63) problems.push_back(AtMost(63));
  if (!text.empty() && !IsQualifiedPart(text)) {
    problems.push_back(Explained(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character",
        absl::StrCat("(", kQualifiedRegex, ")?"), {"MyValue", "my_value", "12345"}));
  }
  return problems;
}

std::vector<std::string> ObjectNameProblems(const ResourceType& type, absl::string_view name) {
  if (type.group == "rbac.authorization.k8s.io") {
    std::vector<std::string> problems;
    if (name == "." || name == "..") problems.push_back(absl::StrCat("may not be '", name, "'"));
    for (const char c : {'/', '%'}) {
      if (absl::StrContains(name, absl::string_view(&c, 1))) {
        problems.push_back(absl::StrCat("may not contain '", absl::string_view(&c, 1), "'"));
      }
    }
    return problems;
  }
  if (type.group.empty() && type.kind == "Namespace") return DnsLabelProblems(name);
  if (type.group.empty() && type.kind == "Service") return Dns1035LabelProblems(name);
  return DnsSubdomainProblems(name);
}

StatusCause InvalidValue(absl::string_view field, const Json& bad_value, absl::string_view detail) {
  return {.reason = "FieldValueInvalid",
          .message =
              absl::StrCat("Invalid value: ", bad_value.Dump(), detail.empty() ? "" : ": ", detail),
          .field = std::string(field)};
}

void AppendInvalid(std::vector<StatusCause>& causes, absl::string_view field,
                   absl::string_view bad_value, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) {
    causes.push_back(InvalidValue(field, Json(bad_value), problem));
  }
}

StatusCause RequiredValue(absl::string_view field, absl::string_view detail) {
  return {.reason = "FieldValueRequired",
          .message = absl::StrCat("Required value", detail.empty() ? "" : ": ", detail),
          .field = std::string(field)};
}

StatusCause ForbiddenValue(absl::string_view field, absl::string_view detail) {
  return {.reason = "FieldValueForbidden",
          .message = absl::StrCat("Forbidden: ", detail),
          .field = std::string(field)};
}

StatusCause DuplicateValue(absl::string_view field, absl::string_view value) {
  return {.reason = "FieldValueDuplicate",
          .message = absl::StrCat("Duplicate value: ", JsonQuoted(value)),
          .field = std::string(field)};
}

StatusCause NotFoundValue(absl::string_view field, absl::string_view value) {
  return {.reason = "FieldValueNotFound",
          .message = absl::StrCat("Not found: ", JsonQuoted(value)),
          .field = std::string(field)};
}

StatusCause NotSupportedValue(absl::string_view field, absl::string_view value,
                              const std::vector<std::string>& supported) {
  std::vector<std::string> quoted;
  for (const std::string& text : supported) quoted.push_back(JsonQuoted(text));
  return {.reason = "FieldValueNotSupported",
          .message = absl::StrCat("Unsupported value: ", JsonQuoted(value),
                                  ": supported values: ", absl::StrJoin(quoted, ", ")),
          .field = std::string(field)};
}

StatusCause TooLong(absl::string_view field, int limit_bytes) {
  return {.reason = "FieldValueTooLong",
          .message = absl::StrCat("Too long: may not be more than ", limit_bytes, " bytes"),
          .field = std::string(field)};
}

void AppendMetadataProblems(const ResourceType& type, const Json& metadata,
                            std::vector<StatusCause>& causes) {
  for (const auto& [key, value] : metadata["labels"].members()) {
    AppendInvalid(causes, "metadata.labels", key, QualifiedNameProblems(key));
    AppendInvalid(causes, "metadata.labels", value.AsString(),
                  LabelValueProblems(value.AsString()));
  }
  size_t annotation_bytes = 0;
  for (const auto& [key, value] : metadata["annotations"].members()) {
    AppendInvalid(causes, "metadata.annotations", key,
                  QualifiedNameProblems(absl::AsciiStrToLower(key)));
    annotation_bytes += key.size() + value.AsString().size();
  }
  if (annotation_bytes > kMaxAnnotationBytes) {
    causes.push_back(TooLong("metadata.annotations", kMaxAnnotationBytes));
  }
  const std::vector<Json>& finalizers = metadata["finalizers"].items();
  for (const Json& finalizer : finalizers) {
    AppendInvalid(causes, "metadata.finalizers", finalizer.AsString(),
                  QualifiedNameProblems(finalizer.AsString()));
  }
  if (!HasFinalizersOfDomains(type)) return;
  for (size_t i = 0; i < finalizers.size(); ++i) {
    const std::string& name = finalizers[i].AsString();
    if (absl::StrContains(name, '/') || IsStandardFinalizer(name)) continue;
    causes.push_back(
        InvalidValue(absl::StrCat("metadata.finalizers[", i, "]"), finalizers[i],
                     "name is neither a standard finalizer name nor is it fully qualified"));
  }
}

}  // namespace maniple::devcluster
