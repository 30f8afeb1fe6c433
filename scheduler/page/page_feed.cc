#include "scheduler/page/page_feed.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/page/row_text.h"

namespace maniple {
namespace {

std::string AtText(const ClusterView& view) {
  return absl::StrFormat("\"at\":%.3f", absl::ToDoubleSeconds(view.at - absl::UnixEpoch()));
}

struct Change {
  std::string rows, gone;  // JSON, without the brackets
};

void AppendItem(std::string& list, absl::string_view item) {
  absl::StrAppend(&list, list.empty() ? "" : ",", item);
}

// Both by key.
Change ChangeBetween(const std::vector<PageRow>& before, const std::vector<PageRow>& after) {
  Change change;
  auto old = before.begin();
  const auto forget = [&change](const PageRow& row) {
    AppendItem(change.gone, JsonQuoted(row.key));
  };
  for (const PageRow& row : after) {
    for (; old != before.end() && old->key < row.key; ++old) forget(*old);
    const bool known = old != before.end() && old->key == row.key;
    if (!known || old->json != row.json) AppendItem(change.rows, row.json);
    if (known) ++old;
  }
  for (; old != before.end(); ++old) forget(*old);
  return change;
}

}  // namespace

void PageFeed::Take(const ClusterViewPtr& view, std::vector<std::string> problems) {
  if (view == view_) return;
  const bool first = view_ == nullptr;
  view_ = view;
  std::vector<PageRow> rows = PageRowsOf(*view, reader_, {version_, std::move(problems)});
  const Change change = ChangeBetween(rows_, rows);
  rows_ = std::move(rows);
  all_ = nullptr;  // it tells when its view was made, too
  if (!first && change.rows.empty() && change.gone.empty()) return;
  ++revision_;
  change_ = first ? nullptr
                  : EventOf(absl::StrCat("{", AtText(*view), ",\"rows\":[", change.rows,
                                         "],\"gone\":[", change.gone, "]}"));
}

PageEventPtr PageFeed::After(absl::string_view id) {
  if (view_ == nullptr || id == IdOf(revision_)) return nullptr;
  if (change_ != nullptr && id == IdOf(revision_ - 1)) return change_;
  if (all_ == nullptr) {
    std::string rows;
    for (const PageRow& row : rows_) AppendItem(rows, row.json);
    all_ = EventOf(absl::StrCat("{", AtText(*view_), ",\"all\":true,\"rows\":[", rows, "]}"));
  }
  return all_;
}

std::string PageFeed::StillText() const {
  if (view_ == nullptr) return ": still here\n\n";
  return EventOf(absl::StrCat("{", AtText(*view_), ",\"rows\":[]}"))->text;
}

std::string PageFeed::IdOf(int64_t revision) const { return absl::StrCat(name_, ".", revision); }

PageEventPtr PageFeed::EventOf(std::string data) const {
  PageEvent event{.id = IdOf(revision_)};
  event.text = absl::StrCat("event: rows\nid: ", event.id, "\ndata: ", data, "\n\n");
  return std::make_shared<const PageEvent>(std::move(event));
}

}  // namespace maniple
