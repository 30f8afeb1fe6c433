// The simulated network: a Transport whose other end is an embedded ApiServer in the same thread,
// with latency and faults.
//
// One SimNetwork per world; one SimTransport per life of a scheduler process. When a process
// crashes its transport is dropped: nothing is delivered to it any more, but requests that are
// under way still reach the server.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "api/base/random.h"
#include "api/devcluster/api_server.h"
#include "api/http/http.h"
#include "test/sim/event_queue.h"
#include "test/sim/faults.h"

namespace maniple::sim {

class SimNetwork final {
 public:
  SimNetwork(devcluster::ApiServer& server, EventQueue& events, Random& random);

  // Called after everything that may have changed the server.
  void set_on_server_change(std::function<void()> callback) {
    on_server_change_ = std::move(callback);
  }
  void set_rates(const FaultRates& rates) { rates_ = rates; }
  [[nodiscard]] const FaultCounts& counts() const { return counts_; }
  [[nodiscard]] bool Strikes(Fault fault);

  // A request of a user or controller: no latency, no faults.
  devcluster::ApiReply Call(const devcluster::ApiRequest& request);
  // Moves what watches have ready onto the wire, and lets the server's own time pass.
  void Pump();

 private:
  friend class SimTransport;
  struct Stream {
    std::function<void(HttpInput)> deliver;
    RequestId request = 0;
    absl::Time last_delivery = absl::InfinitePast();
    absl::Time drop_at = absl::InfiniteFuture();
  };

  [[nodiscard]] absl::Duration Latency();
  void ScheduleServerTime();
  void DropStream(devcluster::WatchId watch);

  devcluster::ApiServer& server_;
  EventQueue& events_;
  Random& random_;
  FaultRates rates_ = FaultRates::None();
  FaultCounts counts_{};
  std::function<void()> on_server_change_;
  std::map<devcluster::WatchId, Stream> streams_;
  absl::Time server_wake_ = absl::InfiniteFuture();
};

class SimTransport final : public Transport {
 public:
  using Receiver = std::function<void(HttpInput)>;
  SimTransport(SimNetwork& network, Receiver receiver);
  ~SimTransport() override;  // the process is gone

  void Start(RequestId id, HttpRequest request) override;
  void Cancel(RequestId id) override;

 private:
  // Outlives the transport inside closures that are still on the wire.
  struct Life {
    Receiver receiver;
    std::map<RequestId, devcluster::WatchId>
        open;  // requests that still want answers; watch invalid until it streams
  };

  static void Deliver(const std::shared_ptr<Life>& life, HttpInput input);
  static void Fail(SimNetwork& network, const std::shared_ptr<Life>& life, RequestId id,
                   absl::Duration after);
  static void Arrive(SimNetwork& network, const std::shared_ptr<Life>& life, RequestId id,
                     const HttpRequest& request);
  static void Reply(SimNetwork& network, const std::shared_ptr<Life>& life, RequestId id,
                    HttpHead head, std::string body);
  static void OpenStream(SimNetwork& network, const std::shared_ptr<Life>& life, RequestId id,
                         devcluster::WatchId watch);

  SimNetwork& network_;
  std::shared_ptr<Life> life_;
};

}  // namespace maniple::sim
