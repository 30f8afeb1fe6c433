// The economy of Queues the naive way: everything is copied and computed anew at every decision.
// The other side of loop_economy_test; shares no code with queue/ or scheduler/cycle.
//
// One resource, one shape per gang, room never short. Legality is the closed form: a charge is
// legal if afterwards T >= -B at the Queue and every Cohort above it and T >= 0 at the root, with
// T(queue) = N - U and T(cohort) = N + sum of min(L, T) over its children.
//
// Who may be asked when is part of the model, for a head that cannot start competes all the same
// until it has been asked: a gang that failed sleeps until usage in its tree has changed so far
// that its quota covers it, or quota or a node changes, and those of its size in its Queue sleep
// with it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace maniple::economy {

struct Limit {
  std::string flavor;  // "" = nodes that no other entry names
  int64_t nominal = 0;
  std::optional<int64_t> borrowing, lending;
};
struct Member {  // a Queue or a Cohort
  std::string above;
  std::vector<Limit> limits;
  int64_t weight_milli = 1000;
  bool strict = false;   // Queues only …
  bool stopped = false;  // …
};
struct Gang {
  std::string queue;
  int32_t priority = 0;
  int64_t created = 0;
  int64_t pods = 1;
  int64_t each = 1;
  std::string node = {};    // where all its pods are; "" = it waits
  std::string flavor = {};  // of the entry it was started in, until its node is known

  enum class Stage : uint8_t { kNew, kWoken, kAsleep, kAsleepForQueue };
  Stage stage = Stage::kNew;
  bool started = false;
  bool blocks = false;
  [[nodiscard]] int64_t cost() const { return pods * each; }
};

class Model final {
 public:
  std::map<std::string, Member> queues, cohorts;
  std::set<std::string> flavors;
  std::map<std::string, std::string> label_of_node;  // node → its flavor label
  std::map<std::string, Gang> gangs;                 // by name

  // Something happened that the gangs which wait may profit from.
  void QuotaEdited() { WakeAll(Reach::kEveryone); }
  void NodesEdited() { WakeAll(Reach::kNotThoseOfStoppedQueues); }
  void UsageChanged(const std::string& queue);
  void Restarted();

  // Starts what can start, in order.
  void Settle();

  [[nodiscard]] bool Active(const std::string& queue) const;
  // Whether a queue is legal now; true where it stands in no tree.
  [[nodiscard]] bool Legal(const std::string& queue) const;

 private:
  using Usage = std::map<std::string, std::map<std::string, int64_t>>;  // queue → flavor → amount
  // A position in the forest: a Queue or a Cohort by name.
  struct Place {
    bool is_queue = false;
    std::string name;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Candidate {
    std::string gang;
    Place place;
  };
  enum class Reach : uint8_t { kEveryone, kNotThoseOfStoppedQueues };

  void WakeAll(Reach reach);
  [[nodiscard]] bool InCycle(const std::string& cohort) const;
  [[nodiscard]] bool Sound(const std::vector<Limit>& limits) const;
  [[nodiscard]] std::optional<Place> Above(const Place& place) const;
  [[nodiscard]] Place RootOf(Place place) const;
  [[nodiscard]] std::vector<Place> Below(const Place& cohort) const;
  [[nodiscard]] std::vector<Place> Roots() const;
  [[nodiscard]] Limit LimitOf(const Place& place, const std::string& flavor) const;
  [[nodiscard]] std::set<std::string> FlavorsNamed() const;

  [[nodiscard]] Usage UsageNow() const;
  [[nodiscard]] int64_t Left(const Place& place, const std::string& flavor,
                             const Usage& usage) const;
  [[nodiscard]] bool IsLegal(const std::string& queue, const std::string& flavor,
                             const Usage& usage) const;
  [[nodiscard]] int64_t Quota(const Place& place, const std::string& flavor) const;
  [[nodiscard]] int64_t Kept(const Place& place, const std::string& flavor) const;
  [[nodiscard]] int64_t Used(const Place& place, const std::string& flavor,
                             const Usage& usage) const;
  [[nodiscard]] int64_t MostEver(const Place& place, const std::string& flavor) const;

  // The first flavor that a gang could be charged in, in the order of its Queue.
  [[nodiscard]] std::optional<std::string> FlavorFor(const Gang& gang, const Usage& usage) const;
  [[nodiscard]] std::string FlavorItAsksFor(const Gang& gang, const Usage& usage) const;
  [[nodiscard]] bool Comes(const std::string& a, const std::string& b) const;
  [[nodiscard]] std::optional<std::string> HeadOf(const std::string& queue) const;
  [[nodiscard]] std::optional<Candidate> WinnerAt(const Place& place) const;
  [[nodiscard]] bool Beats(const Candidate& a, const Candidate& b) const;
  void Fail(const std::string& name);
};

}  // namespace maniple::economy
