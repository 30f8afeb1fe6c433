#include "scheduler/replay/local_transport.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "api/codec/json.h"
#include "api/gpu/mig_config.h"

namespace maniple {
namespace {

constexpr char kNodes[] = "/api/v1/nodes/";

// "" for any request but a binding.
std::string NodeOf(const HttpRequest& request) {
  if (!absl::EndsWith(request.target, "/binding")) return "";
  const absl::StatusOr<Json> binding = Json::Parse(request.body);
  return binding.ok() ? (*binding)["target"]["name"].AsString() : "";
}

// "" for any request but a change of a node's configuration.
std::string MigConfigOf(const HttpRequest& request) {
  if (request.method != HttpMethod::kPatch || !absl::StartsWith(request.target, kNodes)) return "";
  const absl::StatusOr<Json> patch = Json::Parse(request.body);
  return patch.ok() ? (*patch)["metadata"]["labels"][kMigConfigLabel].AsString() : "";
}

}  // namespace

void LocalTransport::Start(RequestId id, HttpRequest request) {
  started_.push_back({id, std::move(request)});
}

void LocalTransport::Cancel(RequestId id) {
  std::erase_if(started_, [id](const Started& started) { return started.id == id; });
  std::erase_if(inputs_, [id](const HttpInput& input) { return input.request == id; });
  std::erase_if(watches_, [this, id](const auto& watch) {
    if (watch.second == id) server_.CloseWatch(watch.first);
    return watch.second == id;
  });
}

void LocalTransport::Carry(const Started& started, absl::Time now) {
  const HttpRequest& request = started.request;
  devcluster::ApiReply reply =
      server_.Handle({.method = std::string(HttpMethodName(request.method)),
                      .target = request.target,
                      .content_type = request.content_type,
                      .accept = "application/json",
                      .body = request.body,
                      .if_none_match = "",
                      .user = "system:serviceaccount:kube-system:maniple-scheduler"},
                     now);
  if (request.method != HttpMethod::kGet && reply.status < 300) {
    writes_.push_back({.at = now,
                       .method = request.method,
                       .target = request.target,
                       .node = NodeOf(request),
                       .mig_config = MigConfigOf(request)});
  }
  inputs_.push_back(
      {started.id, HttpHead{.status = reply.status, .content_type = reply.content_type}});
  if (reply.watch.valid()) {
    watches_.emplace(reply.watch, started.id);
    return;
  }
  if (!reply.body.empty()) inputs_.push_back({started.id, HttpChunk{std::move(reply.body)}});
  inputs_.push_back({started.id, HttpEnd{absl::OkStatus()}});
}

void LocalTransport::ReadWatches() {
  for (const devcluster::WatchId watch : server_.ReadyWatches()) {
    const auto it = watches_.find(watch);
    if (it == watches_.end()) continue;
    devcluster::WatchOutput output = server_.TakeWatchOutput(watch);
    if (!output.bytes.empty()) {
      inputs_.push_back({it->second, HttpChunk{std::move(output.bytes)}});
    }
    if (!output.ended) continue;
    inputs_.push_back({it->second, HttpEnd{absl::OkStatus()}});
    watches_.erase(it);
  }
}

std::vector<HttpInput> LocalTransport::Take(absl::Time now) {
  for (const Started& started : std::exchange(started_, {})) Carry(started, now);
  ReadWatches();
  return std::exchange(inputs_, {});
}

}  // namespace maniple
