// What a waiting gang's status says of a change that would help it. A plain value.
#pragma once

#include <cstddef>
#include <string>

namespace maniple {

struct HelpNote {
  size_t of = 0;       // a hash of the message that it belongs to
  bool asked = false;  // … and of which it has been asked
  std::string change;  // "" = none is known
};

}  // namespace maniple
