// Whose fields are after server-side apply, against a model of single fields. Fears: force takes
// fields that are not in dispute; a field that somebody still wants goes; one that nobody wants
// stays; a refused apply changes something.
#include "api/devcluster/store/apply.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "api/devcluster/types/type_registry.h"

namespace maniple::devcluster::devcluster_apply_owners_test {
namespace {

using Data = std::map<std::string, std::string>;

// A ConfigMap of one field per key.
struct World {
  Data data;
  std::map<std::string, std::set<std::string>> owned;  // by manager

  friend bool operator==(const World&, const World&) = default;
  friend std::ostream& operator<<(std::ostream& out, const World& world) {
    for (const auto& [key, value] : world.data) out << key << "=" << value << " ";
    for (const auto& [manager, keys] : world.owned) {
      out << "| " << manager << ":";
      for (const std::string& key : keys) out << key;
    }
    return out;
  }
};

struct Wish {
  std::string manager;
  Data data;
  ApplyForce force = ApplyForce::kNo;
};

bool IsOwned(const World& world, const std::string& key) {
  for (const auto& [manager, keys] : world.owned) {
    if (keys.contains(key)) return true;
  }
  return false;
}

// False: refused.
bool Apply(const Wish& wish, World& world) {
  World next = world;
  std::set<std::string> before = next.owned[wish.manager];
  next.owned.erase(wish.manager);
  for (const auto& [key, value] : wish.data) {
    const auto there = next.data.find(key);
    if (there != next.data.end() && there->second != value && IsOwned(next, key)) {
      if (wish.force == ApplyForce::kNo) return false;
      for (auto& [manager, keys] : next.owned) keys.erase(key);
    }
    next.data[key] = value;
  }
  for (const std::string& key : before) {
    if (!wish.data.contains(key) && !IsOwned(next, key)) next.data.erase(key);
  }
  for (const auto& [key, value] : wish.data) next.owned[wish.manager].insert(key);
  std::erase_if(next.owned, [](const auto& entry) { return entry.second.empty(); });
  world = next;
  return true;
}

Json Applied(const Data& data) {
  Json object = Json::Object({{"apiVersion", "v1"},
                              {"kind", "ConfigMap"},
                              {"metadata", Json::Object({{"name", "m"}, {"namespace", "n"}})}});
  for (const auto& [key, value] : data) object.Mutable("data").Set(key, value);
  return object;
}

World Seen(const Json& object) {
  World world;
  for (const auto& [key, value] : object["data"].members()) world.data[key] = value.AsString();
  for (const Json& entry : object["metadata"]["managedFields"].items()) {
    for (const auto& [key, below] : entry["fieldsV1"]["f:data"].members()) {
      world.owned[entry["manager"].AsString()].insert(key.substr(2));
    }
  }
  return world;
}

Wish AnyWish(Random& random) {
  Wish wish{.manager = std::string(1, static_cast<char>('A' + random.Below(3)))};
  for (const std::string key : {"p", "q", "r"}) {
    if (!random.OneIn(2)) wish.data[key] = absl::StrCat(random.Below(2));
  }
  if (random.OneIn(2)) wish.force = ApplyForce::kYes;
  return wish;
}

TEST(ApplyOwners, AreThoseOfAModelOfSingleFields) {
  const TypeRegistry types;
  const MergeRules rules = MergeRules::OfType(*types.Find("", "v1", "configmaps"));
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    World world;
    Json live;
    for (int step = 0; step < 12; ++step) {
      const Wish wish = AnyWish(random);
      const World before = world;
      const bool taken = Apply(wish, world);
      ApiOr<Json> next = ApplyConfiguration(live, Applied(wish.data), rules,
                                            {.manager = wish.manager, .force = wish.force});
      ASSERT_EQ(next.ok(), taken) << before << " then " << wish.manager;
      if (taken) live = *std::move(next);
      ASSERT_EQ(Seen(live), world)
          << "seed " << seed << ", from " << before << ", by " << wish.manager;
    }
  }
}

}  // namespace
}  // namespace maniple::devcluster::devcluster_apply_owners_test
