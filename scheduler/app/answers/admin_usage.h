// What Queues and namespaces have used, in the words of admin.proto.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "scheduler/app/doors/usage_history.h"
#include "scheduler/report/view.h"

namespace maniple::admin::v1 {
class UsageList;
}  // namespace maniple::admin::v1

namespace maniple {

// What is answered where a time is asked about, and no point is known.
[[nodiscard]] absl::Status NoUseIsRemembered();
// Since `from`; null: since each Queue was made. Empty namespace: of all, and with what gangs of
// each Queue went through.
void UsageInto(const ClusterView& view, absl::string_view namespace_name, const UsagePoint* from,
               admin::v1::UsageList& out);

}  // namespace maniple
