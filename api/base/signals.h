// How this process was started to take signals. Any thread.
#pragma once

#include <csignal>

namespace maniple {

// As nohup leaves SIGHUP: who runs a program so wants it to outlive the terminal.
[[nodiscard]] inline bool IsIgnored(int signal) {
  struct sigaction current {};
  return ::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

}  // namespace maniple
