// Readers of the page have what the cluster has, however they come, go and miss changes.
#include "scheduler/page/page_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/random.h"
#include "api/codec/json.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;

// What a browser does with the events.
class Browser {
 public:
  // False: it was up to date.
  bool Read(PageFeed& feed) {
    const PageEventPtr event = feed.After(last_);
    if (event == nullptr) return false;
    last_ = event->id;
    Apply(event->text);
    return true;
  }
  void Apply(const std::string& text) {
    const std::vector<std::string> lines = absl::StrSplit(text, '\n');
    ASSERT_EQ(lines.size(), 5) << text;
    EXPECT_EQ(lines[0], "event: rows");
    EXPECT_EQ(lines[1], absl::StrCat("id: ", last_));
    const absl::StatusOr<Json> data = Json::Parse(absl::StripPrefix(lines[2], "data: "));
    ASSERT_TRUE(data.ok()) << lines[2];
    if ((*data)["all"].AsBool()) {
      rows_.clear();
      ++times_all;
    }
    for (const Json& row : (*data)["rows"].items()) rows_[row["k"].AsString()] = row.Dump();
    for (const Json& key : (*data)["gone"].items()) EXPECT_EQ(rows_.erase(key.AsString()), 1);
  }
  [[nodiscard]] const std::map<std::string, std::string>& rows() const { return rows_; }
  [[nodiscard]] const std::string& last() const { return last_; }

  int times_all = 0;

 private:
  std::string last_;
  std::map<std::string, std::string> rows_;
};

std::map<std::string, std::string> TrueRows(const ClusterView& view) {
  std::map<std::string, std::string> rows;
  for (const PageRow& row : PageRowsOf(view, {}, {"v"})) rows[row.key] = row.json;
  return rows;
}

ClusterViewPtr SomeView(Random& random) {
  auto view = std::make_shared<ClusterView>();
  view->leader = random.Below(8) > 0;
  for (int i = 0; i < 6; ++i) {
    if (random.Below(3) > 0) {
      view->nodes.push_back({.name = absl::StrCat("n", i), .schedulable = random.Below(4) > 0});
    }
    if (random.Below(3) > 0) {
      view->gangs.push_back({.namespace_name = i < 3 ? "a" : "a-b",
                             .name = absl::StrCat("g", i),
                             .phase = random.Below(3) > 0 ? "Running" : "Completed"});
    }
  }
  return view;
}

TEST(PageFeed, WhoeverFollowsHasTheRowsOfTheLastView) {
  Random random(1);
  for (int history = 0; history < 200; ++history) {
    PageFeed feed("f", {}, "v");
    std::vector<Browser> browsers(4);  // the first reads each time, the last every fourth time
    ClusterViewPtr view;
    for (int step = 0; step < 30; ++step) {
      if (view == nullptr || random.Below(4) > 0) view = SomeView(random);
      feed.Take(view);
      for (size_t i = 0; i < browsers.size(); ++i) {
        if (step % (i + 1) != 0) continue;
        while (browsers[i].Read(feed)) {
        }
        EXPECT_EQ(browsers[i].rows(), TrueRows(*view));
      }
    }
    EXPECT_EQ(browsers[0].times_all, 1);
  }
}

TEST(PageFeed, AnotherProcessesIdGetsAllRows) {
  Random random(1);
  PageFeed feed("f", {}, "v");
  feed.Take(SomeView(random));
  for (const char* id : {"", "other.1", "f.0", "f.7", "f.", "f.1x"}) {
    const PageEventPtr event = feed.After(id);
    ASSERT_NE(event, nullptr) << id;
    EXPECT_THAT(event->text, HasSubstr("\"all\":true")) << id;
  }
  EXPECT_EQ(feed.After("f.1"), nullptr);
}

TEST(PageFeed, BeforeTheFirstViewThereIsNothing) {
  PageFeed feed("f", {}, "v");
  EXPECT_EQ(feed.After(""), nullptr);
  EXPECT_EQ(feed.StillText(), ": still here\n\n");
}

TEST(PageFeed, AViewInWhichNothingChangedSaysSo) {
  auto view = std::make_shared<ClusterView>();
  view->at = absl::FromUnixMillis(1500);
  PageFeed feed("f", {}, "v");
  feed.Take(view);
  Browser browser;
  EXPECT_TRUE(browser.Read(feed));
  auto later = std::make_shared<ClusterView>(*view);
  later->at = absl::FromUnixMillis(2500);
  feed.Take(later);
  EXPECT_FALSE(browser.Read(feed));
  browser.Apply(feed.StillText());
  EXPECT_THAT(feed.StillText(), HasSubstr("\"at\":2.500,\"rows\":[]"));
}

// The fear: whoever opens the page of a quiet cluster is told that it is hours old.
TEST(PageFeed, WhoeverComesLateHearsOfTheLastViewThoughNothingChanged) {
  auto view = std::make_shared<ClusterView>();
  view->at = absl::FromUnixMillis(1500);
  PageFeed feed("f", {}, "v");
  feed.Take(view);
  ASSERT_NE(feed.After(""), nullptr);
  auto later = std::make_shared<ClusterView>(*view);
  later->at = absl::FromUnixMillis(3'600'500);
  feed.Take(later);
  EXPECT_THAT(feed.After("")->text, HasSubstr("\"at\":3600.500,\"all\":true"));
  EXPECT_EQ(feed.After("f.1"), nullptr);
}

}  // namespace
}  // namespace maniple
