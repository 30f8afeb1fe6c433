// The dialogue of one scheduler process with the API server, as one state machine. Over one
// Transport it has a watch session per kind, of ours and of producers, the elector and the writer.
//
// Owned by the IO thread (or by the simulation's only thread). The owner feeds it HttpInputs
// and time, and takes out the news for the scheduling loop:
//
//   ClusterClient client(options, transport);
//   client.Start(now);
//   for (HttpInput& input : transport.Poll(…)) client.On(input, clock.Now());
//   client.OnTime(clock.Now());
//   loop.Hear(client.TakeNews(), now);         // events, write results, a change of leadership
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/base/thread_owner.h"
#include "api/client/cluster_news.h"
#include "api/client/elector.h"
#include "api/client/right.h"
#include "api/client/watch_session.h"
#include "api/client/writer.h"
#include "api/codec/decode.h"
#include "api/http/http.h"
#include "api/model/object.h"

namespace maniple {

struct ClusterClientOptions {
  // Absent: no election, this process leads from the start.
  std::optional<ElectorOptions> election;
  WriterOptions writer;
  WatchSessionOptions watch;  // kind, owner and collections are filled in
  // Kinds of producers, in the order of ResourceKind. REQUIRES: a reader if there is one of them.
  ForeignKinds foreign = {};
  std::shared_ptr<const ForeignReader> reader = nullptr;
  uint64_t seed = 1;
};

class ClusterClient final {
 public:
  ClusterClient(ClusterClientOptions options, Transport& transport);
  ClusterClient(const ClusterClient&) = delete;
  ClusterClient& operator=(const ClusterClient&) = delete;

  void Start(absl::Time now);
  void On(const HttpInput& input, absl::Time now);
  // A write that was decided under an earlier lead than this one (ClusterNews::lead) is fenced.
  // The process may have lost the lead and won it again while its loop was at work.
  void Write(std::vector<WriteCommand> writes, uint64_t lead, absl::Time now);
  void OnTime(absl::Time now);
  [[nodiscard]] absl::Time NextDeadline() const;
  [[nodiscard]] ClusterNews TakeNews();

  // Gives the lease back; Released() when that is done (at once without election).
  void Release(absl::Time now);
  [[nodiscard]] bool Released() const;

  // The obstacles to a complete picture, one line per kind; empty when there are none.
  [[nodiscard]] std::vector<std::string> Problems() const;
  [[nodiscard]] const WatchSession& session(ResourceKind kind) const;
  [[nodiscard]] const Writer& writer() const { return writer_; }
  // The reads, and the uses of the Lease, that the server forbids, and how often.
  [[nodiscard]] ForbiddenCounts Forbidden() const;

 private:
  void Take(SessionOutput output, ResourceKind kind);
  void Take(WriterOutput output);
  // "Pod", "jobs.batch".
  [[nodiscard]] std::string NameOf(size_t kind) const;
  // No objects of the kind will come: it is complete as it is.
  [[nodiscard]] bool HasNothingToWaitFor(size_t kind) const;
  void Elected(HttpActions actions, absl::Time now);
  // A new leader must not decide on a watch that lags behind the writes of the last one.
  // So everything is listed once more before the lead is announced,
  // once no other process may write any more.
  void CatchUp(absl::Time nobody_writes_from);
  void AnnounceLead();
  void BeginToLead();

  const ThreadOwner owner_;
  Transport& transport_;
  const ForeignKinds foreign_;
  const std::shared_ptr<const ForeignReader> reader_;
  Decoder decoder_;                                      // borrows reader_
  std::vector<std::unique_ptr<WatchSession>> sessions_;  // by ResourceKind
  std::optional<Elector> elector_;
  Writer writer_;
  ClusterNews news_;
  bool leads_ = false;    // the elector says so
  bool leading_ = false;  // as announced
  uint64_t lead_ = 0;     // the number of announcements
  // By ResourceKind, while catching up: the whole lists before it; else empty.
  std::vector<uint64_t> lists_before_;
  // The time from which no other process wrote, as of the last catching up. It is the end of a
  // rival's right, or InfiniteFuture for the time of our own lead. InfinitePast: there was none.
  absl::Time caught_up_from_ = absl::InfinitePast();
  // By ResourceKind: KindSynced was given although nothing was listed.
  std::vector<bool> told_missing_;
};

}  // namespace maniple
