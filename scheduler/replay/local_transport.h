// A Transport whose other end is an embedded API server in the same thread: no latency, no faults,
// no sockets.
//
//   transport.Start(id, request);                      // as any client does
//   for (HttpInput& input : transport.Take(now)) client.On(input, now);
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/devcluster/rest/api_server.h"
#include "api/http/http.h"

namespace maniple {

class LocalTransport final : public Transport {
 public:
  explicit LocalTransport(devcluster::ApiServer& server) : server_(server) {}  // borrowed

  void Start(RequestId id, HttpRequest request) override;
  void Cancel(RequestId id) override;

  // Carries out the started requests, and hands over all replies since the last call.
  [[nodiscard]] std::vector<HttpInput> Take(absl::Time now);

  struct Write {
    absl::Time at;
    HttpMethod method = HttpMethod::kPost;
    std::string target;      // "/api/v1/namespaces/…"
    std::string node;        // of a binding
    std::string mig_config;  // that a node is asked to have
  };
  // The writes that the server took, in order.
  [[nodiscard]] const std::vector<Write>& writes() const { return writes_; }
  void ForgetWrites() { writes_.clear(); }

 private:
  struct Started {
    RequestId id = 0;
    HttpRequest request;
  };
  void Carry(const Started& started, absl::Time now);
  void ReadWatches();

  devcluster::ApiServer& server_;
  std::vector<Started> started_;
  std::map<devcluster::WatchId, RequestId> watches_;
  std::vector<HttpInput> inputs_;
  std::vector<Write> writes_;
};

}  // namespace maniple
