#include "scheduler/cli/usage_table.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "api/base/time_text.h"
#include "scheduler/app/answers/printing.h"

namespace maniple {
namespace {

constexpr double kSecondsPerHour = 3600;

struct Sum {
  int64_t total = 0, recent = 0;
};

bool IsByQueue(const std::vector<std::string>& keys) {
  return keys.size() == 1 && keys[0] == "queue";
}

// Started, the mean wait, who had to leave.
std::vector<std::string> WaitCells(const Json& queue) {
  const int64_t started = Number(queue["started"]);
  const double mean =
      started == 0 ? 0 : queue["waitedSeconds"].AsDouble() / static_cast<double>(started);
  return {absl::StrCat(started), started == 0 ? "-" : Age(absl::Seconds(mean)),
          OrDash(CountsByReason(queue["left"]))};
}

// Into the first row of each Queue; into one of its own, where it has used nothing.
void AddWaits(const Json& queues, std::vector<std::vector<std::string>>& rows) {
  if (queues.size() == 0) return;
  for (const char* title : {"STARTED", "MEAN WAIT", "LEFT"}) rows[0].emplace_back(title);
  for (const Json& queue : queues.items()) {
    const std::string& name = queue["queue"].AsString();
    const auto own = std::ranges::find_if(rows.begin() + 1, rows.end(),
                                          [&name](const auto& row) { return row[0] == name; });
    const std::vector<std::string> cells = WaitCells(queue);
    if (own != rows.end()) {
      own->insert(own->end(), cells.begin(), cells.end());
    } else if (Number(queue["started"]) > 0 || queue["left"].size() > 0) {
      rows.push_back({name, "-", "-", "-"});
      rows.back().insert(rows.back().end(), cells.begin(), cells.end());
    }
  }
  for (std::vector<std::string>& row : rows) row.resize(rows[0].size());
}

std::string Hours(const Json& seconds) {
  return absl::StrFormat("%.1f", static_cast<double>(Number(seconds)) / kSecondsPerHour);
}

}  // namespace

Json UsageBy(const Json& list, const std::vector<std::string>& keys) {
  std::map<std::vector<std::string>, Sum> sums;  // by the keys' values, and the resource
  for (const Json& row : list["items"].items()) {
    std::vector<std::string> of;
    for (const std::string& key : keys) of.push_back(row[key].AsString());
    of.push_back(row["name"].AsString());
    Sum& sum = sums[std::move(of)];
    sum.total += Number(row["total"]);
    sum.recent += Number(row["recent"]);
  }
  Json items = Json::Array();
  for (const auto& [of, sum] : sums) {
    Json row = Json::Object();
    for (size_t i = 0; i < keys.size(); ++i) row.Set(keys[i], of[i]);
    row.Set("name", of.back());
    row.Set("total", sum.total);
    row.Set("recent", sum.recent);
    items.Append(std::move(row));
  }
  Json usage = Json::Object({{"items", std::move(items)}});
  if (IsByQueue(keys) && list["queues"].size() > 0) usage.Set("queues", list["queues"]);
  if (list["since"].AsDouble() > 0) usage.Set("since", list["since"]);
  return usage;
}

std::string UsageTable(const Json& usage, const std::vector<std::string>& keys) {
  std::vector<std::vector<std::string>> rows(1);
  for (const std::string& key : keys) rows[0].push_back(absl::AsciiStrToUpper(key));
  for (const char* title : {"RESOURCE", "HOURS", "RECENT"}) rows[0].emplace_back(title);
  for (const Json& row : usage["items"].items()) {
    std::vector<std::string> cells;
    for (const std::string& key : keys) cells.push_back(OrDash(row[key].AsString()));
    cells.push_back(row["name"].AsString());
    cells.push_back(Hours(row["total"]));
    cells.push_back(Hours(row["recent"]));
    rows.push_back(std::move(cells));
  }
  if (IsByQueue(keys)) AddWaits(usage["queues"], rows);
  std::string text = Table(rows);
  if (const double since = usage["since"].AsDouble(); since > 0) {
    absl::StrAppend(&text, "since ", TimeText(absl::UnixEpoch() + absl::Seconds(since)), "\n");
  }
  return text;
}

}  // namespace maniple
