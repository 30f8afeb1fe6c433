// Queues, Cohorts, flavors, priorities, budgets and run times of a history,
// and the deeds of administrators while it goes on. Seeded, with a random stream
// of its own: one history in three has none of it.
//
//   Economy economy(users, seed);
//   economy.SetUp();                // after the CRDs and nodes
//   economy.Describe(spec);         // of a new gang: its Queue, priority, …
//   economy.Act();                  // an administrator, who hardly ever does anything
//   economy.Restore();              // takes back changes that would keep gangs waiting for ever
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/base/random.h"
#include "test/sim/users.h"

namespace maniple::sim {

class Economy final {
 public:
  Economy(Users& users, uint64_t seed);

  [[nodiscard]] bool exists() const { return exists_; }
  void SetUp();
  void Describe(GangSpec& spec);
  // How long the head of a Queue waits until room is held for it, and for how many of a Cohort.
  [[nodiscard]] absl::Duration reservation_after() const { return reservation_after_; }
  [[nodiscard]] int32_t holds_per_cohort() const { return holds_per_cohort_; }
  void Act();
  void Restore();
  [[nodiscard]] bool contested() const { return contested_; }
  // One gang of a crowd, and one that needs the room of several of them.
  [[nodiscard]] GangSpec Settler();
  [[nodiscard]] GangSpec Rusher();
  // Removes every obstacle that may have kept the crowd where it is; nothing else changes.
  void LetMakeRoom();

 private:
  [[nodiscard]] absl::Duration Patience();
  // Sets the told run time, right or wrong, and the real one.
  void DescribeRunTime(GangSpec& spec);
  [[nodiscard]] Json Amounts(bool lends);
  [[nodiscard]] Json Quotas(bool lends);
  [[nodiscard]] Json Preemption();
  [[nodiscard]] Json Spec();
  [[nodiscard]] std::string AnyCohort();  // "" = none
  [[nodiscard]] const std::string& AnyQueue();
  void Create(absl::string_view plural, absl::string_view kind, const std::string& name, Json spec);
  void Patch(absl::string_view plural, const std::string& name, Json spec);
  void Relabel();
  [[nodiscard]] std::string AnyGang();
  void PatchGroup(const std::string& gang, absl::string_view field, Json value);
  void MoveGang();
  void ChangeGang(const std::string& gang);

  Users& users_;
  Random random_;
  const bool exists_;
  const uint64_t one_change_;  // one step in so many; 0 = none
  const bool two_flavors_;
  const bool punctual_;   // told run times are right
  const bool contested_;  // Queues may have more than there is, and most may make others leave
  const absl::Duration reservation_after_;
  const int32_t holds_per_cohort_;
  std::vector<std::string> queues_, cohorts_;
  enum class Obstacle : uint8_t { kPolicy, kProtection, kPriority } obstacle_ = Obstacle::kPolicy;
  std::string crowded_queue_;  // "" = none
};

}  // namespace maniple::sim
