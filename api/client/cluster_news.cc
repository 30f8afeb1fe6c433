#include "api/client/cluster_news.h"

#include <string>
#include <utility>
#include <variant>

#include "api/model/event_key.h"

namespace maniple {
namespace {

const std::string* UidOf(const ObjectEvent& event) {
  if (const auto* upserted = std::get_if<ObjectUpserted>(&event))
    return &MetaOf(upserted->object).uid;
  if (const auto* deleted = std::get_if<ObjectDeleted>(&event)) return &deleted->uid;
  if (const auto* invalid = std::get_if<ObjectInvalid>(&event)) return &invalid->uid;
  return nullptr;
}

// That the pod succeeded, which its deletion does not tell: a gang counts it from then on.
bool TellsOfSuccess(const ObjectEvent& event) {
  const auto* upserted = std::get_if<ObjectUpserted>(&event);
  const auto* pod = upserted == nullptr ? nullptr : std::get_if<Pod>(&upserted->object);
  return pod != nullptr && pod->phase == PodPhase::kSucceeded;
}

}  // namespace

void NewsFold::Add(ClusterNews news) {
  for (ObjectEvent& event : news.events) Add(std::move(event));
  for (WriteResult& result : news.results) folded_.results.push_back(std::move(result));
  if (news.leading.has_value()) folded_.leading = news.leading;
  folded_.lost_lead |= news.lost_lead;
  folded_.lead = news.lead;
}

void NewsFold::Add(ObjectEvent event) {
  const std::optional<ObjectKey> key = KeyOf(event);
  if (!key.has_value()) {
    folded_.events.push_back(std::move(event));
    return;
  }
  const auto [it, fresh] = pending_.try_emplace(*key, folded_.events.size());
  if (!fresh) {
    // Only events of the same incarnation may be folded into one. A deletion followed by another
    // uid under the same name is two facts, and the first one frees room.
    ObjectEvent& waiting = folded_.events[it->second];
    const bool both = TellsOfSuccess(waiting) && std::holds_alternative<ObjectDeleted>(event);
    if (*UidOf(waiting) == *UidOf(event) && !both) {
      waiting = std::move(event);
      return;
    }
    it->second = folded_.events.size();
  }
  folded_.events.push_back(std::move(event));
}

ClusterNews NewsFold::Take() {
  pending_.clear();
  const uint64_t lead = folded_.lead;
  ClusterNews news = std::exchange(folded_, {});
  folded_.lead = lead;
  return news;
}

}  // namespace maniple
