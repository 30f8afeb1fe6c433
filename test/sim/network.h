// The simulated network: a Transport whose other end is an embedded ApiServer in the same thread,
// with latency and faults.
//
// One SimNetwork per world; one SimTransport per life of a scheduler process.
// When a process crashes its transport is cut: it receives and sends nothing any more.
// Requests that are under way still reach the server.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "api/base/random.h"
#include "api/devcluster/rest/api_server.h"
#include "api/http/http.h"
#include "test/sim/event_queue.h"
#include "test/sim/faults.h"

namespace maniple::sim {

// The sender of a write, as it reaches the server.
struct Sender {
  uint64_t life = 0;  // of the process, as given to its SimTransport
  absl::Time sent_at;
};

// As a user sends it; a PATCH merges.
[[nodiscard]] devcluster::ApiRequest RequestOf(absl::string_view method, absl::string_view target,
                                               const Json& body);

class SimNetwork final {
 public:
  // Heard by the world. All are optional and called on the only thread.
  struct Hooks {
    std::function<void()> on_server_change;  // after everything that may have changed the server
    std::function<void(uint64_t life, const HttpRequest&)> on_sent;
    // The write leaves the machine only now: the process was stopped just after on_sent.
    std::function<void(uint64_t life, const HttpRequest&)> on_left_late;
    // Just before it is heard, with its body.
    std::function<void(uint64_t life, const HttpRequest&, absl::string_view)> on_reply;
    // Just before the server handles a write, and after it with the status.
    std::function<void(const Sender&, const HttpRequest&)> on_write;
    std::function<void(const Sender&, const HttpRequest&, int)> on_written;
  };

  SimNetwork(devcluster::ApiServer& server, EventQueue& events, FaultInjector& faults,
             uint64_t seed);

  void set_hooks(Hooks hooks) { hooks_ = std::move(hooks); }

  // A request of a user or controller: no latency, no faults.
  devcluster::ApiReply Call(const devcluster::ApiRequest& request);
  // No bind of a pod whose target begins with `target` is done until then: 503.
  void RefuseBinds(std::string target, absl::Time until) { refused_ = {std::move(target), until}; }
  // Their binds are carried out when nobody waits for the reply any more.
  void DelayBinds(std::string target, absl::Time until) { delayed_ = {std::move(target), until}; }
  // What watches of this collection tell until then comes only then.
  void HoldWatches(std::string collection, absl::Time until) {
    held_ = {std::move(collection), until};
  }
  // Moves pieces that watches have ready onto the wire, and lets the server's own time pass.
  void Pump();

 private:
  friend class SimTransport;
  struct Stream {
    std::function<void(HttpInput)> deliver;
    RequestId request = 0;
    std::string collection;
    absl::Time last_delivery = absl::InfinitePast();
    absl::Duration idle_timeout = absl::InfiniteDuration();
    bool stalled = false;                                   // not read for a while
    std::deque<std::shared_ptr<const std::string>> pieces;  // the last ones sent
  };

  [[nodiscard]] absl::Duration Latency();
  void ScheduleServerTime();
  void RestartServer();
  void Forward(devcluster::WatchId watch, Stream& stream);
  void SendPiece(Stream& stream, std::string bytes);
  [[nodiscard]] bool Breaks(devcluster::WatchId watch, Stream& stream);
  // Ends the stream for both sides, after these last bytes.
  void EndStream(devcluster::WatchId watch, std::string last, absl::Status why);
  void FallSilent(devcluster::WatchId watch);

  devcluster::ApiServer& server_;
  EventQueue& events_;
  FaultInjector& faults_;
  Random random_;
  Hooks hooks_;
  std::map<devcluster::WatchId, Stream> streams_;
  absl::Time server_wake_ = absl::InfiniteFuture();
  bool was_reset_ = false;
  struct Targets {
    std::string begin;
    absl::Time until = absl::InfinitePast();
  };
  [[nodiscard]] bool IsBindOf(const HttpRequest& request, const Targets& targets) const;
  Targets refused_, delayed_, held_;
};

class SimTransport final : public Transport {
 public:
  using Receiver = std::function<void(HttpInput)>;
  // `skew`: how far the clock of the process is off.
  SimTransport(SimNetwork& network, uint64_t life, absl::Duration skew, Receiver receiver);
  ~SimTransport() override;  // the process is gone

  void Start(RequestId id, HttpRequest request) override;
  void Cancel(RequestId id) override;
  // As kill -9: from this instruction on nothing is sent and nothing is heard.
  void Cut();
  // While the process is stopped, the last moment's requests have not left the machine: they
  // go out when it is continued.
  void set_stopped_until(absl::Time until) { wire_->stopped_until = until; }

 private:
  // Outlives the transport inside closures that are still on the wire.
  struct Wire {
    SimNetwork& network;
    uint64_t life = 0;
    absl::Duration skew;
    Receiver receiver;
    absl::Time stopped_until = absl::InfinitePast();
    // Requests that still want answers; watch invalid until it streams.
    std::map<RequestId, devcluster::WatchId> open;
    std::map<RequestId, absl::Time> sent_at;  // of writes
    // By collection: the newest version delivered in a list, and stale answers since then.
    std::map<std::string, uint64_t> seen;
    std::map<std::string, int> stale_since;
  };
  using WirePtr = std::shared_ptr<Wire>;
  using RequestPtr = std::shared_ptr<const HttpRequest>;  // of all that happens to it on its way

  static void Deliver(const WirePtr& wire, HttpInput input);
  static void Fail(const WirePtr& wire, RequestId id, absl::Duration after, absl::Status why);
  static void LeaveLate(const WirePtr& wire, RequestId id, const RequestPtr& request);
  static void Arrive(const WirePtr& wire, RequestId id, const RequestPtr& request);
  [[nodiscard]] static bool Refused(const WirePtr& wire, RequestId id, const RequestPtr& request);
  static devcluster::ApiReply Handle(const WirePtr& wire, RequestId id, const HttpRequest& request);
  static void Answer(const WirePtr& wire, RequestId id, const RequestPtr& request,
                     devcluster::ApiReply reply);
  static void Reply(const WirePtr& wire, RequestId id, const RequestPtr& request, HttpHead head,
                    std::string body);
  static void OpenStream(const WirePtr& wire, RequestId id, const HttpRequest& request,
                         devcluster::WatchId watch);

  WirePtr wire_;
};

}  // namespace maniple::sim
