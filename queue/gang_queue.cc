#include "queue/gang_queue.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "api/base/check.h"

namespace maniple {
namespace {

struct Entry {
  OrderKey order;
  QueueItem item;
};

struct ServedBefore {
  static auto Key(const Entry& e) {
    return std::make_tuple(e.item.kind == ItemKind::kSurplus, -int64_t{e.order.priority},
                           e.item.kind, e.order.queued);
  }
  bool operator()(const Entry& a, const Entry& b) const {
    if (const auto ka = Key(a), kb = Key(b); ka != kb) return ka < kb;
    return std::tie(a.order.namespace_name, a.order.name, a.item) <
           std::tie(b.order.namespace_name, b.order.name, b.item);
  }
};
using OrderedEntries = std::set<Entry, ServedBefore>;

using ClassId = uint64_t;  // 0 = none; given out in order of first sight
using ClassName = std::tuple<std::string, uint32_t, ShapeId>;

struct ParkedClass {
  ClassName name;
  OrderedEntries asleep;
  bool asking = false;  // one of them is awake on behalf of all and has not been answered yet
  int32_t awake = 0;    // woken from here and not answered yet
  [[nodiscard]] uint32_t relief() const { return std::get<1>(name); }
  [[nodiscard]] ShapeId smallest_shape() const { return std::get<2>(name); }
};

enum class Whereabouts : uint8_t { kReady, kPopped, kParked };
struct Place {
  Whereabouts where = Whereabouts::kReady;
  OrderKey order;
  ClassId parked_class = 0;  // parked: its class; otherwise the class it was woken from
  bool speaks = false;       // awake on behalf of that class
  absl::Time until = absl::InfiniteFuture();
};

std::vector<QueueItem> ItemsOf(const OrderedEntries& entries) {
  std::vector<QueueItem> out;
  out.reserve(entries.size());
  for (const Entry& entry : entries) out.push_back(entry.item);
  return out;
}

}  // namespace

struct GangQueue::Impl {
  OrderedEntries ready;
  absl::flat_hash_map<QueueItem, Place> places;
  std::map<ClassId, ParkedClass> classes;
  std::map<ClassName, ClassId> class_ids;
  std::map<ShapeId, std::set<ClassId>> classes_by_shape;
  std::set<std::pair<absl::Time, QueueItem>> times;
  size_t parked = 0;
  uint64_t touched = 0;
  ClassId last_class = 0;

  ClassId ClassFor(ClassName name) {
    const auto [it, fresh] = class_ids.try_emplace(name, last_class + 1);
    if (fresh) {
      ++last_class;
      classes_by_shape[std::get<2>(name)].insert(last_class);
      classes.emplace(last_class, ParkedClass{.name = std::move(name), .asleep = {}});
    }
    return it->second;
  }

  void DropIfEmpty(ClassId id) {
    const auto it = classes.find(id);
    if (it == classes.end() || it->second.awake > 0 || !it->second.asleep.empty()) return;
    const auto by_shape = classes_by_shape.find(it->second.smallest_shape());
    by_shape->second.erase(id);
    if (by_shape->second.empty()) classes_by_shape.erase(by_shape);
    class_ids.erase(it->second.name);
    classes.erase(it);
  }

  void MakeReady(QueueItem item, Place& place) {
    ++touched;
    place.where = Whereabouts::kReady;
    ready.insert({place.order, item});
  }

  // Takes a parked item out of its class and out of the timetable.
  void Unpark(QueueItem item, Place& place) {
    ++touched;
    classes.at(place.parked_class).asleep.erase({place.order, item});
    if (place.until != absl::InfiniteFuture()) times.erase({place.until, item});
    place.until = absl::InfiniteFuture();
    --parked;
  }

  // Takes the item from wherever it stands.
  void TakeOut(QueueItem item, Place& place) {
    switch (place.where) {
      case Whereabouts::kReady:
        ready.erase({place.order, item});
        return;
      case Whereabouts::kPopped:
        return;
      case Whereabouts::kParked:
        Unpark(item, place);
        DropIfEmpty(std::exchange(place.parked_class, 0));
        return;
    }
  }

  void WakeFirstOf(ClassId id) {
    ParkedClass& parked_class = classes.at(id);
    if (parked_class.asking || parked_class.asleep.empty()) return;
    const QueueItem item = parked_class.asleep.begin()->item;
    Place& place = places.at(item);
    Unpark(item, place);
    place.speaks = true;
    parked_class.asking = true;
    ++parked_class.awake;
    MakeReady(item, place);
  }

  // An item that was woken from a class has met its fate. The next of the class is asked, too, if
  // that fate answers nothing for those who sleep on.
  enum class Fate : uint8_t { kFailedAgain, kStarted, kLeft };
  void Answer(const Place& before, Fate fate) {
    if (before.parked_class == 0) return;
    ParkedClass& parked_class = classes.at(before.parked_class);
    --parked_class.awake;
    if (before.speaks) parked_class.asking = false;
    if (fate == Fate::kStarted || (before.speaks && fate == Fate::kLeft)) {
      WakeFirstOf(before.parked_class);
    }
    DropIfEmpty(before.parked_class);
  }

  void WakeDue(absl::Time now) {
    while (!times.empty() && times.begin()->first <= now) {
      const QueueItem item = times.begin()->second;
      Place& place = places.at(item);
      Unpark(item, place);
      ++classes.at(place.parked_class).awake;
      MakeReady(item, place);
    }
  }
};

GangQueue::GangQueue() : impl_(std::make_unique<Impl>()) {}
GangQueue::~GangQueue() = default;

void GangQueue::Offer(QueueItem item, const OrderKey& order) {
  const auto [it, fresh] = impl_->places.try_emplace(item);
  Place& place = it->second;
  if (!fresh) impl_->TakeOut(item, place);
  place.order = order;
  impl_->MakeReady(item, place);
}

void GangQueue::Park(QueueItem item, const OrderKey& order, ParkFacts facts) {
  const auto it = impl_->places.find(item);
  CHECK(it != impl_->places.end() && it->second.where == Whereabouts::kPopped);
  ++impl_->touched;
  const Place before = it->second;
  const ClassId id =
      impl_->ClassFor({std::move(facts.class_key), facts.relief, facts.smallest_shape});
  impl_->classes.at(id).asleep.insert({order, item});
  it->second = {
      .where = Whereabouts::kParked, .order = order, .parked_class = id, .until = facts.until};
  if (facts.until != absl::InfiniteFuture()) impl_->times.insert({facts.until, item});
  ++impl_->parked;
  impl_->Answer(before, before.parked_class == id ? Impl::Fate::kFailedAgain : Impl::Fate::kLeft);
}

void GangQueue::Remove(QueueItem item) {
  const auto it = impl_->places.find(item);
  if (it == impl_->places.end()) return;
  Place place = it->second;
  impl_->places.erase(it);
  impl_->TakeOut(item, place);
  impl_->Answer(place, Impl::Fate::kLeft);
}

void GangQueue::RemoveGang(GangId gang) {
  for (const ItemKind kind : {ItemKind::kRepair, ItemKind::kQuorum, ItemKind::kSurplus}) {
    Remove({gang, kind});
  }
}

std::optional<QueueItem> GangQueue::Pop(absl::Time now) {
  impl_->WakeDue(now);
  if (impl_->ready.empty()) return std::nullopt;
  ++impl_->touched;
  const QueueItem item = impl_->ready.begin()->item;
  impl_->ready.erase(impl_->ready.begin());
  impl_->places.at(item).where = Whereabouts::kPopped;
  return item;
}

void GangQueue::Wake(uint32_t relief, absl::FunctionRef<bool(ShapeId)> fits) {
  constexpr uint32_t kNeedsRoom = kReliefRoom | kReliefNodes;
  std::vector<ClassId> woken;
  for (const auto& [shape, ids] : impl_->classes_by_shape) {
    std::optional<bool> room;  // asked once per shape
    for (const ClassId id : ids) {
      const ParkedClass& parked_class = impl_->classes.at(id);
      const uint32_t hit = parked_class.relief() & relief;
      if (hit == 0 || parked_class.asking) continue;
      ++impl_->touched;
      if ((hit & ~kNeedsRoom) == 0 && shape.valid()) {
        if (!room.has_value()) room = fits(shape);
        if (!*room) continue;
      }
      woken.push_back(id);
    }
  }
  for (const ClassId id : woken) impl_->WakeFirstOf(id);
}

void GangQueue::Started(QueueItem item) {
  const auto it = impl_->places.find(item);
  CHECK(it != impl_->places.end() && it->second.where == Whereabouts::kPopped);
  const Place place = it->second;
  impl_->places.erase(it);
  impl_->Answer(place, Impl::Fate::kStarted);
}

size_t GangQueue::ready() const { return impl_->ready.size(); }
size_t GangQueue::parked() const { return impl_->parked; }
uint64_t GangQueue::touched() const { return impl_->touched; }

absl::Time GangQueue::NextDeadline() const {
  return impl_->times.empty() ? absl::InfiniteFuture() : impl_->times.begin()->first;
}

std::vector<QueueItem> GangQueue::ParkedItems() const {
  OrderedEntries all;
  for (const auto& [item, place] : impl_->places) {
    if (place.where == Whereabouts::kParked) all.insert({place.order, item});
  }
  return ItemsOf(all);
}

std::vector<QueueItem> GangQueue::WaitingItems() const {
  OrderedEntries all = impl_->ready;
  for (const auto& [item, place] : impl_->places) {
    if (place.where == Whereabouts::kParked) all.insert({place.order, item});
  }
  return ItemsOf(all);
}

}  // namespace maniple
