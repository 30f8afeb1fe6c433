// "What would help" in the words of admin.proto.
#pragma once

#include "absl/strings/string_view.h"
#include "scheduler/advice/help.h"

namespace maniple::admin::v1 {
class Gang;
}  // namespace maniple::admin::v1

namespace maniple {

void HelpInto(const Help& help, admin::v1::Gang& out);
// For somebody who may see this namespace: gangs of others have no name.
[[nodiscard]] Help WithoutNamesOfOthers(Help help, absl::string_view namespace_name);

}  // namespace maniple
