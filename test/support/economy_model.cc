#include "test/support/economy_model.h"

#include <algorithm>
#include <tuple>

namespace maniple::economy {
namespace {

constexpr int64_t kEndless = int64_t{1} << 50;
constexpr bool kQueue = true, kCohort = false;

}  // namespace

void Model::WakeAll(Reach reach) {
  for (auto& [name, gang] : gangs) {
    if (gang.started || gang.stage == Gang::Stage::kNew) continue;
    const bool out_of_reach = reach == Reach::kNotThoseOfStoppedQueues &&
                              gang.stage == Gang::Stage::kAsleepForQueue && gang.blocks;
    if (!out_of_reach) gang.stage = Gang::Stage::kWoken;
  }
}

void Model::UsageChanged(const std::string& queue) {
  if (!queues.contains(queue)) return;
  const Place root = RootOf({kQueue, queue});
  const Usage usage = UsageNow();
  for (auto& [name, gang] : gangs) {
    if (gang.started || gang.stage != Gang::Stage::kAsleep || !Active(gang.queue)) continue;
    if (RootOf({kQueue, gang.queue}) != root) continue;
    if (FlavorFor(gang, usage).has_value()) gang.stage = Gang::Stage::kWoken;
  }
}

void Model::Restarted() {
  for (auto& [name, gang] : gangs) gang.stage = Gang::Stage::kNew;
}

bool Model::InCycle(const std::string& cohort) const {
  std::string at = cohort;
  for (size_t steps = 0; steps <= cohorts.size(); ++steps) {
    const auto it = cohorts.find(at);
    if (it == cohorts.end() || it->second.above.empty()) return false;
    at = it->second.above;
  }
  return true;  // on one, or on the way into one
}

bool Model::Sound(const std::vector<Limit>& limits) const {
  return std::ranges::all_of(limits, [this](const Limit& limit) {
    return limit.flavor.empty() || flavors.contains(limit.flavor);
  });
}

bool Model::Active(const std::string& queue) const {
  const auto it = queues.find(queue);
  return it != queues.end() && Sound(it->second.limits) && !InCycle(it->second.above);
}

std::optional<Model::Place> Model::Above(const Place& place) const {
  const auto& members = place.is_queue ? queues : cohorts;
  const auto it = members.find(place.name);
  if (it == members.end() || it->second.above.empty()) return std::nullopt;
  if (InCycle(place.is_queue ? it->second.above : place.name)) return std::nullopt;
  return Place{kCohort, it->second.above};
}

Model::Place Model::RootOf(Place place) const {
  while (const std::optional<Place> above = Above(place)) place = *above;
  return place;
}

std::vector<Model::Place> Model::Below(const Place& cohort) const {
  std::vector<Place> below;
  for (const auto& [name, queue] : queues) {
    if (queue.above == cohort.name && !InCycle(cohort.name)) below.push_back({kQueue, name});
  }
  for (const auto& [name, other] : cohorts) {
    if (other.above == cohort.name && !InCycle(name)) below.push_back({kCohort, name});
  }
  return below;
}

std::vector<Model::Place> Model::Roots() const {
  std::set<Place> roots;
  for (const auto& [name, queue] : queues) {
    if (Active(name)) roots.insert(RootOf({kQueue, name}));
  }
  return {roots.begin(), roots.end()};
}

Limit Model::LimitOf(const Place& place, const std::string& flavor) const {
  const bool root = !Above(place).has_value();
  const auto& members = place.is_queue ? queues : cohorts;
  Limit limit{.flavor = flavor};
  const auto it = members.find(place.name);
  // Of a Queue that is inactive they still tell what its gangs use of them.
  if (it != members.end() && (place.is_queue || Sound(it->second.limits))) {
    for (const Limit& listed : it->second.limits) {
      if (listed.flavor == flavor) limit = listed;
    }
  }
  if (root) limit.borrowing = 0;
  if (root) limit.lending.reset();
  return limit;
}

std::set<std::string> Model::FlavorsNamed() const {
  std::set<std::string> named = {""};
  named.insert(flavors.begin(), flavors.end());
  return named;
}

Model::Usage Model::UsageNow() const {
  Usage usage;
  for (const auto& [name, gang] : gangs) {
    // What runs in an inactive Queue stays charged to it and its Cohort.
    if (!gang.started || !queues.contains(gang.queue)) continue;
    const std::vector<Limit>& limits = queues.at(gang.queue).limits;
    if (limits.empty()) continue;
    std::string flavor = gang.flavor;
    if (!gang.node.empty()) {
      const std::string& label = label_of_node.at(gang.node);
      flavor = flavors.contains(label) ? label : "";
      const auto lists = [&limits](const std::string& wanted) {
        return std::ranges::find(limits, wanted, &Limit::flavor) != limits.end();
      };
      if (!lists(flavor) && lists("")) flavor.clear();
    }
    usage[gang.queue][flavor] += gang.cost();
  }
  return usage;
}

int64_t Model::Left(const Place& place, const std::string& flavor, const Usage& usage) const {
  int64_t left = LimitOf(place, flavor).nominal;
  if (place.is_queue) {
    const auto of_queue = usage.find(place.name);
    if (of_queue == usage.end() || !of_queue->second.contains(flavor)) return left;
    return left - of_queue->second.at(flavor);
  }
  for (const Place& child : Below(place)) {
    left += std::min(LimitOf(child, flavor).lending.value_or(kEndless), Left(child, flavor, usage));
  }
  return left;
}

bool Model::IsLegal(const std::string& queue, const std::string& flavor, const Usage& usage) const {
  std::optional<Place> place = Place{kQueue, queue};
  for (; place.has_value(); place = Above(*place)) {
    const int64_t may_borrow = LimitOf(*place, flavor).borrowing.value_or(kEndless);
    if (Left(*place, flavor, usage) < -may_borrow) return false;
  }
  return true;
}

bool Model::Legal(const std::string& queue) const {
  if (!Active(queue)) return true;
  const Usage usage = UsageNow();
  return std::ranges::all_of(
      FlavorsNamed(), [&](const std::string& flavor) { return IsLegal(queue, flavor, usage); });
}

int64_t Model::Quota(const Place& place, const std::string& flavor) const {
  return Left(place, flavor, {});
}

int64_t Model::Kept(const Place& place, const std::string& flavor) const {
  const std::optional<int64_t> lending = LimitOf(place, flavor).lending;
  return lending.has_value() ? std::max<int64_t>(0, Quota(place, flavor) - *lending) : 0;
}

int64_t Model::Used(const Place& place, const std::string& flavor, const Usage& usage) const {
  if (place.is_queue) return LimitOf(place, flavor).nominal - Left(place, flavor, usage);
  int64_t used = 0;
  for (const Place& child : Below(place)) {
    used += std::max<int64_t>(0, Used(child, flavor, usage) - Kept(child, flavor));
  }
  return used;
}

// The largest charge that is legal where nothing is used.
int64_t Model::MostEver(const Place& place, const std::string& flavor) const {
  const int64_t own = Quota(place, flavor) + LimitOf(place, flavor).borrowing.value_or(kEndless);
  const std::optional<Place> above = Above(place);
  return above.has_value() ? std::min(own, Kept(place, flavor) + MostEver(*above, flavor)) : own;
}

std::optional<std::string> Model::FlavorFor(const Gang& gang, const Usage& usage) const {
  const std::vector<Limit>& limits = queues.at(gang.queue).limits;
  if (limits.empty()) return "";
  for (const Limit& limit : limits) {
    Usage then = usage;
    then[gang.queue][limit.flavor] += gang.cost();
    if (IsLegal(gang.queue, limit.flavor, then)) return limit.flavor;
  }
  return std::nullopt;
}

std::string Model::FlavorItAsksFor(const Gang& gang, const Usage& usage) const {
  const std::vector<Limit>& limits = queues.at(gang.queue).limits;
  if (limits.empty()) return "";
  return FlavorFor(gang, usage).value_or(limits.front().flavor);
}

bool Model::Comes(const std::string& a, const std::string& b) const {
  const Gang& ga = gangs.at(a);
  const Gang& gb = gangs.at(b);
  return std::make_tuple(-int64_t{ga.priority}, ga.created, a) <
         std::make_tuple(-int64_t{gb.priority}, gb.created, b);
}

std::optional<std::string> Model::HeadOf(const std::string& queue) const {
  if (!Active(queue)) return std::nullopt;
  std::optional<std::string> head, blocker;
  for (const auto& [name, gang] : gangs) {
    if (gang.started || gang.queue != queue) continue;
    const bool awake = gang.stage == Gang::Stage::kNew || gang.stage == Gang::Stage::kWoken;
    if (awake && (!head.has_value() || Comes(name, *head))) head = name;
    if (!awake && gang.blocks && (!blocker.has_value() || Comes(name, *blocker))) blocker = name;
  }
  const bool held =
      queues.at(queue).strict && head.has_value() && blocker.has_value() && Comes(*blocker, *head);
  return held ? std::nullopt : head;
}

bool Model::Beats(const Candidate& a, const Candidate& b) const {
  if (!Above(a.place).has_value()) return Comes(a.gang, b.gang);
  const Usage usage = UsageNow();
  const auto look = [&](const Candidate& candidate) {
    const Gang& gang = gangs.at(candidate.gang);
    const std::string flavor = FlavorItAsksFor(gang, usage);
    Usage then = usage;
    if (!queues.at(gang.queue).limits.empty()) then[gang.queue][flavor] += gang.cost();
    const bool borrows = !queues.at(gang.queue).limits.empty() &&
                         Used(candidate.place, flavor, then) > Quota(candidate.place, flavor);
    // One resource: what is borrowed in all flavors, of what the place above could ever use.
    int64_t borrowed = 0, lendable = 0;
    for (const std::string& any : FlavorsNamed()) {
      borrowed +=
          std::max<int64_t>(0, Used(candidate.place, any, then) - Quota(candidate.place, any));
      lendable += std::max<int64_t>(0, MostEver(*Above(candidate.place), any));
    }
    if (lendable == 0) borrowed = 0;
    const auto& members = candidate.place.is_queue ? queues : cohorts;
    const auto it = members.find(candidate.place.name);
    const int64_t weight = it == members.end() ? 1000 : it->second.weight_milli;
    return std::make_tuple(borrows, borrowed, std::max<int64_t>(1, lendable), weight);
  };
  const auto [a_borrows, a_borrowed, a_lendable, a_weight] = look(a);
  const auto [b_borrows, b_borrowed, b_lendable, b_weight] = look(b);
  if (a_borrows != b_borrows) return b_borrows;
  const bool a_endless = a_weight == 0 && a_borrowed > 0,
             b_endless = b_weight == 0 && b_borrowed > 0;
  if (a_endless != b_endless) return b_endless;
  const __int128 a_share = __int128{a_borrowed} * b_lendable *
                           (a_endless       ? 1
                            : b_weight == 0 ? 1
                                            : b_weight);
  const __int128 b_share = __int128{b_borrowed} * a_lendable *
                           (a_endless       ? 1
                            : a_weight == 0 ? 1
                                            : a_weight);
  if (a_share != b_share) return a_share < b_share;
  return Comes(a.gang, b.gang);
}

std::optional<Model::Candidate> Model::WinnerAt(const Place& place) const {
  if (place.is_queue) {
    const std::optional<std::string> head = HeadOf(place.name);
    if (!head.has_value()) return std::nullopt;
    return Candidate{*head, place};
  }
  std::optional<Candidate> best;
  for (const Place& child : Below(place)) {
    std::optional<Candidate> candidate = WinnerAt(child);
    if (!candidate.has_value()) continue;
    candidate->place = child;
    if (!best.has_value() || Beats(*candidate, *best)) best = candidate;
  }
  return best;
}

void Model::Fail(const std::string& name) {
  Gang& gang = gangs.at(name);
  const bool refused = queues.at(gang.queue).stopped;
  bool ever = false;
  for (const Limit& limit : queues.at(gang.queue).limits) {
    ever = ever || gang.cost() <= MostEver({kQueue, gang.queue}, limit.flavor);
  }
  const Gang::Stage asleep = refused || !ever ? Gang::Stage::kAsleepForQueue : Gang::Stage::kAsleep;
  const bool spoke = gang.stage == Gang::Stage::kWoken;
  gang.stage = asleep;
  gang.blocks = refused || ever;
  if (!spoke) return;
  for (auto& [other_name, other] : gangs) {
    const bool alike = refused || (other.pods == gang.pods && other.each == gang.each);
    if (other.started || other.queue != gang.queue || !alike) continue;
    if (other.stage != Gang::Stage::kWoken) continue;
    other.stage = asleep;
    other.blocks = gang.blocks;
  }
}

void Model::Settle() {
  for (;;) {
    std::optional<Candidate> best;
    for (const Place& root : Roots()) {
      std::optional<Candidate> candidate = WinnerAt(root);
      if (!candidate.has_value()) continue;
      candidate->place = root;
      if (!best.has_value() || Comes(candidate->gang, best->gang)) best = candidate;
    }
    if (!best.has_value()) return;
    Gang& gang = gangs.at(best->gang);
    std::optional<std::string> flavor;
    if (!queues.at(gang.queue).stopped) flavor = FlavorFor(gang, UsageNow());
    if (!flavor.has_value()) {
      Fail(best->gang);
      continue;
    }
    gang.started = true;
    gang.flavor = *flavor;
    if (!queues.at(gang.queue).limits.empty()) UsageChanged(gang.queue);
  }
}

}  // namespace maniple::economy
