// The streams that keep readers of the page up to date.
//
// Owned by the thread of one listener. Readers who may see the same share one PageFeed; a view is
// asked for once a second while somebody reads, and never otherwise. It outlives its streams.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "scheduler/app/http/http_page.h"
#include "scheduler/page/page_feed.h"

namespace maniple {

class PageStreams final {
 public:
  // As Bulletin::SharedViewSince: null while a view is being made.
  using Source = std::function<ClusterViewPtr(absl::Time least)>;

  // Those of this process with the API server.
  using Problems = std::function<std::vector<std::string>()>;

  // `name` differs between processes.
  PageStreams(Source source, Problems problems, std::string name)
      : source_(std::move(source)), problems_(std::move(problems)), name_(std::move(name)) {}

  // Goes on after `since`, the last event that the reader has. It ends after so long, so that who
  // may not read any more stops reading. It tells `now`, for readers whose clock is wrong.
  [[nodiscard]] HttpPage Open(const PageReader& reader, const std::string& since, absl::Time now,
                              absl::Duration life);

 private:
  // One for readers who may see the same.
  struct Shared {
    PageFeed feed;
    int readers = 0;
  };
  class Stream;

  [[nodiscard]] Shared& SharedBy(const PageReader& reader);
  void ForgetUnread();

  const Source source_;
  const Problems problems_;
  const std::string name_;
  int64_t feeds_ = 0;  // that were ever made
  std::map<PageReader, Shared> shared_;
};

}  // namespace maniple
