// What users and their controllers do to the cluster while the scheduler works: seeded, one action
// at a time. What goes wrong there is in disturbances.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/base/random.h"
#include "test/sim/network.h"
#include "test/sim/truth.h"

namespace maniple::sim {

// What its pods ask of the pods around them.
enum class Company : uint8_t {
  kAny,
  kNoLoner,     // they are loners: none of these may share a node
  kEven,        // as many of these in every rack, but for one
  kOwnKind,     // all of the gang in one rack
  kNearLoners,  // a loner in the rack
};

struct GangSpec {
  int pods = 0;
  int64_t gpus = 0;
  int min_member = 0;
  std::string queue;
  bool recreated = false;  // owned by a controller
  bool in_one_rack = false;
  int slice_size = 0;  // of ranks in one NVLink domain; 0 = no slices
  bool kept = false;
  std::string priority_class;  // of its pods; "" = none
  bool lowered = false;        // the PodGroup has the lowest class
  bool never_preempts = false;
  int protected_seconds = 0;
  int budget = -1;        // minAvailable of its PodDisruptionBudget; -1 = it has none
  int says_seconds = 0;   // its expected run time; 0 = it says nothing
  int takes_seconds = 0;  // its real one; 0 = until a user ends it
  Company company = Company::kAny;
};

// What the users have asked for, and the way to ask: shared by the workload and the disturbances.
class Users final {
 public:
  Users(SimNetwork& network, const Truth& truth, Random& random)
      : network_(network), truth_(truth), random_(random) {}

  // The answer's status. Refusals (a name taken, a pod that is gone) are part of life.
  int Call(absl::string_view method, absl::string_view target, const Json& body);
  void CreateGroup(const std::string& gang);
  void CreatePod(const std::string& gang, int index);
  void CreateBudget(const std::string& gang);
  void AddNode(const std::string& name);
  void InstallCrd(const Json& crd);

  [[nodiscard]] std::map<std::string, GangSpec>& gangs() { return gangs_; }
  // "" when there is none.
  [[nodiscard]] std::string AnyGang();
  // Names of its pods that exist.
  [[nodiscard]] std::vector<std::string> PodsOf(const std::string& gang) const;
  [[nodiscard]] const Truth& truth() const { return truth_; }
  [[nodiscard]] Random& random() { return random_; }

 private:
  SimNetwork& network_;
  const Truth& truth_;
  Random& random_;
  std::map<std::string, GangSpec> gangs_;
};

// Of every gang, from its first bind.
inline constexpr absl::Duration kScheduleTimeout = absl::Seconds(20);
inline constexpr char kPodsTarget[] = "/api/v1/namespaces/default/pods";
inline constexpr char kBudgetsTarget[] = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
inline constexpr char kPoolLabel[] = "example.com/pool";
inline constexpr char kGroupsTarget[] =
    "/apis/scheduling.maniple.dev/v1alpha1/namespaces/default/podgroups";

class Economy;

class Workload final {
 public:
  Workload(Users& users, Economy& economy)
      : users_(users),
        economy_(economy),
        random_(users.random()),
        one_in_rack_(1 + random_.Below(4)),
        one_elastic_(2 + random_.Below(3)) {}

  // The custom resources, queues and the first nodes.
  void SetUp(const std::vector<Json>& crds);
  // One action of a user.
  void Act();
  // Many small gangs that do not end by themselves; then large ones that need their room, and more
  // small ones that would like to have it, too.
  void Crowd();
  void Rush();
  // A controller's turn: pods of gangs that are not complete come back when they were deleted or
  // failed, and gangs that have run for their time end.
  void ControllerTurn(absl::Time now);
  // Every gang is over.
  void DeleteAll();

 private:
  void Delete(const std::string& gang, bool group_first);
  void Submit();
  void Create(const GangSpec& spec);
  void AddLateMember();
  void FinishGang();
  void Finish(const std::string& gang);
  void FinishWhoseTimeIsUp(absl::Time now);
  void Recreate();
  void DeleteGang();
  void AddNode();

  Users& users_;
  Economy& economy_;
  Random& random_;
  // What kind of gangs this history has many of: one in so many.
  const uint64_t one_in_rack_;
  const uint64_t one_elastic_;
  int next_gang_ = 0;
  int next_node_ = 0;
};

}  // namespace maniple::sim
