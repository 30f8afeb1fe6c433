// Objects of producers by name, against a map. Fears: an object that has gone is found; one that
// came anew under its name is taken away with it; news is passed over, or an echo is taken for
// news; a declaration that nobody has is kept, or one that somebody has is dropped.
#include "api/producers/object_table.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/base/random.h"

namespace maniple::producers_object_table_test {
namespace {

ForeignKinds Kinds() {
  return {{.group = "e.dev", .versions = {"v2", "v1"}, .resource = "as", .kind = "A"},
          {.group = "e.dev", .versions = {"v1"}, .resource = "bs", .kind = "B"},
          {.group = "batch", .versions = {"v1"}, .resource = "jobs", .kind = "Job"}};
}

struct Name {
  uint8_t kind = 0;
  std::string namespace_name, name;
  friend auto operator<=>(const Name&, const Name&) = default;
};
Name SomeName(Random& random) {
  return {static_cast<uint8_t>(random.Below(2)), absl::StrCat("ns", random.Below(2)),
          absl::StrCat("n", random.Below(2))};
}
ForeignObject SomeObject(Random& random, const Name& name) {
  ForeignObject out;
  out.kind = static_cast<uint8_t>(ForeignResource(name.kind));
  out.meta.namespace_name = name.namespace_name;
  out.meta.name = name.name;
  out.meta.uid = absl::StrCat("u", random.Below(2));
  out.meta.created = absl::FromUnixSeconds(static_cast<int64_t>(random.Below(2)));
  out.api_version = "e.dev/v1";
  if (random.OneIn(3)) out.phase = "Running";
  if (random.OneIn(3)) out.meta.controller = OwnerReference{"B", "up", "u", "e.dev/v7"};
  if (random.OneIn(3)) out.meta.controller = OwnerReference{"C", "up", "u", "e.dev/v1"};
  out.spec.minimum = static_cast<int64_t>(random.Below(2));
  return out;
}
// All that the table keeps of it.
auto FactsOf(const ForeignObject& object) {
  const bool known = object.meta.controller.has_value() && object.meta.controller->kind == "B";
  return std::tuple(object.meta.uid, object.meta.created, object.phase, known, object.spec.minimum,
                    object.spec.problem);
}
auto FactsOf(const ObjectRecord& record) {
  return std::tuple(record.uid, record.created,
                    record.phase == nullptr ? std::string() : *record.phase,
                    record.parent != nullptr, record.spec->minimum, record.spec->problem);
}

class TableWithModel final {
 public:
  void Step(Random& random) {
    const Name name = SomeName(random);
    const auto known = model_.find(name);
    if (random.OneIn(3))
      return Remove(name, random.OneIn(2) ? "" : absl::StrCat("u", random.Below(2)));
    ForeignObject object = SomeObject(random, name);
    const ObjectSlot* changed = nullptr;
    if (random.OneIn(5)) {
      object = {.kind = object.kind, .meta = {}, .api_version = "", .spec = {}, .phase = ""};
      object.meta.uid = "u0";
      object.meta.created = absl::InfinitePast();
      object.spec.problem = "spec: is odd";
      changed = table_.Refuse({KeyOf(name), "u0", object.spec.problem});
    } else {
      changed = table_.Upsert(object);
    }
    const bool news = known == model_.end() || FactsOf(known->second) != FactsOf(object);
    ASSERT_EQ(changed != nullptr, news);
    if (news) {
      ASSERT_EQ(changed, Find(name));
    }
    model_[name] = object;
  }
  void Remove(const Name& name, const std::string& uid) {
    const auto known = model_.find(name);
    const bool goes = known != model_.end() && (uid.empty() || known->second.meta.uid == uid);
    ObjectSlot* changed = table_.Remove(KeyOf(name), uid);
    ASSERT_EQ(changed != nullptr, goes);
    if (!goes) return;
    ASSERT_FALSE(changed->record.has_value());
    table_.Tidy(*changed);
    model_.erase(known);
  }
  void ExpectSame() const {
    for (const uint8_t kind : {0, 1}) {
      for (const char* namespace_name : {"ns0", "ns1", "ns2"}) {
        for (const char* name : {"n0", "n1"}) ExpectSame({kind, namespace_name, name});
      }
    }
    for (const auto& [a, object] : model_) {
      for (const auto& [b, other] : model_) {
        const bool shared = Find(a)->record->spec == Find(b)->record->spec;
        ASSERT_EQ(shared, object.spec == other.spec) << "equal declarations are kept once";
      }
    }
  }
  void RemoveAll() {
    while (!model_.empty()) Remove(model_.begin()->first, "");
  }
  [[nodiscard]] std::vector<std::weak_ptr<const ForeignSpec>> Specs() const {
    std::vector<std::weak_ptr<const ForeignSpec>> out;
    for (const auto& [name, object] : model_) out.push_back(Find(name)->record->spec);
    return out;
  }

 private:
  static ObjectKey KeyOf(const Name& name) {
    return {ForeignResource(name.kind), name.namespace_name, name.name};
  }
  [[nodiscard]] const ObjectSlot* Find(const Name& name) const {
    return table_.Find(name.kind, name.namespace_name, name.name);
  }
  void ExpectSame(const Name& name) const {
    const auto known = model_.find(name);
    const ObjectSlot* slot = Find(name);
    ASSERT_EQ(slot != nullptr, known != model_.end()) << "a slot that nobody needs is forgotten";
    if (slot == nullptr) return;
    ASSERT_EQ(FactsOf(*slot->record), FactsOf(known->second));
    ASSERT_EQ(Name({slot->kind, table_.NamespaceOf(*slot), slot->name}), name);
  }

  ObjectTable table_{Kinds()};
  std::map<Name, ForeignObject> model_;
};

TEST(ObjectTable, HasWhatCameAndHasNotGone) {
  Random random(1);
  for (int round = 0; round < 100; ++round) {
    TableWithModel table;
    for (int step = 0; step < 40; ++step) {
      ASSERT_NO_FATAL_FAILURE(table.Step(random)) << round << " " << step;
      ASSERT_NO_FATAL_FAILURE(table.ExpectSame()) << round << " " << step;
    }
    const std::vector<std::weak_ptr<const ForeignSpec>> specs = table.Specs();
    ASSERT_NO_FATAL_FAILURE(table.RemoveAll());
    for (const auto& spec : specs) ASSERT_TRUE(spec.expired()) << round;
  }
}

TEST(ObjectTable, ADeclarationThatIsReplacedIsDropped) {
  Random random(2);
  ObjectTable table(Kinds());
  ForeignObject object = SomeObject(random, {0, "ns", "a"});
  const std::weak_ptr<const ForeignSpec> before = table.Upsert(object)->record->spec;
  object.spec.minimum = 7;
  ASSERT_NE(table.Upsert(object), nullptr);
  EXPECT_TRUE(before.expired());
}

TEST(ObjectTable, ASlotStaysWhereItIsWhileSomebodyWatchesIt) {
  ObjectTable table(Kinds());
  ObjectSlot& slot = table.At(0, "ns", "a");
  slot.watchers.push_back(nullptr);
  for (int i = 0; i < 100; ++i) (void)table.At(1, "ns", absl::StrCat(i));
  Random random(3);
  EXPECT_EQ(table.Upsert(SomeObject(random, {0, "ns", "a"})), &slot);
  EXPECT_EQ(table.Remove({ForeignResource(0), "ns", "a"}, ""), &slot);
  table.Tidy(slot);
  EXPECT_EQ(table.Find(0, "ns", "a"), &slot);
  EXPECT_EQ(&table.At(0, "ns", "a"), &slot);
  slot.watchers.clear();
  table.Tidy(slot);
  EXPECT_EQ(table.Find(0, "ns", "a"), nullptr);
}

TEST(ObjectTable, KnowsTheFirstKindOfARoleAndWhichAreServed) {
  ObjectTable table(Kinds());
  EXPECT_EQ(table.KindOf(ProducerRole::kRule), 0);
  EXPECT_EQ(table.KindOf(ProducerRole::kJob), 2);
  EXPECT_EQ(table.KindOf(ProducerRole::kJobSet), std::nullopt);
  EXPECT_FALSE(table.IsServed(1));
  EXPECT_TRUE(table.SetServed({ForeignResource(1), ServedState::kServed, "v1"}));
  EXPECT_FALSE(table.SetServed({ForeignResource(1), ServedState::kServed, "v1"}));
  EXPECT_TRUE(table.IsServed(1));
  EXPECT_FALSE(table.IsServed(0));
  EXPECT_TRUE(table.SetServed({ForeignResource(1), ServedState::kForbidden, "v1"}));
  EXPECT_EQ(table.served(1), ServedState::kForbidden);
}

}  // namespace
}  // namespace maniple::producers_object_table_test
