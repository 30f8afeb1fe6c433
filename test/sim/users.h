// The users' wishes, in the words of the API: gangs, their pods, PodGroups and budgets, and nodes.
// Shared by the workload, the administrators and the disturbances.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/random.h"
#include "test/sim/network.h"
#include "test/sim/truth.h"

namespace maniple::sim {

// The terms of its pods on the pods around them.
enum class Company : uint8_t {
  kAny,
  kNoLoner,     // they are loners: none of these may share a node
  kEven,        // as many of these in every rack, but for one
  kOwnKind,     // all of the gang in one rack
  kNearLoners,  // a loner in the rack
};

// Some of a gang's pods, consecutive by index, that are unlike the others.
struct Part {
  int pods = 0;
  int64_t gpus = 0;
  enum class Kind : uint8_t { kLoose, kSubGroup, kSubGroupInOneRack } kind = Kind::kLoose;
};

// How its pods end, and what is left of them.
struct Leaving {
  int grace_seconds = 0;       // that they take when they are deleted; 0 = they stop at once
  int cleaned_up_seconds = 0;  // after success a controller deletes them; 0 = never
  std::set<std::string> done;  // pods that have succeeded and do not come back
};

struct GangSpec {
  int pods = 0;
  int64_t gpus = 0;         // whole ones …
  std::string mig_profile;  // … or slices of this profile, unless it is ""
  int min_member = 0;
  std::string queue;
  bool recreated = false;  // owned by a controller
  bool in_one_rack = false;
  int slice_size = 0;  // of ranks in one NVLink domain; 0 = no slices
  bool kept = false;
  bool group_is_gone = false;  // its PodGroup was deleted, and does not come back
  int loss_grace_seconds = 0;  // how long its quorum may be missing; 0 = the default
  std::vector<Part> parts;     // all of its pods; empty: they are alike
  Leaving leaving;
  std::string priority_class;  // of its pods; "" = none
  bool lowered = false;        // the PodGroup has the lowest class
  bool never_preempts = false;
  int protected_seconds = 0;
  int budget = -1;        // minAvailable of its PodDisruptionBudget; -1 = it has none
  int budgets = 1;        // … of which it has so many
  int says_seconds = 0;   // its expected run time; 0 = it says nothing
  int takes_seconds = 0;  // its real one; 0 = until a user ends it
  Company company = Company::kAny;
  std::string storage_class;  // each pod has a volume of its own of this class; "" = none
  std::string claim;          // … or all have this one
};

// Of 10 GiB.
[[nodiscard]] Json ClaimSpec(const std::string& storage_class, const std::string& access_mode);

struct NodeMake {
  int gpus = 8;
  Json labels = Json::Object();  // beside those that every node has
};

class Users final {
 public:
  Users(SimNetwork& network, const Truth& truth, Random& random, int racks)
      : network_(network), truth_(truth), random_(random), racks_(racks) {}

  // The answer's status. Refusals (a name taken, a pod that is gone) are part of life.
  int Call(absl::string_view method, absl::string_view target, const Json& body);
  // The object as the server shows it; null: it has none.
  [[nodiscard]] Json Get(const std::string& target);
  // Its PodGroup and all of its pods; and the end of both.
  void CreateGang(const std::string& gang, const GangSpec& spec);
  void DeleteGang(const std::string& gang);
  void CreateGroup(const std::string& gang);
  void CreatePod(const std::string& gang, int index);
  void CreateBudgets(const std::string& gang);
  void DeleteBudgets(const std::string& gang);
  void AddNode(const std::string& name, const NodeMake& make = {});
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
  const int racks_;
  std::map<std::string, GangSpec> gangs_;
};

// Of every gang, from its first bind.
inline constexpr absl::Duration kScheduleTimeout = absl::Seconds(20);
inline constexpr char kPodsTarget[] = "/api/v1/namespaces/default/pods";
inline constexpr char kBudgetsTarget[] = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
inline constexpr char kPoolLabel[] = "example.com/pool";
// Holds a pod that is deleted until it has stopped, for as long as its grace period says.
inline constexpr char kSlowFinalizer[] = "example.com/takes-its-time";
inline constexpr char kGroupsTarget[] =
    "/apis/scheduling.maniple.dev/v1alpha1/namespaces/default/podgroups";

}  // namespace maniple::sim
