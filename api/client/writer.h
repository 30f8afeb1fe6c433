// Sends the scheduler's writes, at most so many at a time: binds, then undos, then reasons, then
// statuses, then events. Of the binds, those of gangs that are partly bound come first.
//
// Where only the newest value counts (statuses), commands share a coalesce_key. One that was
// not sent yet gives way to a newer one, and two of one key are never in flight together.
// After a lost lease nothing is sent any more. A pure state machine, owned by the IO thread.
//
//   WriterOutput out = writer.SetLeadUntil(elector.lead_until(), now);
//   out = writer.Submit({.id = 7, .request = BindRequest(…)}, now);
//
// Invariants:
//   1. Every command is answered exactly once; a command is sent only before lead_until.
//   2. At most max_in_flight requests are open, of them at most a quarter statuses
//      and events while a bind waits.
//   3. Commands of one priority and lane are first sent in the order of submission (a coalesced
//      one has the place of the first, unless it is more urgent), and lanes take turns.
//   4. In no second more than most_per_second requests are sent,
//      but for one second's worth that a pause has saved up.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/base/backoff.h"
#include "api/base/random.h"
#include "api/client/actions.h"
#include "api/client/ticket_lanes.h"
#include "api/client/write_command.h"
#include "api/client/write_lines.h"
#include "api/client/write_pace.h"

namespace maniple {

struct WriterOptions {
  uint16_t owner = 0;  // of the request ids
  int max_in_flight = 32;
  int most_per_second = 0;    // requests sent, retries included; 0 = no ceiling
  size_t most_events = 1000;  // waiting; beyond it the oldest is dropped
  int most_attempts = 12;     // of a command with WriteRetry::kInside
  BackoffPolicy backoff = {.first = absl::Milliseconds(100), .most = absl::Seconds(10)};
  size_t longest_reply = 4u << 20;
};

struct WriterCounters {
  std::array<uint64_t, kWritePriorities> sent = {};
  uint64_t dropped_events = 0, throttled = 0;
};

struct WriterOutput {
  HttpActions http;
  std::vector<WriteResult> results;
};

class Writer final {
 public:
  Writer(WriterOptions options, uint64_t seed);

  // The time until which this process may write; InfinitePast (the default) = not at all,
  // InfiniteFuture = no election. When it passes, waiting commands are answered with kFenced,
  // and requests under way are not tried again.
  [[nodiscard]] WriterOutput SetLeadUntil(absl::Time lead_until, absl::Time now);

  // REQUIRES: no command with this id is unanswered.
  [[nodiscard]] WriterOutput Submit(WriteCommand command, absl::Time now);
  [[nodiscard]] WriterOutput On(const HttpInput& input, absl::Time now);
  [[nodiscard]] WriterOutput OnTime(absl::Time now);
  [[nodiscard]] absl::Time NextDeadline() const;

  [[nodiscard]] int in_flight() const { return static_cast<int>(open_.size()); }
  // Not sent yet, or waiting to be tried again.
  [[nodiscard]] size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] bool idle() const { return open_.empty() && waiting_.empty(); }
  [[nodiscard]] const WriterCounters& counters() const { return counters_; }
  [[nodiscard]] const WriteLines& lines() const { return lines_; }

 private:
  using Ticket = TicketLanes::Ticket;  // of a waiting command, rising with submission
  struct Waiting {
    WriteCommand command;
    int attempts = 0;
    Backoff backoff;
  };
  struct Open {
    Waiting waiting;
    HttpHead head;
    std::string body;
    uint64_t fences = 0;  // when it was sent
  };

  [[nodiscard]] WriteLine& LineOf(WritePriority priority);
  void Enqueue(Waiting waiting);
  void Supersede(Ticket ticket, WriteCommand command, WriterOutput& out);
  void DropOldestEvent(WriterOutput& out);
  void Pump(absl::Time now, WriterOutput& out);
  void FenceAll(WriterOutput& out);
  void SendNext(WritePriority priority, WriterOutput& out);
  [[nodiscard]] bool MaySend(WritePriority priority) const;
  [[nodiscard]] bool HasReady(WritePriority priority);
  void OnEnd(Open open, const HttpEnd& end, absl::Time now, WriterOutput& out);
  void TryAgain(Waiting waiting, absl::Time retry_at, WriterOutput& out);
  [[nodiscard]] bool WorthRetrying(const Open& open) const;
  [[nodiscard]] absl::Duration Wait(Backoff& backoff, const ApiStatus& status);
  void ReleaseKey(const std::string& key);

  const WriterOptions options_;
  Random random_;
  RequestIds ids_;
  WritePace pace_;
  absl::Time paced_until_ = absl::InfiniteFuture();  // something is ready, but the pace forbids it
  absl::Time lead_until_ = absl::InfinitePast();
  uint64_t fences_ = 0;  // rises when the lead is seen to be over: nothing is tried again beyond it
  Ticket next_ticket_ = 1;
  WriterCounters counters_;

  absl::flat_hash_map<Ticket, Waiting> waiting_;
  // Tickets ready to be sent, per priority; tickets no longer in waiting_ are skipped.
  std::array<TicketLanes, kWritePriorities> ready_;
  std::multimap<absl::Time, Ticket> later_;  // backing off
  WriteLines lines_;
  // The one waiting command of a key, and the keys in flight with the ticket that must wait for
  // them (0 = none).
  absl::flat_hash_map<std::string, Ticket> waiting_of_key_;
  absl::flat_hash_map<std::string, Ticket> successor_of_key_;
  absl::flat_hash_map<RequestId, Open> open_;
  std::array<int, kWritePriorities> open_of_ = {};
};

}  // namespace maniple
