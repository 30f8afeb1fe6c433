// What may be a name, a label or an annotation, and the words in which kube-apiserver refuses.
//
// Pure functions; an answer is the list of complaints, empty when all is well.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/devcluster/types/api_error.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

[[nodiscard]] std::vector<std::string> DnsLabelProblems(absl::string_view text);      // RFC 1123
[[nodiscard]] std::vector<std::string> DnsSubdomainProblems(absl::string_view text);  // RFC 1123
[[nodiscard]] std::vector<std::string> Dns1035LabelProblems(absl::string_view text);
// "gpu", "nvidia.com/gpu": label keys, resource names, finalizers.
[[nodiscard]] std::vector<std::string> QualifiedNameProblems(absl::string_view text);
[[nodiscard]] std::vector<std::string> LabelValueProblems(absl::string_view text);

// The name as the type asks for it: a DNS label for namespaces and services, a path segment for
// roles, a DNS subdomain for most.
[[nodiscard]] std::vector<std::string> ObjectNameProblems(const ResourceType& type,
                                                          absl::string_view name);

// One cause per complaint: "Invalid value: \"X\": complaint".
void AppendInvalid(std::vector<StatusCause>& causes, absl::string_view field,
                   absl::string_view bad_value, const std::vector<std::string>& problems);
[[nodiscard]] StatusCause InvalidValue(absl::string_view field, const Json& bad_value,
                                       absl::string_view detail);
[[nodiscard]] StatusCause RequiredValue(absl::string_view field, absl::string_view detail);
[[nodiscard]] StatusCause ForbiddenValue(absl::string_view field, absl::string_view detail);
[[nodiscard]] StatusCause DuplicateValue(absl::string_view field, absl::string_view value);
[[nodiscard]] StatusCause NotFoundValue(absl::string_view field, absl::string_view value);
[[nodiscard]] StatusCause NotSupportedValue(absl::string_view field, absl::string_view value,
                                            const std::vector<std::string>& supported);
[[nodiscard]] StatusCause TooLong(absl::string_view field, int limit_bytes);

// metadata.labels, metadata.annotations and metadata.finalizers of a new or changed object.
void AppendMetadataProblems(const ResourceType& type, const Json& metadata,
                            std::vector<StatusCause>& causes);

}  // namespace maniple::devcluster
