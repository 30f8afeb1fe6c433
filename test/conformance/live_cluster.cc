#include "test/conformance/live_cluster.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/clock.h"
#include "api/client/kubeconfig.h"

namespace maniple {
namespace {

constexpr absl::Duration kLongestWait = absl::Seconds(30);

// "AListsInPages" -> "alistsinpages": a valid part of a name.
std::string CaseName() {
  return absl::AsciiStrToLower(::testing::UnitTest::GetInstance()->current_test_info()->name());
}

}  // namespace

void LiveClusterTest::SetUp() {
  const char* kubeconfig = std::getenv("MANIPLE_CONFORMANCE_KUBECONFIG");
  if (kubeconfig == nullptr) {
    GTEST_SKIP() << "no server: run this through test/conformance/run_client_conformance.py";
  }
  absl::StatusOr<ClientConfig> config = LoadClientConfig({.kubeconfig = kubeconfig});
  ASSERT_TRUE(config.ok()) << config.status();
  auto transport = CurlTransport::Create(*std::move(config), RealClock(), {});
  ASSERT_TRUE(transport.ok()) << transport.status();
  transport_ = *std::move(transport);
  namespace_ = absl::StrCat("c", ::getpid(), "-", CaseName()).substr(0, 60);
  const LiveReply created =
      Call(HttpMethod::kPost, "/api/v1/namespaces",
           Json::Object({{"metadata", Json::Object({{"name", namespace_}})}}));
  ASSERT_EQ(created.status, 201) << created.error.message;
}

void LiveClusterTest::TearDown() {
  if (transport_ == nullptr) return;
  Call(HttpMethod::kDelete, absl::StrCat("/api/v1/namespaces/", namespace_, "/pods"),
       Json::Object({{"gracePeriodSeconds", 0}}));
  Call(HttpMethod::kDelete, absl::StrCat("/api/v1/namespaces/", namespace_));
}

absl::Time LiveClusterTest::Now() const { return RealClock().Now(); }

LiveReply LiveClusterTest::Send(HttpRequest request) {
  LiveReply reply;
  std::string body;
  bool ended = false;
  const RequestId id = ids_.Next();
  receivers_[kOwnRequests] = [&](const HttpInput& input) {
    if (input.request != id) return;
    if (const auto* head = std::get_if<HttpHead>(&input.what)) reply.status = head->status;
    if (const auto* chunk = std::get_if<HttpChunk>(&input.what)) body += chunk->bytes;
    if (const auto* end = std::get_if<HttpEnd>(&input.what)) {
      EXPECT_TRUE(end->status.ok()) << end->status;
      ended = true;
    }
  };
  transport_->Start(id, std::move(request));
  EXPECT_TRUE(Until([&] { return ended; }));
  receivers_.erase(kOwnRequests);
  if (absl::StatusOr<Json> json = Json::Parse(body); json.ok()) reply.body = *std::move(json);
  if (reply.status >= 300) reply.error = DecodeStatus(reply.status, body);
  return reply;
}

LiveReply LiveClusterTest::Call(HttpMethod method, const std::string& target, const Json& body,
                                const std::string& content_type) {
  HttpRequest request;
  request.method = method;
  request.target = target;
  if (!body.is_null()) {
    request.content_type = content_type;
    request.body = body.Dump();
  }
  return Send(std::move(request));
}

std::string LiveClusterTest::PodPath(const std::string& name) const {
  return absl::StrCat("/api/v1/namespaces/", namespace_, "/pods/", name);
}

PodReference LiveClusterTest::CreatePod(const std::string& name, const Json& metadata,
                                        const Json& spec) {
  Json all_metadata = Json::Object({{"name", name}});
  for (const auto& [key, value] : metadata.members()) all_metadata.Set(key, value);
  Json all_spec = Json::Object(
      {{"schedulerName", "conformance"},
       {"containers", Json::Array({Json::Object({{"name", "main"}, {"image", "none"}})})}});
  for (const auto& [key, value] : spec.members()) all_spec.Set(key, value);
  const LiveReply reply =
      Call(HttpMethod::kPost, absl::StrCat("/api/v1/namespaces/", namespace_, "/pods"),
           Json::Object({{"metadata", all_metadata}, {"spec", all_spec}}));
  EXPECT_EQ(reply.status, 201) << reply.error.message;
  return {namespace_, name, reply.body.At("metadata.uid").AsString()};
}

bool LiveClusterTest::Until(const std::function<bool()>& reached,
                            const std::function<void()>& tick) {
  const absl::Time give_up = Now() + kLongestWait;
  while (!reached()) {
    if (Now() > give_up) return false;
    for (const HttpInput& input : transport_->Poll(absl::Milliseconds(20))) {
      const auto it = receivers_.find(RequestIds::OwnerOf(input.request));
      if (it != receivers_.end()) it->second(input);
    }
    tick();
  }
  return true;
}

void LiveSession::Take(SessionOutput output) {
  for (HttpStart& start : output.http.start) {
    open_ = start.id;
    if (rewrite_ && absl::StrContains(start.request.target, "watch=true")) {
      std::exchange(rewrite_, nullptr)(start.request);
    }
  }
  Perform(std::move(output.http), transport_);
  for (ObjectEvent& event : output.events) {
    if (auto* upserted = std::get_if<ObjectUpserted>(&event)) {
      const ObjectMeta& meta = MetaOf(upserted->object);
      if (meta.namespace_name != namespace_) continue;
      told_.push_back(absl::StrCat("+", meta.name));
      objects_.insert_or_assign(meta.name, std::move(upserted->object));
    } else if (const auto* deleted = std::get_if<ObjectDeleted>(&event)) {
      if (deleted->key.namespace_name != namespace_) continue;
      told_.push_back(absl::StrCat("-", deleted->key.name));
      objects_.erase(deleted->key.name);
    }
  }
}

void LiveSession::Cut(absl::Time now) {
  transport_.Cancel(open_);
  On({open_, HttpEnd{absl::UnavailableError("cut by the test")}}, now);
}

int LiveSession::CountOf(const std::string& told) const {
  return static_cast<int>(std::count(told_.begin(), told_.end(), told));
}

const Object* LiveSession::Find(const std::string& name) const {
  const auto it = objects_.find(name);
  return it == objects_.end() ? nullptr : &it->second;
}

}  // namespace maniple
