// The status of a PodGroup, made from the facts of its gang, and the weight of a difference.
//
// Pure functions. Times are cut to seconds, as the API server keeps them, so that a written status
// compares equal to the one that comes back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/client/requests.h"
#include "api/model/maniple_types.h"
#include "queue/assembly.h"
#include "queue/gang.h"
#include "scheduler/report/reason.h"

namespace maniple {

// The standing of a gang, in one place for status, views and events.
struct Standing {
  GangPhase phase = GangPhase::kWaiting;
  WaitReason reason = WaitReason::kWaitingForMembers;
  std::string message;
  std::string unnamed = {};  // "b/head": the gang that the message calls one of another namespace
};

struct StatusFacts {
  const Gang& gang;
  const Assembly& assembly;
  Standing standing;
  std::vector<std::string> nodes;  // where members are bound; any order, repeats allowed
  std::vector<std::string> domains;
  std::optional<absl::Time> quorum_reached_at, last_undone_at;
  int32_t quorum_met = 0;
  bool quorum_lost = false;
  std::string preempted_by;  // "" = as before
  std::string admitted_queue = {};
  bool initial_share_used = false;
};

// `before`: the status that the server has, or will have once our last write has arrived.
[[nodiscard]] PodGroupStatus MakeGroupStatus(const StatusFacts& facts, const PodGroupStatus& before,
                                             absl::Time now);

enum class StatusChange : uint8_t {
  kNone,
  kNumbers,  // counts and messages: written now and then
  kNews,     // a new stage, reason, condition or time: written at once
};
[[nodiscard]] StatusChange CompareStatus(const PodGroupStatus& before, const PodGroupStatus& after);

// Replaces the condition of the same type; keeps its transition time while the status stays.
void SetCondition(std::vector<Condition>& conditions, Condition condition, absl::Time now);
[[nodiscard]] const Condition* FindCondition(const std::vector<Condition>& conditions,
                                             absl::string_view type);

// As the API server keeps times.
[[nodiscard]] absl::Time WholeSeconds(absl::Time time);

}  // namespace maniple
