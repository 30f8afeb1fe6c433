// The names of filters and scores that the configuration file may say.
#pragma once

#include <string>

namespace maniple {

// "no plugin "Pakcing"; there are …", of a name that none has; "" = there is one.
[[nodiscard]] std::string WhyNoFilter(const std::string& name);
[[nodiscard]] std::string WhyNoScore(const std::string& name);

}  // namespace maniple
