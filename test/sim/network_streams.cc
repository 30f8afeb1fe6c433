// What happens to open watches on their way.
#include <algorithm>
#include <utility>

#include "test/sim/network.h"

namespace maniple::sim {
namespace {

using devcluster::WatchId;

constexpr size_t kPiecesKept = 6;
constexpr char kExpiredLine[] =
    R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}})"
    "\n";

}  // namespace

// Both sides learn that it has ended: the caller with `why`.
void SimNetwork::EndStream(WatchId watch, std::string last, absl::Status why) {
  const auto it = streams_.find(watch);
  if (it == streams_.end()) return;
  Stream stream = std::move(it->second);
  streams_.erase(it);
  server_.CloseWatch(watch);
  const absl::Time when = std::max(stream.last_delivery, events_.Now()) + absl::Microseconds(1);
  events_.At(when, [stream = std::move(stream), last = std::move(last), why = std::move(why)] {
    stream.deliver({stream.request, HttpChunk{last}});
    stream.deliver({stream.request, HttpEnd{why}});
  });
}

// The caller finds out by its own idle timeout.
void SimNetwork::FallSilent(WatchId watch) {
  const auto it = streams_.find(watch);
  Stream stream = std::move(it->second);
  streams_.erase(it);
  server_.CloseWatch(watch);
  const absl::Time when = std::max(stream.last_delivery, events_.Now()) + stream.idle_timeout;
  events_.At(when, [stream = std::move(stream)] {
    stream.deliver({stream.request, HttpEnd{absl::DeadlineExceededError("nothing came")}});
  });
}

void SimNetwork::SendPiece(Stream& stream, std::string bytes) {
  const absl::Duration late =
      faults_.Strikes(Fault::kWatchDelayed)
          ? faults_.Between(Fault::kWatchDelayed, absl::Seconds(1), absl::Seconds(6))
          : Latency();
  using Piece = std::shared_ptr<const std::string>;
  const auto send = [this, &stream](absl::Time when, const Piece& piece) {
    stream.last_delivery = when;
    events_.At(when, [deliver = stream.deliver, id = stream.request, piece] {
      deliver({id, HttpChunk{*piece}});
    });
  };
  const bool held = stream.collection == held_.begin && events_.Now() < held_.until;
  const absl::Time when = std::max(stream.last_delivery + absl::Microseconds(1),
                                   held ? held_.until : events_.Now() + late);
  const Piece piece = std::make_shared<const std::string>(std::move(bytes));
  send(when, piece);
  if (faults_.Strikes(Fault::kWatchRepeated)) send(when + absl::Microseconds(1), piece);
  if (!stream.pieces.empty() && faults_.Strikes(Fault::kWatchStale)) {
    const size_t old = faults_.Draw(Fault::kWatchStale, stream.pieces.size());
    send(stream.last_delivery + absl::Milliseconds(1), stream.pieces[old]);
  }
  stream.pieces.push_back(piece);
  if (stream.pieces.size() > kPiecesKept) stream.pieces.pop_front();
}

bool SimNetwork::Breaks(WatchId watch, Stream& stream) {
  if (faults_.Strikes(Fault::kWatchDropped)) {
    EndStream(watch, R"({"type":"MODIFI)", absl::UnavailableError("connection reset"));
  } else if (faults_.Strikes(Fault::kWatchExpired)) {
    EndStream(watch, kExpiredLine, absl::OkStatus());
  } else if (stream.idle_timeout != absl::InfiniteDuration() &&
             faults_.Strikes(Fault::kHalfOpenWatch)) {
    FallSilent(watch);
  } else {
    return false;
  }
  return true;
}

void SimNetwork::Forward(WatchId watch, Stream& stream) {
  devcluster::WatchOutput output = server_.TakeWatchOutput(watch);
  if (!output.bytes.empty()) SendPiece(stream, std::move(output.bytes));
  if (output.ended) {
    const absl::Time when =
        std::max(stream.last_delivery + absl::Microseconds(1), events_.Now() + Latency());
    events_.At(when, [deliver = stream.deliver, id = stream.request] {
      deliver({id, HttpEnd{absl::OkStatus()}});
    });
    streams_.erase(watch);
  } else if (!Breaks(watch, stream) && faults_.Strikes(Fault::kSlowConsumer)) {
    stream.stalled = true;
    const absl::Duration wait =
        faults_.Between(Fault::kSlowConsumer, absl::Seconds(5), absl::Seconds(30));
    events_.After(wait, [this, watch] {
      const auto it = streams_.find(watch);
      if (it == streams_.end()) return;
      it->second.stalled = false;
      Forward(watch, it->second);
      Pump();
    });
  }
}

void SimNetwork::RestartServer() {
  if (faults_.Strikes(Fault::kHistoryLost)) server_.ForgetHistory();
  // Only once: a second restored store would give out versions that the first has given out.
  if (!was_reset_ && faults_.Strikes(Fault::kVersionsReset)) {
    was_reset_ = true;
    server_.RestartVersions();
  }
}

void SimNetwork::Pump() {
  RestartServer();
  for (const WatchId watch : server_.ReadyWatches()) {
    const auto it = streams_.find(watch);
    if (it == streams_.end() || it->second.stalled) continue;  // an observer's own, or not read
    Forward(watch, it->second);
  }
  ScheduleServerTime();
  if (hooks_.on_server_change) hooks_.on_server_change();
}

}  // namespace maniple::sim
