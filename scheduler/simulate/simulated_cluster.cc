#include "scheduler/simulate/simulated_cluster.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "api/base/status_macros.h"
#include "api/codec/quantity.h"
#include "api/model/maniple_types.h"
#include "scheduler/simulate/gpu_use.h"
#include "scheduler/simulate/trace_table.h"

namespace maniple {
namespace {

constexpr char kCohort[] = "trace";
constexpr int64_t kMostGpusOfNode = 64;
constexpr double kMostOfNode = 1e12;

Json NodeOf(const std::string& name, const NodeKind& kind) {
  Json labels = Json::Object({{kHostnameLabel, name}});
  if (!kind.model.empty()) labels.Set("nvidia.com/gpu.product", kind.model);
  Json amounts = Json::Object({{"cpu", kind.cpu}, {"memory", kind.memory}, {"pods", "250"}});
  if (kind.gpus > 0) amounts.Set(kTracedGpu, absl::StrCat(kind.gpus));
  Json ready = Json::Object({{"type", "Ready"}, {"status", "True"}});
  return Json::Object(
      {{"apiVersion", "v1"},
       {"kind", "Node"},
       {"metadata", Json::Object({{"name", name}, {"labels", std::move(labels)}})},
       {"status", Json::Object({{"capacity", amounts},
                                {"allocatable", amounts},
                                {"conditions", Json::Array({std::move(ready)})}})}});
}

absl::Status Misspelt(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "--nodes \"", text, "\": N[:gpus=8,cpu=128,memory=2Ti,model=NAME] was expected, N from 1 to ",
      kMostSimulatedNodes, ", gpus up to ", kMostGpusOfNode));
}

bool SetPart(absl::string_view key, absl::string_view value, NodeKind& kind) {
  if (key == "gpus") {
    return absl::SimpleAtoi(value, &kind.gpus) && kind.gpus >= 0 && kind.gpus <= kMostGpusOfNode;
  }
  if (key == "model") {
    kind.model = std::string(value);
    return !value.empty();
  }
  std::string* const amount = key == "cpu" ? &kind.cpu : key == "memory" ? &kind.memory : nullptr;
  if (amount == nullptr || !Quantity::Parse(value).ok()) return false;
  *amount = std::string(value);
  return true;
}

// Shares of all GPUs, by queue. The rounding error goes to the first.
std::map<std::string, int64_t> Shares(const std::map<std::string, double>& weights, int64_t gpus) {
  double sum = 0;
  for (const auto& [queue, weight] : weights) sum += weight;
  std::map<std::string, int64_t> shares;
  int64_t left = gpus;
  for (const auto& [queue, weight] : weights) {
    const double share = sum > 0 ? static_cast<double>(gpus) * weight / sum : 0;
    shares[queue] = static_cast<int64_t>(std::floor(share));
    left -= shares[queue];
  }
  if (!shares.empty()) shares.begin()->second += left;
  return shares;
}

int64_t GpusOf(const std::vector<Json>& cluster) {
  int64_t all = 0;
  for (const Json& object : cluster) {
    if (object["kind"].AsString() != "Node") continue;
    all += GpusOfNode(object);
  }
  return all;
}

Json QueueOf(const std::string& name, QuotaBy quota, int64_t nominal) {
  Json spec = Json::Object();
  if (quota != QuotaBy::kNone) {
    Json resource = Json::Object({{"name", kTracedGpu}, {"nominal", nominal}});
    spec.Set("cohort", kCohort);
    spec.Set("quotas",
             Json::Array({Json::Object({{"resources", Json::Array({std::move(resource)})}})}));
    spec.Set("preemption", Json::Object({{"reclaimWithinCohort", "Any"}}));
  }
  return Json::Object({{"apiVersion", kManipleApiVersion},
                       {"kind", "Queue"},
                       {"metadata", Json::Object({{"name", name}})},
                       {"spec", std::move(spec)}});
}

}  // namespace

absl::StatusOr<NodeKind> ParseNodeKind(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  NodeKind kind;
  if (!absl::SimpleAtoi(parts.first, &kind.count) || kind.count < 1 ||
      kind.count > kMostSimulatedNodes) {
    return Misspelt(text);
  }
  for (const absl::string_view part : absl::StrSplit(parts.second, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (!SetPart(field.first, field.second, kind)) return Misspelt(text);
  }
  return kind;
}

std::vector<Json> NodesOf(const std::vector<NodeKind>& kinds) {
  std::vector<Json> nodes;
  for (const NodeKind& kind : kinds) {
    for (int64_t i = 0; i < kind.count; ++i) {
      nodes.push_back(NodeOf(absl::StrFormat("node-%05d", nodes.size()), kind));
    }
  }
  return nodes;
}

absl::StatusOr<std::vector<Json>> ReadOpenbNodes(absl::string_view text) {
  ASSIGN_OR_RETURN(const TraceTable table, TraceTable::Read(text, ','));
  for (const absl::string_view column : {"sn", "cpu_milli", "memory_mib", "gpu", "model"}) {
    if (table.Has(column)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "line 1: a node list has sn, cpu_milli, memory_mib, gpu and model; there is no ", column));
  }
  if (table.size() > kMostSimulatedNodes) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", kMostSimulatedNodes, " nodes"));
  }
  std::vector<Json> nodes;
  for (size_t row = 0; row < table.size(); ++row) {
    NodeKind kind{.count = 1, .model = std::string(table.At(row, "model"))};
    ASSIGN_OR_RETURN(const double cpu, table.Number(row, "cpu_milli", 0, kMostOfNode));
    ASSIGN_OR_RETURN(const double memory, table.Number(row, "memory_mib", 0, kMostOfNode));
    ASSIGN_OR_RETURN(kind.gpus, table.Whole(row, "gpu", 0, kMostGpusOfNode, 0));
    kind.cpu = absl::StrCat(static_cast<int64_t>(cpu), "m");
    kind.memory = absl::StrCat(static_cast<int64_t>(memory), "Mi");
    if (table.At(row, "sn").empty()) return table.Wrong(row, "sn", "a name");
    nodes.push_back(NodeOf(std::string(table.At(row, "sn")), kind));
  }
  return nodes;
}

std::vector<Json> QueuesFor(const std::vector<TraceJob>& jobs, const std::vector<Json>& cluster,
                            QuotaBy quota) {
  std::set<std::string> there;
  for (const Json& object : cluster) {
    if (object["kind"].AsString() == "Queue") there.insert(object["metadata"]["name"].AsString());
  }
  std::map<std::string, double> weights;
  for (const TraceJob& job : jobs) {
    if (job.queue.empty() || there.contains(job.queue)) continue;
    double& weight = weights[job.queue];
    const double hours = static_cast<double>(job.all_gpus()) * absl::ToDoubleHours(job.runs);
    weight = quota == QuotaBy::kDemand ? weight + hours : 1;
  }
  const std::map<std::string, int64_t> shares = Shares(weights, GpusOf(cluster));
  std::vector<Json> objects;
  for (const auto& [queue, share] : shares) objects.push_back(QueueOf(queue, quota, share));
  return objects;
}

}  // namespace maniple
