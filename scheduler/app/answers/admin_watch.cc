#include "scheduler/app/answers/admin_watch.h"

#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "api/proto/admin.pb.h"
#include "scheduler/app/answers/admin_view.h"

namespace maniple {
namespace {

namespace pb = admin::v1;

// Moves the rows that differ from what was told to `changed`, and says which are gone.
template <typename Row, typename Key>
absl::flat_hash_map<std::string, uint64_t> Tell(
    google::protobuf::RepeatedPtrField<Row>& rows, const Key& key_of,
    const absl::flat_hash_map<std::string, uint64_t>& told,
    google::protobuf::RepeatedPtrField<Row>& changed,
    google::protobuf::RepeatedPtrField<std::string>& gone) {
  absl::flat_hash_map<std::string, uint64_t> now;
  for (Row& row : rows) {
    std::string key = key_of(row);
    const uint64_t hash = absl::HashOf(row.SerializeAsString());
    const auto before = told.find(key);
    if (before == told.end() || before->second != hash) *changed.Add() = std::move(row);
    now.emplace(std::move(key), hash);
  }
  for (const auto& [key, hash] : told) {
    if (!now.contains(key)) *gone.Add() = key;
  }
  return now;
}

}  // namespace

bool AdminWatch::Next(const ClusterView& view, pb::WatchReply& out) {
  out.set_at(absl::ToDoubleSeconds(view.at - absl::UnixEpoch()));
  out.set_whole(!began_);
  pb::GangList gangs;
  GangsInto(view, namespace_name_, gangs);
  gangs_ = Tell(
      *gangs.mutable_items(),
      // A pod without a group may have the name of a PodGroup.
      [](const pb::Gang& gang) {
        return absl::StrCat(gang.namespace_(), gang.singleton() ? "/pod/" : "/", gang.name());
      },
      gangs_, *out.mutable_gangs(), *out.mutable_gangs_gone());
  if (namespace_name_.empty()) {
    pb::QueueList queues;
    QueuesInto(view, queues);
    queues_ = Tell(
        *queues.mutable_items(), [](const pb::Queue& queue) { return queue.name(); }, queues_,
        *out.mutable_queues(), *out.mutable_queues_gone());
  }
  return !std::exchange(began_, true) || out.gangs_size() > 0 || out.gangs_gone_size() > 0 ||
         out.queues_size() > 0 || out.queues_gone_size() > 0;
}

}  // namespace maniple
