// maniple-scheduler: flags, signals, exit code. Everything else is in scheduler_process.h.
#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "api/base/files.h"
#include "api/base/log.h"
#include "api/base/signals.h"
#include "scheduler/app/config/options.h"
#include "scheduler/app/scheduler_process.h"

namespace {

// Blocked before any thread exists, so that only Wait() ever sees them.
sigset_t BlockedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  if (!maniple::IsIgnored(SIGHUP)) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

}  // namespace

int main(int argc, char** argv) {
  maniple::OpenStandardStreams();
  maniple::ParsedFlags flags = maniple::ParseSchedulerFlags(argc, argv);
  if (!flags.options.has_value()) {
    if ((flags.exit_code == 0 ? std::cout : std::cerr) << flags.output << std::flush) {
      return flags.exit_code;
    }
    std::cerr << "maniple-scheduler: standard output cannot be written\n";
    return EXIT_FAILURE;
  }
  maniple::ConfigureLog(flags.options->log);
  const sigset_t signals = BlockedSignals();
  absl::StatusOr<std::unique_ptr<maniple::SchedulerProcess>> process =
      maniple::SchedulerProcess::Start(*std::move(flags.options));
  if (!process.ok()) {
    std::cerr << "maniple-scheduler: " << process.status().message() << "\n";
    return 1;
  }
  int signal = 0;
  sigwait(&signals, &signal);
  LOG(INFO) << "ending: carrying out the binds in flight, then giving back the lease";
  // A second signal ends at once.
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  (*process)->Stop();
  return EXIT_SUCCESS;
}
