// Drives a WatchSession by hand: answers its requests with scripted bytes, and keeps what it told.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/clock.h"
#include "api/client/watch_session.h"
#include "api/codec/decode.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/support/plain_foreign_reader.h"

namespace maniple {

inline std::string NamespaceJson(absl::string_view name, absl::string_view uid, int version) {
  return absl::StrCat(R"({"metadata":{"name":")", name, R"(","uid":")", uid,
                      R"(","resourceVersion":")", version, "\"}}");
}
inline std::string ListJson(int version, const std::vector<std::string>& items,
                            absl::string_view continue_token = "") {
  return absl::StrCat(
      R"({"kind":"NamespaceList","apiVersion":"v1","metadata":{"resourceVersion":")", version,
      R"(","continue":")", continue_token, R"("},"items":[)", absl::StrJoin(items, ","), "]}");
}
inline std::string Line(absl::string_view type, absl::string_view object) {
  return absl::StrCat(R"({"type":")", type, R"(","object":)", object, "}\n");
}
inline std::string BookmarkLine(int version) {
  return Line("BOOKMARK", absl::StrCat(R"({"kind":"Namespace","apiVersion":"v1","metadata":)",
                                       R"({"resourceVersion":")", version, "\"}}"));
}
inline std::string ErrorLine(int code, absl::string_view reason) {
  return Line("ERROR", absl::StrCat(R"({"kind":"Status","code":)", code, R"(,"reason":")", reason,
                                    R"(","message":"as scripted"})"));
}

// "+name@uid", "-name@uid", "!name@uid" (invalid), "synced": one word an event.
inline std::string Told(const ObjectEvent& event) {
  struct Words {
    std::string operator()(const ObjectUpserted& e) const {
      return absl::StrCat("+", MetaOf(e.object).name, "@", MetaOf(e.object).uid);
    }
    std::string operator()(const ObjectDeleted& e) const {
      return absl::StrCat("-", e.key.name, "@", e.uid);
    }
    std::string operator()(const ObjectInvalid& e) const {
      return absl::StrCat("!", e.key.name, "@", e.uid);
    }
    std::string operator()(const KindSynced&) const { return "synced"; }
    std::string operator()(const KindServed& e) const {
      return e.state == ServedState::kServed      ? absl::StrCat("served:", e.version)
             : e.state == ServedState::kForbidden ? "forbidden"
                                                  : "not installed";
    }
  };
  return std::visit(Words(), event);
}

class SessionTest : public ::testing::Test {
 protected:
  explicit SessionTest(WatchSessionOptions options = {.kind = ResourceKind::kNamespace, .owner = 9})
      : session_(std::move(options), 5) {}

  absl::Time Now() const { return clock_.Now(); }

  void Take(SessionOutput out) {
    for (const RequestId id : out.http.cancel) {
      EXPECT_TRUE(open_.has_value() && open_->id == id) << "cancels what is not open";
      open_.reset();
      ++cancels_;
    }
    for (HttpStart& start : out.http.start) {
      EXPECT_FALSE(open_.has_value()) << "two requests open";
      open_ = std::move(start);
    }
    for (const ObjectEvent& event : out.events) told_.push_back(Told(event));
  }

  void Start() { Take(session_.Start()); }

  void Head(int status, const std::string& type = "application/json",
            std::optional<absl::Duration> retry_after = std::nullopt) {
    Give(HttpHead{status, type, retry_after});
  }
  void Bytes(const std::string& bytes) { Give(HttpChunk{bytes}); }
  void End(absl::Status status = absl::OkStatus()) {
    ASSERT_TRUE(open_.has_value());
    const RequestId id = std::exchange(open_, std::nullopt)->id;
    Take(session_.On({id, HttpEnd{std::move(status)}}, decoder_, Now()));
  }
  void Reply(int status, const std::string& body, const std::string& type = "application/json") {
    Head(status, type);
    Bytes(body);
    End();
  }
  void Break() { End(absl::UnavailableError("connection reset")); }

  void Status(int code, absl::string_view reason) {
    Reply(code, absl::StrCat(R"({"kind":"Status","reason":")", reason, R"(","message":"no"})"));
  }

  // Looks again and again for so long, is answered 403, and looks once more.
  void RefuseFor(absl::Duration time) {
    const absl::Time until = Now() + time;
    for (Wait(); Now() < until; Wait()) Status(403, "Forbidden");
  }

  // Lets the backoff pass.
  void Wait() {
    ASSERT_LT(session_.NextDeadline(), absl::InfiniteFuture()) << "nothing to wait for";
    clock_.AdvanceTo(std::max(Now(), session_.NextDeadline()));
    Take(session_.OnTime(Now()));
  }

  // Started, listed with these, and watching with the head in.
  void Sync(int version, const std::vector<std::string>& items) {
    Start();
    Reply(200, ListJson(version, items));
    Head(200);
    told_.clear();
  }

  [[nodiscard]] std::string Target() const {
    return open_.has_value() ? open_->request.target : "nothing is open";
  }
  [[nodiscard]] bool Lists() const { return absl::StrContains(Target(), "?limit="); }
  [[nodiscard]] bool WatchesFrom(int version) const {
    return absl::StrContains(
        Target(),
        absl::StrCat("?watch=true&allowWatchBookmarks=true&resourceVersion=", version, "&"));
  }
  std::vector<std::string> TakeTold() { return std::exchange(told_, {}); }

  SimulatedClock clock_;
  const PlainForeignReader reader_;
  Decoder decoder_{&reader_};
  WatchSession session_;
  std::optional<HttpStart> open_;
  std::vector<std::string> told_;
  int cancels_ = 0;

 private:
  void Give(std::variant<HttpHead, HttpChunk, HttpEnd> what) {
    ASSERT_TRUE(open_.has_value());
    Take(session_.On({open_->id, std::move(what)}, decoder_, Now()));
  }
};

}  // namespace maniple
