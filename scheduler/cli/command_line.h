// What every command of the command line shares.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "scheduler/cli/admin_client.h"

namespace maniple {

// Borrowed; filled in when the words are read.
struct CommonFlags {
  const AdminClientOptions& client;
  const std::string& output;  // "", table, wide, json, yaml or name
};

// The namespace that was given; else, as for kubectl, that of the context; else "default".
[[nodiscard]] std::string NamespaceFor(const AdminClientOptions& client, const std::string& given);

// One line on standard error. Returns what to exit with.
int Complain(absl::string_view what);

}  // namespace maniple
