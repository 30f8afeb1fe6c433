// The promise of a gang in flight: it ends with its quorum bound, or with nothing bound.
//
// A state machine without sockets, threads or clock.
// There is one for each gang that has binds under way, is short of its quorum,
// or is being undone. It holds the API server's replies that are ahead of the watch;
// the watch itself comes in with the Gang. Owned by the scheduling loop, on its thread.
//
//   GangBinding binding(backoff, BindPhase::kBinding, now);
//   binding.Start(plan.placements, gang, step);        // step.actions: send these binds
//   binding.OnBindReply(pod, reply, elsewhere, step);  // … any number of replies …
//   binding.Settle(gang, step);  // after each batch of inputs, and at NextDeadline()
//
// README.md of this folder has the states of a member, how each input changes them, and the phases
// of a gang: binding, bound, growing, repairing, kept, undoing, leaving (see Leave), ended.
//
// Invariants:
//   1. A member has at most one request under way, except that a delete waits neither for a bind
//      that the watch has shown to be done nor for the read that confirms one. Only the reply to
//      the last request is listened to.
//   2. No bind is sent for a pod that is known to be bound, gone, gated or refused; a refusal is
//      believed for a minute, and not while an earlier bind may land.
//   3. In phase undoing no bind is sent, and it ends only when every member is gone or never was
//      bound.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/backoff.h"
#include "api/model/ids.h"
#include "queue/assembly.h"
#include "queue/gang.h"
#include "scheduler/bind/bind_action.h"
#include "scheduler/bind/bind_state.h"
#include "scheduler/bind/reply.h"
#include "scheduler/cycle/question/decision.h"

namespace maniple {

class GangBinding final {
 public:
  // `since`: the beginning of this phase, as far as is known; an earlier leader may have begun it.
  // REQUIRES: phase is kBinding, kBound or kRepairing.
  GangBinding(BackoffPolicy backoff, BindPhase phase, absl::Time since)
      : backoff_(backoff), since_(since), phase_(phase) {}

  // A member that is known to have been bound; Settle finds out whether it still is.
  struct Known {
    PodId pod;
    NodeId node;
    ShapeId shape;
    int32_t sub_group = -1;
  };
  void Remember(const Known& known);

  // Binds these members. The gang may have bound members already; they count. REQUIRES: they are
  // members of the gang and MayPlan.
  void Start(std::span<const Placement> placements, const Gang& gang, BindStep& step);
  // Replies to our requests; unknown pods and stale replies are ignored.
  void OnBindReply(PodId pod, const BindReply& reply, std::optional<NodeId> elsewhere,
                   BindStep& step);
  void OnReading(PodId pod, const PodReading& reading, std::optional<NodeId> node, BindStep& step);
  void OnDeleteReply(PodId pod, const DeleteReply& reply, BindStep& step);
  // These nodes are gone, and their ids may be other nodes' next.
  // The places of members on them are unknown until the watch or a reply tells.
  void ForgetNodes(const absl::btree_set<NodeId>& gone);
  // The whole gang is being evicted: no more requests are sent, and those under way come to rest.
  void Leave(BindStep& step);
  // By how much the quorum has been raised since it was met last: by its user, or by its producer
  // as members of a later stage came. Members whom it lacks for that alone are late, not lost.
  // Nobody has to leave for the user's; a stage has as long as replacements have.
  void KnowGrowth(QuorumNeed growth, QuorumNeed stage = {});
  // Folds in what the watch shows and draws the conclusions for the gang.
  void Settle(const Gang& gang, BindStep& step);

  [[nodiscard]] BindPhase phase() const { return phase_; }
  // The quorum is lost: its rest is mended, kept, or being released for that.
  [[nodiscard]] bool HasLostQuorum() const;
  [[nodiscard]] bool StageIsLate() const { return stage_is_late_; }  // and nobody was lost
  // No request is under way, and there is nothing to wait for.
  [[nodiscard]] bool done() const;
  // Some member is on its way to being bound.
  [[nodiscard]] bool Coming() const;
  // Some member is, or was, bound: the rest of this gang is worth more than
  // the beginning of another.
  [[nodiscard]] bool begun() const { return any_bound_; }
  // The gang stays as it is unless it is evicted: the watch shows all its bound members,
  // and no first quorum is on its way.
  [[nodiscard]] bool Stands() const;
  // None: the pod is not in our hands.
  [[nodiscard]] std::optional<BindState> StateOf(PodId pod) const;
  // Adds how many members are in each state, by BindState.
  void AddStates(std::array<int32_t, kBindStates>& count) const;
  // Not in our hands, so that it may be planned.
  [[nodiscard]] bool MayPlan(PodId pod) const;
  // The node, if the pod is bound, perhaps ahead of the watch, or on its way; else none.
  [[nodiscard]] std::optional<NodeId> PlacedOn(PodId pod) const;
  // The node, if the pod is bound and counts; else none.
  [[nodiscard]] std::optional<NodeId> LandedOn(PodId pod) const;
  // The need of the quorum beyond the members that are bound or on their way.
  [[nodiscard]] QuorumNeed NeedOf(const Gang& gang) const;
  [[nodiscard]] bool wants_repair() const { return wants_repair_; }
  [[nodiscard]] const std::vector<Vacancy>& vacancies() const { return vacancies_; }
  // Shapes that it knows by their ids alone, of pods that may be gone.
  void ForEachShape(absl::FunctionRef<void(ShapeId)> visit) const;
  [[nodiscard]] absl::Time since() const { return since_; }        // the phase
  [[nodiscard]] absl::Time deadline() const { return deadline_; }  // of the phase
  [[nodiscard]] absl::Time NextDeadline() const;                   // when to Settle at the latest
  [[nodiscard]] absl::string_view trouble() const { return trouble_; }  // the last failure

 private:
  enum class Request : uint8_t { kNone, kBind, kRead, kDelete };
  struct Entry {
    PodId pod;
    NodeId node;
    ShapeId shape;
    BindState state;
    int32_t sub_group = -1;
    Request asked = Request::kNone;  // under way
    bool stale = false;              // the watch does not show yet what a reply told
    bool elsewhere = false;          // another has bound it while our bind was under way
    bool occupied = false;           // gone, but its pod still takes room
    bool unfit = false;              // gone, and its node is to blame
    absl::Time retry_at = absl::InfiniteFuture();
    // A bind without an answer, or in doubt, may take effect until then. InfinitePast:
    // there is none, or a later reading showed that it did not.
    absl::Time may_land_until = absl::InfinitePast();
    Backoff backoff;
  };

  Entry* Find(PodId pod);
  [[nodiscard]] const Entry* Find(PodId pod) const;
  Entry& Insert(const Placement& placement, ShapeId shape, BindState state);
  // The entry that a reply to such a request is for; null when the request was not the last one.
  Entry* Answered(PodId pod, Request request);

  void Ask(Entry& entry, Request request, BindStep& step);
  void Send(Entry& entry, BindStep& step);
  void LetGo(Entry& entry, BindState state, BindStep& step);
  void GiveUp(Entry& entry, BindStep& step);
  void TryLater(Entry& entry, BindState state, std::optional<absl::Duration> named, BindStep& step);
  void Land(Entry& entry, std::optional<NodeId> node, BindStep& step);
  void Judge(Entry& entry, BindStep& step);
  void See(Entry& entry, const Member* member, BindStep& step);
  void SeeLost(Entry& entry, const Member* member, BindStep& step);
  void SeeSucceeded(Entry& entry, const Member* member, BindStep& step);
  void Forget(BindStep& step);
  void CarryOn(BindStep& step);

  using MembersByPod = std::vector<const Member*>;
  void Adopt(const MembersByPod& members);
  void SeeAll(const MembersByPod& members, BindStep& step);

  // The need of the quorum, by the members that count, and whether more could still be placed.
  struct Weighed {
    QuorumNeed placed;  // the bound ones
    QuorumNeed coming;  // … with those on their way
    QuorumNeed spare;   // … and with those that wait to be placed
    bool has_spare = false;
  };
  [[nodiscard]] Weighed Weigh(const Gang& gang, const MembersByPod& members) const;

  void Conclude(const Gang& gang, const Weighed& weighed, BindStep& step);
  void ConcludeBinding(const Gang& gang, const Weighed& weighed, BindStep& step);
  void ConcludeRepair(const Gang& gang, const Weighed& weighed, BindStep& step);
  void NoteLoss(const Weighed& weighed, BindStep& step);
  void BeginUndo(UndoCause cause, std::string detail, BindStep& step);
  void CarryOnUndo(BindStep& step);
  void GiveUpWaiting(BindStep& step);
  void ComeToRest();
  void ListVacancies(const Weighed& weighed);

  enum class Progress : uint8_t { kNone, kPlaced, kComing, kSpare };
  [[nodiscard]] static Progress ProgressOf(const Entry* entry, const Member& member);
  [[nodiscard]] bool RefusalIsFatal(const Gang& gang, const Weighed& weighed) const;
  [[nodiscard]] bool Any(absl::FunctionRef<bool(const Entry&)> test) const;

  BackoffPolicy backoff_;
  absl::Time since_;
  BindPhase phase_;
  std::vector<Entry> entries_;  // sorted by pod
  bool any_bound_ = false;      // while binding, since_ is then the time of the first bind
  absl::Time deadline_ = absl::InfiniteFuture();
  QuorumNeed growth_, stage_;
  bool wants_repair_ = false, stage_is_late_ = false;
  std::vector<Vacancy> vacancies_;
  std::string trouble_;
  Undone undone_;
};

}  // namespace maniple
