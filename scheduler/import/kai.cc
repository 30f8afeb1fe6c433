// Queues with quota, limit and weight of gpu, cpu and memory; a queue with children is a Cohort.
//
// Units there: devices, cpu in milli, memory in 10^6 bytes, as decimals; -1 = unlimited. GPUs are
// counted as scheduling.maniple.dev/gpu-milli, so that slices and shares of them count as there.
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "scheduler/import/queue_tree.h"

namespace maniple {
namespace {

constexpr absl::string_view kGpuMilli = "scheduling.maniple.dev/gpu-milli";

struct ResourceName {
  absl::string_view theirs, ours;
  int64_t units;  // the number of our units in one of theirs
};
constexpr std::array<ResourceName, 3> kResources = {
    {{"gpu", kGpuMilli, 1000}, {"cpu", "cpu", 1}, {"memory", "memory", 1'000'000}}};

bool IsUnlimited(const Json& value) { return value.is_number() && value.AsDouble() < 0; }

Amount AmountOf(const Json& value, int64_t units) {
  return Amount(static_cast<int64_t>(std::llround(std::min(value.AsDouble() * units, 9e18))));
}

// Null: it is not there, or it is told of.
Json TakeNumber(ForeignManifest& queue, const std::string& path, Imported& out) {
  const Json& value = queue.Take(path);
  if (value.is_null() || value.is_number()) return value;
  queue.Error(absl::StrCat("spec.", path), absl::StrCat(value.Dump(), " is no number"),
              out.findings);
  return {};
}

// What is absent is 0 there. Only the weight for GPUs counts. Weight 0 borrows nothing: there a
// queue without weight never goes over its quota.
void TakeLine(ForeignManifest& queue, const ResourceName& resource, TreeQueue& tree,
              Imported& out) {
  const std::string path = absl::StrCat("resources.", resource.theirs);
  const Json quota = TakeNumber(queue, path + ".quota", out),
             limit = TakeNumber(queue, path + ".limit", out),
             weight = TakeNumber(queue, path + ".overQuotaWeight", out);
  const std::string name(resource.ours);
  if (!queue.whole().At(absl::StrCat("spec.", path)).is_object()) {
    queue.Note(absl::StrCat("spec.", path),
               "not there: a quota and a limit of 0, as there (-1 is no limit)", out.findings);
    tree.lines[name].limit = Amount();
    return;
  }
  const bool has_limit = limit.is_number() && !IsUnlimited(limit);
  if (IsUnlimited(quota) && !has_limit) {
    queue.Note(absl::StrCat("spec.", path, ".quota"),
               absl::StrCat("unlimited: no limit of ", name, " is carried over"), out.findings);
    tree.unlimited.insert(name);
    return;
  }
  TreeQueue::Line& line = tree.lines[name];
  line.nominal = AmountOf(IsUnlimited(quota) ? limit : quota, resource.units);
  if (!limit.is_number()) {
    queue.Note(absl::StrCat("spec.", path, ".limit"),
               "not there: nothing beyond its quota, as there", out.findings);
    line.limit = line.nominal;
  } else if (has_limit) {
    line.limit = AmountOf(limit, resource.units);
  }
  if (!weight.is_number() && line.limit != line.nominal) {
    queue.Note(absl::StrCat("spec.", path, ".overQuotaWeight"),
               "not there: nothing beyond its quota, as there", out.findings);
  }
  if (!weight.is_number() || weight.AsDouble() == 0) line.limit = line.nominal;
  if (resource.theirs == "gpu") {
    // A decimal is written as text here.
    tree.weight = weight.is_number() && !weight.is_int() ? Json(weight.Dump()) : weight;
  } else if (weight.is_number() && weight.AsDouble() != 0 &&
             !(weight == queue.Take("resources.gpu.overQuotaWeight"))) {
    queue.Note(absl::StrCat("spec.", path, ".overQuotaWeight"),
               "not carried over: a Queue has one weight, that of gpu", out.findings);
  }
}

constexpr std::array<absl::string_view, 2> kMinRuntimes = {"preemptMinRuntime",
                                                           "reclaimMinRuntime"};

// As the queue itself says it, if it does.
std::optional<absl::Duration> MinRuntimeOf(ForeignManifest& queue, absl::string_view field,
                                           Imported& out) {
  const std::string& text = queue.Take(field).AsString();
  absl::Duration value;
  if (text.empty()) return std::nullopt;
  if (absl::ParseDuration(text, &value)) return value;
  queue.Error(absl::StrCat("spec.", field), absl::StrCat("\"", text, "\" is no duration"),
              out.findings);
  return std::nullopt;
}

// A queue that says nothing has what the nearest one above it says. One guarantee covers preemption
// and reclaim here: the longer of the two.
void SetMinRuntimes(std::map<std::string, TreeQueue>& queues, Imported& out) {
  std::map<std::string, absl::Duration> longest;
  for (const absl::string_view field : kMinRuntimes) {
    std::map<std::string, absl::Duration> own;
    for (auto& [name, queue] : queues) {
      if (const auto value = MinRuntimeOf(*queue.from, field, out)) own[name] = *value;
    }
    for (const auto& [name, queue] : queues) {
      auto at = queues.find(name);
      for (size_t left = queues.size(); left > 0 && at != queues.end(); --left) {
        if (own.contains(at->first)) break;
        at = queues.find(at->second.parent);
      }
      if (at == queues.end()) continue;
      if (const auto found = own.find(at->first); found != own.end()) {
        longest[name] = std::max(longest[name], found->second);
      }
    }
  }
  for (const auto& [name, value] : longest) {
    const int64_t seconds = absl::ToInt64Seconds(value);
    if (seconds <= 0) continue;
    queues.at(name).own_spec.Mutable("preemption").Set("minRuntimeSeconds", seconds);
  }
}

TreeQueue KaiTreeQueue(ForeignManifest& queue, Imported& out) {
  TreeQueue tree{.from = &queue,
                 .parent = queue.Take("parentQueue").AsString(),
                 .parent_path = "spec.parentQueue"};
  for (const ResourceName& resource : kResources) TakeLine(queue, resource, tree, out);
  Json preemption =
      Json::Object({{"withinQueue", "LowerPriority"}, {"reclaimWithinCohort", "Any"}});
  tree.own_spec = Json::Object({{"preemption", std::move(preemption)}});
  if (const Json& priority = queue.Take("priority");
      priority.is_number() && priority.AsInt() != 100) {
    queue.Note("spec.priority", "not carried over: Queues are served by their shares",
               out.findings);
  }
  queue.HasNoCounterpart("displayName", "a Queue has one name", out.findings);
  return tree;
}

// Divided GPU nodes offer slices; the label of NVIDIA's discovery tells the number of their GPUs.
std::map<std::string, Amount> CapacityInTheirTerms(const ForeignManifests& objects) {
  std::map<std::string, Amount> all = CapacityOf(objects), out;
  for (const absl::string_view kept : {"cpu", "memory"}) {
    if (const auto found = all.find(std::string(kept)); found != all.end()) out.insert(*found);
  }
  for (const ForeignManifest& object : objects) {
    if (object.kind() != "Node") continue;
    const Json& offered = object.whole().At("status.allocatable")["nvidia.com/gpu"];
    int64_t gpus = 0;
    const std::string& labelled =
        object.whole().At("metadata.labels")["nvidia.com/gpu.count"].AsString();
    if (!absl::SimpleAtoi(labelled, &gpus)) {
      (void)absl::SimpleAtoi(offered.is_string() ? offered.AsString() : offered.Dump(), &gpus);
    }
    if (gpus > 0) out[std::string(kGpuMilli)] += Amount(1000) * gpus;
  }
  return out;
}

}  // namespace

void ImportKai(ForeignManifests& objects, Imported& out) {
  std::map<std::string, TreeQueue> queues;
  for (ForeignManifest& object : objects) {
    if (object.kind() == "Topology") ImportTopology(object, out);
    if (object.kind() == "Queue") queues.emplace(object.name(), KaiTreeQueue(object, out));
  }
  SetMinRuntimes(queues, out);
  std::string top = "root";
  while (queues.contains(top)) top = top == "root" ? "all-queues" : absl::StrCat("all-", top);
  ImportTree(std::move(queues), top, CapacityInTheirTerms(objects), out);
}

}  // namespace maniple
