#include "scheduler/report/decision_entry.h"

#include "absl/strings/str_cat.h"
#include "scheduler/report/message.h"

namespace maniple {

std::string LineOf(const DecisionEntry& entry) {
  return absl::StrCat(entry.what, " ",
                      entry.gang.name.empty() ? entry.subject : GangText(entry.gang), entry.rest);
}

}  // namespace maniple
