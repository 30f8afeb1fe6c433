#include "scheduler/app/config/config_autoscaling.h"

#include <algorithm>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace maniple {
namespace {

constexpr size_t kMostName = 63, kMostPrefix = 253;
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

// A subdomain of the DNS. The API server looks at the keys of annotations in lower case.
bool IsPrefix(absl::string_view text) {
  if (text.size() > kMostPrefix || absl::StrContains(text, '_')) return false;
  const std::vector<absl::string_view> labels = absl::StrSplit(text, '.');
  return std::all_of(labels.begin(), labels.end(),
                     [](absl::string_view label) { return IsName(label, kMostPrefix); });
}

bool IsQualifiedName(absl::string_view key) {
  const std::vector<absl::string_view> halves = absl::StrSplit(key, '/');
  if (halves.size() == 1) return IsName(key, kMostName);
  return halves.size() == 2 && IsPrefix(halves[0]) && IsName(halves[1], kMostName);
}

struct MapBounds {
  absl::string_view type;  // for people
  size_t most_entries, most_value;
};
constexpr MapBounds kAnnotations = {"a map of annotations", 20, 1024};
constexpr MapBounds kParameters = {"a map", 100, 255};  // as the kind allows

// `problem_of` says what is wrong with a key; "" = nothing.
void ReadStrings(const Json& map, const std::string& path, const MapBounds& bounds,
                 absl::FunctionRef<absl::string_view(absl::string_view)> problem_of,
                 Problems& problems, std::vector<std::pair<std::string, std::string>>& out) {
  if (!map.is_object()) return problems.Wrong(path, bounds.type, map);
  if (map.size() > bounds.most_entries) {
    return problems.Add(path, absl::StrCat("has more than ", bounds.most_entries, " entries"));
  }
  for (const auto& [key, value] : map.members()) {
    const std::string at = absl::StrCat(path, ".", key);
    const absl::string_view problem = problem_of(key);
    if (!value.is_string()) {
      problems.Wrong(at, "a string, in quotes", value);
    } else if (!problem.empty()) {
      problems.Add(at, problem);
    } else if (value.AsString().size() > bounds.most_value) {
      problems.Add(at, absl::StrCat("is longer than ", bounds.most_value, " bytes"));
    } else {
      out.emplace_back(key, value.AsString());
    }
  }
}

absl::string_view ProblemOfAnnotation(absl::string_view key) {
  if (!IsQualifiedName(key)) return "is no name of an annotation, such as example.com/name";
  if (absl::StartsWith(key, kOurPrefix)) return "is for the scheduler alone to write";
  return "";
}

void ReadNodeRequests(const Json& map, const std::string& path, Problems& problems,
                      NodeRequestOptions& out) {
  Section section(map, path, problems);
  section.String("className", out.class_name);
  section.Read("parameters", [&](const Json& v, const std::string& at) {
    const auto any = [](absl::string_view) { return absl::string_view(); };
    ReadStrings(v, at, kParameters, any, problems, out.parameters);
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
    ReadStrings(v, at, kAnnotations, ProblemOfAnnotation, problems, out.binding_annotations);
  });
  section.Part("provisioningRequests", ReadNodeRequests, out.node_requests);
  section.Close();
}

}  // namespace maniple
