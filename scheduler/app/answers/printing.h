// What the command line prints, from the JSON of the admin surface. Pure functions of data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/codec/json.h"

namespace maniple {

// Columns padded to their widest cell, two spaces apart, no trailing spaces. The first row is the
// header.
[[nodiscard]] std::string Table(const std::vector<std::vector<std::string>>& rows);

[[nodiscard]] std::string GangTable(const Json& gangs, absl::Time now);
[[nodiscard]] std::string NodeTable(const Json& nodes);
[[nodiscard]] std::string QueueTable(const Json& queues);
// One gang, told as a person would: where it stands, why, and what is on which node.
[[nodiscard]] std::string Explanation(const Json& gang, absl::Time now);

// "5s", "3m", "2h", "4d": as kubectl writes ages.
[[nodiscard]] std::string Age(absl::Duration age);

// Parts of the above, for other tables of the same.
//
[[nodiscard]] std::string OrDash(absl::string_view text);  // "-" for ""
// Of a list of texts, "-" for each "" and for none.
[[nodiscard]] std::string TextsOf(const Json& list, absl::string_view between);
// 64-bit integers are strings in protobuf's JSON.
[[nodiscard]] int64_t Number(const Json& value);
// The cells of one gang in a GangTable, of one node in a NodeTable.
[[nodiscard]] std::vector<std::string> GangRow(const Json& gang, absl::Time now);
[[nodiscard]] std::vector<std::string> NodeCells(const Json& node);
// "2026-01-01 12:00:00 UTC or so, in 5m (first planned for 2026-01-01 11:50:00 UTC)".
[[nodiscard]] std::string PlannedStartText(const Json& start, absl::Time now);
// "2 QuotaExceeded, 1 NoFit"; "" where there is none.
[[nodiscard]] std::string CountsByReason(const Json& counts);
// Of borrowing in permille; at weight 0 it is beyond every share.
[[nodiscard]] std::string ShareText(int64_t permille);

}  // namespace maniple
