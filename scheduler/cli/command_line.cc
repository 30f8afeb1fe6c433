#include "scheduler/cli/command_line.h"

#include <iostream>

#include "api/base/log.h"

namespace maniple {

int Complain(absl::string_view what) {
  std::cerr << "maniple: " << OneLine(what) << "\n";
  return 1;
}

}  // namespace maniple
