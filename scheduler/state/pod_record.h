// One pod of the PodTable, and indexes of them that hold a pointer each. Inside PodTable only.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "api/model/ids.h"
#include "scheduler/state/pod_facts.h"

namespace maniple {

struct PodRecord {
  PodId id;
  PodFacts facts;
  NodeId anchor;            // where it is bound, else reserved, else nominated, if known
  bool charged = false;     // takes room at its anchor
  bool as_nominee = false;  // it is charged as a nominee
  bool waits = false;       // is listed under its WantedName until that node appears
  // Another scheduler is about to put it somewhere, as long as it is unbound.
  bool nominated = false;
  // Nominated by ourselves: reserved on a node that has gone meanwhile, while its bind may be
  // under way; or bound already, as the server says and the watch does not show yet.
  bool awaited = false;
  bool started_elsewhere = false;

  // Another scheduler is about to put it where it is anchored: it is not there yet.
  [[nodiscard]] bool IsNominee() const { return nominated && !awaited && !facts.reserved.valid(); }
};

// Another scheduler is about to put it there.
struct PodNomination {
  std::string node_name;
  int32_t priority = std::numeric_limits<int32_t>::max();  // no pod of ours is outranked
};

// Finds records by their own fields, so that an index holds one pointer per pod.
struct UidOfPod {
  absl::string_view operator()(const PodRecord* record) const { return record->facts.uid; }
  absl::string_view operator()(absl::string_view uid) const { return uid; }
};
using PodKey = std::pair<absl::string_view, absl::string_view>;  // namespace, name
struct KeyOfPod {
  PodKey operator()(const PodRecord* record) const {
    return {record->facts.namespace_name, record->facts.name};
  }
  PodKey operator()(const PodKey& key) const { return key; }
};
template <typename Of>
struct HashPodBy {
  using is_transparent = void;
  template <typename T>
  size_t operator()(const T& t) const {
    return absl::HashOf(Of()(t));
  }
};
template <typename Of>
struct EqualPodBy {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return Of()(a) == Of()(b);
  }
};
template <typename Of>
using PodIndex = absl::flat_hash_set<PodRecord*, HashPodBy<Of>, EqualPodBy<Of>>;

}  // namespace maniple
