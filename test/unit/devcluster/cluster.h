// A cluster for tests: the embedded server behind verbs that read like kubectl, with a clock that
// moves when told.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/check.h"
#include "api/codec/json.h"
#include "api/devcluster/rest/api_server.h"

namespace maniple::devcluster {

inline constexpr absl::string_view kMergePatch = "application/merge-patch+json";
inline constexpr absl::string_view kJsonPatch = "application/json-patch+json";
inline constexpr absl::string_view kStrategicPatch = "application/strategic-merge-patch+json";

struct Answer {
  int code = 0;
  Json body;
  ApiReply reply;
  [[nodiscard]] const std::string& reason() const { return body["reason"].AsString(); }
  [[nodiscard]] const std::string& message() const { return body["message"].AsString(); }
  [[nodiscard]] const Json& At(absl::string_view path) const { return body.At(path); }
  [[nodiscard]] std::string version() const { return At("metadata.resourceVersion").AsString(); }
};

// One object from text with single quotes for double ones, so that tests stay readable.
inline Json FromText(absl::string_view text) {
  std::string json(text);
  for (char& c : json) {
    if (c == '\'') c = '"';
  }
  absl::StatusOr<Json> parsed = Json::Parse(json);
  CHECK(parsed.ok()) << parsed.status().message() << " in " << json;
  return *std::move(parsed);
}

class TestCluster final {
 public:
  // Without controllers the cluster does only what it is asked to.
  explicit TestCluster(
      ApiServerOptions options = {.controllers = ApiServerOptions::Controllers::kNone})
      : server_(options) {}

  Answer Do(ApiRequest request) {
    Answer answer;
    answer.reply = server_.Handle(request, now_);
    answer.code = answer.reply.status;
    absl::StatusOr<Json> parsed = Json::Parse(answer.reply.body);
    if (parsed.ok()) answer.body = *std::move(parsed);
    return answer;
  }
  Answer Get(absl::string_view target, absl::string_view accept = "application/json") {
    return Do({.method = "GET", .target = std::string(target), .accept = std::string(accept)});
  }
  Answer Post(absl::string_view target, const Json& body) { return Send("POST", target, body); }
  Answer Put(absl::string_view target, const Json& body) { return Send("PUT", target, body); }
  Answer Patch(absl::string_view target, absl::string_view type, const Json& body) {
    return Send("PATCH", target, body, type);
  }
  Answer Delete(absl::string_view target, const Json& options = Json::Object()) {
    return Send("DELETE", target, options);
  }
  Answer Apply(absl::string_view target, absl::string_view manager, const Json& body,
               absl::string_view more = "") {
    return Send("PATCH", absl::StrCat(target, "?fieldManager=", manager, more), body,
                "application/apply-patch+yaml");
  }

  // Creates it; REQUIRES: the server accepts it.
  Json Make(absl::string_view target, absl::string_view text) {
    Answer answer = Post(target, FromText(text));
    CHECK_EQ(answer.code, 201) << answer.message();
    return std::move(answer.body);
  }
  Json MakePod(absl::string_view name, absl::string_view more_spec = "") {
    return Make(kPods, absl::StrCat("{'metadata':{'name':'", name,
                                    "'},'spec':{'containers':[{'name':'main','image':'i:1'}]",
                                    more_spec, "}}"));
  }
  Answer Bind(absl::string_view pod, absl::string_view node) {
    return Post(absl::StrCat(kPods, "/", pod, "/binding"),
                FromText(absl::StrCat("{'kind':'Binding','apiVersion':'v1','metadata':{'name':'",
                                      pod, "'},'target':{'kind':'Node','name':'", node, "'}}")));
  }

  WatchId Watch(absl::string_view target) {
    const Answer answer = Get(target);
    CHECK(answer.reply.watch.valid()) << answer.reply.body;
    return answer.reply.watch;
  }
  // All that the watch has to say now.
  std::vector<Json> Events(WatchId watch) {
    std::vector<Json> events;
    const WatchOutput output = server_.TakeWatchOutput(watch);
    ended_ = output.ended;
    for (const absl::string_view line : absl::StrSplit(output.bytes, '\n', absl::SkipEmpty())) {
      absl::StatusOr<Json> event = Json::Parse(line);
      CHECK(event.ok()) << line;
      events.push_back(*std::move(event));
    }
    return events;
  }
  // "ADDED a, MODIFIED b": the events of Events() in short.
  std::string Told(WatchId watch) {
    std::string told;
    for (const Json& event : Events(watch)) {
      const Json& object = event["object"];
      const std::string& name = object["metadata"]["name"].AsString();
      absl::StrAppend(&told, told.empty() ? "" : ", ", event["type"].AsString(),
                      name.empty() ? "" : " ", name);
    }
    return told;
  }
  [[nodiscard]] bool ended() const { return ended_; }

  void Advance(absl::Duration by) {
    now_ += by;
    server_.OnTime(now_);
  }
  ApiServer& server() { return server_; }
  [[nodiscard]] absl::Time now() const { return now_; }

  static constexpr absl::string_view kPods = "/api/v1/namespaces/default/pods";

 private:
  Answer Send(absl::string_view method, absl::string_view target, const Json& body,
              absl::string_view type = "application/json") {
    return Do({.method = std::string(method),
               .target = std::string(target),
               .content_type = std::string(type),
               .body = body.Dump()});
  }

  ApiServer server_;
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  bool ended_ = false;
};

}  // namespace maniple::devcluster
