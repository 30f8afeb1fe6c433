#include "test/sim/network.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace maniple::sim {
namespace {

using devcluster::ApiReply;
using devcluster::ApiRequest;
using devcluster::WatchId;

constexpr int kMostStaleLists = 3;  // in a row
// Beyond the patience of who asks, which is less than a gang has time for.
constexpr absl::Duration kDelay = absl::Seconds(12);
constexpr char kJson[] = "application/json";
constexpr char kConflictBody[] =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict","code":409})";
constexpr char kForbiddenBody[] =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"p\" is forbidden: a policy of the simulation says no","reason":"Forbidden","code":403})";

ApiRequest ToApi(const HttpRequest& request) {
  ApiRequest out;
  out.method = std::string(HttpMethodName(request.method));
  out.target = request.target;
  out.content_type = request.content_type;
  out.accept = kJson;
  out.body = request.body;
  out.user = "system:serviceaccount:kube-system:maniple-scheduler";
  return out;
}

bool IsWrite(const HttpRequest& request) { return request.method != HttpMethod::kGet; }

bool IsBind(const HttpRequest& request) {
  return request.method == HttpMethod::kPost && absl::EndsWith(request.target, "/binding");
}

bool IsFirstPage(const HttpRequest& request) {
  return request.lane == HttpLane::kList && !absl::StrContains(request.target, "continue=");
}

std::string CollectionOf(const HttpRequest& request) {
  return request.target.substr(0, request.target.find('?'));
}

// The resourceVersion of a list; 0 when there is none.
uint64_t VersionOf(absl::string_view list) {
  constexpr absl::string_view kBefore = "\"resourceVersion\":\"";
  const size_t at = list.find(kBefore);
  if (at == absl::string_view::npos) return 0;
  const absl::string_view rest = list.substr(at + kBefore.size());
  uint64_t version = 0;
  return absl::SimpleAtoi(rest.substr(0, rest.find('"')), &version) ? version : 0;
}

}  // namespace

devcluster::ApiRequest RequestOf(absl::string_view method, absl::string_view target,
                                 const Json& body) {
  devcluster::ApiRequest request;
  request.method = std::string(method);
  request.target = std::string(target);
  request.content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json";
  if (!body.is_null()) request.body = body.Dump();
  return request;
}

SimNetwork::SimNetwork(devcluster::ApiServer& server, EventQueue& events, FaultInjector& faults,
                       uint64_t seed)
    : server_(server), events_(events), faults_(faults), random_(seed) {}

bool SimNetwork::IsBindOf(const HttpRequest& request, const Targets& targets) const {
  return IsBind(request) && events_.Now() < targets.until &&
         absl::StartsWith(request.target, targets.begin);
}

absl::Duration SimNetwork::Latency() { return absl::Microseconds(200 + random_.Below(5000)); }

ApiReply SimNetwork::Call(const ApiRequest& request) {
  ApiReply reply = server_.Handle(request, events_.Now());
  Pump();
  return reply;
}

void SimNetwork::ScheduleServerTime() {
  const absl::Time next = server_.NextDeadline();
  if (next >= server_wake_ || next == absl::InfiniteFuture()) return;
  server_wake_ = next;
  events_.At(next, [this, next] {
    if (server_wake_ == next) server_wake_ = absl::InfiniteFuture();
    if (server_.NextDeadline() <= events_.Now()) server_.OnTime(events_.Now());
    Pump();
  });
}

SimTransport::SimTransport(SimNetwork& network, uint64_t life, absl::Duration skew,
                           Receiver receiver)
    : wire_(std::make_shared<Wire>(
          Wire{.network = network, .life = life, .skew = skew, .receiver = std::move(receiver)})) {}

SimTransport::~SimTransport() { Cut(); }

void SimTransport::Cut() {
  wire_->receiver = nullptr;
  for (const auto& [id, watch] : wire_->open) {
    if (!watch.valid()) continue;
    wire_->network.streams_.erase(watch);
    wire_->network.server_.CloseWatch(watch);
  }
  wire_->open.clear();
}

void SimTransport::Deliver(const WirePtr& wire, HttpInput input) {
  if (!wire->receiver || !wire->open.contains(input.request)) return;
  if (std::holds_alternative<HttpEnd>(input.what)) wire->open.erase(input.request);
  const Receiver receiver = wire->receiver;  // it may cut the wire
  receiver(std::move(input));
}

void SimTransport::Fail(const WirePtr& wire, RequestId id, absl::Duration after, absl::Status why) {
  wire->network.events_.After(after, [wire, id, why = std::move(why)] {
    Deliver(wire, {id, HttpEnd{why}});
  });
}

void SimTransport::Start(RequestId id, HttpRequest request) {
  if (!wire_->receiver) return;
  SimNetwork& network = wire_->network;
  wire_->open[id] = WatchId();
  if (IsWrite(request)) wire_->sent_at[id] = network.events_.Now();
  if (network.hooks_.on_sent) network.hooks_.on_sent(wire_->life, request);
  if (network.faults_.Strikes(Fault::kLostRequest)) {
    return Fail(wire_, id, network.Latency(), absl::UnavailableError("connection reset"));
  }
  auto sent = std::make_shared<const HttpRequest>(std::move(request));
  network.events_.After(network.Latency(), [wire = wire_, id, request = std::move(sent)] {
    if (wire->stopped_until <= wire->network.events_.Now()) return Arrive(wire, id, request);
    wire->network.events_.At(wire->stopped_until,
                             [wire, id, request] { LeaveLate(wire, id, request); });
  });
}

void SimTransport::LeaveLate(const WirePtr& wire, RequestId id, const RequestPtr& request) {
  SimNetwork& network = wire->network;
  if (!wire->receiver) return;
  if (network.events_.Now() + wire->skew >= request->send_by) {
    return Fail(wire, id, absl::ZeroDuration(), absl::DeadlineExceededError("too late to send"));
  }
  if (network.hooks_.on_left_late) network.hooks_.on_left_late(wire->life, *request);
  network.events_.After(network.Latency(), [wire, id, request] { Arrive(wire, id, request); });
}

// The answers without effect, but for half of the errors.
bool SimTransport::Refused(const WirePtr& wire, RequestId id, const RequestPtr& request) {
  SimNetwork& network = wire->network;
  FaultInjector& faults = network.faults_;
  const auto answer = [&](HttpHead head, std::string body) {
    Reply(wire, id, request, std::move(head), std::move(body));
    return true;
  };
  if (IsWrite(*request) && faults.Strikes(Fault::kConflict)) {
    return answer({.status = 409, .content_type = kJson}, kConflictBody);
  }
  if (IsBind(*request) && faults.Strikes(Fault::kBindForbidden)) {
    return answer({.status = 403, .content_type = kJson}, kForbiddenBody);
  }
  if (IsBind(*request) && faults.Strikes(Fault::kBindForgotten)) {
    return answer({.status = 201, .content_type = kJson},
                  R"({"kind":"Status","status":"Success"})");
  }
  if (faults.Strikes(Fault::kThrottled)) {
    return answer({.status = 429, .content_type = "text/plain", .retry_after = absl::Seconds(1)},
                  "Too many requests, please try again later.");
  }
  if (faults.Strikes(Fault::kServerError)) {
    // It may have failed before or after the deed.
    if (IsWrite(*request) && faults.Draw(Fault::kServerError, 2) == 0) {
      (void)Handle(wire, id, *request);
      network.Pump();
    }
    return answer({.status = 500, .content_type = "text/plain"}, "the simulated server is unwell");
  }
  const bool refused = network.IsBindOf(*request, network.refused_);
  if (refused) faults.Note(Fault::kUnavailable);
  if (refused || faults.Strikes(Fault::kUnavailable)) {
    return answer({.status = 503, .content_type = "text/plain"}, "no endpoints available");
  }
  return false;
}

ApiReply SimTransport::Handle(const WirePtr& wire, RequestId id, const HttpRequest& request) {
  SimNetwork& network = wire->network;
  const Sender sender{.life = wire->life, .sent_at = wire->sent_at[id]};
  if (IsWrite(request) && network.hooks_.on_write) network.hooks_.on_write(sender, request);
  const ApiRequest call = ToApi(request);
  // An answer to a quorum list that is older than what happened before it was asked breaks the API;
  // one older than what the caller has seen can be recognised, and must be refused. A server that
  // insists is believed to have been restored from a backup.
  const uint64_t seen = IsFirstPage(request) ? wire->seen[CollectionOf(request)] : 0;
  if (seen > 0 && wire->stale_since[CollectionOf(request)] < kMostStaleLists &&
      (network.faults_.Chosen(Fault::kStaleList) || network.faults_.Awaited(Fault::kStaleList))) {
    ApiRequest stale = call;
    const uint64_t back = 1 + network.faults_.Draw(Fault::kStaleList, 30);
    absl::StrAppend(&stale.target, "&resourceVersionMatch=Exact&resourceVersion=",
                    seen - std::min(back, seen - 1));
    ApiReply reply = network.server_.Handle(stale, network.events_.Now());
    if (reply.status == 200) {
      network.faults_.Note(Fault::kStaleList);
      ++wire->stale_since[CollectionOf(request)];
      return reply;
    }
  }
  ApiReply reply = network.server_.Handle(call, network.events_.Now());
  if (IsWrite(request) && network.hooks_.on_written) {
    network.hooks_.on_written(sender, request, reply.status);
  }
  return reply;
}

void SimTransport::Arrive(const WirePtr& wire, RequestId id, const RequestPtr& request) {
  SimNetwork& network = wire->network;
  FaultInjector& faults = network.faults_;
  if (Refused(wire, id, request)) return;
  const bool delayed = network.IsBindOf(*request, network.delayed_);
  if (delayed) faults.Note(Fault::kLateWrite);
  if (delayed || (IsWrite(*request) && faults.Strikes(Fault::kLateWrite))) {
    // The server works on it for longer than anybody waits.
    const absl::Duration patience = std::min(request->timeout, request->head_timeout);
    Fail(wire, id, patience, absl::DeadlineExceededError("no reply in time"));
    const absl::Duration late =
        delayed ? kDelay
                : faults.Between(Fault::kLateWrite, absl::Milliseconds(1), absl::Seconds(4));
    network.events_.After(patience + late, [wire, id, request] {
      (void)Handle(wire, id, *request);
      wire->network.Pump();
    });
    return;
  }
  Answer(wire, id, request, Handle(wire, id, *request));
  network.Pump();
}

void SimTransport::Answer(const WirePtr& wire, RequestId id, const RequestPtr& request,
                          ApiReply reply) {
  SimNetwork& network = wire->network;
  const bool lost = network.faults_.Strikes(Fault::kLostReply);
  const absl::Duration patience = std::min(request->timeout, request->head_timeout);
  const bool silent = !lost && patience != absl::InfiniteDuration() &&
                      network.faults_.Strikes(Fault::kHalfOpenReply);
  const bool unheard = !wire->receiver || !wire->open.contains(id);
  if (reply.watch.valid() && (lost || silent || unheard)) network.server_.CloseWatch(reply.watch);
  if (lost) {
    Fail(wire, id, network.Latency(), absl::UnavailableError("connection reset"));
  } else if (silent) {
    Fail(wire, id, patience, absl::DeadlineExceededError("no reply in time"));
  } else if (reply.watch.valid() && !unheard) {
    Reply(wire, id, request, {.status = reply.status, .content_type = reply.content_type}, "");
    OpenStream(wire, id, *request, reply.watch);
  } else if (!reply.watch.valid()) {
    Reply(wire, id, request, {.status = reply.status, .content_type = reply.content_type},
          std::move(reply.body));
  }
}

void SimTransport::Reply(const WirePtr& wire, RequestId id, const RequestPtr& request,
                         HttpHead head, std::string body) {
  const bool watch = head.status == 200 && body.empty();
  wire->network.events_.After(
      wire->network.Latency(),
      [wire, id, watch, request, head = std::move(head), body = std::move(body)]() mutable {
        const auto& on_reply = wire->network.hooks_.on_reply;
        if (on_reply && IsWrite(*request) && wire->receiver && wire->open.contains(id)) {
          on_reply(wire->life, *request, body);
        }
        if (head.status == 200 && IsFirstPage(*request) && wire->open.contains(id)) {
          uint64_t& seen = wire->seen[CollectionOf(*request)];
          if (VersionOf(body) >= seen) wire->stale_since[CollectionOf(*request)] = 0;
          seen = std::max(seen, VersionOf(body));
        }
        Deliver(wire, {id, std::move(head)});
        if (watch) return;
        if (!body.empty()) Deliver(wire, {id, HttpChunk{std::move(body)}});
        Deliver(wire, {id, HttpEnd{absl::OkStatus()}});
      });
}

void SimTransport::OpenStream(const WirePtr& wire, RequestId id, const HttpRequest& request,
                              WatchId watch) {
  wire->open[id] = watch;
  SimNetwork::Stream stream;
  stream.request = id;
  stream.collection = CollectionOf(request);
  stream.idle_timeout = request.idle_timeout;
  stream.deliver = [wire](HttpInput input) { Deliver(wire, std::move(input)); };
  // Behind the head, which is on its way with a latency of its own.
  stream.last_delivery = wire->network.events_.Now() + absl::Milliseconds(6);
  wire->network.streams_[watch] = std::move(stream);
}

void SimTransport::Cancel(RequestId id) {
  const auto it = wire_->open.find(id);
  if (it == wire_->open.end()) return;
  if (it->second.valid()) {
    wire_->network.streams_.erase(it->second);
    wire_->network.server_.CloseWatch(it->second);
  }
  wire_->open.erase(it);
}

}  // namespace maniple::sim
