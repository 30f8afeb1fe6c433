#include "scheduler/app/usage_table.h"

#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "scheduler/app/printing.h"

namespace maniple {
namespace {

constexpr double kSecondsPerHour = 3600;

struct Sum {
  int64_t total = 0, recent = 0;
};

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
  return Json::Object({{"items", std::move(items)}});
}

std::string UsageTable(const Json& usage, const std::vector<std::string>& keys) {
  std::vector<std::vector<std::string>> rows(1);
  for (const std::string& key : keys) rows[0].push_back(absl::AsciiStrToUpper(key));
  for (const char* title : {"RESOURCE", "HOURS", "RECENT"}) rows[0].emplace_back(title);
  for (const Json& row : usage["items"].items()) {
    std::vector<std::string> cells;
    for (const std::string& key : keys) {
      const std::string value = row[key].AsString();
      cells.push_back(value.empty() ? "-" : value);
    }
    cells.push_back(row["name"].AsString());
    cells.push_back(Hours(row["total"]));
    cells.push_back(Hours(row["recent"]));
    rows.push_back(std::move(cells));
  }
  return Table(rows);
}

}  // namespace maniple
