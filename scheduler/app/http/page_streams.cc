#include "scheduler/app/http/page_streams.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "scheduler/app/config/version.h"

namespace maniple {
namespace {

constexpr absl::Duration kStreamViewLife = absl::Seconds(1);
constexpr absl::Duration kSayStill = absl::Seconds(2);
constexpr size_t kKeptFeeds = 8;

}  // namespace

class PageStreams::Stream final : public HttpStream {
 public:
  Stream(const PageStreams& streams, Shared& shared, std::string since, absl::Time until)
      : streams_(streams), shared_(shared), last_(std::move(since)), until_(until) {
    ++shared_.readers;
  }
  ~Stream() override { --shared_.readers; }

  std::optional<Piece> Next(absl::Time now) override {
    if (ended_) return Piece();
    if (now >= until_) return End();
    if (const ClusterViewPtr view = streams_.source_(now - kStreamViewLife)) {
      // Only the replica that leads knows what waits and what is charged: the page looks for it.
      if (leader_.value_or(view->leader) != view->leader) return End();
      leader_ = view->leader;
      shared_.feed.Take(view, streams_.problems_());
    }
    if (const PageEventPtr event = shared_.feed.After(last_)) {
      last_ = event->id;
      said_ = now;
      return Piece(event, &event->text);
    }
    if (now < said_ + kSayStill) return std::nullopt;
    said_ = now;
    return std::make_shared<const std::string>(shared_.feed.StillText());
  }

 private:
  std::optional<Piece> End() {
    ended_ = true;
    return std::make_shared<const std::string>(
        "event: end\ndata: {\"why\":\"ask again with the last id\"}\n\n");
  }

  const PageStreams& streams_;
  Shared& shared_;
  std::string last_;  // id of the last event that the reader has
  const absl::Time until_;
  std::optional<bool> leader_;  // whether this process led as the reader was first told
  absl::Time said_ = absl::InfinitePast();
  bool ended_ = false;
};

HttpPage PageStreams::Open(const PageReader& reader, const std::string& since, absl::Time now,
                           absl::Duration life) {
  const std::string date = absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", now, absl::UTCTimeZone());
  return {.content_type = "text/event-stream",
          .headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}, {"Date", date}},
          .open_stream = [this, reader, since, until = now + life] {
            return std::make_unique<Stream>(*this, SharedBy(reader), since, until);
          }};
}

PageStreams::Shared& PageStreams::SharedBy(const PageReader& reader) {
  const auto found = shared_.find(reader);
  if (found != shared_.end()) return found->second;
  ForgetUnread();
  PageFeed feed(absl::StrCat(name_, "-", ++feeds_), reader, MANIPLE_VERSION);
  return shared_.emplace(reader, Shared{.feed = std::move(feed)}).first->second;
}

// Feeds without a reader are kept for who comes back, up to so many.
void PageStreams::ForgetUnread() {
  if (shared_.size() < kKeptFeeds) return;
  std::erase_if(shared_, [](const auto& entry) { return entry.second.readers == 0; });
}

}  // namespace maniple
