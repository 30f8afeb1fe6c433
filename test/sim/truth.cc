#include "test/sim/truth.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "api/model/maniple_types.h"
#include "test/sim/job_recipes.h"
#include "test/sim/names.h"

namespace maniple::sim {
namespace {

std::string KeyOf(const Json& object) {
  const Json& meta = object["metadata"];
  return absl::StrCat(meta["namespace"].AsString(), "/", meta["name"].AsString());
}

uint64_t Mixed(uint64_t hash, absl::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

std::string OwnerOf(const Json& object) {
  for (const Json& owner : object["metadata"]["ownerReferences"].items()) {
    if (owner["controller"].AsBool()) return owner["uid"].AsString();
  }
  return "";
}

// Members of other kinds come in stages, and each stage raises the quorum.
std::string SourceOf(const Json& spec) {
  const std::string& kind = spec["source"]["kind"].AsString();
  return kind == "Job" || kind == "RayCluster" ? spec["source"]["uid"].AsString() : "";
}

}  // namespace

void Truth::Start(absl::Time now) {
  const std::string ours = "/apis/scheduling.maniple.dev/v1alpha1/";
  watches_ = {{"Namespace", "/api/v1/namespaces?watch=true", {}},
              {"PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses?watch=true", {}},
              {"ResourceFlavor", ours + "resourceflavors?watch=true", {}},
              {"Cohort", ours + "cohorts?watch=true", {}},
              {"Queue", ours + "queues?watch=true", {}},
              {"Node", "/api/v1/nodes?watch=true", {}},
              {"PodDisruptionBudget", "/apis/policy/v1/poddisruptionbudgets?watch=true", {}},
              {"PodGroup", "/apis/scheduling.maniple.dev/v1alpha1/podgroups?watch=true", {}},
              {"Pod", "/api/v1/pods?watch=true", {}},
              {"Lease", "/apis/coordination.k8s.io/v1/leases?watch=true", {}}};
  for (Watch& watch : watches_) Open(watch, now);
}

// A new watch starts with everything there is.
void Truth::Open(Watch& watch, absl::Time now) {
  devcluster::ApiRequest request;
  request.method = "GET";
  request.target = watch.target;
  const devcluster::ApiReply reply = server_.Handle(request, now);
  // A CRD may be away for a while.
  CHECK(reply.watch.valid() || reply.status == 404)
      << watch.target << " answered " << reply.status << ": " << reply.body;
  watch.id = reply.watch;
}

void Truth::Observe(absl::Time now) {
  for (Watch& watch : watches_) {
    if (watch.id.valid() && !Read(watch, now)) continue;
    const std::map<std::string, GroupFacts> before = groups_;
    missed_some_ = missed_some_ || !pods_.empty();
    Forget(watch.kind, now);
    Open(watch, now);
    heard_.clear();
    if (watch.id.valid()) {
      (void)Read(watch, now);
      NoteVanished(watch.kind, now);
    }
    for (const auto& [key, group] : before) {
      if (!groups_.contains(key)) NoteGroupGone(key, now);
    }
  }
}

// True when the server has ended it: it forgot its history, or the collection is gone.
bool Truth::Read(Watch& watch, absl::Time now) {
  const devcluster::WatchEvents output = server_.TakeWatchEvents(watch.id);
  for (const devcluster::WatchEvent& event : output.events) Apply(watch.kind, event, now);
  if (output.ended) server_.CloseWatch(watch.id);
  return output.ended;
}

void Truth::Forget(absl::string_view kind, absl::Time now) {
  if (kind == "Pod") pods_.clear();
  if (kind == "Node") nodes_.Forget(now);
  if (kind == "PodGroup") groups_.clear();
  if (kind == "Lease") lease_.holder.clear();
}

// What went while its watch was cut; of the kinds that Forget does not forget.
void Truth::NoteVanished(absl::string_view kind, absl::Time now) {
  for (const std::string& name : quotas_.NamesOf(kind)) {
    if (!heard_.contains(absl::StrCat("/", name))) ApplyQuota(kind, name, Json(), now);
  }
  if (kind != "PodDisruptionBudget") return;
  std::erase_if(budgets_, [this](const auto& budget) { return !heard_.contains(budget.first); });
}

void Truth::Apply(absl::string_view kind, const devcluster::WatchEvent& event, absl::Time now) {
  const absl::string_view type = event.type;
  if (type == "BOOKMARK" || type == "ERROR") return;
  if (on_change_ != nullptr) on_change_(kind, event);
  if (kind != "Lease") last_change_ = now;
  const Json& object = event.object;
  const std::string key = KeyOf(object);
  const bool deleted = type == "DELETED";
  heard_.insert(key);
  fingerprint_ =
      Mixed(fingerprint_, absl::StrCat(kind, type, key, object["spec"]["nodeName"].AsString(),
                                       object["status"]["phase"].AsString(),
                                       object["status"]["reason"].AsString()));
  if (kind == "Node") {
    ApplyNode(key.substr(1), deleted ? Json() : object, now);
  } else if (kind == "PodGroup") {
    if (deleted) {
      groups_.erase(key);
      NoteGroupGone(key, now);
    } else {
      ApplyGroup(key, object, now);
    }
  } else if (kind == "PriorityClass") {
    classes_[key.substr(1)] = {.value = object["value"].AsInt(),
                               .preempts = object["preemptionPolicy"].AsString() != "Never"};
  } else if (kind == "PodDisruptionBudget") {
    ApplyBudget(key, deleted ? Json() : object, now);
  } else if (kind == "Namespace") {
    selections_.NoteNamespace(key.substr(1), object["metadata"]["labels"], now);
  } else if (kind == "Queue" || kind == "Cohort" || kind == "ResourceFlavor") {
    ApplyQuota(kind, key.substr(1), deleted ? Json() : object, now);
  } else if (kind == "Lease") {
    lease_.holder = deleted ? "" : object["spec"]["holderIdentity"].AsString();
  } else if (deleted) {
    const auto pod = pods_.find(key);
    const std::string gang = pod == pods_.end() ? "" : pod->second.gang;
    if (pod != pods_.end()) NoteCleaned(pod->second);
    pods_.erase(key);
    NoteQuorum(gang, now);
  } else {
    ApplyPod(object, now);
    NoteQuorum(pods_.at(key).gang, now);
  }
}

void Truth::ApplyNode(const std::string& name, const Json& object, absl::Time now) {
  if (!nodes_.Apply(name, object, now)) return;
  for (const auto& [key, pod] : pods_) {
    if (pod.node == name) NoteUpheaval(gangs_.at(pod.gang).queue, now);
  }
}

void Truth::ApplyBudget(const std::string& key, const Json& object, absl::Time now) {
  if (object.is_null()) {
    budgets_.erase(key);
    return;
  }
  const std::string& gang = object["spec"]["selector"]["matchLabels"][kPodGroupLabel].AsString();
  const std::string& space = object["metadata"]["namespace"].AsString();
  budgets_.try_emplace(key, BudgetFacts{.gang = absl::StrCat(space, "/", gang), .since = now});
}

int64_t Truth::BudgetsOver(const std::string& gang, absl::Time then) const {
  return std::ranges::count_if(budgets_, [&](const auto& budget) {
    return budget.second.gang == gang && budget.second.since <= then;
  });
}

void Truth::ApplyGroup(const std::string& key, const Json& object, absl::Time now) {
  const Json& spec = object["spec"];
  GangFacts& gang = gangs_[key];
  gang.seen = now;
  const bool bound = std::ranges::any_of(pods_, [&key](const auto& pod) {
    return pod.second.gang == key && !pod.second.node.empty();
  });
  const bool renamed = gang.queue != spec["queue"].AsString() && !gang.uid.empty();
  const bool moves = renamed && bound;
  // Binds under way were decided under the old name; those of the tenant tell under which.
  const bool heaves = renamed && !IsOfTenant(key);
  NoteUpheaval(heaves ? gang.queue : "", now);
  if (heaves) {
    gang.queue_since = now;
    gang.queue_before = gang.queue;
  }
  gang.queue = spec["queue"].AsString();
  NoteUpheaval(heaves ? gang.queue : "", now);
  if (moves && groups_.contains(key)) rules_changed_ = now;
  gang.moved = gang.moved || moves;
  const std::string& uid = object["metadata"]["uid"].AsString();
  if (gang.uid != uid) {
    const size_t gone = std::erase_if(
        gang.succeeded, [this](const std::string& pod) { return !pods_.contains(pod); });
    // Whoever hears late that they have succeeded counts them for the new one.
    gang.some_came_again = gang.some_came_again || gone > 0;
    gang.of_past_runs.clear();
    gang.succeeded_told = 0;
    gang.forged = false;
    // What stands of it was bound whole under the PodGroup before this one.
    gang.was_whole = gang.was_whole && std::ranges::any_of(pods_, [&key](const auto& pod) {
                       return pod.second.gang == key && pod.second.stands();
                     });
    gang.half_since = absl::InfiniteFuture();
  }
  gang.uid = uid;
  gang.succeeded_told =
      std::max(gang.succeeded_told, object["status"]["members"]["succeeded"].AsInt());
  // Or so its leader believed, whom the server had told of a bind that it then forgot.
  gang.was_whole = gang.was_whole || object["status"]["phase"].AsString() == "Running";
  gang.preempts = spec["preemption"]["policy"].AsString() != "Never";
  gang.protected_for = std::max(
      gang.protected_for, absl::Seconds(spec["preemption"]["protectedRuntimeSeconds"].AsInt()));
  const int64_t before = gang.priority();
  const auto its_class = classes_.find(spec["priorityClassName"].AsString());
  const bool has_class = its_class != classes_.end();
  gang.most = has_class ? std::optional(its_class->second.value) : std::nullopt;
  gang.class_preempts = !has_class || its_class->second.preempts;
  if (groups_.contains(key) && gang.priority() != before) rules_changed_ = now;
  std::map<std::string, GroupFacts::SubGroup> sub_groups;
  for (const Json& sub : spec["subGroups"].items()) {
    sub_groups[sub["name"].AsString()] = {
        .min_member = sub["minMember"].AsInt(),
        .in_one_rack = !sub["topology"]["required"].AsString().empty()};
  }
  const auto known = groups_.find(key);
  if (known == groups_.end()) gang.group_since = now;
  groups_[key] = {.since = gang.group_since,
                  .min_member = spec["minMember"].AsInt(),
                  .phase = object["status"]["phase"].AsString(),
                  .reason = object["status"]["reason"].AsString(),
                  .source = SourceOf(spec),
                  .says_succeeded = object["status"]["members"]["succeeded"].AsInt(),
                  .says_met = object["status"]["quorumMet"].AsInt(),
                  .says_stands = !object["status"]["quorumReachedAt"].AsString().empty(),
                  .kept = spec["quorumLoss"]["action"].AsString() == "Keep",
                  .keeps_for = absl::Seconds(spec["quorumLoss"]["gracePeriodSeconds"].AsInt()),
                  .in_one_rack = !spec["topology"]["required"].AsString().empty(),
                  .sliced = spec["topology"].Has("slice"),
                  .sub_groups = std::move(sub_groups),
                  .queue = gang.queue,
                  .says = spec["expectedRuntimeSeconds"].is_number()
                              ? std::optional(absl::Seconds(spec["expectedRuntimeSeconds"].AsInt()))
                              : std::nullopt};
  NoteQuorum(key, now);
}

void Truth::ApplyPod(const Json& object, absl::Time now) {
  PodFacts pod;
  pod.key = KeyOf(object);
  pod.uid = object["metadata"]["uid"].AsString();
  pod.node = object["spec"]["nodeName"].AsString();
  pod.phase = object["status"]["phase"].AsString();
  pod.owner = OwnerOf(object);
  pod.nominated = object["status"]["nominatedNodeName"].AsString();
  pod.deleting = object["metadata"].Has("deletionTimestamp");
  pod.minds_company =
      object["spec"].Has("affinity") || object["spec"].Has("topologySpreadConstraints");
  pod.uses_volumes = object["spec"].Has("volumes");
  const Json& labels = object["metadata"]["labels"];
  pod.gang =
      absl::StrCat(object["metadata"]["namespace"].AsString(), "/",
                   labels[labels.Has(kPodGroupLabel) ? kPodGroupLabel : kUnitLabel].AsString());
  for (const Json& container : object["spec"]["containers"].items()) {
    for (const auto& [resource, amount] : DevicesIn(container["resources"]["requests"])) {
      pod.devices[resource] += amount;
    }
  }
  pod.gpus = AmountOf(kGpu, pod.devices);
  pod.priority = object["spec"]["priority"].AsInt();
  pod.slow = object["metadata"]["finalizers"].size() > 0;
  pod.never_preempts = object["spec"]["preemptionPolicy"].AsString() == "Never";
  pod.sub_group = object["metadata"]["labels"][kSubGroupLabel].AsString();
  const auto before = pods_.find(pod.key);
  const bool had_ended = before != pods_.end() && before->second.ended();
  if (pod.ended()) pod.ended_at = had_ended ? before->second.ended_at : now;
  GangFacts& gang = gangs_[pod.gang];
  if (!pod.ended() && (before == pods_.end() || before->second.uid != pod.uid)) {
    NoteNewRun(pod.gang);
    // One of its rank is to do it again.
    if (gang.succeeded.erase(pod.key) > 0) {
      gang.some_came_again = true;
      // What was told of its first success says nothing of the second.
      gang.succeeded_told =
          std::min(gang.succeeded_told, static_cast<int64_t>(gang.succeeded.size()));
    }
    gang.of_past_runs.erase(pod.key);
  }
  if (pod.phase == "Succeeded") {
    gang.succeeded.insert(pod.key);
    gang.of_past_runs.erase(pod.key);
  }
  gang.highest = std::max(gang.highest, pod.priority);
  gang.members_preempt = !pod.never_preempts;
  gang.seen = now;
  const std::string node = pod.node, key = pod.key, uid = pod.uid;
  if (node.empty()) {
    pods_[key] = std::move(pod);
    return;
  }
  const BindFacts bound{.gang = pod.gang,
                        .node = node,
                        .queue = QueueAtBind(pod, now),
                        .at = now,
                        .ours = true,
                        .by = expected_.pod == key ? expected_.life : 0};
  const auto [it, fresh] = bound_.try_emplace(uid, bound);
  if (fresh) it->second.ours = foreign_.erase(key) == 0;
  if (!it->second.ours) gangs_of_others_.insert(pod.gang);
  gang.nodes.insert(node);
  pod.ours = it->second.ours;
  pod.bound_at = it->second.at;
  pod.admitted = it->second.queue;
  pod.bound_by = it->second.by;
  pod.told_to = it->second.told_to;
  pod.told_at = it->second.told_at;
  if (fresh && pod.ours && IsOnlyBoundByOthers(pod.gang)) {
    AdmitThoseBoundByOthers(pod.gang, pod.admitted);
  }
  pods_[key] = std::move(pod);
  if (!fresh) {
    if (it->second.node != node) {
      Violated(now, absl::StrCat("BoundAtMostOnce: ", key, " moved from ", it->second.node, " to ",
                                 node));
    }
    return;
  }
  ++binds_;
  if (!it->second.ours) return;
  ++judged_binds_;
  CheckNeverOversubscribed(node, key, now);
  CheckNobodyJoinsADivision(pods_.at(key), now);
  CheckQuotaLegal(pods_.at(key), now);
  CheckNobodyElsesQuota(pods_.at(key), now);
  CheckCapsHold(pods_.at(key), object, now);
  CheckDomainsHold(pods_.at(key), now);
}

void Truth::CheckFencing(const std::string& identity, const std::string& what, absl::Time now) {
  if (lease_.holder == identity || lease_.IsTampered(now)) return;
  Violated(now, absl::StrCat("Fencing: ", identity, " sends ", what,
                             " while the Lease is held by \"", lease_.holder, "\""));
}

void Truth::NoteTold(const std::string& key, uint64_t life, absl::Time now) {
  const auto pod = pods_.find(key);
  if (pod == pods_.end() || pod->second.ours) return;
  BindFacts& bound = bound_.at(pod->second.uid);
  if (bound.told_to != 0) return;
  bound.told_to = pod->second.told_to = life;
  bound.told_at = pod->second.told_at = now;
}

// Counts what our binds have put there, and what others have put there if the process that binds
// was told so before, or long enough ago to be known.
void Truth::CheckNeverOversubscribed(const std::string& node, const std::string& because,
                                     absl::Time now) {
  if (!nodes().contains(node)) return;  // bound to a node that has just gone: a fair race
  // Devices may be lost under those that stand there; who asks for none takes none from them.
  for (const auto& [resource, amount] : pods_.at(because).devices) {
    CheckNeverOversubscribed(node, because, resource, now);
  }
}

void Truth::CheckNeverOversubscribed(const std::string& node, const std::string& because,
                                     const std::string& resource, absl::Time now) {
  const int64_t room = nodes_.MostOffered(node, resource, now);
  int64_t used = 0;
  std::string who;
  for (const auto& [key, pod] : pods_) {
    const int64_t takes = AmountOf(resource, pod.devices);
    if (pod.node != node || pod.ended() || takes == 0) continue;
    const bool told = expected_.pod == because && pod.told_to == expected_.life &&
                      pod.told_at < expected_.decided;
    if (!pod.ours && !told && pod.bound_at >= now - kBlind) continue;
    used += takes;
    absl::StrAppend(&who, " ", key, pod.ours ? "" : " (not ours)", pod.deleting ? " (leaving)" : "",
                    " since ", absl::FormatTime("%H:%M:%E3S", pod.bound_at, absl::UTCTimeZone()));
  }
  if (used > room) {
    Violated(now,
             absl::StrCat("NeverOversubscribed: ", node, " has ", room, " of ", resource, " and ",
                          used, " are taken once ", because, " is bound there:", who));
  }
}

void Truth::Violated(absl::Time now, std::string what) {
  violations_.push_back(
      absl::StrCat(absl::FormatTime("%H:%M:%E3S", now, absl::UTCTimeZone()), " ", what));
}

}  // namespace maniple::sim
