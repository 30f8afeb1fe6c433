// The truth about the server's objects, followed by a watch of its own, and the promises that must
// hold there.
//
// Knows nothing of the scheduler: pods, nodes and PodGroups as the API server shows them. Each
// promise is one named function; violations are collected with the time and the objects they name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/codec/json.h"
#include "api/devcluster/rest/api_server.h"
#include "test/sim/node_truth.h"
#include "test/sim/quota_truth.h"
#include "test/sim/selection_truth.h"
#include "test/sim/truth_facts.h"

namespace maniple::sim {

// The owner of a namespace.
inline constexpr char kTeamLabel[] = "example.com/team";
inline constexpr char kTenantNamespace[] = "hostile";
// A pod or gang, by "namespace/name", of the tenant that edits whatever it may.
// Harm to its own gangs is its own affair; harm to others is not.
[[nodiscard]] bool IsOfTenant(absl::string_view key);
// "ns" of "ns/name".
[[nodiscard]] std::string NamespaceOf(const std::string& key);

// A leader knows nothing of objects that went between its taking of the Lease and its first lists.
inline constexpr absl::Duration kListsWithin = absl::Seconds(30);

class Truth final {
 public:
  using PodFacts = sim::PodFacts;
  using NodeFacts = sim::NodeFacts;
  using GroupFacts = sim::GroupFacts;
  using GangFacts = sim::GangFacts;
  using LeaseFacts = sim::LeaseFacts;

  explicit Truth(devcluster::ApiServer& server) : server_(server) {}

  // Hears of every change that is seen.
  using OnChange = std::function<void(absl::string_view kind, const devcluster::WatchEvent&)>;
  void set_on_change(OnChange on_change) { on_change_ = std::move(on_change); }
  void Start(absl::Time now);
  // Reads the changes and checks NeverOversubscribed and BoundAtMostOnce for them.
  void Observe(absl::Time now);
  // The next bind of this pod ("namespace/name") is not the doing of a living leader.
  // It is another scheduler's, or was sent in an earlier leadership and cannot be recalled.
  // The kubelet must reject pods that it oversubscribes, and we must repair the loss.
  void ExpectForeignBind(const std::string& pod) { foreign_.insert(pod); }
  void NoForeignBind(const std::string& pod) { foreign_.erase(pod); }  // it failed
  // A decision of this process, at this time, for the bind of this pod that
  // the server handles next.
  struct Expected {
    std::string pod;
    uint64_t life = 0;
    absl::Time decided = absl::InfinitePast();
    absl::Time leads_since = absl::InfinitePast();
    std::string queue = {};  // the Queue of its admission, by its own word; "" = none
  };
  void ExpectBind(const Expected& bind) { expected_ = bind; }
  // Members of it that must be in one rack stand in several. Members that others have put there may
  // count or not.
  [[nodiscard]] bool StandsApart(const std::string& gang) const;
  // Another has once bound a member of it.
  [[nodiscard]] bool BoundByOthers(const std::string& gang) const {
    return gangs_of_others_.contains(gang);
  }
  // A gang with a placed member stays where it was admitted, whatever it names now.
  [[nodiscard]] std::string AdmittedQueueOf(const std::string& gang) const;
  [[nodiscard]] bool IsOnlyBoundByOthers(const std::string& gang) const;
  // Its own watch was cut: pods may have come to an end unseen.
  [[nodiscard]] bool missed_some() const { return missed_some_; }
  // Members that succeeded and were cleaned away, as far as its PodGroup's status remembers them.
  [[nodiscard]] int64_t CleanedOf(const std::string& gang) const;
  // This process now hears where another has bound this pod.
  void NoteTold(const std::string& pod, uint64_t life, absl::Time now);
  void NoteTamperedLease(absl::Time now) { lease_.tampered = now; }
  // A process is about to write although the Lease is in the hand of another.
  void CheckFencing(const std::string& identity, const std::string& what, absl::Time now);

  // This process, which leads, has sent a new division of the node's GPUs,
  // and the server has taken it. No pod stands on them then, as far as the process can know,
  // and it binds none there before that is done.
  void NoteDivisionSent(const std::string& node, uint64_t life, absl::Time now);
  void CheckDividedWhenIdle(const std::string& node, uint64_t life, absl::Time now);

  // Another has written over the memory in a PodGroup's status.
  void NoteOverwritten(const std::string& gang, absl::Time now);

  // The gang's quorum is bound, none of its pods leaves, and all have been bound since `time`.
  // A broken quorum is repaired, or leaves by the rule for that.
  [[nodiscard]] bool StaysSince(const std::string& gang, absl::Time time) const;

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  [[nodiscard]] const std::map<std::string, PodFacts>& pods() const {
    return pods_;
  }  // by "namespace/name"
  [[nodiscard]] const std::map<std::string, NodeFacts>& nodes() const { return nodes_.all(); }
  [[nodiscard]] const NodeTruth& node_truth() const { return nodes_; }
  [[nodiscard]] const SelectionTruth& selections() const { return selections_; }
  [[nodiscard]] const std::map<std::string, GroupFacts>& groups() const { return groups_; }
  [[nodiscard]] const std::map<std::string, GangFacts>& gangs() const { return gangs_; }
  // Budgets over its pods that existed at that time.
  [[nodiscard]] int64_t BudgetsOver(const std::string& gang, absl::Time then) const;
  // When the rights of one gang over another last changed: quotas, weights, policies, priorities.
  [[nodiscard]] absl::Time rules_changed() const { return rules_changed_; }
  // For how long a scheduler may not know of a change.
  [[nodiscard]] absl::Duration blind_for() const { return blind_for_; }
  void set_blind_for(absl::Duration time) { blind_for_ = time; }
  [[nodiscard]] const QuotaTruth& quotas() const { return quotas_; }
  // The tenant cannot edit the record of its running pods' admission.
  void set_tenant_policy(bool in_force) { tenant_policy_ = in_force; }
  [[nodiscard]] bool has_tenant_policy() const { return tenant_policy_; }
  [[nodiscard]] uint64_t quota_checks() const { return quota_checks_; }
  [[nodiscard]] const LeaseFacts& lease() const { return lease_; }
  void Violated(absl::Time now, std::string what);
  // When any object but a Lease last changed.
  [[nodiscard]] absl::Time last_change() const { return last_change_; }
  // A fingerprint of every change seen, in order: equal for equal seeds.
  [[nodiscard]] uint64_t fingerprint() const { return fingerprint_; }
  [[nodiscard]] uint64_t binds() const { return binds_; }
  // Binds by a scheduler that leads for certain: no promise applies to others.
  [[nodiscard]] uint64_t judged_binds() const { return judged_binds_; }

 private:
  struct Watch {
    std::string kind, target;
    devcluster::WatchId id;
  };
  void Open(Watch& watch, absl::Time now);
  bool Read(Watch& watch, absl::Time now);
  void Forget(absl::string_view kind, absl::Time now);
  void NoteVanished(absl::string_view kind, absl::Time now);
  void Apply(absl::string_view kind, const devcluster::WatchEvent& event, absl::Time now);
  void ApplyPod(const Json& object, absl::Time now);
  void CheckNeverOversubscribed(const std::string& node, const std::string& because,
                                absl::Time now);
  void CheckNeverOversubscribed(const std::string& node, const std::string& because,
                                const std::string& resource, absl::Time now);
  void CheckNobodyJoinsADivision(const PodFacts& pod, absl::Time now);
  void NoteGroupGone(const std::string& gang, absl::Time now);
  void NoteNewRun(const std::string& gang);
  void NoteCleaned(const PodFacts& pod);
  // … for a pod that is bound now, perhaps by a scheduler that has not heard of another name.
  [[nodiscard]] std::string QueueAtBind(const PodFacts& pod, absl::Time now) const;
  void AdmitThoseBoundByOthers(const std::string& gang, const std::string& queue);
  void NoteQuorum(const std::string& gang, absl::Time now);
  void CheckDomainsHold(const PodFacts& pod, absl::Time now);
  void ApplyNode(const std::string& name, const Json& object, absl::Time now);
  void ApplyBudget(const std::string& key, const Json& object, absl::Time now);
  void ApplyGroup(const std::string& key, const Json& object, absl::Time now);
  void ApplyQuota(absl::string_view kind, const std::string& name, const Json& object,
                  absl::Time now);
  void NoteUpheaval(const std::string& queue, absl::Time now);
  void CheckQuotaLegal(const PodFacts& pod, absl::Time now);
  void CheckNobodyElsesQuota(const PodFacts& pod, absl::Time now);
  void CheckCapsHold(const PodFacts& pod, const Json& object, absl::Time now);

  devcluster::ApiServer& server_;
  OnChange on_change_;
  std::vector<Watch> watches_;
  std::map<std::string, PodFacts> pods_;
  NodeTruth nodes_;
  std::map<std::string, GroupFacts> groups_;
  std::map<std::string, GangFacts> gangs_;
  std::set<std::string> heard_;  // keys, since the watch that followed a cut one began
  bool missed_some_ = false;
  std::map<std::string, ClassFacts> classes_;
  std::map<std::string, BudgetFacts> budgets_;
  absl::Duration blind_for_ = absl::Seconds(240);
  QuotaTruth quotas_;
  SelectionTruth selections_;
  bool tenant_policy_ = false;
  std::map<std::string, absl::Time> upheavals_;                  // by root of a tree of Cohorts
  std::set<std::pair<std::string, std::string>> quota_objects_;  // kinds and names
  absl::Time rules_changed_ = absl::InfinitePast();
  uint64_t quota_checks_ = 0;
  std::map<std::string, BindFacts> bound_;  // by uid, for ever
  Expected expected_;
  std::set<std::string> gangs_of_others_;
  std::map<std::string, DivisionFacts> divisions_;  // by node
  std::set<std::string> foreign_;
  LeaseFacts lease_;
  std::vector<std::string> violations_;
  uint64_t fingerprint_ = 1469598103934665603ULL;
  absl::Time last_change_ = absl::InfinitePast();
  uint64_t binds_ = 0, judged_binds_ = 0;
};

}  // namespace maniple::sim
