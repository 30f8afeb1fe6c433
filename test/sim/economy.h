// Queues, Cohorts, flavors, priorities and budgets of a history, and what administrators do to them
// while it goes on. Seeded, with a random stream of its own: one history in three has none of it.
//
//   Economy economy(users, seed);
//   economy.SetUp();                // after the CRDs and nodes
//   economy.Describe(spec);         // of a new gang: its Queue, priority, …
//   economy.Act();                  // an administrator, who hardly ever does anything
//   economy.Restore();              // takes back what would keep gangs waiting for ever
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/base/random.h"
#include "test/sim/workload.h"

namespace maniple::sim {

class Economy final {
 public:
  Economy(Users& users, uint64_t seed);

  [[nodiscard]] bool exists() const { return exists_; }
  void SetUp();
  void Describe(GangSpec& spec);
  void Act();
  void Restore();

 private:
  [[nodiscard]] Json Amounts(bool lends);
  [[nodiscard]] Json Quotas(bool lends);
  [[nodiscard]] Json Preemption();
  [[nodiscard]] Json Spec();
  [[nodiscard]] std::string AnyCohort();  // "" = none
  [[nodiscard]] const std::string& AnyQueue();
  void Create(absl::string_view plural, absl::string_view kind, const std::string& name, Json spec);
  void Patch(absl::string_view plural, const std::string& name, Json spec);
  void Relabel();

  Users& users_;
  Random random_;
  const bool exists_;
  const uint64_t one_change_;  // one step in so many; 0 = none
  const bool two_flavors_;
  std::vector<std::string> queues_, cohorts_;
};

}  // namespace maniple::sim
