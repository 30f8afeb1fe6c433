// List and watch of one kind of object, for ever, as a pure state machine: bytes and time in,
// object events out.
//
// It lists in pages of one consistent (quorum) snapshot, then watches from its resourceVersion.
// A watch that ends is resumed where it stopped. An expired version leads to a new list,
// and all objects that vanished meanwhile are reported deleted. Every failure is counted,
// reported once per change of problem, and tried again with backoff. Owned by the IO thread;
// one Decoder may serve all sessions of that thread.
//
// A kind of producers may be served in one of several versions, or not at all: KindServed says
// which before the objects come. A 404 leads to the next version at once. After the last the kind
// is not installed, which is no problem, and is looked for again from the first version on.
//
//   WatchSession pods({.kind = ResourceKind::kPod, .owner = 2}, seed);
//   SessionOutput out = pods.Start();  // then On(input…), and OnTime(now) at NextDeadline()
//   Perform(std::move(out.http), transport);
//   for (ObjectEvent& event : out.events) news.events.push_back(std::move(event));
//
// Invariants:
//   1. At most one request is open; with none open, NextDeadline() says when the next one starts.
//   2. For one uid, events come in rising resourceVersion. After ObjectDeleted a uid is never
//      upserted again (unless the server's history has been replaced, and then only out of a list).
//   3. Once the kind is synced, the events so far describe the server's state at resume_version().
//   4. Memory: one page of a list (at most longest_page, as a rule no more than wanted_page),
//      one line of a watch, and about 110 bytes per object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/backoff.h"
#include "api/base/random.h"
#include "api/client/actions.h"
#include "api/client/known_objects.h"
#include "api/client/line_framer.h"
#include "api/client/session_options.h"
#include "api/codec/decode.h"
#include "api/http/http.h"
#include "api/model/object.h"

namespace maniple {

struct SessionOutput {
  HttpActions http;
  std::vector<ObjectEvent> events;  // in order
};

class WatchSession final {
 public:
  WatchSession(WatchSessionOptions options, uint64_t seed);

  [[nodiscard]] SessionOutput Start();
  // Gives up the open request and forgets all objects. May be started again.
  [[nodiscard]] SessionOutput Stop();
  // Gives up the open request and lists afresh: the server's present objects,
  // ahead of a late watch. counters().lists tells when it is done.
  [[nodiscard]] SessionOutput Relist();

  // Inputs of other or earlier requests are ignored.
  [[nodiscard]] SessionOutput On(const HttpInput& input, Decoder& decoder, absl::Time now);
  [[nodiscard]] SessionOutput OnTime(absl::Time now);
  // The time at which OnTime must be called; InfiniteFuture while a request is open.
  [[nodiscard]] absl::Time NextDeadline() const { return retry_at_; }

  [[nodiscard]] SessionState state() const { return state_; }
  // KindSynced has been delivered.
  [[nodiscard]] bool synced() const { return synced_; }
  // For a kind of producers that may not be read, and not for a moment only: there is nothing to
  // wait for.
  [[nodiscard]] bool forbidden() const { return served_ == ServedState::kForbidden; }
  // For a producer's kind whose list has failed for so long that nothing should wait for it.
  [[nodiscard]] bool unreadable() const { return unreadable_; }
  // The present problem; "" when there is none.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const SessionCounters& counters() const { return counters_; }
  [[nodiscard]] const std::string& resume_version() const { return version_; }
  [[nodiscard]] size_t known_objects() const { return known_.size(); }

 private:
  enum class Step { kList, kWatch };
  // The next request after a failed attempt: the same one (page or watch),
  // or a list from the start.
  enum class Then { kAgain, kList };
  enum class When { kAtOnce, kBackoff };
  struct Failure {
    Then then = Then::kAgain;
    When when = When::kBackoff;
    std::optional<absl::Duration> retry_after = std::nullopt;
    std::string problem = "";
  };

  void Proceed(SessionOutput& out);
  void StartList(SessionOutput& out);
  void StartWatch(SessionOutput& out);
  void Fail(Failure failure, absl::Time now, SessionOutput& out);
  void NoteUnreadable(absl::Time now, SessionOutput& out);
  void CancelOpen(SessionOutput& out);
  void RestartList();
  void ReportGone(SessionOutput& out);

  void OnHead(const HttpHead& head, absl::Time now, SessionOutput& out);
  void OnChunk(const HttpChunk& chunk, Decoder& decoder, absl::Time now, SessionOutput& out);
  void OnEnd(const HttpEnd& end, Decoder& decoder, absl::Time now, SessionOutput& out);
  void OnPage(Decoder& decoder, absl::Time now, SessionOutput& out);
  void SizeNextPage(size_t objects, size_t bytes);
  void OnListComplete(absl::Time now, SessionOutput& out);
  void OnWatchEnd(const HttpEnd& end, absl::Time now, SessionOutput& out);
  void OnErrorReply(absl::Time now, SessionOutput& out);
  void OnStatus(const ApiStatus& status, absl::Time now, SessionOutput& out);
  void OnNotFound(absl::Time now, SessionOutput& out);
  void NoteFound() {
    missing_since_ = absl::InfiniteFuture();
    missing_in_a_row_ = 0;
  }
  void OnForbidden(absl::Time now, SessionOutput& out);
  void OnExpired(const ApiStatus& status, absl::Time now, SessionOutput& out);
  // False when the stream was given up.
  bool OnLine(absl::string_view line, Decoder& decoder, absl::Time now, SessionOutput& out);
  bool AcceptsListVersion(const std::string& version, absl::Time now, SessionOutput& out);
  void TellServed(ServedState state, SessionOutput& out);
  void Upsert(DecodedObject object, SessionOutput& out);
  void Delete(const DecodedObject& object, SessionOutput& out);
  void AdvanceTo(const std::string& version);

  [[nodiscard]] const std::string& collection() const { return options_.collections[version_at_]; }

  const WatchSessionOptions options_;  // its collections are never empty
  Random random_;
  RequestIds ids_;
  Backoff backoff_;
  Backoff look_again_;

  SessionState state_ = SessionState::kIdle;
  Step step_ = Step::kList;
  absl::Time retry_at_ = absl::InfiniteFuture();
  std::string problem_;
  bool synced_ = false;
  SessionCounters counters_;

  // For a kind of producers: the last KindServed, if there was one.
  std::optional<ServedState> served_;
  absl::Time failing_since_ = absl::InfiniteFuture();  // lists, since the last whole one
  bool unreadable_ = false;
  size_t served_at_ = 0;   // the collection that known_ came from, if any did
  size_t version_at_ = 0;  // the collection that is asked now

  // The open request.
  RequestId open_ = 0;  // 0 = none
  HttpHead head_;
  std::string body_;  // of a page, or the beginning of an error
  LineFramer framer_;
  absl::Time opened_at_ = absl::InfinitePast();  // of the watch: its head came
  bool progressed_ = false;                      // the watch has moved version_

  // The list under way.
  std::string continue_;  // "" = at its first page
  std::string list_version_;
  int most_objects_;             // of a page, whatever the objects' size
  int page_size_;                // of the next page
  absl::Duration head_timeout_;  // of the next request

  std::string version_;  // the newest seen; where a watch resumes
  absl::Time listed_at_ = absl::InfinitePast();
  absl::Time missing_since_ = absl::InfiniteFuture();    // of 404s in a row
  size_t missing_in_a_row_ = 0;                          // … and how many
  absl::Time forbidden_since_ = absl::InfiniteFuture();  // of 403s in a row
  int server_errors_in_a_row_ = 0;
  int unauthorized_in_a_row_ = 0;
  int went_back_in_a_row_ = 0;
  bool versions_in_doubt_ = false;  // the server said that our version is newer than all of its own
  KnownObjects known_;
};

}  // namespace maniple
