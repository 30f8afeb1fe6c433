#include "scheduler/loop/desk/waits_for.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/report/message.h"
#include "scheduler/report/quota_report.h"

namespace maniple {
namespace {

// For the first member of the shape.
std::string VolumeTroubleText(const GangRequest& request, ShapeId shape,
                              const ClusterState& state) {
  const auto want = std::ranges::find(request.wants, shape, &Want::shape);
  if (want == request.wants.end()) return "a volume is not ready";
  return absl::StrCat("pod ", state.FindPod(want->pod)->name, ": ",
                      state.VolumeTroubleOf(want->pod));
}

}  // namespace

WaitingFor WaitsFor(const GangRequest& request, const Rejection& rejection, Desk& desk) {
  const Tables& tables = *desk.Picture().tables;
  WaitingFor waits{.reason = ReasonOf(rejection.code),
                   .message = RejectionText(rejection, tables),
                   .nodes = NodeReasonLines(rejection, tables)};
  // Where there is no room either, that is told.
  const bool of_room =
      rejection.code == RejectionCode::kNeverFits || rejection.code == RejectionCode::kNoFit;
  if (!of_room && rejection.quota.has_value() && rejection.quota->cell.valid()) {
    waits.quota = QuotaLineOf(*rejection.quota, desk.ledger.book());
    waits.message = QuotaText(*waits.quota);
    waits.quota->borrowers = {};
  }
  if (rejection.code == RejectionCode::kVolumesNotReady) {
    waits.message = VolumeTroubleText(request, rejection.shape, desk.state);
  }
  if (rejection.code == RejectionCode::kUnsupported) {
    const auto refused = std::ranges::find_if(request.wants, [&tables](const Want& want) {
      return !tables.ShapeOf(want.shape).constraints.unsupported.empty();
    });
    if (refused != request.wants.end()) {
      waits.message =
          absl::StrCat("pod ", desk.state.FindPod(refused->pod)->name, ": ", waits.message);
    }
  }
  return waits;
}

}  // namespace maniple
