#include "scheduler/app/config_autoscaling.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace maniple {
namespace {

constexpr size_t kMostAnnotations = 20, kMostName = 63, kMostPrefix = 253, kMostValue = 1024;
// What stands there only we write, and read again.
constexpr char kOurPrefix[] = "scheduling.maniple.dev/";

// Letters and digits at both ends, and "-_." between.
bool IsName(absl::string_view text, size_t most) {
  const auto is_end = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); };
  if (text.empty() || text.size() > most || !is_end(text.front()) || !is_end(text.back())) {
    return false;
  }
  return text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
         absl::string_view::npos;
}

bool IsQualifiedName(absl::string_view key) {
  const std::vector<absl::string_view> halves = absl::StrSplit(key, '/');
  if (halves.size() == 1) return IsName(key, kMostName);
  return halves.size() == 2 && IsName(halves[0], kMostPrefix) && IsName(halves[1], kMostName);
}

void ReadAnnotations(const Json& map, const std::string& path, Problems& problems,
                     std::vector<std::pair<std::string, std::string>>& out) {
  if (!map.is_object()) return problems.Wrong(path, "a map of annotations", map);
  if (map.size() > kMostAnnotations) {
    return problems.Add(path, absl::StrCat("has more than ", kMostAnnotations, " entries"));
  }
  for (const auto& [key, value] : map.members()) {
    const std::string at = absl::StrCat(path, ".", key);
    if (!value.is_string()) {
      problems.Wrong(at, "a string, in quotes", value);
    } else if (!IsQualifiedName(key)) {
      problems.Add(at, "is no name of an annotation, such as example.com/name");
    } else if (absl::StartsWith(key, kOurPrefix)) {
      problems.Add(at, "is for the scheduler alone to write");
    } else if (value.AsString().size() > kMostValue) {
      problems.Add(at, absl::StrCat("is longer than ", kMostValue, " bytes"));
    } else {
      out.emplace_back(key, value.AsString());
    }
  }
}

constexpr size_t kMostParameters = 100, kMostParameter = 255;  // as the kind allows

void ReadParameters(const Json& map, const std::string& path, Problems& problems,
                    std::vector<std::pair<std::string, std::string>>& out) {
  if (!map.is_object()) return problems.Wrong(path, "a map", map);
  if (map.size() > kMostParameters) {
    return problems.Add(path, absl::StrCat("has more than ", kMostParameters, " entries"));
  }
  for (const auto& [key, value] : map.members()) {
    const std::string at = absl::StrCat(path, ".", key);
    if (!value.is_string()) {
      problems.Wrong(at, "a string, in quotes", value);
    } else if (value.AsString().size() > kMostParameter) {
      problems.Add(at, absl::StrCat("is longer than ", kMostParameter, " bytes"));
    } else {
      out.emplace_back(key, value.AsString());
    }
  }
}

void ReadNodeRequests(const Json& map, const std::string& path, Problems& problems,
                      NodeRequestOptions& out) {
  Section section(map, path, problems);
  section.String("className", out.class_name);
  section.Read("parameters", [&](const Json& v, const std::string& at) {
    ReadParameters(v, at, problems, out.parameters);
  });
  section.Close();
  if (out.class_name.size() > kMostPrefix) {
    problems.Add(path + ".className", absl::StrCat("is longer than ", kMostPrefix, " bytes"));
  } else if (out.class_name.empty()) {
    problems.Add(path + ".className", "is required");
  }
}

}  // namespace

void ReadAutoscalingConfig(const Json& map, const std::string& path, Problems& problems,
                           AutoscalingConfig& out) {
  Section section(map, path, problems);
  section.Read("bindingAnnotations", [&](const Json& v, const std::string& at) {
    ReadAnnotations(v, at, problems, out.binding_annotations);
  });
  section.Read("provisioningRequests", [&](const Json& v, const std::string& at) {
    ReadNodeRequests(v, at, problems, out.node_requests);
  });
  section.Close();
}

}  // namespace maniple
