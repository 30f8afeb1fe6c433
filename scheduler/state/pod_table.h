// Pods of all schedulers: their facts, their places, and the room that they take there.
//
// Owned by ClusterState; scheduling thread. Charges nodes and tells gangs of their members. A pod
// is anchored where it is bound, else where it is reserved, else where another scheduler is about
// to put it. A pod anchored at a node that is not known waits for that node under its name.
//
// Invariants:
//   1. A pod is listed at its anchor and nowhere else.
//   2. It is charged there, once, unless it ended.
//   3. Its shape says which of all queries select it, by its present labels and namespace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "api/model/model.h"
#include "api/producers/gang_directory.h"
#include "scheduler/state/asked_queries.h"
#include "scheduler/state/budget_table.h"
#include "scheduler/state/delta.h"
#include "scheduler/state/gang_table.h"
#include "scheduler/state/node_table.h"
#include "scheduler/state/observed_mix.h"
#include "scheduler/state/pod_facts.h"
#include "scheduler/state/pod_labels.h"
#include "scheduler/state/pod_queries.h"
#include "scheduler/state/pod_record.h"
#include "scheduler/state/shape_table.h"
#include "scheduler/state/state_counters.h"
#include "scheduler/state/stranger_groups.h"
#include "scheduler/state/volume_table.h"

namespace maniple {

class PodTable final {
 public:
  struct Rooms {  // what the table works on, borrowed for its life
    ShapeTable& shapes;
    NodeTable& nodes;
    GangTable& gangs;
    BudgetTable& budgets;
    ObservedMix& mix;
    VolumeTable& volumes;
    PodLabels& labels;
    PodQueries& queries;
    GangDirectory& producers;
    StateCounters& counters;
  };
  PodTable(std::vector<std::string> scheduler_names, Rooms rooms);

  void Upsert(const Pod& pod, Delta& delta);
  // A uid other than the pod's is of an older pod and changes nothing;
  // "" means whichever pod exists.
  void Remove(absl::string_view namespace_name, absl::string_view name, absl::string_view uid,
              Delta& delta);

  // Works out the volume needs again of the pods that the volume table names.
  void FollowVolumes(Delta& delta);
  // These queries may now select other pods of the namespace than before.
  void NamespaceChanged(absl::string_view namespace_name, const AskedAnew& anew, Delta& delta);
  void NodeAppeared(NodeId node, Delta& delta);
  // Called around NodeTable::Remove: first every charge is given back,
  // then the pods learn that they wait again.
  [[nodiscard]] std::vector<PodId> LeaveNode(NodeId node);
  void SettleAfterNode(const std::vector<PodId>& left, Delta& delta);

  void Reserve(PodId pod, NodeId node);
  void NoteBound(PodId pod, absl::string_view node_name, Delta& delta);
  void Release(PodId pod, Delta& delta);
  // Files pods that were relabelled during a bind which came to nothing, and those whose owner has
  // become a gang during their bind. Not part of Release, whose callers look at members.
  void FileMoved(Delta& delta);
  [[nodiscard]] bool HasMoved() const { return !to_file_.empty(); }
  // Producers have declared something else: pods belong elsewhere, gangs differ.
  // Takes the directory's changes since the last call; REQUIRES: called after each change.
  // Until everything is listed, a running pod may only seem to be of no gang, or of another.
  enum class Runners : uint8_t { kStay, kMove };
  void FollowProducers(Runners runners, Delta& delta);
  // Filled along with the directory of objects; applied by the next FollowProducers.
  [[nodiscard]] DirectoryChange& producers_changed() { return change_; }

  [[nodiscard]] bool TakesRoomOn(PodId pod, NodeId node) const;

  // Some pod of another scheduler names the PodGroup.
  [[nodiscard]] bool HasStrangers(const GangKey& group) const { return strangers_.Has(group); }

  // Room charged where other schedulers have nominated pods of lower priority; by node and shape.
  [[nodiscard]] std::vector<PromisedRoom> PromisedBelow(int32_t priority) const;
  [[nodiscard]] bool AnyNominatedTo(NodeId node) const;

  [[nodiscard]] const PodFacts* Find(PodId pod) const;
  void ForEachOn(NodeId node, absl::FunctionRef<void(const PodFacts&)> visit) const;  // in no order
  [[nodiscard]] std::optional<PodId> WithUid(absl::string_view uid) const;
  void ForEachCharge(absl::FunctionRef<void(NodeId, ShapeId, bool nominee)> visit) const;
  void NoteShapes(UsedIds& used) const;  // of all pods
  // After a sweep: only the queries that pods ask now are counted,
  // and pods that asked too much may ask again.
  void CountQueriesAgain();
  [[nodiscard]] absl::Status CheckInvariants() const;

 private:
  using Record = PodRecord;

  void AwaitAt(Record& record, absl::string_view node_name);
  void ForgetAwaited(Record& record);
  [[nodiscard]] Record* Named(absl::string_view namespace_name, absl::string_view name);
  [[nodiscard]] Record& Admit(const Pod& pod, Delta& delta);
  void Remove(Record& record, Delta& delta);
  void SetFacts(Record& record, const Pod& pod);
  [[nodiscard]] static bool Stays(const Record& record);
  void FileAnew(Record& record, Runners runners, Delta& delta);
  // Its bind is under way, or done and not seen yet.
  [[nodiscard]] static bool IsPromised(const Record& record);
  void NoteMoved(const Record& record, const Pod& pod, const PodPlace& place);
  void NoteStranger(const Record& record, absl::string_view group, Delta& delta);
  void PutMember(const Record& record, const Pod& pod, const PodPlace& place, Delta& delta);
  [[nodiscard]] bool IsOurs(const Pod& pod) const;
  enum class Identity : uint8_t { kSame, kChanged };  // labels, or that it is about to end
  [[nodiscard]] ShapeId ShapeFor(const Record& record, const Pod& pod, Identity identity,
                                 Delta& delta);
  // For a pod with more volumes than the cap.
  void NoteLeftOut(const PodVolumes& volumes, bool ours, PodConstraints& constraints);
  enum class Whose : uint8_t { kOurs, kOthers };
  [[nodiscard]] ShapeId ShapeOf(const Record& record, const PodConstraints& constraints,
                                Whose whose, Delta& delta);
  [[nodiscard]] ShapeTable::Interned Interned(const Record& record,
                                              const PodConstraints& constraints, Delta& delta);
  void FollowVolumes(Record& record, Delta& delta);
  void TellBindingOf(const Record& record, Delta& delta) const;
  // Pods beyond the share of their namespace are looked at again, once after each sweep.
  void RetryThoseBeyond(Delta& delta);
  [[nodiscard]] bool MayAsk(const Record& record, const PodConstraints& constraints) const;
  [[nodiscard]] static PodQueries::PodIdentity IdentityOf(const Record& record);
  // The terms as counts. Where they ask of pods something new, all pods but the asking one answer.
  [[nodiscard]] ShapeTable::SharedTerms LearnTerms(const Record& asking,
                                                   const PodConstraints& constraints, Delta& delta);
  // In the order of ids: pods that are at one of these places, and perhaps some that are not.
  [[nodiscard]] std::vector<PodId> PodsAt(const std::vector<QueryPlaces>& places) const;
  void AddPodsAt(const QueryPlaces& places, std::vector<PodId>& pods) const;
  // The pods' shapes follow their present matches.
  void MatchAnew(const std::vector<PodId>& pods, const AskedAnew& anew, Delta& delta);

  // The node that a pod belongs to by name, known or not; "" = none.
  [[nodiscard]] const std::string& WantedName(const Record& record) const;
  [[nodiscard]] NodeId AnchorOf(const Record& record) const;
  // Makes anchor, charge and lists follow the facts; the pod is of `shape` from now on.
  void Settle(Record& record, ShapeId shape, Delta& delta);
  void Attach(Record& record, NodeId anchor);
  void Detach(Record& record);
  void GiveBack(Record& record);
  void NoteVolumesFreed(const Record& record, Delta& delta) const;
  void NoteAttached(const Record& record);
  void NoteMove(const Record& record, Delta& delta);

  std::vector<std::string> scheduler_names_;
  ShapeTable& shapes_;
  NodeTable& nodes_;
  GangTable& gangs_;
  BudgetTable& budgets_;
  ObservedMix& mix_;
  VolumeTable& volumes_;
  PodLabels& labels_;
  PodQueries& queries_;
  GangDirectory& producers_;
  StateCounters& counters_;

  uint32_t next_ = 0;
  absl::flat_hash_map<PodId, std::unique_ptr<Record>> pods_;
  PodIndex<UidOfPod> by_uid_;
  PodIndex<KeyOfPod> by_name_;
  absl::flat_hash_map<std::string, absl::flat_hash_set<PodId>> of_namespace_;
  AskedQueries asked_;
  struct Beyond {
    PodConstraints constraints;  // with all parts, also those beyond the cap
    Whose whose;
  };
  absl::btree_map<PodId, Beyond> beyond_;
  bool retries_beyond_ = false;
  absl::btree_map<PodId, Pod> moved_;  // promised, and their new labels name another gang
  std::vector<PodId> to_file_;         // those of these whose bind is through
  DirectoryChange change_;
  absl::btree_set<PodId> misfiled_;  // promised, and their producer has moved them meanwhile
  StrangerGroups strangers_;
  absl::flat_hash_map<PodId, PodNomination> nominations_;       // of nominated records
  std::vector<std::vector<Record*>> anchored_;                  // by node index
  absl::btree_map<std::string, std::vector<Record*>> waiting_;  // by the name of an unknown node
};

}  // namespace maniple
