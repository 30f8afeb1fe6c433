// ClusterView in the words of admin.proto, and the same as JSON: one mapping for every operator
// surface.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scheduler/advice/help.h"
#include "scheduler/app/access/admin_question.h"
#include "scheduler/app/doors/decision_journal.h"
#include "scheduler/app/doors/usage_history.h"
#include "scheduler/report/view.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace maniple::admin::v1 {
class Gang;
class GangList;
class NodeList;
class QueueList;
class CohortList;
class DecisionList;
class Version;
}  // namespace maniple::admin::v1

namespace maniple {

// NotFound names the gang. `name` may be a PodGroup, a pod without a group, or a member pod; or, as
// kind/name, whatever declares the gang or owns what does. Never null; of the view.
[[nodiscard]] absl::StatusOr<const GangView*> FindGang(const ClusterView& view,
                                                       absl::string_view namespace_name,
                                                       absl::string_view name);
// Whom to ask what would help it; none: it does not wait.
[[nodiscard]] std::optional<GangKey> HelpKeyOf(const GangView& gang);
// What an answer needs and no view has.
struct BesideView {
  const Help* help = nullptr;           // null: nothing is said of it
  const UsagePoint* used_by = nullptr;  // where a time is asked about
  bool sees_all_gangs = false;          // the reader of an explanation
};
void ExplainInto(const GangView& gang, const BesideView& beside, admin::v1::Gang& out);
void GangsInto(const ClusterView& view, absl::string_view namespace_name, admin::v1::GangList& out);
void NodesInto(const ClusterView& view, admin::v1::NodeList& out);
void QueuesInto(const ClusterView& view, admin::v1::QueueList& out);
void CohortsInto(const ClusterView& view, admin::v1::CohortList& out);
// As many as a reader gets at once.
inline constexpr size_t kMostDecisions = 1000;
void DecisionsInto(const std::vector<JournalEntry>& entries, admin::v1::DecisionList& out);
[[nodiscard]] absl::StatusOr<std::string> DecisionsJson(const std::vector<JournalEntry>& entries);
// The JSON form of any of these.
[[nodiscard]] absl::StatusOr<std::string> AdminMessageJson(
    const google::protobuf::Message& message);
// Of this program, and of the objects that it knows.
void VersionInto(admin::v1::Version& out);
[[nodiscard]] absl::StatusOr<std::string> VersionJson();

// The JSON form of the answer. NotFound for a path that is no page; Unavailable for use since a
// time of which nothing is remembered.
[[nodiscard]] absl::StatusOr<std::string> AdminJson(const ClusterView& view,
                                                    const AdminQuestion& question,
                                                    const BesideView& beside = {});

}  // namespace maniple
