#include "test/sim/network.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace maniple::sim {
namespace {

using devcluster::ApiReply;
using devcluster::ApiRequest;
using devcluster::WatchId;

constexpr char kConflictBody[] =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict","code":409})";

ApiRequest ToApi(const HttpRequest& request) {
  ApiRequest out;
  out.method = std::string(HttpMethodName(request.method));
  out.target = request.target;
  out.content_type = request.content_type;
  out.accept = "application/json";
  out.body = request.body;
  out.user = "system:serviceaccount:kube-system:maniple-scheduler";
  return out;
}

bool IsWrite(const HttpRequest& request) { return request.method != HttpMethod::kGet; }

}  // namespace

SimNetwork::SimNetwork(devcluster::ApiServer& server, EventQueue& events, Random& random)
    : server_(server), events_(events), random_(random) {}

bool SimNetwork::Strikes(Fault fault) {
  const size_t index = static_cast<size_t>(fault);
  if (rates_.one_in[index] == 0 || !random_.OneIn(rates_.one_in[index])) return false;
  ++counts_[index];
  return true;
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

void SimNetwork::DropStream(WatchId watch) {
  const auto it = streams_.find(watch);
  if (it == streams_.end()) return;
  Stream stream = std::move(it->second);
  streams_.erase(it);
  server_.CloseWatch(watch);
  const absl::Time when = std::max(stream.last_delivery, events_.Now()) + absl::Microseconds(1);
  events_.At(when, [stream = std::move(stream)] {
    stream.deliver({stream.request, HttpChunk{R"({"type":"MODIFI)"}});
    stream.deliver({stream.request, HttpEnd{absl::UnavailableError("connection reset")}});
  });
}

void SimNetwork::Pump() {
  if (Strikes(Fault::kHistoryLost)) server_.ForgetHistory();
  for (const WatchId watch : server_.ReadyWatches()) {
    const auto it = streams_.find(watch);
    if (it == streams_.end()) continue;  // an observer's own
    devcluster::WatchOutput output = server_.TakeWatchOutput(watch);
    Stream& stream = it->second;
    const absl::Duration late =
        Strikes(Fault::kWatchDelayed) ? absl::Seconds(1 + random_.Below(5)) : Latency();
    const absl::Time when =
        std::max(stream.last_delivery + absl::Microseconds(1), events_.Now() + late);
    stream.last_delivery = when;
    if (!output.bytes.empty()) {
      events_.At(when,
                 [deliver = stream.deliver, id = stream.request, bytes = std::move(output.bytes)] {
                   deliver({id, HttpChunk{bytes}});
                 });
    }
    if (output.ended) {
      events_.At(when, [deliver = stream.deliver, id = stream.request] {
        deliver({id, HttpEnd{absl::OkStatus()}});
      });
      streams_.erase(it);
    } else if (Strikes(Fault::kWatchDropped)) {
      DropStream(watch);
    }
  }
  ScheduleServerTime();
  if (on_server_change_) on_server_change_();
}

SimTransport::SimTransport(SimNetwork& network, Receiver receiver)
    : network_(network), life_(std::make_shared<Life>()) {
  life_->receiver = std::move(receiver);
}

SimTransport::~SimTransport() {
  for (const auto& [id, watch] : life_->open) {
    if (!watch.valid()) continue;
    network_.streams_.erase(watch);
    network_.server_.CloseWatch(watch);
  }
  life_->open.clear();
  life_->receiver = nullptr;
}

void SimTransport::Deliver(const std::shared_ptr<Life>& life, HttpInput input) {
  if (!life->receiver || !life->open.contains(input.request)) return;
  if (std::holds_alternative<HttpEnd>(input.what)) life->open.erase(input.request);
  life->receiver(std::move(input));
}

void SimTransport::Fail(SimNetwork& network, const std::shared_ptr<Life>& life, RequestId id,
                        absl::Duration after) {
  network.events_.After(after, [life, id] {
    Deliver(life, {id, HttpEnd{absl::UnavailableError("connection reset by the simulation")}});
  });
}

void SimTransport::Start(RequestId id, HttpRequest request) {
  life_->open[id] = WatchId();
  if (network_.Strikes(Fault::kLostRequest)) return Fail(network_, life_, id, network_.Latency());
  network_.events_.After(network_.Latency(),
                         [&network = network_, life = life_, id, request = std::move(request)] {
                           Arrive(network, life, id, request);
                         });
}

void SimTransport::Arrive(SimNetwork& network, const std::shared_ptr<Life>& life, RequestId id,
                          const HttpRequest& request) {
  if (IsWrite(request) && network.Strikes(Fault::kConflict)) {
    return Reply(network, life, id, {.status = 409, .content_type = "application/json"},
                 kConflictBody);
  }
  if (network.Strikes(Fault::kThrottled)) {
    return Reply(network, life, id,
                 {.status = 429, .content_type = "text/plain", .retry_after = absl::Seconds(1)},
                 "Too many requests, please try again later.");
  }
  if (network.Strikes(Fault::kServerError)) {
    return Reply(network, life, id,
                 {.status = network.random_.OneIn(2) ? 500 : 503, .content_type = "text/plain"},
                 "the simulated server is unwell");
  }
  const bool lost = network.Strikes(Fault::kLostReply);
  const ApiReply reply = network.server_.Handle(ToApi(request), network.events_.Now());
  if (reply.watch.valid()) {
    if (lost || !life->receiver || !life->open.contains(id)) {
      network.server_.CloseWatch(reply.watch);
      if (lost) Fail(network, life, id, network.Latency());
    } else {
      Reply(network, life, id, {.status = reply.status, .content_type = reply.content_type}, "");
      OpenStream(network, life, id, reply.watch);
    }
  } else if (lost) {
    Fail(network, life, id, network.random_.OneIn(2) ? network.Latency() : request.timeout);
  } else {
    HttpHead head{.status = reply.status, .content_type = reply.content_type};
    Reply(network, life, id, std::move(head), reply.body);
  }
  network.Pump();
}

void SimTransport::Reply(SimNetwork& network, const std::shared_ptr<Life>& life, RequestId id,
                         HttpHead head, std::string body) {
  const bool watch = head.status == 200 && body.empty();
  network.events_.After(network.Latency(),
                        [life, id, watch, head = std::move(head), body = std::move(body)] {
                          Deliver(life, {id, head});
                          if (watch) return;
                          if (!body.empty()) Deliver(life, {id, HttpChunk{body}});
                          Deliver(life, {id, HttpEnd{absl::OkStatus()}});
                        });
}

void SimTransport::OpenStream(SimNetwork& network, const std::shared_ptr<Life>& life, RequestId id,
                              WatchId watch) {
  life->open[id] = watch;
  SimNetwork::Stream stream;
  stream.request = id;
  stream.deliver = [life](HttpInput input) { Deliver(life, std::move(input)); };
  // Behind the head, which is on its way with a latency of its own.
  stream.last_delivery = network.events_.Now() + absl::Milliseconds(6);
  network.streams_[watch] = std::move(stream);
}

void SimTransport::Cancel(RequestId id) {
  const auto it = life_->open.find(id);
  if (it == life_->open.end()) return;
  if (it->second.valid()) {
    network_.streams_.erase(it->second);
    network_.server_.CloseWatch(it->second);
  }
  life_->open.erase(it);
}

}  // namespace maniple::sim
