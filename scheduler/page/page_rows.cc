#include "scheduler/page/page_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "scheduler/page/node_uses.h"
#include "scheduler/page/row_text.h"

namespace maniple {
namespace {

// The gangs that the reader sees, by "namespace/name".
using SeenGangs = absl::flat_hash_map<std::string, const GangView*>;

// In whole units: cores, not milli-cores.
std::string UnitsOf(absl::string_view resource, Amount amount) {
  if (amount.units() == 0) return "";
  if (resource != "cpu") return absl::StrCat(amount.units());
  return absl::StrCat(static_cast<double>(amount.units()) / 1000);
}

std::string UsageText(const std::vector<QuotaUsageView>& usage) {
  return RowList(usage, [](const QuotaUsageView& one) {
    RowText row;
    row.Text("flavor", one.flavor).Text("name", one.resource);
    row.Raw("nominal", UnitsOf(one.resource, one.nominal));
    row.Raw("used", UnitsOf(one.resource, one.used));
    row.Raw("borrowed", UnitsOf(one.resource, one.borrowed));
    row.Raw("lent", UnitsOf(one.resource, one.lent));
    return row.Take();
  });
}

// GPU-hours by resource, of all namespaces and flavors: in whole hours, so that a row seldom
// changes.
std::string HoursText(const std::vector<ResourceSeconds>& used) {
  std::map<std::string, std::pair<int64_t, int64_t>> seconds;  // in all, and recent
  for (const ResourceSeconds& one : used) {
    auto& [total, recent] = seconds[one.resource];
    total += one.total;
    recent += one.recent;
  }
  return RowList(seconds, [](const auto& of) {
    constexpr int64_t kHour = 3600;
    RowText row;
    row.Text("name", of.first).Number("total", of.second.first / kHour);
    return row.Number("recent", of.second.second / kHour).Take();
  });
}

std::string QueueText(const std::string& key, const QueueView& queue) {
  RowText row;
  row.Text("k", key).Text("name", queue.name).Text("cohort", queue.cohort);
  row.Text("stop", queue.stop_policy == "None" ? "" : queue.stop_policy);
  row.Text("problem", queue.problem);
  row.Number("pending", queue.pending).Number("running", queue.running);
  row.Number("share", queue.fair_share).Raw("usage", UsageText(queue.usage));
  row.Raw("hours", HoursText(queue.used));
  return row.Take();
}

std::string CohortText(const std::string& key, const CohortView& cohort) {
  RowText row;
  row.Text("k", key).Text("name", cohort.name).Text("parent", cohort.parent);
  row.Text("problem", cohort.problem);
  row.Number("share", cohort.fair_share).Raw("usage", UsageText(cohort.usage));
  return row.Take();
}

std::string UseText(const NodeUse& use, const SeenGangs& seen) {
  RowText row;
  row.Number("n", use.amount);
  if (const auto found = seen.find(use.gang); found != seen.end()) {
    row.Text("gang", use.gang).Text("queue", found->second->queue);
  }
  if (!use.state.empty()) row.Flag(use.state, true);
  return row.Take();
}

std::string GpusText(const NodeRow& node, const SeenGangs& seen) {
  std::string out;
  for (const NodeResourceView& resource : node.resources) {
    if (!resource.gpu) continue;
    RowText row;
    row.Text("name", resource.resource).Number("all", resource.allocatable.units());
    row.Number("free", FreeOf(resource));
    row.Raw("uses", RowList(UsesOf(node, resource),
                            [&seen](const NodeUse& use) { return UseText(use, seen); }));
    absl::StrAppend(&out, out.empty() ? "[" : ",", row.Take());
  }
  if (!out.empty()) out += ']';
  return out;
}

// The levels above a node. Where the last one is the host name, each node is a domain of its own.
absl::Span<const std::string> LevelsAbove(const std::vector<std::string>& labels) {
  absl::Span<const std::string> levels = labels;
  if (!levels.empty() && levels.back() == kHostnameLabel) levels.remove_suffix(1);
  return levels;
}

// `levels`: so many are above a node.
std::string NodeText(const std::string& key, const NodeRow& node, size_t levels,
                     const SeenGangs& seen) {
  const auto path = absl::MakeConstSpan(node.path).subspan(0, levels);
  RowText row;
  row.Text("k", key).Text("name", node.name).Raw("path", RowList(path, JsonQuoted));
  row.Text("nvlink", node.nvlink).Flag("cordoned", !node.schedulable);
  row.Text("closed", node.closed);
  row.Raw("taints",
          RowList(node.taints, [](const Taint& taint) { return JsonQuoted(TaintText(taint)); }));
  row.Raw("gpus", GpusText(node, seen));
  return row.Take();
}

// 0 for no time at all.
int64_t SecondsOf(absl::Time time) {
  const bool known = time != absl::InfinitePast() && time != absl::InfiniteFuture();
  return known ? absl::ToUnixSeconds(time) : 0;
}

bool HasEnded(const GangView& gang) { return gang.phase == "Completed" || gang.phase == "Failed"; }

std::string GangText(const std::string& key, const GangView& gang) {
  RowText row, members;
  row.Text("k", key).Text("ns", gang.namespace_name).Text("name", gang.name);
  row.Flag("single", gang.singleton).Text("queue", gang.queue);
  row.Text("phase", gang.phase).Text("reason", gang.reason).Text("message", gang.message);
  row.Text("stage", gang.stage).Number("priority", gang.priority).Number("min", gang.min_member);
  members.Number("total", gang.members.total).Number("pending", gang.members.pending);
  members.Number("bound", gang.members.bound).Number("running", gang.members.running);
  row.Raw("members", members.Take());
  row.Raw("asks", RowList(gang.asks, [](const GangAskView& ask) {
            RowText one;
            one.Number("members", ask.members).Text("name", ask.resource);
            return one.Number("amount", ask.amount).Take();
          }));
  row.Number("created", SecondsOf(gang.created)).Number("position", gang.position);
  row.Number("queuePosition", gang.queue_position);
  if (const auto& start = gang.planned_start; start.has_value()) {
    RowText one;
    one.Number("at", SecondsOf(start->at)).Number("first", SecondsOf(start->first_at));
    row.Raw("start", one.Flag("estimated", start->estimated).Take());
  }
  if (const auto& end = gang.expected_end; end.has_value()) {
    RowText one;
    // Rounded up to the next minute: an estimated end would otherwise change all the time.
    const int64_t at = SecondsOf(end->at);
    one.Number("at", end->estimated ? (at / 60 + 1) * 60 : at);
    row.Raw("ends", one.Flag("estimated", end->estimated).Take());
  }
  if (!gang.source.kind.empty()) {
    RowText one;
    row.Raw("source", one.Text("kind", gang.source.kind).Text("name", gang.source.name).Take());
  }
  return row.Take();
}

std::string ClusterText(const ClusterView& view, const PageReader& reader,
                        const PageProcess& process) {
  RowText row, sees;
  sees.Text("namespace", reader.namespace_name).Flag("queues", reader.sees_queues);
  sees.Flag("nodes", reader.sees_nodes);
  row.Text("k", "cluster").Flag("leading", view.leader).Text("version", process.version);
  if (reader.sees_nodes) row.Raw("problems", RowList(process.problems, JsonQuoted));
  row.Raw("sees", sees.Take()).Raw("levels", RowList(LevelsAbove(view.levels), JsonQuoted));
  return row.Take();
}

}  // namespace

std::vector<PageRow> PageRowsOf(const ClusterView& view, const PageReader& reader,
                                const PageProcess& process) {
  std::vector<PageRow> rows;
  const auto add = [&rows](std::string key, auto text_of) {
    std::string json = text_of(key);
    rows.push_back({std::move(key), std::move(json)});
  };
  rows.push_back({"cluster", ClusterText(view, reader, process)});
  SeenGangs seen;
  for (const GangView& gang : view.gangs) {
    if (!SeesGang(reader, gang)) continue;
    std::string name = absl::StrCat(gang.namespace_name, "/", gang.name);
    // A PodGroup and a pod without a group that has its name stand side by side; the first is
    // shown.
    std::string key = absl::StrCat("gang/", name);
    if (!HasEnded(gang) && rows.back().key != key) {
      add(std::move(key), [&](const std::string& k) { return GangText(k, gang); });
    }
    seen.emplace(std::move(name), &gang);
  }
  if (reader.sees_queues) {
    for (const QueueView& queue : view.queues) {
      add(absl::StrCat("queue/", queue.name),
          [&](const std::string& k) { return QueueText(k, queue); });
    }
    for (const CohortView& cohort : view.cohorts) {
      add(absl::StrCat("cohort/", cohort.name),
          [&](const std::string& k) { return CohortText(k, cohort); });
    }
  }
  if (reader.sees_nodes) {
    const size_t levels = LevelsAbove(view.levels).size();
    for (const NodeRow& node : view.nodes) {
      add(absl::StrCat("node/", node.name),
          [&](const std::string& k) { return NodeText(k, node, levels, seen); });
    }
  }
  std::ranges::sort(rows, {}, &PageRow::key);
  return rows;
}

}  // namespace maniple
