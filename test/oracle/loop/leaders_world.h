// A random world for one leader: Queues, Cohorts, flavors, gangs, nodes and namespaces, and what
// people do to them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/base/random.h"
#include "test/oracle/loop/leaders.h"

namespace maniple::loop_new_leader_test {

class World final {
 public:
  explicit World(uint64_t seed);
  // Somebody does something.
  void Step();
  // All is answered, and some time passes.
  void Rest();
  // A leader that knows the objects of the API and nothing else; nobody has answered it yet.
  [[nodiscard]] Leader FreshLeader();
  [[nodiscard]] std::string Story() const;
  // What only the present leader can know by now.
  [[nodiscard]] Memory OnlyRemembered();

  ScriptedApi api;
  absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  Leader leader;

 private:
  [[nodiscard]] bool StillAdmits(const GangView& gang) const;
  [[nodiscard]] bool IsDeclaredSinceItsStart(const GangView& gang) const;
  bool Exchange();
  void Settle(absl::Duration later);
  std::string Pick(const std::vector<std::string>& names);
  void Tell(std::string line) { story_.push_back(std::move(line)); }
  void PutQueue(const std::string& name);
  void PutCohort(const std::string& name);
  void PutFlavor(const std::string& name);
  void PutNode(const std::string& name);
  void PutNamespace(const std::string& name);
  void PutGang(const std::string& name);
  void AddPods(const std::string& gang, int count);
  void EditGroup(const std::string& name);
  void TouchPod();

  Random random_;
  std::map<std::string, int> made_;
  std::vector<std::string> story_;
};

}  // namespace maniple::loop_new_leader_test
