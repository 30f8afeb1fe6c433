#include "scheduler/cli/command_line.h"

#include <algorithm>
#include <iostream>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "api/base/log.h"

namespace maniple {

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

int Complain(absl::string_view what) {
  std::cerr << "maniple: " << OneLine(what) << "\n";
  return 1;
}

}  // namespace maniple
