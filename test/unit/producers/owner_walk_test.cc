// The way from a pod up to the owner that counts, against a walk by hand. Fears: an owner of an
// earlier uid stands for the one that is meant; a ring is walked for ever; an owner that may not be
// read is waited for; an annotation asks for more pods than can be.
#include "api/producers/owner_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/unit/producers/packed_pods.h"

namespace maniple::producers_owner_walk_test {
namespace {

using ::testing::Contains;
using ::testing::StartsWith;

constexpr int kKinds = 4;

// "K0", "K1" … without rules of their own: owners that name their owners.
ForeignKinds Kinds() {
  ForeignKinds kinds;
  for (int i = 0; i < kKinds; ++i) {
    kinds.push_back(
        {.group = "e.dev", .versions = {"v1"}, .resource = "", .kind = absl::StrCat("K", i)});
  }
  return kinds;
}

struct Ref {
  int kind = 0;
  std::string name, uid;
  [[nodiscard]] OwnerReference reference() const {
    return {absl::StrCat("K", kind), name, uid, "e.dev/v1"};
  }
};

class OwnersAbove final {
 public:
  void Serve(int kind, ServedState state) {
    (void)table_.SetServed({ForeignResource(static_cast<size_t>(kind)), state, ""});
    served_[kind] = state;
  }
  void Put(const Ref& owner, const std::optional<Ref>& above, int64_t members) {
    ForeignObject object;
    object.kind = static_cast<uint8_t>(ForeignResource(static_cast<size_t>(owner.kind)));
    object.meta.namespace_name = "ns";
    object.meta.name = owner.name;
    object.meta.uid = owner.uid;
    if (above.has_value()) object.meta.controller = above->reference();
    object.spec.minimum = object.spec.most = members;
    (void)table_.Upsert(object);
    objects_[{owner.kind, owner.name}] = {owner.uid, above, members};
  }
  [[nodiscard]] Resolution Resolve(const Ref& controller, absl::string_view metadata = "") {
    Pod pod = PodWith("p", metadata, "");
    pod.meta.controller = controller.reference();
    Resolution out;
    notes_.clear();
    ResolveOwner(pods_.Add(pod, table_.kinds()), table_, out, notes_);
    return out;
  }
  // "single", "missing K1 a", "K1 a", "ring K1 a".
  [[nodiscard]] std::string Naively(Ref at) const {
    std::vector<std::pair<int, std::string>> path;
    while (true) {
      const auto served = served_.find(at.kind);
      if (served == served_.end() || served->second != ServedState::kServed) break;
      const auto owner = objects_.find({at.kind, at.name});
      if (owner == objects_.end() || owner->second.uid != at.uid) {
        return absl::StrCat("missing K", at.kind, " ", at.name);
      }
      if (std::ranges::find(path, owner->first) != path.end()) {
        return absl::StrCat("ring K", path.front().first, " ", path.front().second);
      }
      path.push_back(owner->first);
      if (!owner->second.above.has_value()) break;
      at = *owner->second.above;
    }
    if (path.empty() || objects_.at(path.back()).members <= 1) return "single";
    return absl::StrCat("K", path.back().first, " ", path.back().second);
  }
  static std::string Shown(const Resolution& found) {
    const GangIdentity& gang = found.gang;
    if (gang.origin == GangOrigin::kNone) return "single";
    if (gang.origin == GangOrigin::kMissing) {
      return absl::StrCat("missing ", found.awaited.substr(0, found.awaited.find(" (")));
    }
    return absl::StrCat(gang.problem.empty() ? "" : "ring ", "K", int{gang.source->kind}, " ",
                        gang.source->name);
  }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Object {
    std::string uid;
    std::optional<Ref> above;
    int64_t members = 0;
  };
  ObjectTable table_{Kinds()};
  PackedPods pods_;
  std::vector<std::string> notes_;
  std::map<int, ServedState> served_;
  std::map<std::pair<int, std::string>, Object> objects_;
};

Ref SomeRef(Random& random) {
  return {static_cast<int>(random.Below(kKinds)), random.OneIn(2) ? "a" : "b",
          random.OneIn(8) ? "old" : "new"};
}

TEST(OwnerWalk, EndsAtTheHighestOwnerThatIsServed) {
  Random random(1);
  for (int round = 0; round < 1'500; ++round) {
    OwnersAbove owners;
    for (int kind = 0; kind < kKinds; ++kind) {
      if (!random.OneIn(8)) owners.Serve(kind, ServedState::kServed);
      for (const char* name : {"a", "b"}) {
        std::optional<Ref> above;
        if (!random.OneIn(3)) above = SomeRef(random);
        if (random.OneIn(10)) continue;
        owners.Put({kind, name, "new"}, above, static_cast<int64_t>(random.Below(4)));
      }
    }
    const Ref controller = SomeRef(random);
    ASSERT_EQ(OwnersAbove::Shown(owners.Resolve(controller)), owners.Naively(controller)) << round;
  }
}

TEST(OwnerWalk, LooksAtEveryOwnerThatCouldChangeTheAnswer) {
  OwnersAbove owners;
  for (int kind = 0; kind < kKinds; ++kind) owners.Serve(kind, ServedState::kServed);
  owners.Put({0, "a", "u"}, Ref{1, "b", "u"}, 2);
  const Resolution found = owners.Resolve({0, "a", "u"});
  ASSERT_EQ(found.seen.size(), 2u);
  EXPECT_EQ(found.seen[0]->name, "a");
  EXPECT_EQ(found.seen[1]->name, "b");
  EXPECT_EQ(found.awaited, "K1 b (e.dev)");
}

TEST(OwnerWalk, AnOwnerThatMayNotBeReadIsSaidAndPassedOver) {
  OwnersAbove owners;
  owners.Serve(0, ServedState::kServed);
  owners.Serve(1, ServedState::kForbidden);
  owners.Put({0, "a", "u"}, Ref{1, "b", "u"}, 2);
  EXPECT_EQ(OwnersAbove::Shown(owners.Resolve({0, "a", "u"})), "K0 a");
  EXPECT_THAT(owners.notes(), Contains("K1 b (no right to read its kind)"));
}

TEST(OwnerWalk, AGangIsAnotherOfAnotherUid) {
  OwnersAbove owners;
  owners.Serve(0, ServedState::kServed);
  owners.Put({0, "a", "u"}, std::nullopt, 2);
  const std::string first = owners.Resolve({0, "a", "u"}).gang.group_name;
  EXPECT_THAT(first, StartsWith("a-"));
  owners.Put({0, "a", "v"}, std::nullopt, 2);
  EXPECT_NE(owners.Resolve({0, "a", "v"}).gang.group_name, first);
  const Resolution waiting = owners.Resolve({0, "a", "u"});
  EXPECT_EQ(OwnersAbove::Shown(waiting), "missing K0 a");
  EXPECT_NE(waiting.gang.group_name, first);
}

TEST(OwnerWalk, AnAnnotationAsksForNoMoreThanCanBe) {
  constexpr char kAsks[] = "{annotations: {scheduling.maniple.dev/min-member: '3'}}";
  OwnersAbove owners;
  owners.Serve(0, ServedState::kServed);
  owners.Put({0, "a", "u"}, std::nullopt, 1);
  EXPECT_EQ(OwnersAbove::Shown(owners.Resolve({0, "a", "u"}, kAsks)), "single");
  owners.Put({0, "a", "u"}, std::nullopt, 2);
  EXPECT_EQ(OwnersAbove::Shown(owners.Resolve({0, "a", "u"}, kAsks)), "K0 a");
  constexpr char kOne[] = "{annotations: {scheduling.maniple.dev/min-member: '1'}}";
  EXPECT_EQ(OwnersAbove::Shown(owners.Resolve({0, "a", "u"}, kOne)), "single");
}

TEST(OwnerWalk, TheQuorumIsTheMinimumOrTheSumAndOfAStageItsOwn) {
  ForeignSpec spec;
  spec.parts = {{.name = "a", .members = 2}, {.name = "b", .members = 3}};
  const auto is = [&spec](absl::string_view part, int64_t minimum, int64_t most) {
    const OwnerQuorum quorum = QuorumOf(spec, part);
    return quorum.minimum == minimum && quorum.most == most;
  };
  EXPECT_TRUE(is("a", 5, 5));
  spec.minimum = 4;
  EXPECT_TRUE(is("a", 4, 5));
  spec.minimum = 6;
  EXPECT_TRUE(is("", 6, 6));
  spec.most = 3;
  EXPECT_TRUE(is("", 6, 3));
  spec.staged = true;
  EXPECT_TRUE(is("b", 3, 3));
  EXPECT_TRUE(is("none", 1, 1));
}

TEST(OwnerWalk, OurAnnotationComesFirstAndOthersAreNotForJobSets) {
  PackedPods pods;
  constexpr char kTheirs[] = "kai.scheduler/batch-min-member: '2', ";
  const PodMarks both =
      pods.Add(absl::StrCat("{annotations: {", kTheirs, "scheduling.maniple.dev/min-member: '3'}}"),
               "Job/j");
  EXPECT_EQ(AskedBy(both, ProducerRole::kJobSet)->count, 3);
  EXPECT_EQ(AskedBy(both, ProducerRole::kJob)->by, MarkField::kMinimum);
  const PodMarks kai = pods.Add(absl::StrCat("{annotations: {", kTheirs, "}}"), "Job/j");
  EXPECT_EQ(AskedBy(kai, ProducerRole::kJob)->count, 2);
  EXPECT_FALSE(AskedBy(kai, ProducerRole::kJobSet).has_value());
  const PodMarks odd =
      pods.Add("{annotations: {scheduling.maniple.dev/min-member: some}}", "Job/j");
  ASSERT_TRUE(AskedBy(odd, ProducerRole::kJob).has_value());
  EXPECT_FALSE(AskedBy(odd, ProducerRole::kJob)->count.has_value());
}

TEST(OwnerWalk, InAJobSetWhoLeadsIsAPartOfItsOwn) {
  PackedPods pods;
  const auto of = [&pods](absl::string_view job, absl::string_view index) {
    return pods.Add(absl::StrCat("{labels: {jobset.sigs.k8s.io/replicatedjob-name: ", job,
                                 ", batch.kubernetes.io/job-completion-index: '", index, "'}}"),
                    "Job/j");
  };
  ForeignSpec spec;
  spec.parts = {{.name = "work", .members = 4, .leaders = 2},
                {.name = "lead", .members = 2, .leaders = 2}};
  EXPECT_EQ(PartInJobSet(spec, of("work", "0")), "work");
  spec.leader_first = true;
  EXPECT_EQ(PartInJobSet(spec, of("work", "0")), "leader");
  EXPECT_EQ(PartInJobSet(spec, of("work", "1")), "follower");
  EXPECT_EQ(PartInJobSet(spec, of("lead", "1")), "leader");
  EXPECT_EQ(PartInJobSet(spec, of("other", "1")), "follower");
}

}  // namespace
}  // namespace maniple::producers_owner_walk_test
