// Users of other projects' jobs, and the controllers of these, which know nothing of Maniple.
// Seeded, with a random stream of its own: one history in five has some.
//
// Everything is made in the order, and with the waits, of the real controllers. Checks of its own:
//   - StagedGangNeverHalfBound: no pod is bound before all exist that start together, and at rest
//     all of them stand or none;
//   - NoProducerDeadlock: at rest no job waits that could go on;
//   - ForeignSpecUntouched: only its controller has written an object;
//   - PhaseIsKnown: no Volcano group is ever in a phase that has its jobs begin anew;
//   - AllAskForRoom: of waiting pods that start together all are unschedulable, or none.
//
//   Producers producers(users, truth, seed);
//   producers.SetUp();               // once there is a server
//   producers.Act();                 // of some user
//   producers.ControllerTurn(now);   // each controller goes on
//   producers.OnServerChange(now);   // truth has seen it
//   producers.CheckAtRest(now);
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/base/random.h"
#include "test/sim/job_recipes.h"
#include "test/sim/users.h"

namespace maniple::sim {

class Producers final {
 public:
  Producers(Users& users, Truth& truth, uint64_t seed);

  [[nodiscard]] bool exist() const { return exist_; }
  void SetUp();
  void Act();
  void ControllerTurn(absl::Time now);
  void OnServerChange(absl::Time now);
  // At rest: nothing moves, and no room is kept.
  void CheckAtRest(absl::Time now);
  void DeleteAll();
  // Names of jobs whose users may ask for more pods, or for fewer; and what becomes of one.
  [[nodiscard]] std::vector<std::string> JobsThatScale() const;
  // REQUIRES: it is one of these, and size >= 1.
  void Scale(const std::string& name, int size);
  // Some pods that start together have been lost, and may have room held for them.
  [[nodiscard]] bool SomeAreMissing() const;
  // Units that have started whole.
  [[nodiscard]] uint64_t started() const { return started_; }

 private:
  struct Job {
    int kind = 0;
    JobRecipe recipe;
    std::map<std::string, std::string> uids;     // of objects, by "Kind/name"
    std::map<std::string, std::string> written;  // by target: its controller's last version
    std::set<size_t> open;                       // parts that need not wait any more
    std::set<std::string> whole;                 // units of which all have existed …
    std::set<std::string> ran;                   // … and stood
  };
  struct Unit {
    int live = 0, bound = 0;
    std::vector<int64_t> waiting;  // GPUs of each
    bool of_others = false;        // another has bound one of them
  };
  enum class Stage : uint8_t { kBound, kRunning };

  void Submit();
  void Make(const std::string& name, int kind);
  void End();
  void Meddle();
  [[nodiscard]] std::vector<std::string> StandIns() const;  // PodGroups of ours, and others there
  void Delete(const std::string& name);
  void DeletePods(const JobPart& part);
  void GoOn(Job& job);
  [[nodiscard]] bool MayMake(const Job& job, size_t part);
  [[nodiscard]] std::string PhaseOf(const Job& job);
  void CheckPhase(const std::string& name, const Job& job, absl::Time now);
  [[nodiscard]] bool AllAre(Stage stage, const JobPart& part) const;
  void MakeObjects(Job& job);
  [[nodiscard]] bool MakePods(const Job& job, const JobPart& part);
  void MakePod(const Job& job, const JobPart& part, int index);
  [[nodiscard]] Json OwnersOf(const Job& job, const std::string& owner);
  [[nodiscard]] bool HasLostSome(const Job& job) const;
  void StartAnew(Job& job);
  [[nodiscard]] const Truth::PodFacts* Find(const std::string& pod) const;
  [[nodiscard]] Unit UnitOf(const std::string& unit) const;
  [[nodiscard]] std::vector<int64_t> WantedNext(const Job& job, const Unit& unit, int least) const;
  void CheckUnit(const Job& job, const std::string& name, absl::Time now);
  // `objects`: by target, their writers' last versions.
  void CheckWritten(const std::map<std::string, std::string>& objects, absl::Time now);
  void CheckMarks(const std::string& unit, absl::Time now);
  [[nodiscard]] bool Fit(std::vector<int64_t> gpus) const;

  Users& users_;
  Truth& truth_;
  Random random_;
  const bool exist_;
  const bool many_scale_;  // half of the jobs can be scaled
  std::map<std::string, Job> jobs_;
  std::map<std::string, std::string> theirs_;  // by target: objects of meddlers
  int next_ = 0;
  uint64_t started_ = 0;
};

}  // namespace maniple::sim
