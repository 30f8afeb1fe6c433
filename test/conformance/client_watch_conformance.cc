// Lists and watches of a live server through WatchSession and CurlTransport.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/conformance/live_cluster.h"

namespace maniple {
namespace {

constexpr uint16_t kPods = 1;

class WatchConformance : public LiveClusterTest {
 protected:
  void Begin(int page_size = 500) {
    session_ = std::make_unique<LiveSession>(
        WatchSessionOptions{.kind = ResourceKind::kPod, .owner = kPods, .page_size = page_size},
        namespace_, *transport_);
    Route(kPods, [this](const HttpInput& input) { session_->On(input, Now()); });
    session_->Take(session_->session().Start());
  }
  bool Await(const std::function<bool()>& reached) {
    return Until(reached, [this] { session_->OnTime(Now()); });
  }
  bool AwaitTold(const std::string& what) {
    return Await([&] { return session_->CountOf(what) > 0; });
  }
  bool AwaitWatching() {
    return Await([&] {
      return session_->session().synced() && session_->session().state() == SessionState::kWatching;
    });
  }

  std::unique_ptr<LiveSession> session_;
};

TEST_F(WatchConformance, AListComesInPagesOfOneSnapshot) {
  for (int i = 0; i < 7; ++i) CreatePod(absl::StrCat("p", i));
  Begin(3);
  ASSERT_TRUE(AwaitWatching()) << session_->session().problem();
  EXPECT_EQ(session_->told().size(), 7u);
  EXPECT_GE(session_->session().counters().pages, 3u);
  EXPECT_EQ(session_->session().counters().lists, 1u);
  EXPECT_EQ(session_->session().counters().garbage, 0u);
}

TEST_F(WatchConformance, AWatchSeesCreateUpdateAndDelete) {
  Begin();
  ASSERT_TRUE(AwaitWatching()) << session_->session().problem();
  const PodReference pod = CreatePod("p");
  ASSERT_TRUE(AwaitTold("+p"));
  EXPECT_EQ(MetaOf(*session_->Find("p")).uid, pod.uid);
  const Json label =
      Json::Object({{"metadata", Json::Object({{"labels", Json::Object({{"seen", "yes"}})}})}});
  EXPECT_EQ(Call(HttpMethod::kPatch, PodPath("p"), label, "application/merge-patch+json").status,
            200);
  EXPECT_TRUE(Await([&] { return MetaOf(*session_->Find("p")).labels.Get("seen") == "yes"; }));
  EXPECT_EQ(Send(DeletePodRequest(pod)).status, 200);
  EXPECT_TRUE(AwaitTold("-p"));
  EXPECT_EQ(session_->session().counters().garbage, 0u);
}

TEST_F(WatchConformance, AfterACutTheWatchResumesAndTellsNothingTwice) {
  CreatePod("before");
  Begin();
  ASSERT_TRUE(AwaitWatching());
  session_->Cut(Now());
  CreatePod("meanwhile");
  ASSERT_TRUE(AwaitTold("+meanwhile")) << session_->session().problem();
  EXPECT_EQ(session_->CountOf("+before"), 1);
  EXPECT_EQ(session_->CountOf("+meanwhile"), 1);
  EXPECT_EQ(session_->session().counters().lists, 1u);
}

TEST_F(WatchConformance, AnExpiredVersionLeadsToAListAndToTheDeletionsThatWereMissed) {
  const PodReference gone = CreatePod("gone");
  CreatePod("stays");
  Begin();
  ASSERT_TRUE(AwaitWatching());
  // The version of long ago: what a watch resumes at after an outage longer than the server's
  // history.
  session_->RewriteNextWatch([](HttpRequest& watch) {
    const size_t at = watch.target.find("resourceVersion=") + 16;
    watch.target.replace(at, watch.target.find('&', at) - at, "1");
  });
  EXPECT_EQ(Send(DeletePodRequest(gone)).status, 200);
  session_->Cut(Now());
  CreatePod("new");
  ASSERT_TRUE(Await([&] { return session_->session().counters().lists == 2; }))
      << session_->session().problem();
  EXPECT_GE(session_->session().counters().expired, 1u);
  EXPECT_TRUE(AwaitTold("-gone"));
  EXPECT_TRUE(AwaitTold("+new"));
  EXPECT_EQ(session_->CountOf("+stays"), 1);
}

TEST_F(WatchConformance, EveryKindOfOursCanBeListedAndWatched) {
  for (int kind = 0; kind < kResourceKinds; ++kind) {
    const auto owner = static_cast<uint16_t>(10 + kind);
    LiveSession session({.kind = static_cast<ResourceKind>(kind), .owner = owner}, namespace_,
                        *transport_);
    Route(owner, [&](const HttpInput& input) { session.On(input, Now()); });
    session.Take(session.session().Start());
    EXPECT_TRUE(Until([&] { return session.session().counters().watches > 0; },
                      [&] { session.OnTime(Now()); }))
        << kind << ": " << session.session().problem();
    EXPECT_EQ(session.session().counters().garbage, 0u) << kind;
    session.Take(session.session().Stop());
  }
}

}  // namespace
}  // namespace maniple
