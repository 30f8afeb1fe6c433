#include "test/oracle/kube_oracle.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/status_macros.h"
#include "test/support/temp_folder.h"

namespace maniple {
namespace {

constexpr int kMostRounds = 200;

absl::StatusOr<FilterAnswer> ReadAnswer(absl::string_view line) {
  ASSIGN_OR_RETURN(const Json json, Json::Parse(line));
  FilterAnswer out;
  out.feasible = json["feasible"].AsString();
  out.error = json["error"].AsString();
  for (const Json& score : json["scores"].items()) out.scores.push_back(score.AsInt());
  return out;
}

// The lines that a shell command prints.
absl::StatusOr<std::vector<std::string>> OutputOf(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return absl::InternalError(absl::StrCat("cannot run ", command));
  std::vector<std::string> lines;
  char* line = nullptr;
  size_t capacity = 0;
  for (ssize_t size = 0; (size = getline(&line, &capacity, pipe)) > 0;) {
    lines.emplace_back(line, static_cast<size_t>(size));
  }
  free(line);
  const int status = pclose(pipe);
  if (status == 0) return lines;
  return absl::InternalError(absl::StrCat(command, " ended with status ", status));
}

// Names by which objects know each other: nothing shrinks without them.
bool IsIdentity(absl::string_view key) {
  return key == "name" || key == "namespace" || key == "uid" || key == "kind" ||
         key == "apiVersion" || key == "family" || key == "scores" || key == "metadata" ||
         key == "key" || key == "operator" || key == "values" || key == "pod" || key == "nodes" ||
         key == "schedulerName" || key == "containers" || key == "topologyKey" || key == "effect" ||
         key == "maxSkew" || key == "whenUnsatisfiable";
}

// Every value that is `json` with one member or item less, at whatever depth.
void AddSmaller(const Json& json, std::vector<Json>& out) {
  if (json.is_array()) {
    for (size_t i = 0; i < json.items().size(); ++i) {
      Json without = json;
      without.mutable_items().erase(without.mutable_items().begin() + static_cast<long>(i));
      out.push_back(std::move(without));
    }
    for (size_t i = 0; i < json.items().size(); ++i) {
      std::vector<Json> parts;
      AddSmaller(json.items()[i], parts);
      for (Json& part : parts) {
        Json changed = json;
        changed.mutable_items()[i] = std::move(part);
        out.push_back(std::move(changed));
      }
    }
  }
  for (const auto& [key, value] : json.members()) {
    if (!IsIdentity(key)) {
      Json without = json;
      without.Erase(key);
      out.push_back(std::move(without));
    }
    std::vector<Json> parts;
    AddSmaller(value, parts);
    for (Json& part : parts) {
      Json changed = json;
      changed.Set(key, std::move(part));
      out.push_back(std::move(changed));
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<FilterAnswer>> AskKubeScheduler(absl::string_view program,
                                                           const std::vector<Json>& cases) {
  const TempFolder folder;
  const std::string input = folder.In("cases.jsonl");
  {
    std::ofstream out(input);
    for (const Json& filter_case : cases) out << filter_case.Dump() << '\n';
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                   OutputOf(absl::StrCat("'", program, "' < '", input, "'")));
  std::vector<FilterAnswer> answers;
  for (const std::string& line : lines) {
    ASSIGN_OR_RETURN(answers.emplace_back(), ReadAnswer(line));
  }
  if (answers.size() == cases.size()) return answers;
  return absl::InternalError(
      absl::StrCat(program, " gave ", answers.size(), " of ", cases.size(), " answers"));
}

absl::StatusOr<Json> PodFieldsOfKubernetes(absl::string_view program) {
  ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                   OutputOf(absl::StrCat("'", program, "' --fields")));
  return Json::Parse(absl::StrJoin(lines, "\n"));
}

Json Shrunk(absl::string_view program, const FilterFamily& family, Json filter_case) {
  for (int round = 0; round < kMostRounds; ++round) {
    std::vector<Json> smaller;
    AddSmaller(filter_case, smaller);
    const absl::StatusOr<std::vector<FilterAnswer>> theirs = AskKubeScheduler(program, smaller);
    if (!theirs.ok()) return filter_case;
    const Json* found = nullptr;
    for (size_t i = 0; i < smaller.size() && found == nullptr; ++i) {
      const FilterAnswer ours = OurAnswer(family, smaller[i]);
      const bool readable = ours.error.empty() && (*theirs)[i].error.empty();
      if (readable && !Difference(family, ours, (*theirs)[i]).empty()) found = &smaller[i];
    }
    if (found == nullptr) return filter_case;
    filter_case = Json(*found);
  }
  return filter_case;
}

}  // namespace maniple
