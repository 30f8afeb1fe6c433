// Keeps the readers of one kind up to date by server-sent events: the present rows, and the last
// change.
//
// Owned by the thread of the HTTP listener; one for each PageReader with an open connection. Its
// memory is that of the rows, the last change and, while a reader is new, all rows as one event.
//
//   feed.Take(view);
//   if (PageEventPtr event = feed.After(last)) last = event->id;
//
// Invariants:
//   1. A reader that applies the events of After() one by one has exactly the last view's rows.
//   2. A reader that has missed a change gets all rows: a slow reader costs no memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "scheduler/page/page_rows.h"
#include "scheduler/report/view.h"

namespace maniple {

struct PageEvent {
  std::string id;    // "7f3a.12": this feed, and its number of changes
  std::string text;  // "event: rows\nid: …\ndata: …\n\n"
};
using PageEventPtr = std::shared_ptr<const PageEvent>;

class PageFeed final {
 public:
  // `name` tells this feed's ids from those of other feeds, and of other processes.
  PageFeed(std::string name, PageReader reader, std::string version)
      : name_(std::move(name)), reader_(std::move(reader)), version_(std::move(version)) {}

  // With the problems that this process has with the API server. The same view twice changes
  // nothing.
  void Take(const ClusterViewPtr& view, std::vector<std::string> problems = {});
  // The event after an id of this feed; all rows after any other id.
  // Null: the id is the last one, or no view was taken yet.
  [[nodiscard]] PageEventPtr After(absl::string_view id);
  // An event that says that nothing has changed up to the last view.
  [[nodiscard]] std::string StillText() const;

 private:
  [[nodiscard]] std::string IdOf(int64_t revision) const;
  [[nodiscard]] PageEventPtr EventOf(std::string data) const;

  const std::string name_;
  const PageReader reader_;
  const std::string version_;
  ClusterViewPtr view_;
  std::vector<PageRow> rows_;  // of view_
  int64_t revision_ = 0;       // changes up to view_
  PageEventPtr change_;        // from the revision before; null: there is none
  PageEventPtr all_;           // null: not asked for since the last change
};

}  // namespace maniple
