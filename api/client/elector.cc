#include "api/client/elector.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/base/check.h"
#include "api/codec/decode.h"
#include "api/codec/kubernetes_time.h"

namespace maniple {
namespace {

constexpr size_t kLongestReply = 1 << 20;
// The longest wait for a holder, whatever was written into the Lease by hand.
constexpr absl::Duration kLongestLease = absl::Minutes(5);
constexpr char kJsonType[] = "application/json";
// "<holder> <how long after a renewal it may write>"; it says nothing of another holder.
constexpr char kRenewDeadlineAnnotation[] = "scheduling.maniple.dev/renew-deadline";
// The time by which a rival's last writes have arrived after its lead ended.
constexpr absl::Duration kOnItsWay = absl::Seconds(1);

int64_t WholeSeconds(absl::Duration duration) {
  return std::max<int64_t>(1, absl::ToInt64Seconds(absl::Ceil(duration, absl::Seconds(1))));
}

}  // namespace

Elector::Elector(ElectorOptions options, uint64_t seed)
    : options_(std::move(options)),
      collection_(absl::StrCat("/apis/coordination.k8s.io/v1/namespaces/",
                               UrlEncoded(options_.namespace_name), "/leases")),
      random_(seed),
      ids_(options_.owner) {
  CHECK(options_.lease_duration > options_.renew_deadline);
  CHECK(options_.renew_deadline > options_.retry_period * 1.2);
  CHECK(!options_.identity.empty());
}

HttpActions Elector::Start(absl::Time now) {
  HttpActions out;
  if (state_ != ElectorState::kIdle) return out;
  state_ = ElectorState::kFollowing;
  Attempt(now, out);
  return out;
}

absl::Time Elector::NextDeadline() const {
  absl::Time next = std::min(next_attempt_, release_by_);
  if (state_ == ElectorState::kLeading) next = std::min(next, lead_until_);
  return next;
}

HttpActions Elector::OnTime(absl::Time now) {
  HttpActions out;
  if (state_ == ElectorState::kLeading && now >= lead_until_) Lose("it was not renewed in time");
  if (state_ == ElectorState::kReleasing && now >= release_by_) {
    if (open_ != 0) out.cancel.push_back(std::exchange(open_, 0));
    Finish();
    return out;
  }
  if (open_ == 0 && now >= next_attempt_) Attempt(now, out);
  return out;
}

HttpActions Elector::On(const HttpInput& input, absl::Time now) {
  HttpActions out;
  if (open_ == 0 || input.request != open_) return out;
  if (const auto* head = std::get_if<HttpHead>(&input.what)) {
    status_ = head->status;
  } else if (const auto* chunk = std::get_if<HttpChunk>(&input.what)) {
    body_.append(chunk->bytes, 0, kLongestReply - std::min(body_.size(), kLongestReply));
  } else {
    open_ = 0;
    const absl::Status& status = std::get<HttpEnd>(input.what).status;
    if (status.ok() && status_ != 0) {
      OnReply(now, out);
    } else {
      OnFailure(status.ok() ? "the server closed without an answer" : status.message(), now);
    }
  }
  return out;
}

HttpActions Elector::Release(absl::Time now) {
  HttpActions out;
  if (state_ == ElectorState::kReleasing || state_ == ElectorState::kReleased) return out;
  const bool writing = open_ != 0 && step_ != Step::kRead;
  const bool held = state_ == ElectorState::kLeading || seen_.holder == options_.identity;
  lead_until_ = absl::InfinitePast();
  state_ = ElectorState::kReleasing;
  release_by_ = now + options_.renew_deadline;
  if (!held && !writing) {
    if (open_ != 0) out.cancel.push_back(std::exchange(open_, 0));
    Finish();
    return out;
  }
  if (open_ == 0) Attempt(now, out);
  return out;
}

void Elector::Finish() {
  state_ = ElectorState::kReleased;
  next_attempt_ = absl::InfiniteFuture();
  release_by_ = absl::InfiniteFuture();
}

void Elector::Attempt(absl::Time now, HttpActions& out) {
  conflicts_ = 0;
  if (lease_.is_null() || state_ == ElectorState::kFollowing) {
    Read(out);
  } else {
    Write(now, out);
  }
}

void Elector::Send(Step step, HttpRequest request, HttpActions& out) {
  step_ = step;
  right_ = RightFor(request);
  next_attempt_ = absl::InfiniteFuture();
  status_ = 0;
  body_.clear();
  open_ = ids_.Next();
  request.lane = HttpLane::kLease;
  // Two attempts fit before the lead ends.
  request.timeout = std::min(options_.renew_deadline / 2, absl::Seconds(5));
  // A process that was stopped meanwhile must not send an old decision.
  if (step != Step::kRead) request.send_by = sent_at_ + request.timeout;
  out.start.push_back({open_, std::move(request)});
}

void Elector::Read(HttpActions& out) {
  HttpRequest request;
  request.target = absl::StrCat(collection_, "/", UrlEncoded(options_.name));
  Send(Step::kRead, std::move(request), out);
}

void Elector::Write(absl::Time now, HttpActions& out) {
  const bool create = lease_.is_null();
  HttpRequest request;
  request.method = create ? HttpMethod::kPost : HttpMethod::kPut;
  request.target = create ? collection_ : absl::StrCat(collection_, "/", UrlEncoded(options_.name));
  request.content_type = kJsonType;
  request.body = WantedLease(now).Dump();
  sent_at_ = now;
  if (state_ == ElectorState::kFollowing) took_over_from_ = rival_ends();
  giving_back_ = state_ == ElectorState::kReleasing;
  Send(create ? Step::kCreate : Step::kUpdate, std::move(request), out);
}

// The object as it was read, so that fields of others (labels, a strategy) survive, with our record
// in its spec.
Json Elector::WantedLease(absl::Time now) const {
  Json lease = lease_;
  if (lease.is_null()) {
    lease.Set("apiVersion", "coordination.k8s.io/v1");
    lease.Set("kind", "Lease");
    lease.Set("metadata",
              Json::Object({{"name", options_.name}, {"namespace", options_.namespace_name}}));
  }
  lease.Mutable("metadata").Erase("managedFields");
  Json& spec = lease.Mutable("spec");
  if (!spec.is_object()) spec = Json::Object();
  const std::string stamp = FormatKubernetesMicroTime(now);
  if (state_ == ElectorState::kReleasing) {
    spec.Set("holderIdentity", "");
    spec.Set("leaseDurationSeconds", 1);
    spec.Set("renewTime", stamp);
    return lease;
  }
  if (seen_.holder != options_.identity || lease_.is_null()) {
    const bool first = lease_.is_null();
    spec.Set("acquireTime", stamp);
    spec.Set("leaseTransitions", first ? int64_t{0} : seen_.transitions + 1);
  }
  Json& metadata = lease.Mutable("metadata");
  if (!metadata["annotations"].is_object()) metadata.Set("annotations", Json::Object());
  metadata.Mutable("annotations")
      .Set(kRenewDeadlineAnnotation,
           absl::StrCat(options_.identity, " ", absl::FormatDuration(options_.renew_deadline)));
  spec.Set("holderIdentity", options_.identity);
  spec.Set("leaseDurationSeconds", WholeSeconds(options_.lease_duration));
  spec.Set("renewTime", stamp);
  return lease;
}

void Elector::OnReply(absl::Time now, HttpActions& out) {
  if (status_ == 200 || status_ == 201) {
    absl::StatusOr<Json> lease = Json::Parse(body_);
    // Without a version it could not be guarded against other writes.
    const bool readable = lease.ok() && !(*lease)["metadata"]["resourceVersion"].AsString().empty();
    if (!readable) {
      OnFailure("the answer is no Lease", now);  // but perhaps of a page in between
    } else if (step_ == Step::kRead) {
      OnLease(*std::move(lease), now, out);
    } else {
      OnWritten(*std::move(lease), now, out);
    }
    return;
  }
  if (status_ == 404) {
    OnMissing(now, out);
    return;
  }
  if (status_ == 409 && step_ != Step::kRead && ++conflicts_ == 1) {
    // Another client changed it: a rival that won, or a hand that edited a label. Reading tells.
    lease_ = Json();
    Read(out);
    return;
  }
  const ApiStatus status = DecodeStatus(status_, body_);
  if (status_ == 403) {
    ++counters_.forbidden[right_];
    OnFailure(ForbiddenText(right_, status.message), now);
    return;
  }
  OnFailure(absl::StrCat(status_, " ", status.reason, ": ", status.message), now);
}

void Elector::OnMissing(absl::Time now, HttpActions& out) {
  if (state_ == ElectorState::kLeading) Lose("it was deleted");
  if (state_ == ElectorState::kReleasing) {
    Finish();
    return;
  }
  lease_ = Json();
  if (step_ == Step::kRead && !MayTake(now)) {
    problem_ = "the Lease was deleted; its last holder may write until it would have run out";
    RetryLater(now);
    return;
  }
  seen_ = Seen();
  if (step_ == Step::kCreate) {
    OnFailure(absl::StrCat("namespace ", options_.namespace_name, " does not exist"), now);
    return;
  }
  Write(now, out);
}

void Elector::OnLease(Json lease, absl::Time now, HttpActions& out) {
  Observe(lease, now);
  lease_ = std::move(lease);
  const bool ours = seen_.holder == options_.identity;
  if (state_ == ElectorState::kLeading && !ours) {
    Lose(absl::StrCat("it is held by \"", seen_.holder, "\" now"));
  }
  if (state_ == ElectorState::kReleasing && !ours) {
    Finish();
  } else if (MayTake(now)) {
    Write(now, out);
  } else {
    problem_.clear();
    RetryLater(now);
  }
}

void Elector::OnWritten(Json lease, absl::Time now, HttpActions& out) {
  Observe(lease, now);
  lease_ = std::move(lease);
  if (giving_back_) {
    seen_.holder.clear();
    Finish();
    return;
  }
  seen_.holder = options_.identity;
  if (state_ == ElectorState::kReleasing) {
    Attempt(now, out);
    return;
  }
  problem_.clear();
  RetryLater(now);
  const absl::Time until = sent_at_ + options_.renew_deadline;
  if (until <= now) return;  // The answer took so long that it grants nothing.
  lead_until_ = until;
  if (state_ == ElectorState::kLeading) return;
  state_ = ElectorState::kLeading;
  ++counters_.won;
  next_attempt_ = now + options_.retry_period;
}

void Elector::OnFailure(absl::string_view problem, absl::Time now) {
  ++counters_.failed;
  if (step_ != Step::kRead)
    lease_ = Json();  // After a write of unknown outcome the Lease must be read.
  problem_ = std::string(problem);
  RetryLater(now);
}

void Elector::Observe(const Json& lease, absl::Time now) {
  const Json& spec = lease["spec"];
  if (seen_.changed != absl::InfinitePast() && spec == seen_.spec) return;
  seen_.spec = spec;
  seen_.changed = now;
  seen_.holder = spec["holderIdentity"].AsString();
  const int64_t seconds = spec["leaseDurationSeconds"].AsInt();
  // A record without a sensible duration must neither be taken at once nor block for ever.
  // One that was shortened by hand does not make its holder stop sooner,
  // since the holder goes by its own deadline.
  seen_.duration = std::clamp(absl::Seconds(seconds), options_.lease_duration,
                              std::max(kLongestLease, options_.lease_duration));
  absl::string_view says = lease["metadata"]["annotations"][kRenewDeadlineAnnotation].AsString();
  seen_.renew_deadline = absl::InfiniteDuration();
  if (absl::Duration told; absl::ConsumePrefix(&says, absl::StrCat(seen_.holder, " ")) &&
                           absl::ParseDuration(says, &told)) {
    seen_.renew_deadline = std::max(told, options_.renew_deadline);
  }
  seen_.transitions = std::clamp<int64_t>(spec["leaseTransitions"].AsInt(), 0,
                                          std::numeric_limits<int32_t>::max() - 1);
}

absl::Time Elector::rival_ends() const {
  const bool rival = state_ == ElectorState::kFollowing && !seen_.holder.empty() &&
                     seen_.holder != options_.identity;
  return rival ? seen_.changed + seen_.renew_deadline + kOnItsWay : absl::InfiniteFuture();
}

bool Elector::MayTake(absl::Time now) const {
  return seen_.holder.empty() || seen_.holder == options_.identity ||
         now >= seen_.changed + seen_.duration;
}

void Elector::Lose(absl::string_view why) {
  problem_ = absl::StrCat("lost: ", why);
  ++counters_.lost;
  state_ = ElectorState::kFollowing;
  lead_until_ = absl::InfinitePast();
}

void Elector::RetryLater(absl::Time now) {
  next_attempt_ = now + options_.retry_period;
  if (state_ != ElectorState::kFollowing) return;
  // The sooner a follower sees the last renewal, the sooner it may tell that none came after.
  // And it is there at the moment when the record may be taken.
  next_attempt_ = now + options_.retry_period * (0.2 + 0.2 * random_.Unit());
  const absl::Time free_at = seen_.changed + seen_.duration;
  if (!seen_.holder.empty() && free_at > now) next_attempt_ = std::min(next_attempt_, free_at);
}

}  // namespace maniple
