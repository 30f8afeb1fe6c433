// What really is the case on the server, followed by a watch of its own, and the promises that must
// hold there.
//
// Knows nothing of the scheduler: pods, nodes and PodGroups as the API server tells them. Each
// promise is one named function; violations are collected with the time and the objects they name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/codec/json.h"
#include "api/devcluster/api_server.h"
#include "test/sim/quota_truth.h"

namespace maniple::sim {

class Truth final {
 public:
  struct PodFacts {
    std::string key, uid, gang, node, phase;
    std::string nominated;  // the node whose room is kept for it
    bool deleting = false;
    bool minds_company = false;  // it asks something of the pods around it
    bool ours = true;            // bound by a living leader of ours, as far as it is bound
    int64_t gpus = 0, priority = 0;
    absl::Time bound_at = absl::InfinitePast();
    uint64_t told_to = 0;  // the process that a reply has told where somebody else has bound it
    absl::Time told_at = absl::InfiniteFuture();
    [[nodiscard]] bool ended() const { return phase == "Succeeded" || phase == "Failed"; }
  };
  struct NodeFacts {
    absl::Time since;  // under this name
    int64_t gpus = 0;
    bool cordoned = false, tainted = false;
    std::string rack;
    Json labels;
  };
  struct GroupFacts {
    absl::Time since;  // under this name
    int64_t min_member = 0;
    std::string phase, reason;
    bool kept = false;  // what is left of it after a loss may go on running
    bool in_one_rack = false;
    bool sliced = false;
    std::string queue;
    std::optional<absl::Duration> says;  // its expected run time
  };
  // What is remembered of a gang, also when it is gone.
  struct GangFacts {
    std::string queue;
    std::optional<int64_t> most;  // its PodGroup's class
    int64_t highest = 0;          // of the priorities of its members
    bool preempts = true;
    absl::Time seen = absl::InfinitePast();
    [[nodiscard]] int64_t priority() const { return std::min(highest, most.value_or(highest)); }
  };
  struct LeaseFacts {
    std::string holder;  // "" = nobody
    absl::Time tampered = absl::InfinitePast();
  };

  explicit Truth(devcluster::ApiServer& server) : server_(server) {}

  void Start(absl::Time now);
  // Reads what changed and checks NeverOversubscribed and BoundAtMostOnce for it.
  void Observe(absl::Time now);
  // The next bind of this pod ("namespace/name") is not the doing of a living leader: another
  // scheduler's, or one that was sent in an earlier leadership and cannot be recalled. What it
  // oversubscribes is for the kubelet to reject and for us to repair.
  void ExpectForeignBind(const std::string& pod) { foreign_.insert(pod); }
  void NoForeignBind(const std::string& pod) { foreign_.erase(pod); }  // it failed
  // The bind of this pod that the server handles next was decided by this process then.
  void ExpectBind(const std::string& pod, uint64_t life, absl::Time decided) {
    expected_ = {pod, life, decided};
  }
  // Somebody else has once bound a member of it.
  [[nodiscard]] bool BoundByOthers(const std::string& gang) const {
    return gangs_of_others_.contains(gang);
  }
  // This process hears now where somebody else has bound this pod.
  void NoteTold(const std::string& pod, uint64_t life, absl::Time now);
  void NoteTamperedLease(absl::Time now) { lease_.tampered = now; }
  [[nodiscard]] bool LeaseIsTampered(absl::Time now) const;
  // A process is about to write although the Lease is in the hand of another.
  void CheckFencing(const std::string& identity, const std::string& what, absl::Time now);

  // Somebody of ours asks this gang's pod to leave: its Queue is drained, or somebody who may make
  // it leave is there, or was lately.
  void CheckEviction(const std::string& gang, const std::string& what, absl::Time now);

  // At quiescence: no gang has some but fewer than its quorum.
  void CheckGangAllOrNothing(absl::Time now);
  // At quiescence: no whole gang waits although its room is free and its Queue lets it have it, by
  // plain counting of GPUs per node. Room that is held for a gang looks free here.
  enum class Holds : uint8_t { kNone, kSome };
  void CheckNothingRunnableWaits(Holds holds, absl::Time now);
  // By plain counting: the waiting gang could start if this one, which runs, left.
  [[nodiscard]] bool CouldStartWithout(const std::string& waiting, const std::string& runs) const;
  // The gang's quorum is bound, none of its pods leaves, and all have been bound since `time`: what
  // is left of a quorum is repaired, or leaves by the rule for that.
  [[nodiscard]] bool StaysSince(const std::string& gang, absl::Time time) const;
  // At quiescence: room is kept for nobody.
  void CheckNobodyIsNominated(absl::Time now);

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  [[nodiscard]] const std::map<std::string, PodFacts>& pods() const {
    return pods_;
  }  // by "namespace/name"
  [[nodiscard]] const std::map<std::string, NodeFacts>& nodes() const { return nodes_; }
  [[nodiscard]] const std::map<std::string, GroupFacts>& groups() const { return groups_; }
  // The most that may seem free on the node to a leader, were the pods of `without` not there.
  [[nodiscard]] int64_t MostFree(const std::string& node, const std::set<std::string>& without,
                                 absl::Time now) const;
  // Of nodes that take new pods, as the API shows them.
  [[nodiscard]] std::map<std::string, int64_t> FreeGpus(const std::string& without = "") const;
  [[nodiscard]] const QuotaTruth& quotas() const { return quotas_; }
  [[nodiscard]] uint64_t quota_checks() const { return quota_checks_; }
  [[nodiscard]] const LeaseFacts& lease() const { return lease_; }
  void Violated(absl::Time now, std::string what);
  // When anything but a Lease changed.
  [[nodiscard]] absl::Time last_change() const { return last_change_; }
  // A fingerprint of every change seen, in order: equal for equal seeds.
  [[nodiscard]] uint64_t fingerprint() const { return fingerprint_; }
  [[nodiscard]] uint64_t binds() const { return binds_; }

 private:
  struct Watch {
    std::string kind, target;
    devcluster::WatchId id;
  };
  void Open(Watch& watch, absl::Time now);
  bool Read(Watch& watch, absl::Time now);
  void Forget(absl::string_view kind, absl::Time now);
  void Apply(absl::string_view kind, const devcluster::WatchEvent& event, absl::Time now);
  void ApplyPod(const Json& object, absl::Time now);
  void CheckNeverOversubscribed(const std::string& node, const std::string& because,
                                absl::Time now);
  void ApplyNode(const std::string& name, const Json& object, absl::Time now);
  void ApplyGroup(const std::string& key, const Json& object, absl::Time now);
  void ApplyQuota(absl::string_view kind, const std::string& name, const Json& object,
                  absl::Time now);
  // What is charged to Queues is not what it was, whatever our schedulers do.
  void NoteUpheaval(absl::Time now) { upheaval_ = now; }
  void CheckQuotaLegal(const PodFacts& pod, absl::Time now);
  [[nodiscard]] QuotaTruth::Usage UsageKnown(absl::Time bound_by_others_before,
                                             const std::string& without = "") const;
  [[nodiscard]] bool MayMakeLeave(const GangFacts& gang, const GangFacts& victim) const;
  // A waiting gang, and what it needs.
  struct Wanting {
    std::string key;
    int64_t need = 0, each = 0;
    bool in_one_rack = false;
  };
  [[nodiscard]] std::vector<Wanting> WholeGangsWaiting() const;
  // Once the pods of `gone` have left, if it names a gang.
  [[nodiscard]] int64_t RoomFor(const Wanting& gang, const std::string& queue,
                                const std::string& gone = "") const;
  [[nodiscard]] bool MayBeHeldUp(const std::string& gang, const std::string& queue) const;
  [[nodiscard]] int64_t MostGpusOf(const std::string& node, absl::Time now) const;

  devcluster::ApiServer& server_;
  std::vector<Watch> watches_;
  std::map<std::string, PodFacts> pods_;
  std::map<std::string, NodeFacts> nodes_;
  std::map<std::string, GroupFacts> groups_;
  std::map<std::string, GangFacts> gangs_;
  std::map<std::string, int64_t> classes_;
  QuotaTruth quotas_;
  std::map<std::string, Json> labels_;  // of nodes that are or were
  absl::Time upheaval_ = absl::InfinitePast(), rules_changed_ = absl::InfinitePast();
  uint64_t quota_checks_ = 0;
  struct Bound {
    std::string node;
    absl::Time at;
    bool ours = true;
    uint64_t told_to = 0;
    absl::Time told_at = absl::InfiniteFuture();
  };
  std::map<std::string, Bound> bound_;  // by uid, for ever
  struct Expected {
    std::string pod;
    uint64_t life = 0;
    absl::Time decided = absl::InfinitePast();
  };
  Expected expected_;
  std::set<std::string> gangs_of_others_;
  // node → what it offered, and until when; what a scheduler whose watch has fallen silent may
  // still believe.
  std::map<std::string, std::deque<std::pair<absl::Time, int64_t>>> offered_;
  std::set<std::string> foreign_;
  LeaseFacts lease_;
  std::vector<std::string> violations_;
  uint64_t fingerprint_ = 1469598103934665603ULL;
  absl::Time last_change_ = absl::InfinitePast();
  uint64_t binds_ = 0;
};

}  // namespace maniple::sim
