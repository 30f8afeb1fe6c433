// A user with the role `edit` in one namespace, who means harm; and the platform team,
// which at times lets that namespace use Queues and at times does not.
//
// Every deed is a kind of Fault (from kFirstOfTenant on) and draws from that kind's stream. In half
// of the histories the admission policy of deploy/policy is in force and refuses some deeds.
//
//   HostileTenant tenant(users, truth, events, faults, {.seed = 7, .rates = rates});
//   tenant.SetUp();          // after the economy: its namespace, and what Queues select
//   tenant.Strike(fault);    // one of Kinds()
//   tenant.DeleteAll();
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "test/sim/faults.h"
#include "test/sim/users.h"

namespace maniple::sim {

class HostileTenant final {
 public:
  struct Options {
    uint64_t seed = 0;
    FaultRates rates;
  };
  HostileTenant(Users& users, Truth& truth, EventQueue& events, FaultInjector& faults,
                const Options& options);

  [[nodiscard]] static std::span<const Fault> Kinds();
  [[nodiscard]] bool exists() const { return exists_; }
  void SetUp();
  // Does nothing when there is no object for it.
  void Strike(Fault fault);
  void DeleteAll();
  // Pods for our schedulers so far that share nothing with any other.
  [[nodiscard]] int gluts() const { return gluts_; }

 private:
  struct PodSpec {
    std::string name, gang, queue;  // "" = it names none
    std::string node;               // that it chooses itself; "" = none
    int64_t gpus = 0;
  };
  [[nodiscard]] static Json Pod(const PodSpec& spec);
  [[nodiscard]] Json Group(Fault fault, const std::string& gang);
  [[nodiscard]] std::string AnyQueue(Fault fault);  // "", or perhaps one that does not exist
  [[nodiscard]] std::string AnyGang(Fault fault);   // "" = there is none
  [[nodiscard]] std::vector<std::string> Gangs() const;
  [[nodiscard]] std::string AnyPod(Fault fault);
  [[nodiscard]] std::vector<std::string> Pods() const;
  [[nodiscard]] bool Runs(const std::string& pod) const;
  void Create(const Json& pod);
  void PatchGroup(const std::string& gang, Json spec);
  void DeletePod(const std::string& pod);
  void Submit();
  void Relabel();
  void Edit();
  void Remake();
  void TakeNode();
  void Shield();
  void Glut();
  void CreateGlut();
  void Flood();
  void Forge();
  void EditNamespace();
  void EditSelector();

  Users& users_;
  Truth& truth_;
  EventQueue& events_;
  FaultInjector& faults_;
  const bool exists_;
  const bool policy_;  // is in force
  int next_ = 0;       // of its objects
  int gluts_ = 0;
};

// Never selects the tenant's namespace, so that other users have it for themselves.
inline constexpr char kWalledQueue[] = "walled";

}  // namespace maniple::sim
