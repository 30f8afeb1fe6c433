#include "api/codec/decode_requests.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "api/gpu/gpu_resource.h"

namespace maniple {
namespace {

using Entry = std::pair<absl::string_view, Quantity>;

bool ByName(const Entry& a, const Entry& b) { return a.first < b.first; }

// As kube-apiserver tells them: a domain other than kubernetes.io before a slash.
bool IsExtended(absl::string_view resource) {
  return absl::StrContains(resource, '/') && !absl::StrContains(resource, "kubernetes.io/");
}

bool IsHugePages(absl::string_view resource) { return absl::StartsWith(resource, "hugepages-"); }

bool IsPodLevel(absl::string_view resource) {
  return resource == "cpu" || resource == "memory" || IsHugePages(resource);
}

// cpu in milli, everything else in units, rounded up.
Amount Rounded(absl::string_view resource, const Quantity& quantity) {
  return resource == "cpu" ? quantity.Milli() : quantity.Units();
}

// Sums over containers. A hash map, because a hostile pod may name thousands of resources in
// thousands of containers.
class Totals final {
 public:
  void Add(const RequestTable& table) {
    for (const auto& [resource, amount] : table.entries()) amounts_[resource] += amount;
  }
  void RaiseTo(absl::string_view resource, const Quantity& amount) {
    Quantity& mine = amounts_[resource];
    mine = std::max(mine, amount);
  }
  void RaiseTo(const Totals& other) {
    for (const auto& [resource, amount] : other.amounts_) RaiseTo(resource, amount);
  }
  void Set(absl::string_view resource, const Quantity& amount) { amounts_[resource] = amount; }
  [[nodiscard]] Quantity Of(absl::string_view resource) const {
    const auto at = amounts_.find(resource);
    return at != amounts_.end() ? at->second : Quantity();
  }
  // In no order.
  [[nodiscard]] const absl::flat_hash_map<absl::string_view, Quantity>& amounts() const {
    return amounts_;
  }

  // Sorted, without zero amounts and without pod slots, which are counted apart.
  [[nodiscard]] ResourceAmounts Amounts() const {
    ResourceAmounts out;
    out.reserve(amounts_.size());
    for (const auto& [resource, amount] : amounts_) {
      if (amount != Quantity() && resource != "pods") {
        out.push_back(ResourceAmount{std::string(resource), Rounded(resource, amount)});
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  absl::flat_hash_map<absl::string_view, Quantity> amounts_;
};

Totals TotalOf(const PodAsk& ask) {
  Totals total;
  for (const ContainerAsk& container : ask.containers) total.Add(container.requests);
  Totals sidecars;
  Totals peak_of_init;
  for (const ContainerAsk& init : ask.init_containers) {
    if (init.always_restarts) {
      total.Add(init.requests);
      sidecars.Add(init.requests);
      continue;
    }
    // Of what this one does not ask for, the sidecars beside it need no more than all sidecars in
    // the total.
    for (const auto& [resource, amount] : init.requests.entries()) {
      peak_of_init.RaiseTo(resource, amount + sidecars.Of(resource));
    }
  }
  total.RaiseTo(peak_of_init);
  return total;
}

// What the pod asks at its own level, with what the API server fills in once a limit is given
// there: cpu and memory as the containers ask, else the limit. A container's huge pages are such a
// limit.
RequestTable PodLevelRequests(const PodAsk& ask) {
  RequestTable requests = ask.pod_level->requests;
  RequestTable limits = ask.pod_level->limits;
  if (requests.entries().empty() && limits.entries().empty()) return requests;
  const Totals total = TotalOf(ask);
  for (const auto& [resource, amount] : total.amounts()) {
    if (IsHugePages(resource) && !requests.Has(resource)) limits.FillFrom({resource, amount});
  }
  if (limits.entries().empty()) return requests;
  for (const absl::string_view resource : {"cpu", "memory"}) {
    const auto at = total.amounts().find(resource);
    if (at != total.amounts().end()) requests.FillFrom({resource, at->second});
  }
  requests.FillFrom(limits);
  return requests;
}

// While it is resized, what it has or was promised counts as well; all there is if the resize
// cannot be done.
RequestTable WhileResized(RequestTable asked, const ContainerActual& says, bool infeasible) {
  RequestTable has = *says.actual;
  has.RaiseTo(says.allocated);
  if (infeasible) return has;
  asked.RaiseTo(has);
  return asked;
}

void ApplyPodLevel(const PodAsk& ask, const RequestTable& requests, Totals& total) {
  const bool resized = ask.bound && ask.pod_actual.actual.has_value();
  const RequestTable effective =
      resized ? WhileResized(requests, ask.pod_actual, ask.resize_infeasible) : requests;
  for (const auto& [resource, amount] : requests.entries()) {
    if (IsPodLevel(resource)) total.Set(resource, effective.Of(resource));
  }
}

void ApplyActuals(PodAsk& ask) {
  const auto by_name = [](const ContainerActual& a, const ContainerActual& b) {
    return a.name < b.name;
  };
  std::stable_sort(ask.actuals.begin(), ask.actuals.end(), by_name);
  const auto apply = [&](ContainerAsk& container) {
    const auto at = std::lower_bound(ask.actuals.begin(), ask.actuals.end(),
                                     ContainerActual{container.name, {}, {}}, by_name);
    if (at == ask.actuals.end() || at->name != container.name) return;
    container.requests = WhileResized(std::move(container.requests), *at, ask.resize_infeasible);
  };
  for (ContainerAsk& container : ask.containers) apply(container);
  for (ContainerAsk& container : ask.init_containers) {
    if (container.always_restarts) apply(container);
  }
}

}  // namespace

RequestTable RequestTable::Read(const Cursor& resource_list) {
  RequestTable out;
  for (const Cursor& entry : resource_list.Members()) {
    const absl::string_view resource = entry.CheckedKey();
    const Quantity quantity = entry.Amount();
    if (quantity < Quantity()) entry.Refuse("must not be negative");
    if (IsExtended(resource) && !quantity.IsWhole()) {
      entry.Refuse("an extended resource must be a whole number");
    }
    out.entries_.emplace_back(resource, quantity);
  }
  // Of equal names the last one stands, as in any JSON object.
  std::stable_sort(out.entries_.begin(), out.entries_.end(), ByName);
  const auto kept = std::unique(out.entries_.rbegin(), out.entries_.rend(),
                                [](const Entry& a, const Entry& b) { return a.first == b.first; });
  out.entries_.erase(out.entries_.begin(), kept.base());
  return out;
}

template <typename Combine>
void RequestTable::Merge(const RequestTable& other, Combine combine) {
  if (other.entries_.empty()) return;
  std::vector<Entry> merged;
  merged.reserve(entries_.size() + other.entries_.size());
  auto mine = entries_.begin();
  for (const Entry& theirs : other.entries_) {
    while (mine != entries_.end() && mine->first < theirs.first) merged.push_back(*mine++);
    if (mine != entries_.end() && mine->first == theirs.first) {
      merged.emplace_back(theirs.first, combine(mine->second, theirs.second));
      ++mine;
    } else {
      merged.push_back(theirs);
    }
  }
  merged.insert(merged.end(), mine, entries_.end());
  entries_ = std::move(merged);
}

void RequestTable::FillFrom(const RequestTable& other) {
  Merge(other, [](const Quantity& mine, const Quantity&) { return mine; });
}
void RequestTable::RaiseTo(const RequestTable& other) {
  Merge(other, [](const Quantity& mine, const Quantity& theirs) { return std::max(mine, theirs); });
}

bool RequestTable::Has(absl::string_view resource) const {
  return std::binary_search(entries_.begin(), entries_.end(), Entry(resource, {}), ByName);
}

Quantity RequestTable::Of(absl::string_view resource) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), Entry(resource, {}), ByName);
  return at != entries_.end() && at->first == resource ? at->second : Quantity();
}

ResourceAmounts RequestTable::Amounts() const {
  ResourceAmounts out;
  out.reserve(entries_.size());
  for (const auto& [resource, amount] : entries_) {
    if (amount == Quantity()) continue;
    out.push_back(ResourceAmount{std::string(resource), Rounded(resource, amount)});
  }
  return out;
}

ResourceAsk ReadResources(const Cursor& resources) {
  ResourceAsk out;
  for (const Cursor& field : resources.Members()) {
    if (field.key() == "requests") out.requests = RequestTable::Read(field);
    if (field.key() == "limits") out.limits = RequestTable::Read(field);
  }
  return out;
}

ResourceAmounts EffectiveRequests(PodAsk ask) {
  std::optional<RequestTable> pod_level;
  if (ask.pod_level.has_value()) pod_level = PodLevelRequests(ask);
  if (ask.bound && !ask.actuals.empty()) ApplyActuals(ask);
  Totals total = TotalOf(ask);
  if (pod_level.has_value()) ApplyPodLevel(ask, *pod_level, total);
  total.Add(ask.overhead);
  return total.Amounts();
}

ResourceAmounts MostGpusPerContainer(const PodAsk& ask) {
  Totals most;
  const auto note = [&most](const std::vector<ContainerAsk>& containers) {
    for (const ContainerAsk& container : containers) {
      for (const auto& [resource, amount] : container.requests.entries()) {
        if (GpuResourceOf(resource).has_value()) most.RaiseTo(resource, amount);
      }
    }
  };
  note(ask.containers);
  note(ask.init_containers);
  return most.Amounts();
}

}  // namespace maniple
