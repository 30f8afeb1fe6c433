// What every command of the command line shares.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "scheduler/cli/admin_client.h"

namespace maniple {

// Borrowed; filled in when the words are read.
struct CommonFlags {
  const AdminClientOptions& client;
  const std::string& output;          // "", table, wide, json, yaml or name
  const std::string& namespace_name;  // that stands before the verb
};

// As for kubectl, -n and -A may stand before the verb, and beside one whose objects have no
// namespace. -A beside -n, or beside a verb about one namespace, is refused as a wrong word is.
void AddNamespaceFlags(CLI::App& app, std::string& namespace_name);

// The namespace that was given; else, as for kubectl, that of the context; else "default".
[[nodiscard]] std::string NamespaceFor(const AdminClientOptions& client, const std::string& given);

// True where the command does not print as -o asks: that is complained of, and `result` is set.
[[nodiscard]] bool RefusesOutput(const CommonFlags& common, absl::string_view verb,
                                 std::initializer_list<absl::string_view> outputs, int& result);

// As -o json and -o yaml print it; "" for any other output.
[[nodiscard]] std::string DocumentOf(const Json& value, absl::string_view output);

// One line on standard error. Returns what to exit with.
int Complain(absl::string_view what);

}  // namespace maniple
