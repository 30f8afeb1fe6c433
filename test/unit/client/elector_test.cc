#include "api/client/elector.h"

#include <deque>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/clock.h"
#include "api/codec/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maniple {
namespace {

// One Lease behind the API's rules: versions, conflicts, creation. Answers at once, or not at all
// when it is down.
class LeaseStore final {
 public:
  enum class Mode { kUp, kDown, kLosesReplies, kForbids };

  // What the request is answered with; nullopt = the connection breaks.
  std::optional<std::pair<int, std::string>> Handle(const HttpRequest& request) {
    ++requests;
    if (mode == Mode::kDown) return std::nullopt;
    if (mode == Mode::kForbids) {
      return {{403, R"({"kind":"Status","message":"User \"m\" cannot get it"})"}};
    }
    auto reply = Apply(request);
    if (mode == Mode::kLosesReplies) return std::nullopt;
    return reply;
  }

  // Somebody edits it with kubectl.
  void Edit(absl::string_view field, Json value) {
    lease->Mutable("spec").Set(field, std::move(value));
    Stamp(*lease);
  }
  void Relabel() {
    lease->Mutable("metadata").Set("labels", Json::Object({{"edited", "yes"}}));
    Stamp(*lease);
  }
  [[nodiscard]] std::string holder() const {
    return lease.has_value() ? lease->At("spec.holderIdentity").AsString() : "";
  }

  std::optional<Json> lease;
  Mode mode = Mode::kUp;
  int requests = 0;

 private:
  void Stamp(Json& object) {
    object.Mutable("metadata").Set("resourceVersion", absl::StrCat(++version_));
  }
  std::pair<int, std::string> Apply(const HttpRequest& request) {
    EXPECT_EQ(request.lane, HttpLane::kLease);
    if (request.method == HttpMethod::kPost) {
      if (lease.has_value()) return {409, Status("AlreadyExists")};
      return {201, Put(request.body)};
    }
    if (!lease.has_value()) return {404, Status("NotFound")};
    if (request.method == HttpMethod::kGet) return {200, lease->Dump()};
    const absl::StatusOr<Json> sent = Json::Parse(request.body);
    EXPECT_TRUE(sent.ok());
    const std::string& based_on = sent->At("metadata.resourceVersion").AsString();
    EXPECT_FALSE(based_on.empty()) << "a write of the lease without a precondition";
    if (based_on != lease->At("metadata.resourceVersion").AsString()) {
      return {409, Status("Conflict")};
    }
    return {200, Put(request.body)};
  }
  std::string Put(const std::string& body) {
    absl::StatusOr<Json> sent = Json::Parse(body);
    EXPECT_TRUE(sent.ok());
    lease = *std::move(sent);
    Stamp(*lease);
    return lease->Dump();
  }
  static std::string Status(const char* reason) {
    return Json::Object({{"kind", "Status"}, {"reason", reason}}).Dump();
  }

  int version_ = 100;
};

ElectorOptions OptionsFor(const char* identity, uint16_t owner) {
  return {.namespace_name = "kube-system", .name = "maniple", .identity = identity, .owner = owner};
}

// An elector wired to the store; replies come at the very instant.
struct Replica {
  Replica(const char* identity, uint16_t owner, LeaseStore& store)
      : elector(OptionsFor(identity, owner), owner), store(&store) {}

  void Serve(HttpActions actions, absl::Time now) {
    for (HttpStart& start : actions.start) {
      const auto reply = store->Handle(start.request);
      if (reply.has_value()) {
        Serve(elector.On({start.id, HttpHead{reply->first, "application/json", {}}}, now), now);
        Serve(elector.On({start.id, HttpChunk{reply->second}}, now), now);
        Serve(elector.On({start.id, HttpEnd{}}, now), now);
      } else {
        Serve(elector.On({start.id, HttpEnd{absl::UnavailableError("connection reset")}}, now),
              now);
      }
    }
  }
  [[nodiscard]] bool Leads(absl::Time now) const { return now < elector.lead_until(); }

  Elector elector;
  LeaseStore* store;
};

class ElectorTest : public ::testing::Test {
 protected:
  void Start(Replica& replica) { replica.Serve(replica.elector.Start(clock_.Now()), clock_.Now()); }

  // Lets time pass in the order of the replicas' deadlines; never are two of them leaders at once.
  void Run(absl::Duration time, std::vector<Replica*> replicas) {
    const absl::Time until = clock_.Now() + time;
    while (true) {
      absl::Time next = until;
      for (Replica* r : replicas) next = std::min(next, r->elector.NextDeadline());
      clock_.AdvanceTo(std::max(next, clock_.Now()));
      if (next >= until) break;
      for (Replica* r : replicas) {
        if (r->elector.NextDeadline() > clock_.Now()) continue;
        r->Serve(r->elector.OnTime(clock_.Now()), clock_.Now());
      }
      int leaders = 0;
      for (Replica* r : replicas) leaders += r->Leads(clock_.Now()) ? 1 : 0;
      ASSERT_LE(leaders, 1);
    }
  }

  SimulatedClock clock_;
  LeaseStore store_;
  Replica a_{"a", 1, store_};
  Replica b_{"b", 2, store_};
};

TEST_F(ElectorTest, TheFirstCreatesTheLeaseAndLeadsAtOnce) {
  Start(a_);
  EXPECT_TRUE(a_.Leads(clock_.Now()));
  EXPECT_EQ(a_.elector.lead_until(), clock_.Now() + absl::Seconds(10));
  EXPECT_EQ(store_.holder(), "a");
  EXPECT_EQ(store_.lease->At("spec.leaseDurationSeconds").AsInt(), 15);
}

TEST_F(ElectorTest, ALeaseThatIsForbiddenIsCountedAndNamed) {
  store_.mode = LeaseStore::Mode::kForbids;
  Start(a_);
  EXPECT_FALSE(a_.Leads(clock_.Now()));
  EXPECT_THAT(a_.elector.problem(),
              ::testing::StartsWith("the API server forbids Maniple to get leases in "
                                    "coordination.k8s.io: User"));
  const Right right{"get", "coordination.k8s.io", "leases"};
  EXPECT_EQ(a_.elector.counters().forbidden.at(right), 1);
}

TEST_F(ElectorTest, ALeaderRenewsAndAFollowerWaits) {
  Start(a_);
  Start(b_);
  Run(absl::Minutes(5), {&a_, &b_});
  EXPECT_TRUE(a_.Leads(clock_.Now()));
  EXPECT_EQ(b_.elector.state(), ElectorState::kFollowing);
  EXPECT_EQ(b_.elector.holder(), "a");
  EXPECT_EQ(a_.elector.counters().won, 1u);
  EXPECT_EQ(a_.elector.counters().lost, 0u);
}

TEST_F(ElectorTest, AStandbyTakesOverOnlyAfterTheLeaseRanOut) {
  Start(a_);
  Start(b_);
  Run(absl::Seconds(20), {&a_, &b_});
  const absl::Time last_renewal = a_.elector.lead_until() - absl::Seconds(10);
  Run(absl::Seconds(60), {&b_});  // a is dead
  EXPECT_TRUE(b_.Leads(clock_.Now()));
  EXPECT_EQ(store_.holder(), "b");
  EXPECT_EQ(store_.lease->At("spec.leaseTransitions").AsInt(), 1);
  absl::Time taken;
  ASSERT_TRUE(absl::ParseTime(absl::RFC3339_full, store_.lease->At("spec.acquireTime").AsString(),
                              &taken, nullptr));
  EXPECT_GE(taken, last_renewal + absl::Seconds(15));
  EXPECT_LE(taken, last_renewal + absl::Seconds(15 + 1)) << "it is there when the lease runs out";
}

TEST_F(ElectorTest, AStandbyKnowsFromWhenOnASilentLeaderMayWriteNoMore) {
  Start(a_);
  Start(b_);
  EXPECT_EQ(a_.elector.rival_ends(), absl::InfiniteFuture()) << "a leader has no rival";
  Run(absl::Seconds(20), {&a_, &b_});
  const absl::Time a_ends = a_.elector.lead_until();
  Run(absl::Seconds(3), {&b_});  // a is dead; b has seen its last renewal
  const absl::Time ends = b_.elector.rival_ends();
  EXPECT_GE(ends, a_ends + absl::Seconds(1)) << "what a sent last has arrived";
  EXPECT_LE(ends, a_ends + absl::Seconds(2));
  Run(absl::Seconds(60), {&b_});
  EXPECT_EQ(b_.elector.took_over_from(), ends);
}

TEST_F(ElectorTest, WhatALeaseSaysOfAnotherHolderOrInGarbageIsNotBelieved) {
  Start(a_);
  const Json& annotations = store_.lease->At("metadata.annotations");
  const std::string said = annotations["scheduling.maniple.dev/renew-deadline"].AsString();
  EXPECT_EQ(said, "a 10s");
  for (const char* text : {"", "10s", "a", "a ", "a ten", "stranger 10s", "a10s"}) {
    store_.lease->Mutable("metadata")
        .Set("annotations", Json::Object({{"scheduling.maniple.dev/renew-deadline", text}}));
    Replica standby("c", 3, store_);
    Start(standby);
    EXPECT_EQ(standby.elector.rival_ends(), absl::InfiniteFuture()) << text;
  }
  store_.lease->Mutable("metadata")
      .Set("annotations", Json::Object({{"scheduling.maniple.dev/renew-deadline", "a -1h"}}));
  Replica standby("c", 3, store_);
  Start(standby);
  EXPECT_EQ(standby.elector.rival_ends(), clock_.Now() + absl::Seconds(11)) << "not below our own";
}

TEST_F(ElectorTest, AReleasedLeaseIsTakenAtTheNextLook) {
  Start(a_);
  Start(b_);
  a_.Serve(a_.elector.Release(clock_.Now()), clock_.Now());
  EXPECT_EQ(a_.elector.state(), ElectorState::kReleased);
  EXPECT_EQ(store_.holder(), "");
  EXPECT_EQ(store_.lease->At("spec.leaseDurationSeconds").AsInt(), 1);
  EXPECT_EQ(a_.elector.NextDeadline(), absl::InfiniteFuture());
  Run(absl::Seconds(5), {&a_, &b_});
  EXPECT_TRUE(b_.Leads(clock_.Now()));
}

TEST_F(ElectorTest, ALeaderThatCannotRenewStopsBeforeAnybodyElseMayLead) {
  Start(a_);
  store_.mode = LeaseStore::Mode::kDown;
  Run(absl::Seconds(9), {&a_});
  EXPECT_TRUE(a_.Leads(clock_.Now()));
  Run(absl::Seconds(2), {&a_});
  EXPECT_FALSE(a_.Leads(clock_.Now()));
  EXPECT_EQ(a_.elector.state(), ElectorState::kFollowing);
  EXPECT_EQ(a_.elector.counters().lost, 1u);
}

TEST_F(ElectorTest, AnOutageShorterThanTheDeadlineCostsNothing) {
  Start(a_);
  store_.mode = LeaseStore::Mode::kDown;
  Run(absl::Seconds(7), {&a_});
  store_.mode = LeaseStore::Mode::kUp;
  Run(absl::Seconds(30), {&a_});
  EXPECT_TRUE(a_.Leads(clock_.Now()));
  EXPECT_EQ(a_.elector.counters().lost, 0u);
}

TEST_F(ElectorTest, ARenewalWhoseReplyIsLostGrantsNoTimeUntilItIsConfirmed) {
  Start(a_);
  const absl::Time granted = a_.elector.lead_until();
  store_.mode = LeaseStore::Mode::kLosesReplies;
  Run(absl::Seconds(3), {&a_});
  EXPECT_EQ(a_.elector.lead_until(), granted);
  store_.mode = LeaseStore::Mode::kUp;
  Run(absl::Seconds(3), {&a_});
  EXPECT_GT(a_.elector.lead_until(), granted);
}

TEST_F(ElectorTest, ALeaderWhoseLeaseIsTakenByHandStopsAtTheNextRenewal) {
  Start(a_);
  store_.Edit("holderIdentity", "somebody");
  Run(absl::Seconds(3), {&a_});
  EXPECT_FALSE(a_.Leads(clock_.Now()));
  EXPECT_EQ(a_.elector.holder(), "somebody");
  EXPECT_EQ(store_.holder(), "somebody");
}

TEST_F(ElectorTest, ALabelEditedByHandDoesNotUnseatTheLeaderAndSurvives) {
  Start(a_);
  store_.Relabel();
  Run(absl::Seconds(10), {&a_});
  EXPECT_TRUE(a_.Leads(clock_.Now()));
  EXPECT_EQ(a_.elector.counters().lost, 0u);
  EXPECT_EQ(store_.lease->At("metadata.labels.edited").AsString(), "yes");
}

TEST_F(ElectorTest, ADeletedLeaseIsCreatedAgain) {
  Start(a_);
  store_.lease.reset();
  Run(absl::Seconds(3), {&a_});
  EXPECT_TRUE(a_.Leads(clock_.Now()));
  EXPECT_EQ(store_.holder(), "a");
  EXPECT_EQ(a_.elector.counters().lost, 1u);
}

TEST_F(ElectorTest, ADeletedLeaseIsNotTakenWhileItsHolderMayStillWrite) {
  Start(a_);
  Start(b_);
  Run(absl::Seconds(4), {&a_, &b_});
  store_.lease.reset();
  Run(absl::Seconds(4), {&b_});
  EXPECT_FALSE(b_.Leads(clock_.Now())) << "a has not heard of it yet";
  Run(absl::Seconds(16), {&b_});
  EXPECT_TRUE(b_.Leads(clock_.Now()));
}

TEST_F(ElectorTest, APageThatAnswersInPlaceOfTheServerGrantsNoLead) {
  Elector elector(OptionsFor("a", 1), 1);
  HttpActions actions = elector.Start(clock_.Now());
  const auto answer = [&](int status, const char* body) {
    const RequestId id = actions.start.at(0).id;
    static_cast<void>(elector.On({id, HttpHead{status, "text/html", {}}}, clock_.Now()));
    static_cast<void>(elector.On({id, HttpChunk{body}}, clock_.Now()));
    actions = elector.On({id, HttpEnd{}}, clock_.Now());
  };
  answer(404, "{}");
  ASSERT_EQ(actions.start.at(0).request.method, HttpMethod::kPost);
  answer(200, "<html>sign in</html>");
  EXPECT_EQ(elector.state(), ElectorState::kFollowing);
  EXPECT_LE(elector.lead_until(), clock_.Now());
  EXPECT_THAT(elector.problem(), testing::HasSubstr("no Lease"));
}

TEST_F(ElectorTest, AGarbageLeaseIsTakenAfterItHasStoodStillForOneDuration) {
  store_.lease =
      Json::Object({{"metadata", Json::Object({{"name", "maniple"}, {"resourceVersion", "7"}})},
                    {"spec", Json::Object({{"holderIdentity", "ghost"},
                                           {"leaseDurationSeconds", -5},
                                           {"renewTime", "yesterday"},
                                           {"leaseTransitions", "many"}})}});
  Start(a_);
  Run(absl::Seconds(14), {&a_});
  EXPECT_FALSE(a_.Leads(clock_.Now()));
  Run(absl::Seconds(6), {&a_});
  EXPECT_TRUE(a_.Leads(clock_.Now()));
}

TEST_F(ElectorTest, ALeaseMadeShortByHandIsNotTakenBeforeItsHolderStops) {
  Start(a_);
  Start(b_);
  store_.Edit("leaseDurationSeconds", 1);
  // The holder is busy for a while and does not notice.
  for (int second = 0; second < 9; ++second) {
    Run(absl::Seconds(1), {&b_});
    EXPECT_TRUE(a_.Leads(clock_.Now()));
    EXPECT_FALSE(b_.Leads(clock_.Now()));
  }
  Run(absl::Seconds(15), {&b_});
  EXPECT_TRUE(b_.Leads(clock_.Now()));
}

TEST_F(ElectorTest, ALeaseThatClaimsToLastForDecadesIsTakenAfterMinutes) {
  store_.lease = Json::Object({{"metadata", Json::Object({{"resourceVersion", "7"}})},
                               {"spec", Json::Object({{"holderIdentity", "ghost"},
                                                      {"leaseDurationSeconds", 2147483647}})}});
  Start(a_);
  Run(absl::Minutes(4), {&a_});
  EXPECT_FALSE(a_.Leads(clock_.Now()));
  Run(absl::Minutes(2), {&a_});
  EXPECT_TRUE(a_.Leads(clock_.Now()));
}

TEST_F(ElectorTest, ALeaseWithoutSpecIsFree) {
  store_.lease = Json::Object({{"metadata", Json::Object({{"resourceVersion", "7"}})}});
  Start(a_);
  EXPECT_TRUE(a_.Leads(clock_.Now()));
}

TEST_F(ElectorTest, AHolderWithAWrongClockIsJudgedByWhatWeSeeNotByItsTimes) {
  Start(a_);
  store_.Edit("holderIdentity", "b");
  // Renews all the time, and its times lie a year back.
  for (int i = 0; i < 30; ++i) {
    store_.Edit("renewTime", absl::StrCat("2001-01-01T00:00:", i < 10 ? "0" : "", i, ".000000Z"));
    Run(absl::Seconds(3), {&a_});
    ASSERT_FALSE(a_.Leads(clock_.Now()));
  }
}

TEST_F(ElectorTest, AnswersThatAreNoLeaseAreSurvived) {
  for (const char* body : {"", "<html>", "[]", "{\"metadata\":3}", "{\"metadata\":{}}"}) {
    Elector elector(OptionsFor("a", 1), 1);
    HttpActions actions = elector.Start(clock_.Now());
    const RequestId id = actions.start.at(0).id;
    static_cast<void>(elector.On({id, HttpHead{200, "text/html", {}}}, clock_.Now()));
    static_cast<void>(elector.On({id, HttpChunk{body}}, clock_.Now()));
    actions = elector.On({id, HttpEnd{}}, clock_.Now());
    EXPECT_TRUE(actions.start.empty());
    EXPECT_EQ(elector.state(), ElectorState::kFollowing);
    EXPECT_LT(elector.NextDeadline(), clock_.Now() + absl::Seconds(5));
    EXPECT_NE(elector.problem(), "");
  }
}

TEST_F(ElectorTest, ReleasingWhileARenewalIsOpenStillGivesTheLeaseBack) {
  Start(a_);
  clock_.Advance(absl::Seconds(2));
  HttpActions renewal = a_.elector.OnTime(clock_.Now());
  ASSERT_EQ(renewal.start.size(), 1u);
  EXPECT_TRUE(a_.elector.Release(clock_.Now()).start.empty());
  EXPECT_FALSE(a_.Leads(clock_.Now()));
  a_.Serve(std::move(renewal), clock_.Now());
  EXPECT_EQ(a_.elector.state(), ElectorState::kReleased);
  EXPECT_EQ(store_.holder(), "");
}

TEST_F(ElectorTest, ReleasingAgainstADeadServerEndsInTime) {
  Start(a_);
  store_.mode = LeaseStore::Mode::kDown;
  a_.Serve(a_.elector.Release(clock_.Now()), clock_.Now());
  Run(absl::Seconds(11), {&a_});
  EXPECT_EQ(a_.elector.state(), ElectorState::kReleased);
}

TEST_F(ElectorTest, AFollowerIsReleasedAtOnceAndWritesNothing) {
  Start(b_);
  Start(a_);
  const int before = store_.requests;
  a_.Serve(a_.elector.Release(clock_.Now()), clock_.Now());
  EXPECT_EQ(a_.elector.state(), ElectorState::kReleased);
  EXPECT_EQ(store_.requests, before);
  EXPECT_EQ(store_.holder(), "b");
}

}  // namespace
}  // namespace maniple
