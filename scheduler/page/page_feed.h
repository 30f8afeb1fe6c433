// Keeps the readers of one kind up to date: the rows as they are, and what changed last, as
// server-sent events.
//
// Owned by the thread of the HTTP listener; one for each PageReader with somebody who reads. Its
// memory is that of the rows, the last change and, while somebody is new, all rows as one event.
//
//   feed.Take(view);
//   if (EventPtr event = feed.After(last)) last = event->id;
//
// Invariants:
//   1. Whoever applies the events of After() one by one has exactly the rows of the last view.
//   2. A reader that has missed a change gets all rows: nobody's slowness costs memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scheduler/page/page_rows.h"
#include "scheduler/report/view.h"

namespace maniple {

struct PageEvent {
  std::string id;    // "7f3a.12": of this feed, and how many changes there were
  std::string text;  // "event: rows\nid: …\ndata: …\n\n"
};
using PageEventPtr = std::shared_ptr<const PageEvent>;

class PageFeed final {
 public:
  // `name` tells this feed's ids from those of other feeds, and of other processes.
  PageFeed(std::string name, PageReader reader, std::string version)
      : name_(std::move(name)), reader_(std::move(reader)), version_(std::move(version)) {}

  // The same view twice changes nothing.
  void Take(const ClusterViewPtr& view);
  // What follows an id of this feed; all rows after any other. Null: that is the last, or nothing
  // was taken yet.
  [[nodiscard]] PageEventPtr After(absl::string_view id);
  // That nothing has changed up to the last view.
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
  PageEventPtr all_;           // null: nobody asked for it since the last change
};

}  // namespace maniple
