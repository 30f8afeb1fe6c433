// The rules of GangQueue over one vector: every answer is found from scratch, nothing is indexed.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "queue/gang_queue.h"

namespace maniple {

class NaiveGangQueue {
 public:
  using Class = std::tuple<ShapeId, std::string, uint32_t, QuotaNodeId>;

  void SetTree(const QuotaTree* new_tree, std::vector<QueueRules> new_rules,
               FairSharing new_fair_sharing);
  void Offer(QueueItem item, const OrderKey& order);
  void Park(QueueItem item, const OrderKey& order, const ParkFacts& facts);
  void Remove(QueueItem item);
  void Started(QueueItem item);
  std::optional<QueueItem> Pop(absl::Time now);

  template <typename Fits>
  void WakeFor(uint32_t relief, const Fits& fits) {
    const auto hits = [&](const Class& c) {
      const uint32_t hit = std::get<2>(c) & relief;
      if ((hit & ~(kReliefRoom | kReliefNodes)) != 0) return true;
      return hit != 0 && (!std::get<0>(c).valid() || fits(std::get<0>(c)));
    };
    WakeClasses(hits, [](const SeenClass& seen) {
      return std::make_tuple(std::get<0>(seen.name), std::get<2>(seen.name), seen.id);
    });
  }
  void WakeQuota(QuotaNodeId root);

  [[nodiscard]] size_t parked() const;
  [[nodiscard]] size_t ready() const;

 private:
  enum class Where : uint8_t { kReady, kPopped, kParked };
  struct One {
    QueueItem item;
    Where where = Where::kPopped;
    OrderKey order;
    ParkFacts facts;                  // parked
    std::optional<Class> woken_from;  // ready or popped
    bool speaks = false;
  };

  static bool Before(const One& a, const One& b);
  static Class ClassOf(const One& one);
  static bool Blocks(const One& one);
  [[nodiscard]] bool Known(QuotaNodeId queue) const;
  [[nodiscard]] bool Strict(QuotaNodeId queue) const;
  [[nodiscard]] bool Held(const One& one) const;
  [[nodiscard]] One* Find(QueueItem item);

  [[nodiscard]] const One* HeadOf(QuotaNodeId queue, ItemKind kind) const;
  [[nodiscard]] const One* BestOf(ItemKind kind) const;

  void Wake(One& one);
  [[nodiscard]] One* SpeakerOf(const Class& c);
  void WakeFirst(const Class& c);
  void Answer(const std::optional<Class>& from, bool spoke, bool passes_on);
  void HoldUp(QuotaNodeId queue, const std::optional<Class>& failed);
  struct SeenClass {
    Class name;
    uint64_t id = 0;
  };
  // One that is woken may be the head that held up the speaker of the next class: `key` gives their
  // order.
  template <typename Hit, typename Key>
  void WakeClasses(const Hit& hit, const Key& key) {
    std::vector<SeenClass> classes;
    for (const auto& [c, id] : ids) {
      const One* speaker = SpeakerOf(c);
      if (speaker != nullptr && !Held(*speaker)) continue;
      if (hit(c)) classes.push_back({c, id});
    }
    std::ranges::sort(classes, {}, key);
    for (const SeenClass& seen : classes) WakeFirst(seen.name);
  }
  // A class that nobody is in or was woken from is forgotten: the next of that name is a new one.
  void Prune();

  std::vector<One> all;
  std::map<Class, uint64_t> ids;  // in order of first sight
  uint64_t last_id = 0;
  const QuotaTree* tree = nullptr;
  std::vector<QueueRules> rules;
  FairSharing fair_sharing = FairSharing::kOn;
};

}  // namespace maniple
