// Leader election over a coordination.k8s.io/v1 Lease, as a pure state machine.
//
// Another holder's lease is judged by the time since we last saw its record change,
// never by the times written in it: clocks of machines differ. A leader may act only
// before lead_until(), which is earlier than the moment when another may take the lease.
// Owned by the IO thread; its requests use HttpLane::kLease.
//
//   Elector elector({.name = "maniple-scheduler", .identity = host_and_uuid}, seed);
//   Perform(elector.Start(now), transport);  // then On(input, now), and OnTime at NextDeadline()
//   writer.SetLeadUntil(elector.lead_until(), now);  // after each of these
//
// Invariants:
//   1. lead_until() <= (sending time of the last renewal that succeeded) + renew_deadline
//      < when it may be taken.
//   2. A write of the Lease always carries the resourceVersion it was decided on (or is a create),
//      so two electors never both succeed.
//   3. At most one request is open; else NextDeadline() is finite until kReleased.
// Source: the algorithm of client-go's leaderelection; semantics of a deposed leader in
// README.md of this folder.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/random.h"
#include "api/client/actions.h"
#include "api/client/right.h"
#include "api/codec/json.h"

namespace maniple {

struct ElectorOptions {
  std::string namespace_name = "kube-system";
  std::string name = "maniple-scheduler";
  std::string identity = "";  // unique to this process
  uint16_t owner = 0;         // of the request ids
  // REQUIRES: lease_duration > renew_deadline > 1.2 retry_period.
  absl::Duration lease_duration = absl::Seconds(15);
  absl::Duration renew_deadline = absl::Seconds(10);
  absl::Duration retry_period = absl::Seconds(2);
};

enum class ElectorState {
  kIdle,       // before Start
  kFollowing,  // another leads, or none yet
  kLeading,
  kReleasing,  // Release was called; the lease is being given back
  kReleased,   // done; nothing more is sent
};

struct ElectorCounters {
  uint64_t won = 0, lost = 0, failed = 0;
  absl::btree_map<Right, int64_t> forbidden;  // requests that were answered with 403
};

class Elector final {
 public:
  Elector(ElectorOptions options, uint64_t seed);

  [[nodiscard]] HttpActions Start(absl::Time now);
  [[nodiscard]] HttpActions On(const HttpInput& input, absl::Time now);
  [[nodiscard]] HttpActions OnTime(absl::Time now);
  [[nodiscard]] absl::Time NextDeadline() const;
  // Stops leading now and gives the lease back, so that a standby need not wait for it to run out.
  // REQUIRES: the last write has been answered. state() becomes kReleased within renew_deadline.
  [[nodiscard]] HttpActions Release(absl::Time now);

  [[nodiscard]] ElectorState state() const { return state_; }
  // Until when this process may act as the leader; InfinitePast when it does not lead.
  [[nodiscard]] absl::Time lead_until() const { return lead_until_; }
  // While another holds the lease: the time from which it may not write unless the record changes,
  // by its own word in the record; InfiniteFuture when that cannot be told.
  [[nodiscard]] absl::Time rival_ends() const;
  // rival_ends() of the record over which this process took the lease.
  [[nodiscard]] absl::Time took_over_from() const { return took_over_from_; }
  // The holder of the lease as far as we know; "" = there is none.
  [[nodiscard]] const std::string& holder() const { return seen_.holder; }
  // Why the lease cannot be had, or why the lead was lost; "" = nothing is wrong.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const ElectorCounters& counters() const { return counters_; }

 private:
  enum class Step { kRead, kCreate, kUpdate };
  // The lease as we last saw it.
  struct Seen {
    std::string holder;
    absl::Duration duration = absl::ZeroDuration();
    absl::Duration renew_deadline = absl::InfiniteDuration();  // the holder's own
    int64_t transitions = 0;
    Json spec;                                  // as it was, to tell a change
    absl::Time changed = absl::InfinitePast();  // when we first saw this spec
  };

  void Attempt(absl::Time now, HttpActions& out);
  void Send(Step step, HttpRequest request, HttpActions& out);
  void Read(HttpActions& out);
  void Write(absl::Time now, HttpActions& out);
  [[nodiscard]] Json WantedLease(absl::Time now) const;
  void OnReply(absl::Time now, HttpActions& out);
  void OnMissing(absl::Time now, HttpActions& out);
  void OnLease(Json lease, absl::Time now, HttpActions& out);
  void OnWritten(Json lease, absl::Time now, HttpActions& out);
  void OnFailure(absl::string_view problem, absl::Time now);
  void Observe(const Json& lease, absl::Time now);
  void Lose(absl::string_view why);
  void Finish();
  void RetryLater(absl::Time now);
  [[nodiscard]] bool MayTake(absl::Time now) const;

  const ElectorOptions options_;
  const std::string collection_;
  Random random_;
  RequestIds ids_;

  ElectorState state_ = ElectorState::kIdle;
  absl::Time lead_until_ = absl::InfinitePast();
  absl::Time took_over_from_ = absl::InfiniteFuture();
  absl::Time next_attempt_ = absl::InfiniteFuture();
  absl::Time release_by_ = absl::InfiniteFuture();
  std::string problem_;
  ElectorCounters counters_;

  Json lease_;  // the object a write is based on; null = read it first
  Seen seen_;

  // The open request.
  RequestId open_ = 0;
  Step step_ = Step::kRead;
  Right right_;  // that it needs
  absl::Time sent_at_ = absl::InfinitePast();
  bool giving_back_ = false;  // the write open is the one of Release
  int conflicts_ = 0;         // in this attempt
  int status_ = 0;
  std::string body_;
};

}  // namespace maniple
