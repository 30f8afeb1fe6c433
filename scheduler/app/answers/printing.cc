#include "scheduler/app/answers/printing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/log.h"
#include "api/base/time_text.h"

namespace maniple {
namespace {

std::string AgeOf(const Json& gang, absl::Time now) {
  const int64_t created = Number(gang["created"]);
  return created == 0 ? "-" : Age(now - absl::FromUnixSeconds(created));
}

std::string BoundOf(const Json& gang) {
  const Json& members = gang["members"];
  return absl::StrCat(Number(members["bound"]) + Number(members["succeeded"]), "/",
                      Number(members["total"]));
}

// "n1 (4), n2 (4)": members by node.
std::string PlacementOf(const Json& gang) {
  std::map<std::string, int> by_node;
  for (const Json& pod : gang["pods"].items()) {
    if (!pod["node"].AsString().empty()) ++by_node[pod["node"].AsString()];
  }
  std::vector<std::string> parts;
  for (const auto& [node, count] : by_node) parts.push_back(absl::StrCat(node, " (", count, ")"));
  constexpr size_t kMost = 4;
  if (parts.size() > kMost) {
    const size_t more = parts.size() - kMost;
    parts.resize(kMost);
    return absl::StrCat(absl::StrJoin(parts, ", "), " and ", more, " more");
  }
  return absl::StrJoin(parts, ", ");
}

// In the words of the condition Active.
std::string QueueState(const Json& queue) {
  if (!queue["problem"].AsString().empty()) return "Invalid";
  const std::string& stop = queue["stopPolicy"].AsString();
  return stop.empty() || stop == "None" ? "Active" : absl::StrCat("Stopped (", stop, ")");
}

// "h100/nvidia.com/gpu".
std::string QuotaName(const Json& row) {
  const std::string& flavor = row["flavor"].AsString();
  return absl::StrCat(flavor, flavor.empty() ? "" : "/", row["name"].AsString());
}

// "needs 8, available 2 (own 0, to borrow 2 from cohort research), …".
std::string QuotaLineText(const Json& quota) {
  const std::string& cohort = quota["cohort"].AsString();
  std::string text =
      absl::StrCat(QuotaName(quota), ": needs ", quota["needs"].AsString(), ", available ",
                   quota["available"].AsString(),
                   cohort.empty() ? ""
                                  : absl::StrCat(" (of which ", quota["borrowable"].AsString(),
                                                 " to borrow from cohort ", cohort, ")"),
                   ", at most ", quota["most"].AsString(), "; used ", quota["used"].AsString(),
                   " of nominal ", quota["nominal"].AsString());
  std::vector<std::string> borrowers;
  for (const Json& borrower : quota["borrowers"].items()) {
    borrowers.push_back(
        absl::StrCat(borrower["queue"].AsString(), " ", borrower["amount"].AsString()));
  }
  if (!borrowers.empty()) absl::StrAppend(&text, "; borrowing: ", absl::StrJoin(borrowers, ", "));
  return text;
}

std::string HelpLines(const Json& gang) {
  std::string out;
  const std::string& note = gang["helpNote"].AsString();
  const bool some = !gang["help"].items().empty();
  if (some || !note.empty()) {
    absl::StrAppend(&out, "  what would help:", some ? "" : absl::StrCat(" ", note), "\n");
  }
  for (const Json& entry : gang["help"].items()) {
    absl::StrAppend(&out, "    ", OneLine(entry["sentence"].AsString()), "\n");
  }
  if (some && !note.empty()) absl::StrAppend(&out, "    (", note, ")\n");
  return out;
}

}  // namespace

std::string OrDash(absl::string_view text) { return text.empty() ? "-" : std::string(text); }

std::string TextsOf(const Json& list, absl::string_view between) {
  std::vector<std::string> texts;
  for (const Json& text : list.items()) texts.push_back(OrDash(text.AsString()));
  return OrDash(absl::StrJoin(texts, between));
}

int64_t Number(const Json& value) {
  int64_t out = 0;
  if (value.is_string() && absl::SimpleAtoi(value.AsString(), &out)) return out;
  return value.AsInt();
}

std::string ShareText(int64_t permille) {
  return permille == std::numeric_limits<int64_t>::max() ? "infinite" : absl::StrCat(permille);
}

std::string PlannedStartText(const Json& start, absl::Time now) {
  const auto moment = [](const Json& seconds) {
    return TimeText(absl::FromUnixSeconds(Number(seconds)));
  };
  const absl::Duration ahead = absl::FromUnixSeconds(Number(start["at"])) - now;
  std::string text = moment(start["at"]);
  if (start["estimated"].AsBool()) text += " or so";
  if (ahead > absl::ZeroDuration()) absl::StrAppend(&text, ", in ", Age(ahead));
  if (Number(start["at"]) > Number(start["firstAt"])) {
    absl::StrAppend(&text, " (first planned for ", moment(start["firstAt"]), ")");
  }
  return text;
}

// Tenants write some of the texts: no cell begins a line of its own, or commands a terminal.
std::string Table(const std::vector<std::vector<std::string>>& texts) {
  std::vector<std::vector<std::string>> rows = texts;
  for (std::vector<std::string>& row : rows) {
    for (std::string& cell : row) cell = OneLine(cell);
  }
  std::vector<size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    if (widths.size() < row.size()) widths.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append(widths[i] - row[i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&out, line, "\n");
  }
  return out;
}

std::string Age(absl::Duration age) {
  if (age < absl::ZeroDuration()) age = absl::ZeroDuration();
  if (age < absl::Minutes(2)) return absl::StrCat(absl::ToInt64Seconds(age), "s");
  if (age < absl::Hours(2)) return absl::StrCat(absl::ToInt64Minutes(age), "m");
  if (age < absl::Hours(48)) return absl::StrCat(absl::ToInt64Hours(age), "h");
  return absl::StrCat(absl::ToInt64Hours(age) / 24, "d");
}

std::vector<std::string> GangRow(const Json& gang, absl::Time now) {
  const bool waiting = !gang["stage"].AsString().empty();
  return {gang["namespace"].AsString(),
          gang["name"].AsString(),
          gang["phase"].AsString(),
          BoundOf(gang),
          absl::StrCat(Number(gang["minMember"])),
          OrDash(gang["queue"].AsString()),
          AgeOf(gang, now),
          OrDash(PlacementOf(gang)),
          OrDash(gang["reason"].AsString()),
          waiting ? gang["message"].AsString() : ""};
}

std::string GangTable(const Json& gangs, absl::Time now) {
  std::vector<std::vector<std::string>> rows = {
      {"NAMESPACE", "GANG", "PHASE", "BOUND", "MIN", "QUEUE", "AGE", "NODES", "REASON", "MESSAGE"}};
  for (const Json& gang : gangs["items"].items()) rows.push_back(GangRow(gang, now));
  return Table(rows);
}

// "no: its GPU driver is being upgraded". A scheduler of an older version tells no reason.
std::string ScheduledText(const Json& node) {
  const std::string& closed = node["closed"].AsString();
  if (!closed.empty()) return absl::StrCat("no: ", closed);
  return node["schedulable"].AsBool() ? "yes" : "no";
}

std::vector<std::string> NodeCells(const Json& node) {
  std::vector<std::string> free;
  for (const Json& resource : node["resources"].items()) {
    const std::string& name = resource["name"].AsString();
    if (name == "pods" || name == "memory" || name == "ephemeral-storage") continue;
    free.push_back(absl::StrCat(name, " ", resource["free"].AsString(), "/",
                                resource["allocatable"].AsString()));
  }
  return {node["name"].AsString(),
          ScheduledText(node),
          OrDash(node["gpuModel"].AsString()),
          absl::StrCat(Number(node["pods"])),
          OrDash(absl::StrJoin(free, ", ")),
          TextsOf(node["gangs"], ", ")};
}

std::string NodeTable(const Json& nodes) {
  std::vector<std::vector<std::string>> rows = {
      {"NODE", "SCHEDULABLE", "MODEL", "PODS", "FREE", "GANGS"}};
  for (const Json& node : nodes["items"].items()) rows.push_back(NodeCells(node));
  return Table(rows);
}

// One line per quota; what is said of the queue as a whole stands in its first.
std::string QueueTable(const Json& queues) {
  std::vector<std::vector<std::string>> rows = {{"QUEUE", "COHORT", "STATE", "PENDING", "RUNNING",
                                                 "PODS", "SHARE", "QUOTA", "USED", "NOMINAL",
                                                 "BORROWED", "LENT"}};
  for (const Json& queue : queues["items"].items()) {
    std::vector<std::string> whole = {
        queue["name"].AsString(),
        OrDash(queue["cohort"].AsString()),
        QueueState(queue),
        absl::StrCat(Number(queue["pending"])),
        absl::StrCat(Number(queue["running"])),
        absl::StrCat(Number(queue["runningPods"]), "/",
                     Number(queue["runningPods"]) + Number(queue["pendingPods"])),
        ShareText(Number(queue["fairShare"]))};
    if (queue["usage"].items().empty()) {
      whole.resize(rows[0].size(), "-");
      rows.push_back(std::move(whole));
      continue;
    }
    for (const Json& row : queue["usage"].items()) {
      std::vector<std::string> line = std::exchange(whole, std::vector<std::string>(whole.size()));
      for (const std::string& cell :
           {QuotaName(row), row["used"].AsString(), row["nominal"].AsString(),
            row["borrowed"].AsString(), row["lent"].AsString()}) {
        line.push_back(cell);
      }
      rows.push_back(std::move(line));
    }
  }
  std::string out = Table(rows);
  for (const Json& queue : queues["items"].items()) {
    const std::string& name = queue["name"].AsString();
    const std::string& problem = queue["problem"].AsString();
    if (!problem.empty()) absl::StrAppend(&out, name, " is inactive: ", OneLine(problem), "\n");
    if (const int64_t gangs = Number(queue["uncharged"]); gangs > 0) {
      absl::StrAppend(&out, name, " is not charged for ", gangs, gangs == 1 ? " gang" : " gangs",
                      " that name it, running in namespaces that it does not admit\n");
    }
  }
  return out;
}

std::string Explanation(const Json& gang, absl::Time now) {
  std::string out = absl::StrCat(gang["namespace"].AsString(), "/", gang["name"].AsString(), ": ",
                                 gang["phase"].AsString());
  if (!gang["reason"].AsString().empty())
    absl::StrAppend(&out, " (", gang["reason"].AsString(), ")");
  absl::StrAppend(&out, "\n  ", OneLine(OrDash(gang["message"].AsString())), "\n");
  const auto line = [&](absl::string_view name, const std::string& text) {
    if (!text.empty())
      absl::StrAppend(&out, "  ", name, std::string(14 - std::min<size_t>(13, name.size()), ' '),
                      OneLine(text), "\n");
  };
  if (gang["source"].is_object()) {
    const Json& source = gang["source"];
    const std::string& part = source["part"].AsString();
    line("declared by", absl::StrCat(source["kind"].AsString(), "/", source["name"].AsString(),
                                     part.empty() ? "" : absl::StrCat(", part ", part)));
  }
  line("stage", gang["stage"].AsString());
  line("queue", gang["queue"].AsString());
  line("priority", absl::StrCat(Number(gang["priority"])));
  line("age", AgeOf(gang, now));
  line("members", absl::StrCat(BoundOf(gang), " bound, quorum is ", Number(gang["minMember"])));
  if (Number(gang["position"]) > 0) {
    const int64_t of_queue = Number(gang["queuePosition"]);
    line("position",
         absl::StrCat(of_queue > 0 ? absl::StrCat(of_queue, " in its queue, ") : "",
                      Number(gang["position"]), " of all by priority and waiting time"));
  }
  if (gang["quota"].is_object()) line("quota", QuotaLineText(gang["quota"]));
  if (!gang["preemption"].AsString().empty()) line("preemption", gang["preemption"].AsString());
  if (gang["plannedStart"].is_object())
    line("planned start", PlannedStartText(gang["plannedStart"], now));
  line("placement", PlacementOf(gang));
  if (!gang["nodeReasons"].items().empty()) {
    int64_t all = 0;
    for (const Json& reason : gang["nodeReasons"].items()) all += Number(reason["nodes"]);
    absl::StrAppend(&out, "  nodes (", all, "):\n");
    for (const Json& reason : gang["nodeReasons"].items()) {
      absl::StrAppend(&out, "    ", Number(reason["nodes"]), ": ",
                      OneLine(reason["text"].AsString()), "\n");
    }
  }
  absl::StrAppend(&out, HelpLines(gang));
  return out;
}

std::string CountsByReason(const Json& counts) {
  std::vector<std::string> parts;
  for (const Json& count : counts.items()) {
    parts.push_back(absl::StrCat(Number(count["gangs"]), " ", count["reason"].AsString()));
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace maniple
