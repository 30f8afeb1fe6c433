#include "scheduler/replay/known_ends.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/codec/kubernetes_time.h"
#include "api/model/maniple_types.h"
#include "scheduler/loop/records/reservation.h"

namespace maniple {
namespace {

bool IsPod(const Json& object) { return object["kind"].AsString() == "Pod"; }

std::string GroupOf(const Json& pod) {
  const Json& meta = pod["metadata"];
  return absl::StrCat(meta["namespace"].AsString(), "/", meta["labels"][kPodGroupLabel].AsString());
}

absl::Duration SecondsOf(const Json& seconds) {
  return seconds.is_int() ? absl::Seconds(seconds.AsInt()) : absl::ZeroDuration();
}

// What a Queue says of protection.
struct ProtectionRule {
  absl::Duration min_runtime, most;
};

}  // namespace

bool StandsSomewhere(const Json& object) {
  const std::string& phase = object["status"]["phase"].AsString();
  return IsPod(object) && !object["spec"]["nodeName"].AsString().empty() && phase != "Succeeded" &&
         phase != "Failed";
}

std::string KeyOf(const Json& object) {
  const Json& meta = object["metadata"];
  return absl::StrCat(meta["namespace"].AsString(), "/", meta["name"].AsString());
}

RunTimes RunTimesOf(const std::vector<Json>& objects) {
  RunTimes groups;
  for (const Json& object : objects) {
    const Json& expected = object["spec"]["expectedRuntimeSeconds"];
    if (object["kind"].AsString() == "PodGroup" && expected.is_int()) {
      groups[KeyOf(object)] = absl::Seconds(expected.AsInt());
    }
  }
  RunTimes pods;
  for (const Json& object : objects) {
    if (!IsPod(object)) continue;
    absl::Duration least = absl::InfiniteDuration();
    const Json& deadline = object["spec"]["activeDeadlineSeconds"];
    if (deadline.is_int()) least = absl::Seconds(deadline.AsInt());
    const auto group = groups.find(GroupOf(object));
    if (group != groups.end()) least = std::min(least, group->second);
    if (least != absl::InfiniteDuration()) pods[KeyOf(object)] = least;
  }
  return pods;
}

KnownEnds KnownEndsOf(const std::vector<Json>& objects, const RunTimes& run_times, absl::Time now,
                      Overdue overdue) {
  KnownEnds known;
  for (const Json& object : objects) {
    if (!StandsSomewhere(object)) continue;
    const std::string key = KeyOf(object);
    const auto run_time = run_times.find(key);
    const absl::StatusOr<absl::Time> start =
        ParseKubernetesTime(object["status"]["startTime"].AsString());
    if (run_time == run_times.end()) {
      known.some_unknown = true;
      continue;
    }
    // A pod without a told start is taken to start now.
    const absl::Time end = start.value_or(now) + run_time->second;
    if (overdue == Overdue::kEndsSometime && end + kEndGrace < now) {
      known.some_unknown = true;
      known.overdue.push_back(key);
      continue;
    }
    known.pods.emplace(std::max(end, now), key);
  }
  return known;
}

absl::Time NextGone(const std::vector<Json>& objects, absl::Time now) {
  absl::Time next = absl::InfiniteFuture();
  for (const Json& object : objects) {
    if (!IsPod(object)) continue;
    const absl::StatusOr<absl::Time> gone =
        ParseKubernetesTime(object["metadata"]["deletionTimestamp"].AsString());
    if (gone.ok() && *gone > now) next = std::min(next, *gone);
  }
  return next;
}

std::set<absl::Time> ProtectionEndsOf(const std::vector<Json>& objects) {
  std::map<std::string, ProtectionRule> queues;
  for (const Json& object : objects) {
    if (object["kind"].AsString() != "Queue") continue;
    const Json& preemption = object["spec"]["preemption"];
    queues[object["metadata"]["name"].AsString()] = {
        .min_runtime = SecondsOf(preemption["minRuntimeSeconds"]),
        .most = SecondsOf(preemption["maxProtectedRuntimeSeconds"])};
  }
  std::set<absl::Time> ends;
  const auto note = [&](const std::string& queue, const Json& since, absl::Duration own) {
    const auto rule = queues.find(queue);
    const absl::StatusOr<absl::Time> start = ParseKubernetesTime(since.AsString());
    if (rule == queues.end() || !start.ok()) return;
    ends.insert(*start + std::max(rule->second.min_runtime, std::min(own, rule->second.most)));
  };
  for (const Json& object : objects) {
    const Json& status = object["status"];
    if (object["kind"].AsString() == "PodGroup") {
      const Json& spec = object["spec"];
      const std::string& admitted = status["admittedQueue"].AsString();
      note(admitted.empty() ? spec["queue"].AsString() : admitted, status["quorumReachedAt"],
           SecondsOf(spec["preemption"]["protectedRuntimeSeconds"]));
    } else if (StandsSomewhere(object)) {  // perhaps a gang of one
      note(object["metadata"]["labels"][kQueueLabel].AsString(), status["startTime"],
           absl::ZeroDuration());
    }
  }
  return ends;
}

}  // namespace maniple
