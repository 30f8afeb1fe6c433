// ClusterClient with kinds of producers: none of them keeps it from leading.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/clock.h"
#include "api/client/cluster_client.h"
#include "test/support/plain_foreign_reader.h"

namespace maniple {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Keeps what is open; the test answers.
class HeldTransport final : public Transport {
 public:
  void Start(RequestId id, HttpRequest request) override {
    EXPECT_TRUE(open.emplace(id, std::move(request)).second) << "an id stands twice";
  }
  void Cancel(RequestId id) override { open.erase(id); }

  std::map<RequestId, HttpRequest> open;
};

class ClusterClientTest : public ::testing::Test {
 protected:
  ClusterClientTest()
      : client_({.election = ElectorOptions{.identity = "a"},
                 .foreign = PlainForeignKinds(),
                 .reader = std::make_shared<const PlainForeignReader>()},
                transport_) {
    client_.Start(clock_.Now());
  }

  void Answer(RequestId id, int status, const std::string& body) {
    transport_.open.erase(id);
    client_.On({id, HttpHead{status, "application/json", {}}}, clock_.Now());
    client_.On({id, HttpChunk{body}}, clock_.Now());
    client_.On({id, HttpEnd{}}, clock_.Now());
    ClusterNews news = client_.TakeNews();
    for (ObjectEvent& event : news.events) events_.push_back(std::move(event));
    if (news.leading.has_value()) leading_ = *news.leading;
  }

  // Everything that is open and no watch; lists of producers' kinds with this status.
  void AnswerAll(int foreign_status) {
    const std::map<RequestId, HttpRequest> open = transport_.open;
    for (const auto& [id, request] : open) {
      if (absl::StrContains(request.target, "watch=true") || !transport_.open.contains(id))
        continue;
      if (absl::StrContains(request.target, "/leases")) {
        Answer(id, request.method == HttpMethod::kGet ? 404 : 201,
               R"({"metadata":{"resourceVersion":"1"},"spec":{"holderIdentity":"a"}})");
      } else if (absl::StrContains(request.target, ".example/")) {
        Answer(id, foreign_status, "{}");
      } else {
        const auto kind = static_cast<ResourceKind>(RequestIds::OwnerOf(id));
        Answer(id, 200,
               absl::StrCat(R"({"kind":")", ResourceKindName(kind),
                            R"(List","metadata":{"resourceVersion":"1"},"items":[]})"));
      }
    }
  }

  // Of kinds of producers, in order: "served:v1@16", "synced@16".
  std::vector<std::string> ToldOfProducers() const {
    std::vector<std::string> out;
    for (const ObjectEvent& event : events_) {
      if (const auto* synced = std::get_if<KindSynced>(&event)) {
        if (IsForeign(synced->kind)) {
          out.push_back(absl::StrCat("synced ", ForeignIndex(synced->kind)));
        }
      } else if (const auto* served = std::get_if<KindServed>(&event)) {
        out.push_back(absl::StrCat(served->state == ServedState::kServed      ? "served "
                                   : served->state == ServedState::kForbidden ? "forbidden "
                                                                              : "missing ",
                                   ForeignIndex(served->kind)));
      }
    }
    return out;
  }

  SimulatedClock clock_;
  HeldTransport transport_;
  ClusterClient client_;
  std::vector<ObjectEvent> events_;
  bool leading_ = false;
};

TEST_F(ClusterClientTest, LeadsWhereKindsOfProducersAreNotInstalled) {
  for (int i = 0; i < 4; ++i) AnswerAll(404);
  EXPECT_TRUE(leading_);
  EXPECT_THAT(client_.Problems(), IsEmpty());
  EXPECT_THAT(ToldOfProducers(),
              testing::UnorderedElementsAre("missing 0", "synced 0", "missing 1", "synced 1"));
}

TEST_F(ClusterClientTest, LeadsWhereKindsOfProducersMayNotBeReadAndSaysSo) {
  for (int i = 0; i < 4; ++i) AnswerAll(403);
  EXPECT_THAT(ToldOfProducers(), IsEmpty()) << "a server that starts up answers so, too";
  for (int i = 0; i < 4; ++i) {
    clock_.Advance(absl::Seconds(2));
    client_.OnTime(clock_.Now());
    AnswerAll(403);
  }
  EXPECT_TRUE(leading_);
  EXPECT_THAT(client_.Problems(), ElementsAre(HasSubstr("gangs.one.example: not allowed to list"),
                                              HasSubstr("gangs.other.example: not allowed")));
  EXPECT_THAT(ToldOfProducers(), Contains("forbidden 1"));
  EXPECT_THAT(ToldOfProducers(), Contains("synced 1"));
}

TEST_F(ClusterClientTest, WaitsForTheListOfAKindThatFails) {
  for (int i = 0; i < 4; ++i) AnswerAll(500);
  EXPECT_FALSE(leading_);
  EXPECT_THAT(ToldOfProducers(), Not(Contains("synced 0")));
}

TEST_F(ClusterClientTest, GoesOnWithoutAKindThatCannotBeListedForLong) {
  const absl::Time began = clock_.Now();
  while (clock_.Now() < began + absl::Seconds(60)) {
    AnswerAll(500);
    clock_.Advance(absl::Seconds(5));
    client_.OnTime(clock_.Now());
  }
  AnswerAll(500);
  EXPECT_THAT(ToldOfProducers(), Contains("served 0")) << "who names its objects waits for them";
  EXPECT_THAT(ToldOfProducers(), Contains("synced 0"));
  EXPECT_THAT(ToldOfProducers(), Not(Contains("missing 0")));
}

TEST_F(ClusterClientTest, WhatWasDecidedUnderAnEarlierLeadIsNotSent) {
  for (int i = 0; i < 4; ++i) AnswerAll(404);
  ASSERT_TRUE(leading_);
  const auto command = [](uint64_t id) {
    return WriteCommand{.id = id,
                        .request = {.method = HttpMethod::kPost, .target = "/api/v1/binding"}};
  };
  const auto sent = [this] {
    return std::ranges::count_if(transport_.open, [](const auto& request) {
      return request.second.target == "/api/v1/binding";
    });
  };
  client_.Write({command(1)}, 1, clock_.Now());
  EXPECT_EQ(sent(), 1);
  clock_.Advance(absl::Seconds(11));
  client_.OnTime(clock_.Now());
  EXPECT_TRUE(client_.TakeNews().lost_lead);
  for (int i = 0; i < 20 && client_.TakeNews().lead < 2; ++i) {
    AnswerAll(404);
    clock_.Advance(absl::Seconds(1));
    client_.OnTime(clock_.Now());
  }
  ASSERT_EQ(client_.TakeNews().lead, 2);
  const auto before = sent();
  client_.Write({command(2)}, 1, clock_.Now());
  EXPECT_EQ(sent(), before);
  const ClusterNews news = client_.TakeNews();
  ASSERT_EQ(news.results.size(), 1);
  EXPECT_EQ(news.results[0].id, 2);
  EXPECT_EQ(news.results[0].outcome, WriteOutcome::kFenced);
  client_.Write({command(3)}, 2, clock_.Now());
  EXPECT_EQ(sent(), before + 1);
}

// The fear: a proxy says 404 for a server that starts, and all nodes look empty.
TEST_F(ClusterClientTest, A404OfPodsIsNoWordThatThereAreNone) {
  for (int i = 0; i < 4; ++i) {
    const std::map<RequestId, HttpRequest> open = transport_.open;
    for (const auto& [id, request] : open) {
      if (absl::StartsWith(request.target, "/api/v1/pods?limit")) {
        Answer(id, 404, "default backend - 404");
      }
    }
    AnswerAll(404);
  }
  EXPECT_FALSE(leading_);
  EXPECT_THAT(client_.Problems(), ElementsAre(HasSubstr("Pod: ")));
  for (const ObjectEvent& event : events_) {
    const auto* synced = std::get_if<KindSynced>(&event);
    EXPECT_FALSE(synced != nullptr && synced->kind == ResourceKind::kPod);
  }
  clock_.Advance(absl::Seconds(1));
  client_.OnTime(clock_.Now());
  for (int i = 0; i < 2; ++i) AnswerAll(404);
  EXPECT_TRUE(leading_);
}

}  // namespace
}  // namespace maniple
