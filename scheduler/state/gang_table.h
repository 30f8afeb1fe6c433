// Gangs: PodGroups joined with the pods that name them, and the facts that follow from both.
//
// Owned by ClusterState; scheduling thread. A gang exists while its PodGroup or a pod of it exists;
// its id is dead after.
//
// Invariants:
//   1. Members are sorted by (rank, name); every member's pod names this gang,
//      or did so when it was bound: to rename a pod that runs changes nothing.
//   2. priority = the lower of the class's value and the highest among members; queue is resolved;
//      both follow every change, and so does whether it may preempt.
//   3. A member that succeeded and is gone is remembered until another has its rank,
//      or the PodGroup is another.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "api/model/maniple_types.h"
#include "queue/gang.h"
#include "scheduler/state/delta.h"
#include "scheduler/state/gang_members.h"
#include "scheduler/state/gang_rules.h"

namespace maniple {

class GangTable final {
 public:
  explicit GangTable(std::string default_queue) : rules_(std::move(default_queue)) {}

  void UpsertGroup(const PodGroup& group, Delta& delta);
  // The PodGroup exists, but cannot be used. The last known spec stands:
  // running members rely on it.
  void RefuseGroup(const GangKey& key, absl::string_view uid, absl::string_view problem,
                   Delta& delta);
  void RemoveGroup(const GangKey& key, absl::string_view uid, Delta& delta);
  // Somebody else declares the gang so; null: it is not declared any more.
  // This overrides a PodGroup of that name, which only stands for the gang.
  void SetForeign(const GangKey& key, std::shared_ptr<const ForeignGang> foreign, Delta& delta);
  // Whether the owner for which a PodGroup of that name stands is there, and asks for no gang: what
  // runs of it needs no others any more.
  void SetAsksForNone(const GangKey& key, bool is_so, Delta& delta);

  // The gang of the place; made when it is not known. `last` is where the pod belonged last time,
  // or none.
  [[nodiscard]] GangId GangOf(const Pod& pod, const PodPlace& place, GangId last);
  // Something about the gang of that PodGroup has changed, if there is such a gang.
  void Touch(const GangKey& key, Delta& delta);
  // Whether the place of the pod is in the gang, and a gang of its own has the pod's Queue.
  [[nodiscard]] bool IsPlaceOf(GangId gang, const Pod& pod, const PodPlace& place) const;
  // No object has declared the gang yet, so that it is only a name.
  [[nodiscard]] bool IsMereName(GangId gang) const { return !gangs_.at(gang)->declared; }
  [[nodiscard]] bool IsSingle(GangId gang) const {
    return gangs_.at(gang)->key.dialect == GangDialect::kSingleton;
  }
  // The member belongs to the place now. REQUIRES: it is a member of `from`.
  struct Rehoming {
    PodId pod;
    GangId from;
    absl::string_view namespace_name, pod_name;
    bool ran_alone = false;  // its gang of one was known to be that
  };
  GangId Rehome(const Rehoming& who, const PodPlace& place, Delta& delta);
  // Adds the member, or brings it up to date.
  void PutMember(GangId gang, const MemberFacts& facts, const Pod& pod, Delta& delta);
  void RemoveMember(GangId gang, PodId pod, Delta& delta);
  // The member's requests, or the queries that select it, have changed.
  void SetShape(GangId gang, PodId pod, ShapeId shape, Delta& delta);
  // The member's node appeared or went.
  void MoveMember(GangId gang, PodId pod, NodeId node, Delta& delta);

  void SetClass(absl::string_view priority_class, std::optional<GangRules::ClassFacts> facts,
                Delta& delta);
  void SetNamespaceQueue(absl::string_view namespace_name, absl::string_view queue, Delta& delta);
  // While a member is placed: the Queue under which the gang was admitted, "" for none.
  void SetAdmitted(GangId gang, const std::optional<std::string>& queue, Delta& delta);
  // Members that the PodGroup's status counts as succeeded, and that are not known here,
  // were cleaned away before. REQUIRES: all pods are known.
  void RecallSucceeded(GangId gang);

  [[nodiscard]] const Gang* Find(GangId gang) const;
  [[nodiscard]] std::optional<GangId> Named(const GangKey& key) const;
  [[nodiscard]] std::vector<GangId> All() const;  // in id order
  [[nodiscard]] absl::Status CheckInvariants() const;

 private:
  // Gangs are found by the key that stands in them.
  static const GangKey& KeyOf(const Gang* gang) { return gang->key; }
  static const GangKey& KeyOf(const GangKey& key) { return key; }
  struct KeyHash {
    using is_transparent = void;
    template <typename T>
    size_t operator()(const T& t) const {
      return absl::HashOf(KeyOf(t));
    }
  };
  struct KeyEqual {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return KeyOf(a) == KeyOf(b);
    }
  };

  Gang& Ensure(const GangKey& key);
  [[nodiscard]] static GangKey KeyOf(absl::string_view namespace_name, absl::string_view pod_name,
                                     const PodPlace& place);
  void NoteSubGroup(PodId pod, absl::string_view sub_group);
  void Follow(Gang& gang, const PodGroup& stand_in, Delta& delta);
  void Undeclare(Gang& gang, Delta& delta);
  static void Stage(Gang& gang);
  [[nodiscard]] Gang* FindKey(const GangKey& key);
  // Derives priority, preemption policy and queue again. True: one of them changed.
  bool Derive(Gang& gang);
  // The spec had these sub-groups before.
  void Rerank(Gang& gang, const std::vector<SubGroup>& before);
  void DropIfEmpty(Gang& gang, Delta& delta);

  GangRules rules_;
  uint32_t next_ = 0;
  absl::flat_hash_map<GangId, std::unique_ptr<Gang>> gangs_;
  absl::flat_hash_set<Gang*, KeyHash, KeyEqual> by_key_;
  absl::flat_hash_map<PodId, std::string> sub_groups_;  // of members that name one
  absl::flat_hash_set<GangKey> ask_none_;               // see SetAsksForNone
};

}  // namespace maniple
