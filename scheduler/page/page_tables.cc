#include "scheduler/page/page_tables.h"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/base/time_text.h"
#include "api/codec/quantity.h"
#include "scheduler/page/node_uses.h"

namespace maniple {
namespace {

// Names and messages are written by users.
std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

void AppendRow(std::string& out, const char* cell, std::initializer_list<std::string> cells) {
  absl::StrAppend(&out, "<tr>");
  for (const std::string& text : cells) {
    absl::StrAppend(&out, "<", cell, ">", Escaped(text), "</", cell, ">");
  }
  absl::StrAppend(&out, "</tr>\n");
}

void BeginTable(std::string& out, absl::string_view title,
                std::initializer_list<std::string> columns) {
  absl::StrAppend(&out, "<h2>", Escaped(title), "</h2>\n<table border=\"1\">\n");
  AppendRow(out, "th", columns);
}

std::string AskText(const GangView& gang) {
  std::string out;
  for (const GangAskView& ask : gang.asks) {
    absl::StrAppend(&out, out.empty() ? "" : ", ", ask.members, " × ", ask.amount, " ",
                    ask.resource);
  }
  return out;
}

void AppendWaiting(std::string& out, const ClusterView& view, const PageReader& reader) {
  std::vector<const GangView*> waiting;
  for (const GangView& gang : view.gangs) {
    const bool waits = gang.position > 0 || gang.phase == "Waiting";
    if (waits && SeesGang(reader, gang)) waiting.push_back(&gang);
  }
  // Those without a position come last.
  std::ranges::stable_sort(waiting, {}, [](const GangView* gang) {
    return std::pair(gang->position == 0, gang->position);
  });
  BeginTable(out, absl::StrCat("Waiting (", waiting.size(), ")"),
             {"Position", "Gang", "Queue", "Asks for", "Reason", "Why"});
  for (const GangView* gang : waiting) {
    AppendRow(out, "td",
              {gang->position == 0 ? "" : absl::StrCat(gang->position),
               absl::StrCat(gang->namespace_name, "/", gang->name), gang->queue, AskText(*gang),
               gang->reason, gang->message});
  }
  absl::StrAppend(&out, "</table>\n");
}

void AppendQueues(std::string& out, const ClusterView& view) {
  BeginTable(out, "Queues",
             {"Queue", "Cohort", "Running", "Waiting", "Flavor", "Resource", "Nominal", "Used",
              "Borrowed", "Lent"});
  for (const QueueView& queue : view.queues) {
    if (queue.usage.empty()) {
      AppendRow(out, "td",
                {queue.name, queue.cohort, absl::StrCat(queue.running), absl::StrCat(queue.pending),
                 "", "", "", "", "", ""});
    }
    for (const QuotaUsageView& usage : queue.usage) {
      const auto text = [&usage](Amount amount) { return FormatAmount(usage.resource, amount); };
      AppendRow(out, "td",
                {queue.name, queue.cohort, absl::StrCat(queue.running), absl::StrCat(queue.pending),
                 usage.flavor, usage.resource, text(usage.nominal), text(usage.used),
                 text(usage.borrowed), text(usage.lent)});
    }
  }
  absl::StrAppend(&out, "</table>\n");
}

// Pods of no gang, and gangs that the reader may not see, are told as one number.
std::string UsersText(const NodeRow& node, const NodeResourceView& resource,
                      const PageReader& reader) {
  const std::string seen =
      reader.namespace_name.empty() ? "" : absl::StrCat(reader.namespace_name, "/");
  std::vector<std::string> users;
  int64_t others = 0;
  for (const NodeUse& use : UsesOf(node, resource)) {
    if (use.gang.empty() || !absl::StartsWith(use.gang, seen)) {
      others += use.amount;
    } else {
      users.push_back(
          absl::StrCat(use.gang, " ", use.amount, use.state.empty() ? "" : " ", use.state));
    }
  }
  if (others > 0) users.push_back(absl::StrCat("others ", others));
  return absl::StrJoin(users, ", ");
}

void AppendNodes(std::string& out, const ClusterView& view, const PageReader& reader) {
  BeginTable(out, "Nodes", {"Node", "State", "Resource", "All", "Free", "Used by"});
  for (const NodeRow& node : view.nodes) {
    for (const NodeResourceView& resource : node.resources) {
      if (!resource.gpu) continue;
      AppendRow(
          out, "td",
          {node.name, node.closed, resource.resource, absl::StrCat(resource.allocatable.units()),
           absl::StrCat(FreeOf(resource)), UsersText(node, resource, reader)});
    }
  }
  absl::StrAppend(&out, "</table>\n");
}

}  // namespace

std::string PageTables(const ClusterView& view, const PageReader& reader) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
      "charset=\"utf-8\"><title>maniple</title></head>"
      "<body>\n<h1>maniple</h1>\n";
  absl::StrAppend(&out, "<p>As of ", TimeText(view.at), view.leader ? "" : ", as seen by a standby",
                  ".</p>\n");
  AppendWaiting(out, view, reader);
  if (reader.sees_queues) AppendQueues(out, view);
  if (reader.sees_nodes) AppendNodes(out, view, reader);
  absl::StrAppend(&out, "</body></html>\n");
  return out;
}

}  // namespace maniple
