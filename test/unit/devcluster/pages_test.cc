// Pages of a list while objects come and go, against the snapshot that the first page saw. Fears:
// an object is left out or comes twice; a page shows a later state; the last page goes on; a
// selector makes a page empty, or ends the list.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "api/base/random.h"
#include "api/http/http.h"
#include "test/unit/devcluster/cluster.h"

namespace maniple::devcluster::devcluster_pages_test {
namespace {

constexpr absl::string_view kMaps = "/api/v1/namespaces/default/configmaps";

// A cluster whose ConfigMaps change at random.
class Changing final {
 public:
  explicit Changing(uint64_t seed) : random_(seed) {
    for (int i = 0; i < 12; ++i) Change();
  }

  void Change() {
    const std::string name = absl::StrCat("m", random_.Below(10));
    const std::string color = random_.OneIn(2) ? "red" : "blue";
    const std::string body =
        absl::StrCat("{'metadata':{'name':'", name, "','labels':{'color':'", color, "'}}}");
    if (random_.OneIn(3)) {
      cluster_.Delete(absl::StrCat(kMaps, "/", name));
    } else if (cluster_.Get(absl::StrCat(kMaps, "/", name)).code == 404) {
      cluster_.Make(kMaps, body);
    } else {
      cluster_.Put(absl::StrCat(kMaps, "/", name), FromText(body));
    }
  }

  std::vector<std::string> All(absl::string_view query) {
    return Names(cluster_.Get(absl::StrCat(kMaps, "?", query)));
  }

  // The same, page by page.
  std::vector<std::string> Paged(absl::string_view query, size_t limit) {
    std::vector<std::string> names;
    std::string version, token;
    do {
      const std::string more = token.empty() ? "" : absl::StrCat("&continue=", UrlEncoded(token));
      const Answer page = cluster_.Get(absl::StrCat(kMaps, "?", query, "&limit=", limit, more));
      EXPECT_EQ(page.code, 200) << page.message();
      const std::vector<std::string> here = Names(page);
      const std::string& seen = page.body["metadata"]["resourceVersion"].AsString();
      if (version.empty()) version = seen;
      EXPECT_EQ(seen, version);
      token = page.body["metadata"]["continue"].AsString();
      EXPECT_TRUE(token.empty() || here.size() == limit);
      names.insert(names.end(), here.begin(), here.end());
      Change();
    } while (!token.empty() && names.size() < 100);
    return names;
  }

 private:
  // Each with its version.
  static std::vector<std::string> Names(const Answer& list) {
    std::vector<std::string> names;
    for (const Json& item : list.body["items"].items()) {
      names.push_back(absl::StrCat(item["metadata"]["name"].AsString(), "@",
                                   item["metadata"]["resourceVersion"].AsString()));
    }
    return names;
  }

  Random random_;
  TestCluster cluster_;
};

TEST(Pages, AreTheSnapshotThatTheFirstOneSaw) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Changing cluster(seed);
    for (const absl::string_view query : {"a=b", "labelSelector=color%3Dred"}) {
      for (size_t limit = 1; limit <= 5; ++limit) {
        const std::vector<std::string> wanted = cluster.All(query);
        EXPECT_EQ(cluster.Paged(query, limit), wanted) << "seed " << seed << ", " << limit;
      }
    }
  }
}

}  // namespace
}  // namespace maniple::devcluster::devcluster_pages_test
