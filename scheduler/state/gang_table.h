// Gangs: PodGroups joined with the pods that name them, and what follows from both.
//
// Owned by ClusterState; scheduling thread. A gang exists while its PodGroup or a pod of it exists;
// its id is dead after.
//
// Invariants:
//   1. Members are sorted by (rank, name); every member's pod names this gang, or did so when it
//   was bound: to rename a pod that runs changes nothing.
//   2. priority = the lower of the class's value and the highest among members; queue is resolved;
//   both follow every change, and so does whether it may preempt.
//   3. A member that succeeded and is gone is remembered until another has its rank, or the
//   PodGroup is another.
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

namespace maniple {

class GangTable final {
 public:
  explicit GangTable(std::string default_queue) : default_queue_(std::move(default_queue)) {}

  void UpsertGroup(const PodGroup& group, Delta& delta);
  // The PodGroup exists, but cannot be used. What was last known of its spec stands: running
  // members rely on it.
  void RefuseGroup(const GangKey& key, absl::string_view uid, absl::string_view problem,
                   Delta& delta);
  void RemoveGroup(const GangKey& key, absl::string_view uid, Delta& delta);

  // The gang that the pod belongs to; made when it is not known. `last` is where it belonged last
  // time, or none.
  [[nodiscard]] GangId GangOf(const Pod& pod, GangId last);
  // Something about the gang of that PodGroup is other than before, if there is one.
  void Touch(const GangKey& key, Delta& delta);
  // Whether the gang is the one that the pod's labels name.
  [[nodiscard]] bool IsNamedBy(GangId gang, const Pod& pod) const;
  enum class MemberChange {
    kNone,
    kDetails,
    kStanding,  // new, or its state, node or phase changed
  };
  // What the pod itself does not say of a member.
  struct MemberFacts {
    PodId pod;
    ShapeId shape;
    NodeId node;
    MemberState state = MemberState::kPending;
    bool started_elsewhere = false;
  };
  // Adds the member, or brings it up to date.
  MemberChange PutMember(GangId gang, const MemberFacts& facts, const Pod& pod, Delta& delta);
  void RemoveMember(GangId gang, PodId pod, Delta& delta);
  // What it asks for, or who selects it, is other than before.
  void SetShape(GangId gang, PodId pod, ShapeId shape, Delta& delta);
  // The member's node appeared or went.
  void MoveMember(GangId gang, PodId pod, NodeId node, Delta& delta);

  // None: there is no such class.
  struct ClassFacts {
    int32_t value = 0;
    bool preempts = true;
  };
  void SetClass(absl::string_view priority_class, std::optional<ClassFacts> facts, Delta& delta);
  void SetNamespaceQueue(absl::string_view namespace_name, absl::string_view queue, Delta& delta);
  // While something of the gang is placed: the Queue under which it was admitted, "" for none.
  void SetAdmitted(GangId gang, const std::optional<std::string>& queue, Delta& delta);
  // Those of whose success the PodGroup's status tells, and whom nobody here has seen, were cleaned
  // away before. To be called when all pods are known.
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
  [[nodiscard]] Gang* FindKey(const GangKey& key);
  // Derives priority, preemption policy and queue again. True when one of them changed.
  bool Derive(Gang& gang);
  void Rerank(Gang& gang);
  void DropIfEmpty(Gang& gang, Delta& delta);
  [[nodiscard]] int32_t PriorityOf(const Gang& gang) const;
  [[nodiscard]] bool MayPreempt(const Gang& gang) const;
  [[nodiscard]] absl::string_view QueueOf(const Gang& gang) const;

  std::string default_queue_;
  uint32_t next_ = 0;
  absl::flat_hash_map<GangId, std::unique_ptr<Gang>> gangs_;
  absl::flat_hash_set<Gang*, KeyHash, KeyEqual> by_key_;
  absl::flat_hash_map<PodId, std::string> sub_groups_;  // of members that name one
  absl::flat_hash_map<std::string, ClassFacts> classes_;
  absl::flat_hash_map<std::string, std::string> namespace_queues_;
};

}  // namespace maniple
