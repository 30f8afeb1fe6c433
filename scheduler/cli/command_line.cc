#include "scheduler/cli/command_line.h"

#include <algorithm>
#include <iostream>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "api/base/log.h"
#include "api/codec/yaml.h"

namespace maniple {
namespace {

constexpr char kOne[] = "--namespace", kAll[] = "--all-namespaces";

bool IsGiven(const CLI::App& app, const char* flag) {
  const CLI::Option* option = app.get_option_no_throw(flag);
  return option != nullptr && option->count() > 0;
}

// Throws as CLI11 does of a wrong word.
void CheckNamespaceFlags(const CLI::App& app, const CLI::App& command) {
  if (!IsGiven(app, kAll) && !IsGiven(command, kAll)) return;
  if (IsGiven(app, kOne) || IsGiven(command, kOne)) throw CLI::ExcludesError("-A", "-n");
  const CLI::Option* all = command.get_option_no_throw(kAll);
  if (all == nullptr && command.get_option_no_throw(kOne) != nullptr) {
    throw CLI::ValidationError("-A", command.get_name() + " is about one namespace");
  }
  if (all == nullptr) return;
  for (const CLI::Option* other : all->get_excludes()) {
    if (other->count() > 0) throw CLI::ExcludesError("-A", other->get_name());
  }
}

}  // namespace

void AddNamespaceFlags(CLI::App& app, std::string& namespace_name) {
  app.add_option(absl::StrCat("-n,", kOne), namespace_name)->group("");
  app.add_flag(absl::StrCat("-A,", kAll))->group("");
  // Before the command itself runs.
  app.parse_complete_callback([&app] {
    for (const CLI::App* command : app.get_subcommands()) CheckNamespaceFlags(app, *command);
  });
}

std::string NamespaceFor(const AdminClientOptions& client, const std::string& given) {
  if (!given.empty()) return given;
  const absl::StatusOr<ClientConfig> config = ClientConfigOf(client);
  return config.ok() ? config->namespace_name : ClientConfig().namespace_name;
}

bool RefusesOutput(const CommonFlags& common, absl::string_view verb,
                   std::initializer_list<absl::string_view> outputs, int& result) {
  const std::string& output = common.output;
  if (output.empty() || std::ranges::find(outputs, output) != outputs.end()) return false;
  result =
      Complain(output == "name" ? absl::StrCat("-o name: ", verb, " lists nothing that has a name")
                                : absl::StrCat("-o ", output, ": ", verb, " has no such output"));
  return true;
}

std::string DocumentOf(const Json& value, absl::string_view output) {
  if (output == "json") return absl::StrCat(value.DumpPretty(), "\n");
  return output == "yaml" ? DumpYaml(value) : "";
}

int Complain(absl::string_view what) {
  std::cerr << "maniple: " << OneLine(what) << "\n";
  return 1;
}

}  // namespace maniple
