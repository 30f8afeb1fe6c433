// Completion scripts made from the commands themselves, so that they cannot fall behind.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// `shell`: bash, zsh or fish. Completes subcommands, their flags, and files where a command takes
// them.
[[nodiscard]] std::string CompletionScript(const CLI::App& app, absl::string_view shell);

}  // namespace maniple
