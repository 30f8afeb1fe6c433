#include "test/fuzz/devcluster_targets.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/base/random.h"
#include "api/codec/json.h"
#include "api/devcluster/rest/api_server.h"
#include "api/devcluster/shell/http_connection.h"
#include "api/devcluster/store/patch.h"
#include "api/devcluster/types/builtin_schema.h"
#include "api/devcluster/types/protobuf_body.h"

namespace maniple {
namespace {

using devcluster::ApiReply;
using devcluster::ApiRequest;

constexpr absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

// Answers every request with what it has understood, and targets with "watch" by a stream.
class EchoHost final : public devcluster::ConnectionHost {
 public:
  ApiReply Answer(const ApiRequest& request, devcluster::HttpConnection&) override {
    ApiReply reply;
    if (absl::StrContains(request.target, "watch")) {
      reply.watch = devcluster::WatchId(7);
    } else {
      reply.body = absl::StrJoin({request.method, request.target, request.content_type,
                                  request.accept, request.body, request.user},
                                 "|");
    }
    return reply;
  }
  std::optional<std::string> Authenticate(absl::string_view authorization) override {
    return absl::StartsWith(authorization, "x") ? std::nullopt : std::optional("tester");
  }
  void WatchLeft(devcluster::WatchId) override {}
};

std::string Conversation(absl::string_view bytes, uint64_t seed) {
  EchoHost host;
  const devcluster::HttpLimits limits{
      .most_head_bytes = 1000, .most_body_bytes = 500, .most_watch_backlog = 5000};
  devcluster::HttpConnection connection(host, limits);
  Random random(seed);
  std::string out;
  while (!bytes.empty()) {
    const absl::string_view chunk =
        bytes.substr(0, seed == 0 ? bytes.size() : 1 + random.Below(20));
    bytes.remove_prefix(chunk.size());
    connection.Received(chunk, kStart);
    while (!connection.Unsent().empty()) {
      const size_t size = 1 + random.Below(connection.Unsent().size());
      absl::StrAppend(&out, connection.Unsent().substr(0, size));
      connection.Sent(size, kStart);
    }
  }
  // Only who sends the head before the body is told to go on.
  return absl::StrReplaceAll(out, {{"HTTP/1.1 100 Continue\r\n\r\n", ""}});
}

// Which of two mistakes is met first depends on how the bytes come.
std::string WithoutKindOfRefusal(std::string out) {
  const size_t last = out.rfind("HTTP/1.1 4");
  if (last == std::string::npos) return out;
  const absl::string_view reply = absl::string_view(out).substr(last);
  const bool refused = absl::StrContains(reply, "not an HTTP/1.1 request") ||
                       absl::StrContains(reply, "request head too large");
  return refused ? absl::StrCat(out.substr(0, last), "refused") : out;
}

std::string WrongReply(const ApiRequest& request, const ApiReply& reply) {
  if (reply.status < 200 || reply.status > 599) return absl::StrCat("status ", reply.status);
  if (reply.watch.valid() || !absl::StartsWith(reply.content_type, "application/json")) return "";
  const absl::StatusOr<Json> body = Json::Parse(reply.body);
  if (!body.ok()) return absl::StrCat("no JSON for ", request.target);
  if (reply.status < 400) return "";
  if ((*body)["kind"].AsString() != "Status" || (*body)["code"].AsInt() != reply.status) {
    return absl::StrCat(request.method, " ", request.target, ": ", reply.status, " with ",
                        reply.body);
  }
  return "";
}

}  // namespace

std::string FuzzDevclusterHttp(absl::string_view bytes) {
  const std::string whole = Conversation(bytes, 0);
  const std::string chunked = Conversation(bytes, 1 + bytes.size());
  // What comes later in pieces may be refused later, too.
  const auto is_refused_later = [](absl::string_view sooner, absl::string_view later) {
    return absl::ConsumePrefix(&sooner, later) && absl::StartsWith(sooner, "HTTP/1.1 400 ");
  };
  if (whole == chunked || is_refused_later(whole, chunked)) return "";
  if (WithoutKindOfRefusal(whole) == WithoutKindOfRefusal(chunked)) return "";
  return absl::StrCat("in one piece:\n", whole, "\nin chunks:\n", chunked);
}

std::string FuzzApiRequests(absl::string_view bytes) {
  devcluster::ApiServer server(
      {.controllers = devcluster::ApiServerOptions::Controllers::kNone, .watch_history = 100});
  // The first request of all makes the objects that every cluster has.
  static_cast<void>(server.Handle({.method = "GET", .target = "/api"}, kStart));
  for (const absl::string_view part : absl::StrSplit(bytes, "\n===\n")) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(part, absl::MaxSplits('\n', 1));
    const std::vector<std::string> words = absl::StrSplit(halves.first, ' ');
    ApiRequest request{.method = words[0], .body = std::string(halves.second)};
    if (words.size() > 1) request.target = words[1];
    if (words.size() > 2) request.content_type = words[2];
    if (words.size() > 3) request.accept = words[3];
    const std::vector<Json> before = request.method == "GET" ? server.Dump() : std::vector<Json>();
    const ApiReply reply = server.Handle(request, kStart);
    if (std::string wrong = WrongReply(request, reply); !wrong.empty()) return wrong;
    if (request.method == "GET" && !(server.Dump() == before)) return "a GET that changes objects";
    if (reply.watch.valid()) {
      static_cast<void>(server.TakeWatchOutput(reply.watch));
      server.CloseWatch(reply.watch);
    }
  }
  return "";
}

std::string FuzzProtobuf(absl::string_view bytes) {
  const absl::StatusOr<Json> object = devcluster::DecodeProtobufBody(bytes);
  if (!object.ok()) return object.status().message().empty() ? "an error without message" : "";
  if (!devcluster::IsWithinDepth(*object)) return "nested too deeply";
  const absl::StatusOr<Json> back = Json::Parse(object->Dump());
  if (!back.ok()) return absl::StrCat("is no JSON: ", back.status().message());
  const std::vector<std::string> unknown = devcluster::UnknownFields(*object);
  return unknown.empty() ? "" : absl::StrCat("has an unknown field ", unknown.front());
}

}  // namespace maniple
