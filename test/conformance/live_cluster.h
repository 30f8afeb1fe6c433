// A live API server as the client machines see it: one transport, answered synchronously or routed
// to a machine.
//
// The kubeconfig of the server is in MANIPLE_CONFORMANCE_KUBECONFIG (see
// run_client_conformance.py); the case is skipped without it. Every case works in a namespace of
// its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/client/actions.h"
#include "api/client/requests.h"
#include "api/client/watch_session.h"
#include "api/codec/decode.h"
#include "api/codec/json.h"
#include "api/http/curl_transport.h"
#include "gtest/gtest.h"

namespace maniple {

struct LiveReply {
  int status = 0;  // 0 = none came
  Json body;
  ApiStatus error;
};

class LiveClusterTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // One request, answered.
  LiveReply Send(HttpRequest request);
  LiveReply Call(HttpMethod method, const std::string& target, const Json& body = Json(),
                 const std::string& content_type = "application/json");
  // A pod in the case's namespace that no scheduler but this test looks at; its metadata may be
  // added to.
  PodReference CreatePod(const std::string& name, const Json& metadata = Json(),
                         const Json& spec = Json());
  [[nodiscard]] std::string PodPath(const std::string& name) const;

  // Inputs of requests whose owner is `owner` go there.
  using Receiver = std::function<void(const HttpInput&)>;
  void Route(uint16_t owner, Receiver receiver) { receivers_[owner] = std::move(receiver); }
  // Moves bytes and time until it is so; false when it takes more than half a minute. `tick` is
  // called in each round.
  bool Until(
      const std::function<bool()>& reached, const std::function<void()>& tick = [] {});

  [[nodiscard]] absl::Time Now() const;

  std::string namespace_;
  std::unique_ptr<CurlTransport> transport_;

 private:
  static constexpr uint16_t kOwnRequests = 1000;
  RequestIds ids_{kOwnRequests};
  std::map<uint16_t, Receiver> receivers_;
};

// A WatchSession over the live server that keeps what it told about one namespace.
class LiveSession final {
 public:
  using Rewrite = std::function<void(HttpRequest&)>;

  LiveSession(WatchSessionOptions options, std::string namespace_name, CurlTransport& transport)
      : session_(std::move(options), 1),
        namespace_(std::move(namespace_name)),
        transport_(transport) {}

  void Take(SessionOutput output);
  void On(const HttpInput& input, absl::Time now) { Take(session_.On(input, decoder_, now)); }
  void OnTime(absl::Time now) {
    if (session_.NextDeadline() <= now) Take(session_.OnTime(now));
  }
  // As if the connection broke.
  void Cut(absl::Time now);
  // Changes the next watch before it is sent.
  void RewriteNextWatch(Rewrite rewrite) { rewrite_ = std::move(rewrite); }

  [[nodiscard]] WatchSession& session() { return session_; }
  // "+name", "-name", one entry per event of the namespace, in order.
  [[nodiscard]] const std::vector<std::string>& told() const { return told_; }
  [[nodiscard]] int CountOf(const std::string& told) const;
  // The newest of a name; null when it is not there.
  [[nodiscard]] const Object* Find(const std::string& name) const;

 private:
  WatchSession session_;
  Decoder decoder_;
  std::string namespace_;
  CurlTransport& transport_;
  RequestId open_ = 0;
  Rewrite rewrite_;
  std::vector<std::string> told_;
  std::map<std::string, Object> objects_;
};

}  // namespace maniple
