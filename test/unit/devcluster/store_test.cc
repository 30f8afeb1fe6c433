#include "api/devcluster/store/store.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::devcluster {
namespace {

const StorageId kThings(3);

Json Thing(absl::string_view ns, absl::string_view name, int64_t value) {
  return Json::Object({{"metadata", Json::Object({{"namespace", Json(ns)}, {"name", Json(name)}})},
                       {"value", Json(value)}});
}

TEST(Store, GivesEveryChangeTheNextVersion) {
  Store store(10);
  const uint64_t before = store.version();
  store.Put(kThings, Thing("a", "x", 1));
  const ObjectPtr second = store.Put(kThings, Thing("a", "x", 2));
  EXPECT_EQ(store.version(), before + 2);
  EXPECT_EQ((*second)["metadata"]["resourceVersion"].AsString(), absl::StrCat(before + 2));
}

TEST(Store, AnEqualObjectIsNoChange) {
  Store store(10);
  const ObjectPtr first = store.Put(kThings, Thing("a", "x", 1));
  const uint64_t version = store.version();
  EXPECT_EQ(store.Put(kThings, Thing("a", "x", 1)), first);
  EXPECT_EQ(store.version(), version);
}

TEST(Store, ADeletionCarriesTheLastStateAtItsOwnVersion) {
  Store store(10);
  store.Put(kThings, Thing("a", "x", 7));
  store.Erase(kThings, {"a", "x"});
  const Change* change = store.ChangeAt(kThings, store.HistoryEnd(kThings) - 1);
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(change->kind, ChangeKind::kDeleted);
  EXPECT_EQ((*change->object)["value"].AsInt(), 7);
  EXPECT_EQ((*change->object)["metadata"]["resourceVersion"].AsString(),
            absl::StrCat(store.version()));
}

TEST(Store, ListsInOrderOfNamespaceThenName) {
  Store store(10);
  store.Put(kThings, Thing("b", "a", 1));
  store.Put(kThings, Thing("a", "z", 1));
  store.Put(kThings, Thing("a", "b", 1));
  std::string names;
  for (const ObjectPtr& object : store.List(kThings)) names += NameOf(*object).name;
  EXPECT_EQ(names, "bza");
  EXPECT_EQ(store.List(kThings, "a").size(), 2);
}

TEST(Store, RefusesStatesThatTheHistoryHasLost) {
  Store store(2);
  store.Put(kThings, Thing("a", "x", 1));
  const uint64_t old = store.version();
  for (int i = 0; i < 5; ++i) store.Put(kThings, Thing("a", "y", i));
  EXPECT_FALSE(store.ListAt(kThings, old, "").has_value());
  EXPECT_TRUE(store.ListAt(kThings, store.HistoryFloor(kThings), "").has_value());
}

TEST(Store, RenumberingKeepsTheOrderAndExpiresEveryOldVersion) {
  Store store(10);
  store.Put(kThings, Thing("a", "x", 1));
  store.Put(kThings, Thing("a", "y", 1));
  for (int i = 0; i < 5; ++i) store.Put(kThings, Thing("a", "x", i + 10));
  const uint64_t before = store.version();
  store.Renumber();
  EXPECT_EQ(store.version(), before + 2);
  const auto version_of = [&store](const char* name) {
    return (*store.Get(kThings, {"a", name}))["metadata"]["resourceVersion"].AsString();
  };
  EXPECT_EQ(version_of("y"), std::to_string(before + 1));
  EXPECT_EQ(version_of("x"), std::to_string(before + 2));
  EXPECT_EQ(store.HistoryFloor(kThings), before + 2);
}

// The oracle keeps a full copy of every state.
TEST(Store, AnyStateInTheHistoryEqualsTheCopyMadeThen) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    Store store(50);
    std::map<ObjectName, int64_t> model;
    std::map<uint64_t, std::map<ObjectName, int64_t>> states;
    for (int step = 0; step < 300; ++step) {
      const std::string ns = absl::StrCat("n", random.Below(3));
      const std::string name = absl::StrCat("x", random.Below(5));
      if (random.OneIn(3)) {
        store.Erase(kThings, {ns, name});
        model.erase({ns, name});
      } else {
        const int64_t value = static_cast<int64_t>(random.Below(4));
        store.Put(kThings, Thing(ns, name, value));
        model[{ns, name}] = value;
      }
      states[store.version()] = model;
    }
    for (const auto& [version, state] : states) {
      const auto listed = store.ListAt(kThings, version, "");
      ASSERT_EQ(listed.has_value(), version >= store.HistoryFloor(kThings));
      if (!listed.has_value()) continue;
      std::map<ObjectName, int64_t> got;
      for (const ObjectPtr& object : *listed) got[NameOf(*object)] = (*object)["value"].AsInt();
      EXPECT_EQ(got, state) << "seed " << seed << " version " << version;
    }
  }
}

}  // namespace
}  // namespace maniple::devcluster
