// From marks and objects to a gang, against the order of precedence by hand. Fears: a mark whose
// kind is not served hides the next; a later mark decides; a pod goes its own way while its group
// is not there yet; groups of groups are followed in a ring, or the innermost is taken.
#include "api/producers/resolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/random.h"
#include "test/unit/producers/packed_pods.h"

namespace maniple::producers_resolution_test {
namespace {

using ::testing::HasSubstr;

// In the order of precedence.
struct Source {
  MarkField field;
  const char* key;                   // of a label; of the upstream one a field of the pod
  std::optional<ProducerRole> role;  // of the object; none: marks alone, or a PodGroup of ours
};
const Source kSources[] = {
    {MarkField::kOwnGroup, "scheduling.maniple.dev/pod-group", std::nullopt},
    {MarkField::kXk8s, "scheduling.x-k8s.io/pod-group", ProducerRole::kXk8s},
    {MarkField::kUpstream, "", ProducerRole::kUpstream},
    {MarkField::kGrove, "grove.io/podgang", ProducerRole::kGrove},
    {MarkField::kYunikorn, "yunikorn.apache.org/app-id", std::nullopt},
    {MarkField::kKoordinator, "pod-group.scheduling.sigs.k8s.io", ProducerRole::kKoordinator},
    {MarkField::kKueue, "kueue.x-k8s.io/pod-group-name", std::nullopt},
};

class Groups final {
 public:
  void Serve(ProducerRole role) {
    (void)table_.SetServed({ForeignResource(KindOf(role)), ServedState::kServed, ""});
  }
  void Put(ProducerRole role, absl::string_view name, const ForeignSpec& spec,
           absl::string_view uid = "u") {
    ForeignObject object;
    object.kind = static_cast<uint8_t>(ForeignResource(KindOf(role)));
    object.meta.namespace_name = "ns";
    object.meta.name = std::string(name);
    object.meta.uid = std::string(uid);
    object.spec = spec;
    (void)table_.Upsert(object);
  }
  Resolution ResolveWith(const std::map<MarkField, std::string>& names) {
    Pod pod = PodWith("p", "{annotations: {yunikorn.apache.org/task-group-name: t}}", "");
    for (const Source& source : kSources) {
      const auto name = names.find(source.field);
      if (name == names.end()) continue;
      if (source.field == MarkField::kUpstream) pod.scheduling_group = name->second;
      if (*source.key != '\0') pod.meta.labels.Set(source.key, name->second);
    }
    return Resolve(pods_.Add(pod, table_.kinds()), table_);
  }

 private:
  [[nodiscard]] size_t KindOf(ProducerRole role) const { return table_.KindOf(role).value(); }

  ObjectTable table_{BuiltinForeignKinds()};
  PackedPods pods_;
};

// "ours g", "marks g", "missing g", "object g", "single".
std::string Shown(const Resolution& found) {
  const GangIdentity& gang = found.gang;
  switch (gang.origin) {
    case GangOrigin::kOurs:
      return absl::StrCat("ours ", gang.group_name);
    case GangOrigin::kMarks:
      return absl::StrCat("marks ", gang.part);
    case GangOrigin::kMissing:
      return absl::StrCat("missing ",
                          std::vector<std::string>(absl::StrSplit(found.awaited, ' ')).at(1));
    case GangOrigin::kObject:
      return absl::StrCat(gang.problem.empty() ? "object " : "ring ", gang.source->name);
    case GangOrigin::kNone:
    case GangOrigin::kOwner:
    case GangOrigin::kController:
      break;
  }
  return "single";
}

TEST(Resolution, TheFirstMarkThatSaysSomethingDecidesAndTheOthersAreTold) {
  Random random(1);
  for (int round = 0; round < 2'000; ++round) {
    Groups groups;
    std::map<MarkField, std::string> names;
    std::string want = "single", decided;
    int told = 0;
    for (const Source& source : kSources) {
      const bool served = source.role.has_value() && random.OneIn(2);
      const bool there = random.OneIn(2);
      const bool is_gang = random.OneIn(2);
      if (served) groups.Serve(*source.role);
      const std::string name = random.OneIn(2) ? "g" : "h";
      if (served && there) groups.Put(*source.role, name, {.is_gang = is_gang});
      if (random.OneIn(2)) continue;
      names[source.field] = name;
      if (want != "single") {
        told += name != decided ? 1 : 0;
      } else if (!source.role.has_value()) {
        want = absl::StrCat(source.field == MarkField::kOwnGroup ? "ours " : "marks ", name);
      } else if (!served) {
        ++told;
      } else if (!there || is_gang) {
        want = absl::StrCat(there ? "object " : "missing ", name);
      }
      if (want != "single" && decided.empty()) decided = name;
    }
    const Resolution found = groups.ResolveWith(names);
    ASSERT_EQ(Shown(found), want) << round;
    const std::vector<std::string> notes = absl::StrSplit(found.passed_over, ", ");
    ASSERT_EQ(found.passed_over.empty() ? 0 : static_cast<int>(notes.size()), told)
        << round << " " << found.passed_over;
  }
}

// Composites "0", "1" … each in the next, and group "g" in the first.
TEST(Resolution, OfGroupsWithinGroupsTheOutermostThatAsksForAGangCounts) {
  constexpr int kMost = 4;
  Random random(2);
  for (int round = 0; round < 500; ++round) {
    Groups groups;
    groups.Serve(ProducerRole::kUpstream);
    groups.Serve(ProducerRole::kComposite);
    const int depth = static_cast<int>(random.Below(kMost + 2));
    const bool is_gang = random.OneIn(2);
    groups.Put(ProducerRole::kUpstream, "g",
               {.is_gang = is_gang, .parent_group = depth > 0 ? "0" : ""});
    std::string want = is_gang ? "object g" : "single";
    bool ends = false;
    for (int i = 0; i < depth; ++i) {
      const bool there = !random.OneIn(6), asks = random.OneIn(2);
      const std::string above = i + 1 < depth ? absl::StrCat(i + 1) : "";
      if (there) {
        groups.Put(ProducerRole::kComposite, absl::StrCat(i),
                   {.is_gang = asks, .parent_group = above});
      }
      if (ends) continue;
      ends = i == kMost || !there;
      if (i == kMost) {
        want = "ring g";
      } else if (!there) {
        want = absl::StrCat("missing ", i);
      } else if (asks) {
        want = absl::StrCat("object ", i);
      }
    }
    const Resolution found = groups.ResolveWith({{MarkField::kUpstream, "g"}});
    ASSERT_EQ(Shown(found), want) << round;
    const bool in_composite = want.starts_with("object ") && want != "object g";
    ASSERT_EQ(found.sub_group, in_composite ? "g" : "") << round;
  }
}

TEST(Resolution, AGroupOfAnotherUidIsAnotherGang) {
  Groups groups;
  groups.Serve(ProducerRole::kXk8s);
  const auto name = [&groups] {
    return groups.ResolveWith({{MarkField::kXk8s, "g"}}).gang.group_name;
  };
  const std::string missing = name();
  groups.Put(ProducerRole::kXk8s, "g", {}, "first");
  const std::string first = name();
  groups.Put(ProducerRole::kXk8s, "g", {}, "second");
  EXPECT_NE(missing, first);
  EXPECT_NE(name(), first);
  EXPECT_NE(name(), missing);
}

TEST(Resolution, WhatWasLookedForIsSeenWhetherItIsThereOrNot) {
  Groups groups;
  groups.Serve(ProducerRole::kXk8s);
  groups.Serve(ProducerRole::kUpstream);
  groups.Put(ProducerRole::kXk8s, "g", {.is_gang = false});
  const Resolution found =
      groups.ResolveWith({{MarkField::kXk8s, "g"}, {MarkField::kUpstream, "h"}});
  ASSERT_EQ(found.seen.size(), 2u);
  EXPECT_EQ(found.seen[0]->name, "g");
  EXPECT_EQ(found.seen[1]->name, "h");
  EXPECT_EQ(found.awaited, "PodGroup h (scheduling.k8s.io)");
}

TEST(Resolution, AMarkIsToldWithoutItsWholeLength) {
  Groups groups;
  const Resolution found =
      groups.ResolveWith({{MarkField::kXk8s, std::string(1000, 'x')}, {MarkField::kKueue, "k"}});
  EXPECT_THAT(found.passed_over, HasSubstr("its kind is not served"));
  EXPECT_LT(found.passed_over.size(), 200u);
}

TEST(Resolution, EachRoleOfGroupObjectsHasItsMark) {
  for (const Source& source : kSources) {
    if (!source.role.has_value()) continue;
    EXPECT_EQ(MarkOf(*source.role), source.field);
  }
}

}  // namespace
}  // namespace maniple::producers_resolution_test
