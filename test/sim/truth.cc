#include "test/sim/truth.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/check.h"
#include "api/model/maniple_types.h"

namespace maniple::sim {
namespace {

constexpr char kGpu[] = "nvidia.com/gpu";

int64_t WholeNumber(const Json& value) {
  int64_t out = 0;
  if (value.is_string() && absl::SimpleAtoi(value.AsString(), &out)) return out;
  return value.AsInt();
}

std::string KeyOf(const Json& object) {
  const Json& meta = object["metadata"];
  return absl::StrCat(meta["namespace"].AsString(), "/", meta["name"].AsString());
}

uint64_t Mixed(uint64_t hash, absl::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

}  // namespace

void Truth::Start(absl::Time now) {
  const std::pair<const char*, const char*> collections[] = {
      {"Node", "/api/v1/nodes?watch=true"},
      {"PodGroup", "/apis/scheduling.maniple.dev/v1alpha1/podgroups?watch=true"},
      {"Pod", "/api/v1/pods?watch=true"},
  };
  watches_.clear();
  for (const auto& [kind, target] : collections) {
    devcluster::ApiRequest request;
    request.method = "GET";
    request.target = target;
    const devcluster::ApiReply reply = server_.Handle(request, now);
    CHECK(reply.watch.valid()) << target << " answered " << reply.status << ": " << reply.body;
    watches_.emplace_back(kind, reply.watch);
  }
}

void Truth::Observe(absl::Time now) {
  bool ended = false;
  for (const auto& [kind, watch] : watches_) {
    const devcluster::WatchOutput output = server_.TakeWatchOutput(watch);
    for (const absl::string_view line : absl::StrSplit(output.bytes, '\n', absl::SkipEmpty())) {
      const absl::StatusOr<Json> event = Json::Parse(line);
      CHECK(event.ok()) << event.status();
      Apply(kind, *event, now);
    }
    ended = ended || output.ended;
  }
  if (ended) {  // the server forgot its history: a new watch starts with everything there is
    for (const auto& [kind, watch] : watches_) server_.CloseWatch(watch);
    pods_.clear();
    nodes_.clear();
    groups_.clear();
    Start(now);
    Observe(now);
  }
}

void Truth::Apply(absl::string_view kind, const Json& event, absl::Time now) {
  const std::string& type = event["type"].AsString();
  if (type == "BOOKMARK" || type == "ERROR") return;
  const Json& object = event["object"];
  const std::string key = KeyOf(object);
  const bool deleted = type == "DELETED";
  fingerprint_ =
      Mixed(fingerprint_, absl::StrCat(kind, type, key, object["spec"]["nodeName"].AsString(),
                                       object["status"]["phase"].AsString(),
                                       object["status"]["reason"].AsString()));
  if (kind == "Node") {
    if (deleted) {
      nodes_.erase(key.substr(1));
      return;
    }
    nodes_[key.substr(1)] = {.gpus = WholeNumber(object["status"]["allocatable"][kGpu]),
                             .schedulable = !object["spec"]["unschedulable"].AsBool()};
  } else if (kind == "PodGroup") {
    if (deleted) {
      groups_.erase(key);
      return;
    }
    groups_[key] = {.min_member = object["spec"]["minMember"].AsInt(),
                    .phase = object["status"]["phase"].AsString(),
                    .reason = object["status"]["reason"].AsString()};
  } else if (deleted) {
    pods_.erase(key);
  } else {
    ApplyPod(object, now);
  }
}

void Truth::ApplyPod(const Json& object, absl::Time now) {
  PodFacts pod;
  pod.key = KeyOf(object);
  pod.uid = object["metadata"]["uid"].AsString();
  pod.node = object["spec"]["nodeName"].AsString();
  pod.phase = object["status"]["phase"].AsString();
  pod.deleting = object["metadata"].Has("deletionTimestamp");
  pod.gang = absl::StrCat(object["metadata"]["namespace"].AsString(), "/",
                          object["metadata"]["labels"][kPodGroupLabel].AsString());
  for (const Json& container : object["spec"]["containers"].items()) {
    pod.gpus += WholeNumber(container["resources"]["requests"][kGpu]);
  }
  const std::string node = pod.node, key = pod.key, uid = pod.uid;
  pods_[key] = std::move(pod);
  if (node.empty()) return;
  const auto [it, fresh] = bound_.try_emplace(uid, node);
  if (!fresh) {
    if (it->second != node)
      Violated(now,
               absl::StrCat("BoundAtMostOnce: ", key, " moved from ", it->second, " to ", node));
    return;
  }
  ++binds_;
  CheckNeverOversubscribed(node, key, now);
}

void Truth::CheckNeverOversubscribed(const std::string& node, const std::string& because,
                                     absl::Time now) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;  // bound to a node that has just gone: a fair race
  int64_t used = 0;
  for (const auto& [key, pod] : pods_) {
    if (pod.node == node && !pod.ended()) used += pod.gpus;
  }
  if (used > found->second.gpus) {
    Violated(now, absl::StrCat("NeverOversubscribed: ", node, " has ", found->second.gpus,
                               " GPUs and ", used, " are taken once ", because, " is bound there"));
  }
}

void Truth::CheckGangAllOrNothing(absl::Time now) {
  for (const auto& [key, group] : groups_) {
    int64_t held = 0, succeeded = 0;
    std::string members;
    for (const auto& [pod_key, pod] : pods_) {
      if (pod.gang != key) continue;
      absl::StrAppend(&members, " ", pod_key, "=", pod.phase, "@", pod.node,
                      pod.deleting ? " deleting" : "");
      if (pod.phase == "Succeeded")
        ++succeeded;
      else if (!pod.node.empty() && !pod.ended())
        ++held;
    }
    if (held > 0 && held + succeeded < group.min_member) {
      Violated(now, absl::StrCat("GangAllOrNothing: ", key, " holds ", held, " pods, quorum is ",
                                 group.min_member, ", phase ", group.phase, ", reason ",
                                 group.reason, ";", members));
    }
  }
}

std::map<std::string, int64_t> Truth::FreeGpus() const {
  std::map<std::string, int64_t> free;
  for (const auto& [name, node] : nodes_) {
    if (node.schedulable) free[name] = node.gpus;
  }
  for (const auto& [key, pod] : pods_) {
    if (pod.ended() || pod.node.empty()) continue;
    if (const auto it = free.find(pod.node); it != free.end()) it->second -= pod.gpus;
  }
  return free;
}

void Truth::CheckNothingRunnableWaits(absl::Time now) {
  const std::map<std::string, int64_t> free = FreeGpus();
  for (const auto& [key, group] : groups_) {
    int64_t held = 0, succeeded = 0, waiting = 0, each = 0;
    bool same = true;
    for (const auto& [pod_key, pod] : pods_) {
      if (pod.gang != key || pod.deleting) continue;
      if (pod.phase == "Succeeded") ++succeeded;
      if (pod.ended()) continue;
      if (!pod.node.empty()) {
        ++held;
        continue;
      }
      ++waiting;
      same = same && (each == 0 || each == pod.gpus);
      each = pod.gpus;
    }
    const int64_t need = group.min_member - held - succeeded;
    if (need <= 0 || waiting < need || !same || each == 0) continue;
    int64_t room = 0;
    for (const auto& [name, gpus] : free) room += std::max<int64_t>(0, gpus) / each;
    if (room >= need) {
      Violated(now, absl::StrCat("NothingRunnableWaits: ", key, " needs ", need, " x ", each,
                                 " GPUs and there is room for ", room, "; phase ", group.phase,
                                 ", reason ", group.reason));
    }
  }
}

void Truth::Violated(absl::Time now, std::string what) {
  violations_.push_back(
      absl::StrCat(absl::FormatTime("%H:%M:%E3S", now, absl::UTCTimeZone()), " ", what));
}

}  // namespace maniple::sim
