// Failed attempts of a watch session: each leads to the same request again or to a list,
// at once or later.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/client/watch_session.h"

namespace maniple {
namespace {

// A watch that lived so long, or had an event, has proved that the server works.
constexpr absl::Duration kHealthyWatch = absl::Seconds(1);
constexpr absl::Duration kStableWatch = absl::Seconds(5);
// After so many server errors in a row a list is the better bet. A resourceVersion that the server
// does not know yet is such an error.
constexpr int kServerErrorsBeforeList = 3;
constexpr int kLargestPage = 10'000;

}  // namespace

void WatchSession::OnWatchEnd(const HttpEnd& end, absl::Time now, SessionOutput& out) {
  if (framer_.partial() > 0) ++counters_.cut_lines;
  const bool healthy = progressed_ || now - opened_at_ >= kHealthyWatch;
  Failure failure{.when = healthy ? When::kAtOnce : When::kBackoff};
  if (absl::IsDeadlineExceeded(end.status)) {
    // Bookmarks would have come. A server that was restored from a backup sends nothing until it
    // has passed our version, and a list tells.
    ++counters_.idle_timeouts;
    failure.then = Then::kList;
    failure.problem = "watch: the server fell silent";
  } else if (!end.status.ok()) {
    ++counters_.transport_failures;
    failure.problem = absl::StrCat("watch: ", end.status.message());
  } else {
    failure.problem = "watch: ended at once without news";
  }
  Fail(std::move(failure), now, out);
}

void WatchSession::OnErrorReply(absl::Time now, SessionOutput& out) {
  ApiStatus status = DecodeStatus(head_.status, body_);
  status.code = head_.status;
  if (!status.retry_after.has_value()) status.retry_after = head_.retry_after;
  OnStatus(status, now, out);
}

void WatchSession::OnStatus(const ApiStatus& status, absl::Time now, SessionOutput& out) {
  const absl::string_view doing = step_ == Step::kList ? "list" : "watch";
  Failure failure;
  failure.retry_after = status.retry_after;
  failure.problem = absl::StrCat(doing, ": ", status.code, " ", status.reason,
                                 status.reason.empty() ? "" : ": ", status.message);
  if (status.code != 404) NoteFound();
  if (status.code != 403) forbidden_since_ = absl::InfiniteFuture();
  if (status.code != 401) unauthorized_in_a_row_ = 0;
  if (status.code == 404) {
    OnNotFound(now, out);
    return;
  }
  if (status.code == 410) {
    OnExpired(status, now, out);
    return;
  }
  if (status.code == 401) {
    // The transport has thrown the rejected credential away; one fresh attempt is worth no wait.
    ++counters_.unauthorized;
    if (++unauthorized_in_a_row_ == 1) failure.when = When::kAtOnce;
  } else if (status.code == 403) {
    Right right = RightFor({.target = collection()});
    right.verb = std::string(doing);
    ++counters_.forbidden[std::move(right)];
    OnForbidden(now, out);
    failure.problem =
        absl::StrCat("not allowed to ", doing, " ", collection(), ": ", status.message);
  } else if (status.code == 429) {
    ++counters_.throttled;
  } else if (status.code == 504 && status.cause == "ResourceVersionTooLarge") {
    // The server does not know the version that we have seen: it was restored from a backup,
    // or lags behind. To wait until its versions have caught up would miss all events
    // of the meantime. A quorum list tells which it is.
    versions_in_doubt_ = true;
    failure.then = Then::kList;
  } else if (status.code >= 500) {
    if (++server_errors_in_a_row_ >= kServerErrorsBeforeList) failure.then = Then::kList;
  } else {
    failure.then = Then::kList;
  }
  Fail(std::move(failure), now, out);
}

void WatchSession::OnForbidden(absl::Time now, SessionOutput& out) {
  forbidden_since_ = std::min(forbidden_since_, now);
  const absl::Duration patience = served_ == ServedState::kServed
                                      ? options_.forbidden_after
                                      : options_.forbidden_at_first_after;
  if (now - forbidden_since_ >= patience) TellServed(ServedState::kForbidden, out);
}

void WatchSession::OnNotFound(absl::Time now, SessionOutput& out) {
  missing_since_ = std::min(missing_since_, now);
  ++missing_in_a_row_;
  Failure failure{.then = Then::kList, .problem = "the server has no such resource (yet)"};
  if (++version_at_ < options_.collections.size()) {
    failure.when = When::kAtOnce;
    Fail(std::move(failure), now, out);
    return;
  }
  version_at_ = 0;
  // One answer parts no gang that waits for the rest of it.
  const bool is_once = missing_in_a_row_ == options_.collections.size();
  if (is_once && IsForeign(options_.kind) && state_ != SessionState::kNotInstalled) {
    failure.when = When::kAtOnce;
    Fail(std::move(failure), now, out);
    return;
  }
  if (synced_ && known_.size() > 0 && now - missing_since_ < options_.uninstalled_after) {
    Fail(std::move(failure), now, out);  // A server that starts up answers 404 for a while.
    return;
  }
  known_.BeginSweep();
  ReportGone(out);
  state_ = SessionState::kNotInstalled;
  TellServed(ServedState::kNotInstalled, out);
  if (IsForeign(options_.kind)) failure.problem.clear();  // most clusters lack most of these
  Fail(std::move(failure), now, out);
}

void WatchSession::OnExpired(const ApiStatus& status, absl::Time now, SessionOutput& out) {
  ++counters_.expired;
  Failure failure{.then = Then::kList, .problem = absl::StrCat("410: ", status.message)};
  if (step_ == Step::kList) {
    // The snapshot was compacted away between two pages: next time with fewer, larger pages.
    most_objects_ = std::min(kLargestPage, most_objects_ * 2);
    page_size_ = std::min(most_objects_, page_size_ * 2);
  } else if (now - listed_at_ >= kHealthyWatch) {
    failure.when = When::kAtOnce;
  }
  Fail(std::move(failure), now, out);
}

void WatchSession::NoteUnreadable(absl::Time now, SessionOutput& out) {
  if (!IsForeign(options_.kind) || state_ == SessionState::kNotInstalled || forbidden()) return;
  if (step_ != Step::kList) return;
  failing_since_ = std::min(failing_since_, now);
  if (now - failing_since_ < options_.unreadable_after) return;
  unreadable_ = true;
  TellServed(ServedState::kServed, out);  // told as served, so that no mark is passed over
}

void WatchSession::Fail(Failure failure, absl::Time now, SessionOutput& out) {
  CancelOpen(out);
  if (opened_at_ != absl::InfiniteFuture() && now - opened_at_ >= kStableWatch) backoff_.Reset();
  if (failure.then == Then::kList) RestartList();
  if (failure.when == When::kAtOnce) {
    Proceed(out);
    return;
  }
  NoteUnreadable(now, out);
  const bool looks_again = state_ == SessionState::kNotInstalled && IsForeign(options_.kind);
  // A server that says when to come back is believed, within reason.
  const absl::Duration wait =
      std::max((looks_again ? look_again_ : backoff_).Next(random_),
               std::min(failure.retry_after.value_or(absl::ZeroDuration()), absl::Seconds(60)));
  retry_at_ = now + wait;
  if (state_ != SessionState::kNotInstalled) state_ = SessionState::kBackingOff;
  problem_ = std::move(failure.problem);
}

}  // namespace maniple
