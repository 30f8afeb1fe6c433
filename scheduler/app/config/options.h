// The flags of maniple-scheduler, checked, with the configuration file folded in.
#pragma once

#include <optional>
#include <string>

#include "api/base/log.h"
#include "scheduler/app/config/config.h"
#include "scheduler/app/config/tls_files.h"

namespace maniple {

struct SchedulerOptions {
  std::string kubeconfig;
  std::string server;
  std::string http;    // HOST:PORT, "" = no HTTP surface
  std::string health;  // HOST:PORT, "" = none but in `http`
  std::string admin;   // HOST:PORT or unix:PATH
  bool http_insecure = false;
  TlsFiles tls;  // of `http`, `health` and, with the clients' authority, of `admin`
  LogOptions log;
  std::string decision_log;  // a file, "-" = standard output, "" = none
  SchedulerConfig config;
};

// What the command line asked for: options to run with, or a text to print and an exit code
// (--help, --version, errors).
struct ParsedFlags {
  std::optional<SchedulerOptions> options;
  std::string output;
  int exit_code = 0;
};
[[nodiscard]] ParsedFlags ParseSchedulerFlags(int argc, const char* const* argv);

}  // namespace maniple
