#include "scheduler/cli/listing.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "api/base/log.h"
#include "api/codec/quantity.h"
#include "scheduler/app/answers/printing.h"

namespace maniple {
namespace {

std::string PositionIn(const Json& position) {
  const int64_t number = Number(position);
  return number == 0 ? "-" : absl::StrCat(number);
}

// What declares it, as `maniple explain` takes it.
std::string SourceOf(const Json& gang) {
  const Json& source = gang["source"];
  if (!source.is_object()) return "-";
  return absl::StrCat(source["kind"].AsString(), "/", source["name"].AsString());
}

// "6.0Gi/8.0Gi".
std::string FreeBytes(const Json& resource) {
  const auto text = [](const Json& quantity) {
    const int64_t bytes = ParseAmount("memory", quantity.AsString()).value_or(Amount()).units();
    return absl::StrFormat("%.1fGi", static_cast<double>(bytes) / (1 << 30));
  };
  return absl::StrCat(text(resource["free"]), "/", text(resource["allocatable"]));
}

bool IsZero(const std::string& quantity) { return quantity.empty() || quantity == "0"; }

bool SameQuota(const Json& a, const Json& b) {
  return a["flavor"].AsString() == b["flavor"].AsString() &&
         a["name"].AsString() == b["name"].AsString();
}

// "vision 3, audio 1": others of the Cohort of whose quota something is in others' use.
std::string LendersOf(const Json& queues, const Json& queue, const Json& row) {
  std::vector<std::string> lenders;
  for (const Json& other : queues["items"].items()) {
    const bool of_cohort = other["cohort"].AsString() == queue["cohort"].AsString();
    if (!of_cohort || other["name"].AsString() == queue["name"].AsString()) continue;
    for (const Json& lent : other["usage"].items()) {
      if (!SameQuota(lent, row) || IsZero(lent["lent"].AsString())) continue;
      lenders.push_back(absl::StrCat(other["name"].AsString(), " ", lent["lent"].AsString()));
    }
  }
  return absl::StrJoin(lenders, ", ");
}

std::string ReasonOf(const Json& queues, const Json& queue, const Json& row) {
  const std::string& flavor = row["flavor"].AsString();
  std::string text =
      absl::StrCat("  ", flavor, flavor.empty() ? "" : "/", row["name"].AsString(), ": uses ",
                   row["used"].AsString(), ", its own quota is ", row["nominal"].AsString());
  const bool alone = queue["cohort"].AsString().empty();
  if (!IsZero(row["borrowed"].AsString()) && alone) {
    // Its quota was cut while its gangs ran on.
    absl::StrAppend(&text, ", ", row["borrowed"].AsString(), " more than that");
  } else if (!IsZero(row["borrowed"].AsString())) {
    const std::string lenders = LendersOf(queues, queue, row);
    absl::StrAppend(&text, ", ", row["borrowed"].AsString(),
                    " of what it uses is borrowed from cohort ", queue["cohort"].AsString(),
                    lenders.empty() ? "" : absl::StrCat(" (lent there: ", lenders, ")"));
  }
  if (!IsZero(row["lent"].AsString())) {
    absl::StrAppend(&text, ", ", row["lent"].AsString(), " of its own is lent to others");
  }
  const auto limit = [&](const char* name, absl::string_view what) {
    if (!row[name].is_null()) absl::StrAppend(&text, what, row[name].AsString());
  };
  limit("borrowingLimit", ", it borrows at most ");
  limit("lendingLimit", ", it lends at most ");
  return text;
}

// One line per quota; what is said of the Cohort as a whole stands in its first.
void AddCohort(const Json& cohort, int depth, std::vector<std::vector<std::string>>& rows) {
  const std::string name =
      absl::StrCat(std::string(static_cast<size_t>(2 * depth), ' '), cohort["name"].AsString());
  std::vector<std::string> whole = {name, TextsOf(cohort["queues"], ", "),
                                    ShareText(Number(cohort["fairShare"]))};
  if (cohort["usage"].items().empty()) {
    whole.resize(rows[0].size(), "-");
    rows.push_back(std::move(whole));
  }
  for (const Json& row : cohort["usage"].items()) {
    std::vector<std::string> line = std::exchange(whole, std::vector<std::string>(whole.size()));
    const std::string& flavor = row["flavor"].AsString();
    line.push_back(absl::StrCat(flavor, flavor.empty() ? "" : "/", row["name"].AsString()));
    for (const char* amount : {"used", "nominal", "borrowed", "lent"}) {
      line.push_back(row[amount].AsString());
    }
    rows.push_back(std::move(line));
  }
}

std::string SinceItLeads(const Json& queue) {
  const int64_t started = Number(queue["started"]);
  const std::string left = CountsByReason(queue["left"]);
  if (started == 0 && left.empty()) return "";
  std::string out = absl::StrCat("  since this leader began: ", started, " started");
  if (started > 0) {
    const double mean = queue["waitedSeconds"].AsDouble() / static_cast<double>(started);
    absl::StrAppend(&out, " after ", Age(absl::Seconds(mean)), " on average");
  }
  return absl::StrCat(out, left.empty() ? "" : absl::StrCat("; left: ", left), "\n");
}

// The parent of each by its name; "" for those that are roots, whose parent is not listed, or that
// are on a cycle or below one: they come with the roots.
std::map<std::string, std::string> ParentsIn(const Json& cohorts) {
  std::map<std::string, std::string> parents;
  for (const Json& cohort : cohorts["items"].items()) {
    parents[cohort["name"].AsString()] = cohort["parent"].AsString();
  }
  std::map<std::string, std::string> shown;
  for (const auto& [name, parent] : parents) {
    auto above = parents.find(parent);
    const bool listed = above != parents.end();
    size_t steps = 0;
    while (above != parents.end() && ++steps <= parents.size()) above = parents.find(above->second);
    shown[name] = listed && steps <= parents.size() ? parent : "";
  }
  return shown;
}

// Children behind their parent.
void AddCohorts(const Json& cohorts, const std::map<std::string, std::string>& parents,
                const std::string& parent, int depth, std::vector<std::vector<std::string>>& rows) {
  for (const Json& cohort : cohorts["items"].items()) {
    const std::string& name = cohort["name"].AsString();
    if (parents.at(name) != parent) continue;
    AddCohort(cohort, depth, rows);
    AddCohorts(cohorts, parents, name, depth + 1, rows);
  }
}

}  // namespace

Json ThoseWhoWait(const Json& gangs) {
  std::vector<Json> waiting;
  for (const Json& gang : gangs["items"].items()) {
    if (Number(gang["position"]) > 0) waiting.push_back(gang);
  }
  std::ranges::stable_sort(waiting, {}, [](const Json& gang) { return Number(gang["position"]); });
  Json out = gangs;
  out.Set("items", Json::Array(std::move(waiting)));
  return out;
}

std::string StartTable(const Json& gangs, absl::Time now) {
  std::vector<std::vector<std::string>> rows = {
      {"POSITION", "NAMESPACE", "GANG", "QUEUE", "IN QUEUE", "REASON", "PLANNED START"}};
  for (const Json& gang : gangs["items"].items()) {
    const Json& start = gang["plannedStart"];
    rows.push_back({PositionIn(gang["position"]), gang["namespace"].AsString(),
                    gang["name"].AsString(), OrDash(gang["queue"].AsString()),
                    PositionIn(gang["queuePosition"]), OrDash(gang["reason"].AsString()),
                    start.is_object() ? PlannedStartText(start, now) : "-"});
  }
  return Table(rows);
}

std::string WideGangTable(const Json& gangs, absl::Time now) {
  std::vector<std::vector<std::string>> rows = {{"NAMESPACE", "GANG", "PHASE", "BOUND", "MIN",
                                                 "QUEUE", "PRIORITY", "POSITION", "AGE",
                                                 "DECLARED BY", "NODES", "REASON", "MESSAGE"}};
  for (const Json& gang : gangs["items"].items()) {
    std::vector<std::string> row = GangRow(gang, now);
    row.insert(row.begin() + 6,
               {absl::StrCat(Number(gang["priority"])), PositionIn(gang["position"])});
    row.insert(row.begin() + 9, SourceOf(gang));
    rows.push_back(std::move(row));
  }
  return Table(rows);
}

std::string WideNodeTable(const Json& nodes) {
  std::vector<std::vector<std::string>> rows = {
      {"NODE", "SCHEDULABLE", "MODEL", "PODS", "FREE", "MEMORY", "DOMAIN", "TAINTS", "GANGS"}};
  for (const Json& node : nodes["items"].items()) {
    const std::vector<Json>& resources = node["resources"].items();
    const auto memory = std::ranges::find_if(
        resources, [](const Json& resource) { return resource["name"].AsString() == "memory"; });
    std::vector<std::string> row = NodeCells(node);
    row.insert(row.end() - 1, {memory == resources.end() ? "-" : FreeBytes(*memory),
                               TextsOf(node["path"], "/"), TextsOf(node["taints"], ",")});
    rows.push_back(std::move(row));
  }
  return Table(rows);
}

std::string QueueReasons(const Json& queues) {
  std::string out;
  for (const Json& queue : queues["items"].items()) {
    const std::string& cohort = queue["cohort"].AsString();
    absl::StrAppend(&out, queue["name"].AsString(),
                    cohort.empty() ? ", alone" : absl::StrCat(" in cohort ", cohort), ": ",
                    Number(queue["running"]), " of its gangs run, ", Number(queue["pending"]),
                    " wait", ", share ", ShareText(Number(queue["fairShare"])), "\n");
    if (queue["usage"].items().empty()) out += "  limits nothing\n";
    for (const Json& row : queue["usage"].items()) {
      absl::StrAppend(&out, ReasonOf(queues, queue, row), "\n");
    }
    const std::string& problem = queue["problem"].AsString();
    if (!problem.empty()) absl::StrAppend(&out, "  starts nothing: ", OneLine(problem), "\n");
    if (const std::string waiting = CountsByReason(queue["waiting"]); !waiting.empty()) {
      absl::StrAppend(&out, "  waiting: ", waiting, "\n");
    }
    absl::StrAppend(&out, SinceItLeads(queue));
  }
  return out;
}

std::string CohortTable(const Json& cohorts) {
  std::vector<std::vector<std::string>> rows = {
      {"COHORT", "QUEUES", "SHARE", "QUOTA", "USED", "NOMINAL", "BORROWED", "LENT"}};
  AddCohorts(cohorts, ParentsIn(cohorts), "", 0, rows);
  std::string out = Table(rows);
  for (const Json& cohort : cohorts["items"].items()) {
    const std::string& problem = cohort["problem"].AsString();
    if (problem.empty()) continue;
    absl::StrAppend(&out, cohort["name"].AsString(), " is inactive: ", OneLine(problem), "\n");
  }
  return out;
}

// With what was tried before it.
std::string TextOf(const Json& decision) {
  const std::string& refused = decision["refused"].AsString();
  if (refused.empty()) return decision["text"].AsString();
  return absl::StrCat(decision["text"].AsString(), " (not: ", refused, ")");
}

std::string DecisionTable(const Json& decisions) {
  std::vector<std::vector<std::string>> rows = {{"TIME", "GANG", "WHAT", "TIMES", "TEXT"}};
  for (const Json& decision : decisions["items"].items()) {
    const absl::Time at = absl::UnixEpoch() + absl::Seconds(decision["at"].AsDouble());
    const std::string& name = decision["name"].AsString();
    rows.push_back({absl::FormatTime("%Y-%m-%d %H:%M:%E3S", at, absl::UTCTimeZone()),
                    name.empty() ? decision["subject"].AsString()
                                 : absl::StrCat(decision["namespace"].AsString(), "/", name),
                    decision["what"].AsString(), absl::StrCat(Number(decision["times"])),
                    TextOf(decision)});
  }
  return Table(rows);
}

std::string Names(const Json& list, absl::string_view resource) {
  std::string out;
  for (const Json& item : list["items"].items()) {
    absl::StrAppend(&out, item["singleton"].AsBool() ? "pod" : resource, "/",
                    item["name"].AsString(), "\n");
  }
  return out;
}

}  // namespace maniple
