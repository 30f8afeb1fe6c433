// The dispositions of signals that this process was started with. Any thread.
#pragma once

#include <csignal>

namespace maniple {

// nohup ignores SIGHUP so: a program that it starts is to outlive the terminal.
[[nodiscard]] inline bool IsIgnored(int signal) {
  struct sigaction current {};
  return ::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

}  // namespace maniple
