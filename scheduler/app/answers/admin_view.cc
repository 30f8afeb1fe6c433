#include "scheduler/app/answers/admin_view.h"

#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/base/status_macros.h"
#include "api/codec/quantity.h"
#include "api/model/maniple_types.h"
#include "api/proto/admin.pb.h"
#include "scheduler/app/answers/admin_help.h"
#include "scheduler/app/answers/admin_usage.h"
#include "scheduler/app/answers/typed_kind.h"
#include "scheduler/app/config/version.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

namespace pb = admin::v1;

void Fill(const QuotaLineView& line, pb::QuotaLine& out) {
  const auto text = [&line](Amount amount) { return FormatAmount(line.resource, amount); };
  out.set_queue(line.queue);
  out.set_cohort(line.cohort);
  out.set_flavor(line.flavor);
  out.set_name(line.resource);
  out.set_needs(text(line.needs));
  out.set_available(text(line.available));
  out.set_borrowable(text(line.borrowable));
  out.set_most(text(line.most));
  out.set_nominal(text(line.nominal));
  out.set_used(text(line.used));
  for (const BorrowerView& borrower : line.borrowers) {
    pb::Borrower& row = *out.add_borrowers();
    row.set_queue(borrower.queue);
    row.set_amount(text(borrower.amount));
  }
}

void Fill(const GangView& gang, pb::Gang& out) {
  out.set_namespace_(gang.namespace_name);
  out.set_name(gang.name);
  out.set_singleton(gang.singleton);
  out.set_queue(gang.queue);
  out.set_priority(gang.priority);
  out.set_min_member(gang.min_member);
  out.set_phase(gang.phase);
  out.set_reason(gang.reason);
  out.set_message(gang.message);
  out.set_stage(gang.stage);
  out.set_position(gang.position);
  if (gang.created != absl::InfinitePast()) out.set_created(absl::ToUnixSeconds(gang.created));
  pb::MemberCounts& counts = *out.mutable_members();
  counts.set_total(gang.members.total);
  counts.set_pending(gang.members.pending);
  counts.set_bound(gang.members.bound);
  counts.set_running(gang.members.running);
  counts.set_succeeded(gang.members.succeeded);
  counts.set_failed(gang.members.failed);
  for (const GangMemberView& member : gang.pods) {
    pb::Member& row = *out.add_pods();
    row.set_pod(member.pod);
    row.set_node(member.node);
    row.set_state(member.state);
  }
  for (const std::string& node : gang.nodes) out.add_nodes(node);
  for (const NodeReasonView& reason : gang.node_reasons) {
    pb::NodeReason& row = *out.add_node_reasons();
    row.set_text(reason.text);
    row.set_nodes(reason.nodes);
  }
  out.set_queue_position(gang.queue_position);
  if (gang.quota.has_value()) Fill(*gang.quota, *out.mutable_quota());
  out.set_preemption(gang.preemption);
  if (!gang.source.kind.empty()) {
    pb::Source& source = *out.mutable_source();
    source.set_kind(gang.source.kind);
    source.set_name(gang.source.name);
    source.set_part(gang.source.part);
  }
  if (gang.planned_start.has_value()) {
    pb::PlannedStart& start = *out.mutable_planned_start();
    start.set_at(absl::ToUnixSeconds(gang.planned_start->at));
    start.set_first_at(absl::ToUnixSeconds(gang.planned_start->first_at));
    start.set_estimated(gang.planned_start->estimated);
  }
}

void Fill(absl::string_view reason, int64_t gangs, pb::ReasonCount& out) {
  out.set_reason(std::string(reason));
  out.set_gangs(gangs);
}

void Fill(const QuotaUsageView& quota, pb::Usage& out) {
  const auto text = [&quota](Amount amount) { return FormatAmount(quota.resource, amount); };
  out.set_flavor(quota.flavor);
  out.set_name(quota.resource);
  out.set_nominal(text(quota.nominal));
  out.set_used(text(quota.used));
  out.set_borrowed(text(quota.borrowed));
  out.set_lent(text(quota.lent));
  if (quota.borrowing_limit.has_value()) out.set_borrowing_limit(text(*quota.borrowing_limit));
  if (quota.lending_limit.has_value()) out.set_lending_limit(text(*quota.lending_limit));
}

bool HasMember(const GangView& gang, absl::string_view pod) {
  for (const GangMemberView& member : gang.pods) {
    if (member.pod == pod) return true;
  }
  return false;
}

// "pytorchjob/train", "jobs.batch/train", "PodGroup/train".
bool IsDeclaredBy(const GangView& gang, absl::string_view kind, absl::string_view name) {
  if (kind.empty()) return false;
  if (IsKindTyped(kind, "Pod")) return HasMember(gang, name);
  const GangSourceView& source = gang.source;
  const bool by_owner =
      name == source.owner_name && IsOwnerTyped(kind, source.owner_kind, source.owner_group);
  return by_owner || (name == source.name && IsObjectTyped(kind, source.kind, source.api_version));
}

bool Waits(const GangView& gang) { return gang.position > 0 || gang.phase == "Waiting"; }

template <typename Message, typename Into>
absl::StatusOr<std::string> JsonOf(const Into& into) {
  Message message;
  into(message);
  return AdminMessageJson(message);
}

}  // namespace

absl::StatusOr<std::string> AdminMessageJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  std::string out;
  const auto status = google::protobuf::util::MessageToJsonString(message, &out, options);
  if (!status.ok()) return absl::InternalError("a view could not be written as JSON");
  return out;
}

absl::StatusOr<const GangView*> FindGang(const ClusterView& view, absl::string_view namespace_name,
                                         absl::string_view name) {
  const std::pair<absl::string_view, absl::string_view> typed =
      absl::StrSplit(name, absl::MaxSplits('/', 1));
  const bool is_bare = typed.second.empty();
  // A PodGroup of ours goes before all else that is called so.
  const bool ours = !is_bare && IsObjectTyped(typed.first, "PodGroup", kManipleApiVersion);
  const absl::string_view group_name = ours ? typed.second : name;
  const GangView* by_member = nullptr;
  const GangView* alone = nullptr;  // a pod without a group; a group of its name goes before it
  for (const GangView& gang : view.gangs) {
    if (gang.namespace_name != namespace_name) continue;
    if (gang.name == group_name && !gang.singleton) return &gang;
    if (gang.name == name) alone = &gang;
    const bool found =
        is_bare ? HasMember(gang, name) : IsDeclaredBy(gang, typed.first, typed.second);
    if (found && (by_member == nullptr || (!Waits(*by_member) && Waits(gang)))) by_member = &gang;
  }
  if (alone != nullptr) return alone;
  if (by_member != nullptr) return by_member;
  return absl::NotFoundError(absl::StrCat("no gang and no member pod \"", name,
                                          "\" in namespace \"", namespace_name,
                                          "\" uses this scheduler"));
}

std::optional<GangKey> HelpKeyOf(const GangView& gang) {
  if (gang.stage.empty()) return std::nullopt;
  return GangKey{.dialect = gang.singleton ? GangDialect::kSingleton : GangDialect::kManiple,
                 .namespace_name = gang.namespace_name,
                 .name = gang.name};
}

void ExplainInto(const GangView& gang, const BesideView& beside, pb::Gang& out) {
  Fill(gang, out);
  if (beside.sees_all_gangs && !gang.unnamed.empty()) {
    out.set_message(absl::StrReplaceAll(gang.message, {{kGangOfAnotherNamespace, gang.unnamed}}));
  }
  for (int i = 0; i < out.pods_size(); ++i) {
    out.mutable_pods(i)->set_uid(gang.pods[static_cast<size_t>(i)].uid);
  }
  if (beside.help != nullptr) HelpInto(*beside.help, out);
}

void GangsInto(const ClusterView& view, absl::string_view namespace_name, pb::GangList& out) {
  for (const GangView& gang : view.gangs) {
    if (namespace_name.empty() || gang.namespace_name == namespace_name)
      Fill(gang, *out.add_items());
  }
}

void NodesInto(const ClusterView& view, pb::NodeList& out) {
  for (const NodeRow& node : view.nodes) {
    pb::Node& row = *out.add_items();
    row.set_name(node.name);
    row.set_schedulable(node.schedulable);
    row.set_closed(node.closed);
    row.set_pods(node.pods);
    row.set_gpu_model(node.gpu_model);
    for (const NodeResourceView& resource : node.resources) {
      pb::Resource& amount = *row.add_resources();
      amount.set_name(resource.resource);
      amount.set_allocatable(FormatAmount(resource.resource, resource.allocatable));
      amount.set_free(FormatAmount(resource.resource, resource.free));
      amount.set_gpu(resource.gpu);
      amount.set_one_per_container(resource.one_per_container);
    }
    for (const std::string& gang : node.gangs) row.add_gangs(gang);
    for (const std::string& value : node.path) row.add_path(value);
    for (const NodeUseView& use : node.uses) {
      pb::NodeUse& taken = *row.add_uses();
      taken.set_gang(use.gang);
      taken.set_resource(use.resource);
      taken.set_amount(use.amount);
    }
    for (const Taint& taint : node.taints) row.add_taints(TaintText(taint));
  }
}

void QueuesInto(const ClusterView& view, pb::QueueList& out) {
  for (const QueueView& queue : view.queues) {
    pb::Queue& row = *out.add_items();
    row.set_name(queue.name);
    row.set_cohort(queue.cohort);
    row.set_stop_policy(queue.stop_policy);
    row.set_pending(queue.pending);
    row.set_running(queue.running);
    row.set_pending_pods(queue.pending_pods);
    row.set_running_pods(queue.running_pods);
    row.set_fair_share(queue.fair_share);
    row.set_problem(queue.problem);
    row.set_uncharged(queue.uncharged);
    for (const auto& [reason, gangs] : queue.pending_by_reason) {
      Fill(reason, gangs, *row.add_waiting());
    }
    row.set_started(static_cast<int64_t>(queue.history.waited.count()));
    row.set_waited_seconds(queue.history.waited.seconds());
    for (size_t i = 0; i < kLeavingCauses.size(); ++i) {
      if (queue.history.left[i] > 0)
        Fill(kLeavingCauses[i], queue.history.left[i], *row.add_left());
    }
    for (const QuotaUsageView& quota : queue.usage) Fill(quota, *row.add_usage());
  }
}

void CohortsInto(const ClusterView& view, pb::CohortList& out) {
  for (const CohortView& cohort : view.cohorts) {
    pb::Cohort& row = *out.add_items();
    row.set_name(cohort.name);
    row.set_parent(cohort.parent);
    row.set_fair_share(cohort.fair_share);
    row.set_problem(cohort.problem);
    for (const std::string& queue : cohort.queues) row.add_queues(queue);
    for (const QuotaUsageView& quota : cohort.usage) Fill(quota, *row.add_usage());
  }
}

void DecisionsInto(const std::vector<JournalEntry>& entries, pb::DecisionList& out) {
  const auto seconds = [](absl::Time at) { return absl::ToDoubleSeconds(at - absl::UnixEpoch()); };
  for (const JournalEntry& entry : entries) {
    const DecisionEntry& decision = entry.decision;
    pb::Decision& row = *out.add_items();
    row.set_at(seconds(decision.at));
    row.set_what(std::string(decision.what));
    row.set_namespace_(decision.gang.namespace_name);
    row.set_name(decision.gang.name);
    row.set_queue(decision.queue);
    row.set_subject(decision.subject);
    row.set_text(std::string(TextOf(decision)));
    row.set_times(entry.times);
    row.set_since(seconds(entry.since));
    row.set_steps(decision.steps);
    row.set_refused(decision.refused);
  }
}

absl::StatusOr<std::string> DecisionsJson(const std::vector<JournalEntry>& entries) {
  return JsonOf<pb::DecisionList>([&](auto& list) { DecisionsInto(entries, list); });
}

void VersionInto(pb::Version& out) {
  out.set_version(MANIPLE_VERSION);
  out.set_api_version("scheduling.maniple.dev/v1alpha1");
}

absl::StatusOr<std::string> VersionJson() {
  return JsonOf<pb::Version>([](auto& version) { VersionInto(version); });
}

absl::StatusOr<std::string> AdminJson(const ClusterView& view, const AdminQuestion& question,
                                      const BesideView& beside) {
  const std::string& path = question.path;
  if (path == "/explain") {
    if (question.name.empty())
      return absl::InvalidArgumentError("/explain needs ?namespace=…&name=…");
    ASSIGN_OR_RETURN(const GangView* found, FindGang(view, question.namespace_name, question.name));
    return JsonOf<pb::Gang>([&](auto& gang) { ExplainInto(*found, beside, gang); });
  }
  if (path == "/gangs") {
    return JsonOf<pb::GangList>(
        [&](auto& list) { GangsInto(view, question.namespace_name, list); });
  }
  if (path == "/nodes") {
    return JsonOf<pb::NodeList>([&](auto& list) { NodesInto(view, list); });
  }
  if (path == "/queues") {
    return JsonOf<pb::QueueList>([&](auto& list) { QueuesInto(view, list); });
  }
  if (path == "/cohorts") {
    return JsonOf<pb::CohortList>([&](auto& list) { CohortsInto(view, list); });
  }
  if (path == "/usage") {
    if (!question.since.empty() && beside.used_by == nullptr) return NoUseIsRemembered();
    return JsonOf<pb::UsageList>(
        [&](auto& list) { UsageInto(view, question.namespace_name, beside.used_by, list); });
  }
  return absl::NotFoundError(absl::StrCat(
      "no page ", path,
      "; there are / (the page), /explain, /gangs, /nodes, /queues, /cohorts, /usage, /log, "
      "/diag, /stream, /tables, /metrics, /livez, /readyz and /version"));
}

}  // namespace maniple
