// Affinity between pods and topology spread against a naive model that knows nothing of counts: it
// looks at every pod anew, and tries every placement of a gang, one member after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/random.h"
#include "scheduler/cycle/room/bound_shape.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_pod_terms_differential_test {
namespace {

constexpr char kHost[] = "kubernetes.io/hostname";

struct StandingPod {
  Pod pod;
  std::string node;
};

// kube-scheduler's rules, pod by pod.
class NaiveCluster final {
 public:
  std::vector<Node> nodes;
  std::vector<StandingPod> pods;
  std::map<std::string, StringMap> namespaces;
  std::map<std::string, int> slice_of;  // by pod, of those whose slice must share a rack

  [[nodiscard]] bool Fits(const Pod& pod, const Node& node) const {
    return HasRoom(node) && SelectorLetsIn(pod, node) && TaintsLetIn(pod, node) &&
           !node.unschedulable && NearEnough(pod, node) && ApartEnough(pod, node) &&
           NobodyKeepsAway(pod, node) && Even(pod, node) && WithItsSlice(pod, node);
  }

  // Places as many as it can of the rest, in every way.
  [[nodiscard]] bool CanPlaceAll(std::vector<Pod> rest) {
    if (rest.empty()) return true;
    for (size_t i = 0; i < rest.size(); ++i) {
      if (i > 0 && Alike(rest[i], rest[i - 1])) continue;
      for (const Node& node : nodes) {
        if (!Fits(rest[i], node)) continue;
        std::vector<Pod> others = rest;
        others.erase(others.begin() + static_cast<int64_t>(i));
        pods.push_back({rest[i], node.meta.name});
        const bool placed = CanPlaceAll(others);
        pods.pop_back();
        if (placed) return true;
      }
    }
    return false;
  }

  // Whether these members could come to stand there one after the other, in some order.
  [[nodiscard]] bool CanCome(std::vector<StandingPod> members) {
    if (members.empty()) return true;
    for (size_t i = 0; i < members.size(); ++i) {
      if (!Fits(members[i].pod, Named(members[i].node))) continue;
      std::vector<StandingPod> others = members;
      others.erase(others.begin() + static_cast<int64_t>(i));
      pods.push_back(members[i]);
      const bool all = CanCome(others);
      pods.pop_back();
      if (all) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] int SliceOf(const Pod& pod) const {
    const auto slice = slice_of.find(pod.meta.name);
    return slice == slice_of.end() ? -1 : slice->second;
  }
  [[nodiscard]] bool Alike(const Pod& a, const Pod& b) const {
    const auto same = [&](const char* label) {
      const std::string* of_a = a.meta.labels.Find(label);
      const std::string* of_b = b.meta.labels.Find(label);
      return of_a == nullptr || of_b == nullptr ? of_a == of_b : *of_a == *of_b;
    };
    return a.constraints == b.constraints && same("app") && same("tier") &&
           SliceOf(a) == SliceOf(b);
  }
  [[nodiscard]] bool WithItsSlice(const Pod& pod, const Node& node) const {
    const int slice = SliceOf(pod);
    return slice < 0 || (node.meta.labels.Find("rack") != nullptr &&
                         std::ranges::all_of(pods, [&](const StandingPod& other) {
                           return SliceOf(other.pod) != slice ||
                                  SameDomain(other.node, node, "rack");
                         }));
  }
  [[nodiscard]] const Node& Named(const std::string& name) const {
    return *std::ranges::find_if(nodes, [&](const Node& node) { return node.meta.name == name; });
  }
  [[nodiscard]] bool HasRoom(const Node& node) const {
    const auto slots = std::ranges::find(node.allocatable, "pods", &ResourceAmount::resource);
    const auto used = std::ranges::count(pods, node.meta.name, &StandingPod::node);
    return slots != node.allocatable.end() && used < slots->amount.units();
  }
  static bool SelectorLetsIn(const Pod& pod, const Node& node) {
    return std::ranges::all_of(pod.constraints.node_selector.entries(), [&](const auto& label) {
      const std::string* value = node.meta.labels.Find(label.first);
      return value != nullptr && *value == label.second;
    });
  }
  static bool TaintsLetIn(const Pod& pod, const Node& node) {
    return std::ranges::all_of(node.taints, [&](const Taint& taint) {
      return taint.effect == TaintEffect::kPreferNoSchedule ||
             Tolerates(pod.constraints.tolerations, taint);
    });
  }

  [[nodiscard]] bool Selects(const PodAffinityTerm& term, const Pod& pod) const {
    if (!term.selector.has_value() || !term.selector->Matches(pod.meta.labels)) return false;
    if (std::ranges::find(term.namespaces, pod.meta.namespace_name) != term.namespaces.end()) {
      return true;
    }
    const auto labels = namespaces.find(pod.meta.namespace_name);
    return term.namespace_selector.has_value() &&
           term.namespace_selector->Matches(labels == namespaces.end() ? StringMap()
                                                                       : labels->second);
  }
  [[nodiscard]] bool SelectedByAll(const std::vector<PodAffinityTerm>& terms,
                                   const Pod& pod) const {
    return std::ranges::all_of(terms,
                               [&](const PodAffinityTerm& term) { return Selects(term, pod); });
  }
  [[nodiscard]] bool SameDomain(const std::string& other, const Node& node,
                                const std::string& key) const {
    const std::string* here = node.meta.labels.Find(key);
    const std::string* there = Named(other).meta.labels.Find(key);
    return here != nullptr && there != nullptr && *here == *there;
  }

  [[nodiscard]] bool NearEnough(const Pod& pod, const Node& node) const {
    const std::vector<PodAffinityTerm>& terms = pod.constraints.pod_terms.near;
    if (terms.empty()) return true;
    bool anybody = false, all_near = true;
    for (const PodAffinityTerm& term : terms) {
      if (node.meta.labels.Find(term.topology_key) == nullptr) return false;
      bool near = false;
      for (const StandingPod& other : pods) {
        if (!SelectedByAll(terms, other.pod)) continue;
        anybody = anybody || Named(other.node).meta.labels.Find(term.topology_key) != nullptr;
        near = near || SameDomain(other.node, node, term.topology_key);
      }
      all_near = all_near && near;
    }
    return all_near || (!anybody && SelectedByAll(terms, pod));
  }
  [[nodiscard]] bool ApartEnough(const Pod& pod, const Node& node) const {
    return std::ranges::none_of(pod.constraints.pod_terms.apart, [&](const PodAffinityTerm& term) {
      return std::ranges::any_of(pods, [&](const StandingPod& other) {
        return Selects(term, other.pod) && SameDomain(other.node, node, term.topology_key);
      });
    });
  }
  [[nodiscard]] bool NobodyKeepsAway(const Pod& pod, const Node& node) const {
    return std::ranges::none_of(pods, [&](const StandingPod& other) {
      return std::ranges::any_of(
          other.pod.constraints.pod_terms.apart, [&](const PodAffinityTerm& term) {
            return Selects(term, pod) && SameDomain(other.node, node, term.topology_key);
          });
    });
  }

  [[nodiscard]] bool Even(const Pod& pod, const Node& node) const {
    std::vector<const TopologySpreadConstraint*> hard;
    for (const TopologySpreadConstraint& constraint : pod.constraints.spread) {
      if (constraint.when_unsatisfiable == WhenUnsatisfiable::kDoNotSchedule) {
        hard.push_back(&constraint);
      }
    }
    const auto has_all = [&](const Node& at) {
      return std::ranges::all_of(hard, [&](const TopologySpreadConstraint* constraint) {
        return at.meta.labels.Find(constraint->topology_key) != nullptr;
      });
    };
    if (!has_all(node)) return false;
    for (const TopologySpreadConstraint* constraint : hard) {
      std::map<std::string, int64_t> domains;
      for (const Node& at : nodes) {
        if (!has_all(at)) continue;
        if (constraint->node_affinity == NodeInclusion::kHonor && !SelectorLetsIn(pod, at))
          continue;
        if (constraint->node_taints == NodeInclusion::kHonor && !TaintsLetIn(pod, at)) continue;
        int64_t& count = domains[*at.meta.labels.Find(constraint->topology_key)];
        if (!constraint->selector.has_value() || constraint->selector->requirements.empty())
          continue;
        for (const StandingPod& other : pods) {
          if (other.node == at.meta.name && !other.pod.meta.deleted.has_value() &&
              other.pod.meta.namespace_name == pod.meta.namespace_name &&
              constraint->selector->Matches(other.pod.meta.labels)) {
            ++count;
          }
        }
      }
      int64_t least = domains.empty() ? 0 : domains.begin()->second;
      for (const auto& [value, count] : domains) least = std::min(least, count);
      if (std::cmp_less(domains.size(), constraint->min_domains)) least = 0;
      const bool self =
          constraint->selector.has_value() && constraint->selector->Matches(pod.meta.labels);
      const auto here = domains.find(*node.meta.labels.Find(constraint->topology_key));
      const int64_t count = here == domains.end() ? 0 : here->second;
      if (count + (self ? 1 : 0) - least > constraint->max_skew) return false;
    }
    return true;
  }
};

struct Tally {
  int placed = 0, refused = 0, gave_up = 0;
};

class Case final {
 public:
  explicit Case(uint64_t seed) : random_(seed) {
    const auto nodes = 2 + random_.Below(4);
    for (uint64_t i = 0; i < nodes; ++i) AddNode(static_cast<int>(i));
    for (const char* name : {"default", "infra"}) {
      Namespace object;
      object.meta.name = name;
      if (random_.OneIn(2)) object.meta.labels.Set("team", random_.OneIn(2) ? "a" : "b");
      naive_.namespaces[name] = object.meta.labels;
      cluster_.Add(ObjectUpserted{object});
    }
    const auto others = random_.Below(6);
    for (uint64_t i = 0; i < others; ++i) AddOther(static_cast<int>(i));
  }

  // One pod: the nodes that take it.
  void CheckNodes() {
    const Pod pod = Candidate("p", "default");
    cluster_.Add(ObjectUpserted{pod});
    const SnapshotPtr snapshot = cluster_.state().Publish();
    const GangRequest request = cluster_.RequestOf("p");
    const PodShape& shape = snapshot->tables->ShapeOf(request.wants.front().shape);
    absl::StatusOr<BoundShape> bound =
        BoundShape::Bind({.snapshot = *snapshot, .now = cluster_.now}, shape, cluster_.profile());
    ASSERT_TRUE(bound.ok());
    const Overlay overlay(*snapshot, Overlay::View::kNow);
    std::set<std::string> ours;
    for (const NodeRoom& room : bound->RoomOn(overlay, nullptr).nodes) {
      ours.insert(snapshot->NodeName(room.node));
      EXPECT_GT(bound->RoomAt(overlay, room.node), 0);
    }
    std::set<std::string> theirs;
    for (const Node& node : naive_.nodes) {
      if (naive_.Fits(pod, node)) theirs.insert(node.meta.name);
    }
    EXPECT_EQ(ours, theirs);
    ASSERT_TRUE(cluster_.state().CheckInvariants().ok()) << cluster_.state().CheckInvariants();
  }

  // A gang: whether it finds room, and what is proven. `slice`: so many members share a rack.
  void CheckGang(int slice, Tally& tally) {
    const auto members = 1 + random_.Below(4);
    MakePodGroup group("g");
    group.MinMember(static_cast<int32_t>(members));
    if (slice > 0) {
      Topology topology;
      topology.meta.name = "default";
      topology.levels.push_back({.name = "rack", .node_label = "rack"});
      cluster_.Add(ObjectUpserted{topology});
      group.Slice(slice, "rack");
    }
    cluster_.Add(group);
    std::vector<Pod> pods;
    const bool alike = !random_.OneIn(3);
    for (uint64_t i = 0; i < members; ++i) {
      Pod pod = Candidate(absl::StrCat("g-", i), "default");
      if (alike && i > 0) {
        pod.meta.labels = pods.front().meta.labels;
        pod.constraints = pods.front().constraints;
      }
      pod.meta.labels.Set(kPodGroupLabel, "g");
      if (slice > 0) {
        pod.meta.labels.Set("batch.kubernetes.io/job-completion-index", absl::StrCat(i));
        naive_.slice_of[pod.meta.name] = static_cast<int>(i) / slice;
      }
      cluster_.Add(ObjectUpserted{pod});
      pods.push_back(pod);
    }
    ASSERT_TRUE(cluster_.state().CheckInvariants().ok()) << cluster_.state().CheckInvariants();
    const Decision decision = cluster_.Decide("g");
    if (const Plan* plan = std::get_if<Plan>(&decision)) {
      std::vector<StandingPod> placed;
      for (const Placement& place : plan->placements) {
        const std::string& name = cluster_.state().FindPod(place.pod)->name;
        const auto pod =
            std::ranges::find_if(pods, [&](const Pod& known) { return known.meta.name == name; });
        placed.push_back({*pod, std::string(cluster_.state().NodeName(place.node))});
      }
      ++tally.placed;
      EXPECT_EQ(placed.size(), pods.size());
      EXPECT_TRUE(naive_.CanCome(placed));
      return;
    }
    if (std::get<Rejection>(decision).code == RejectionCode::kSearchLimitReached) {
      ++tally.gave_up;
      return;
    }
    ++tally.refused;
    std::ranges::sort(pods, {}, &Pod::constraints);
    EXPECT_FALSE(naive_.CanPlaceAll(pods)) << Story(pods);
  }

 private:
  static std::string TextOf(const std::optional<LabelSelector>& selector) {
    if (!selector.has_value()) return "nobody";
    std::string text = "[";
    for (const SelectorRequirement& requirement : selector->requirements) {
      absl::StrAppend(&text, requirement.key, " ", static_cast<int>(requirement.op), " ",
                      absl::StrJoin(requirement.values, ","), ";");
    }
    return text + "]";
  }
  static std::string TextOf(const Pod& pod) {
    std::string text = absl::StrCat(pod.meta.namespace_name, "/", pod.meta.name, ":");
    for (const auto& [key, value] : pod.meta.labels.entries()) {
      absl::StrAppend(&text, " ", key, "=", value);
    }
    for (const auto& [key, value] : pod.constraints.node_selector.entries()) {
      absl::StrAppend(&text, " on ", key, "=", value);
    }
    if (pod.meta.deleted.has_value()) absl::StrAppend(&text, " leaving");
    const auto add = [&text](absl::string_view what, const std::vector<PodAffinityTerm>& terms) {
      for (const PodAffinityTerm& term : terms) {
        absl::StrAppend(&text, " ", what, " ", TextOf(term.selector), " in ",
                        absl::StrJoin(term.namespaces, ","),
                        term.namespace_selector.has_value() ? TextOf(term.namespace_selector) : "",
                        " by ", term.topology_key, ";");
      }
    };
    add("near", pod.constraints.pod_terms.near);
    add("apart from", pod.constraints.pod_terms.apart);
    for (const TopologySpreadConstraint& spread : pod.constraints.spread) {
      absl::StrAppend(&text, " spread ", TextOf(spread.selector), " by ", spread.topology_key,
                      " within ", spread.max_skew, " of ", spread.min_domains, ";");
    }
    return text;
  }
  // For a failing case.
  [[nodiscard]] std::string Story(const std::vector<Pod>& pods) const {
    std::string story;
    for (const Node& node : naive_.nodes) {
      absl::StrAppend(&story, "\nnode ", node.meta.name, node.unschedulable ? " cordoned" : "");
      for (const auto& [key, value] : node.meta.labels.entries()) {
        absl::StrAppend(&story, " ", key, "=", value);
      }
      for (const Taint& taint : node.taints) absl::StrAppend(&story, " tainted ", taint.key);
      absl::StrAppend(&story, " slots ", node.allocatable.back().amount.units());
    }
    for (const StandingPod& pod : naive_.pods) {
      absl::StrAppend(&story, "\n", pod.node, " has ", TextOf(pod.pod));
    }
    for (const Pod& pod : pods) absl::StrAppend(&story, "\nwants ", TextOf(pod));
    return story;
  }

  void AddNode(int i) {
    const std::string name = absl::StrCat("n", i);
    MakeNode node(name);
    node.Pods(1 + static_cast<int64_t>(random_.Below(4)));
    if (!random_.OneIn(6)) node.Label("zone", random_.OneIn(2) ? "a" : "b");
    if (!random_.OneIn(8)) node.Label("rack", absl::StrCat(random_.Below(3)));
    // Somebody may have copied a node.
    if (!random_.OneIn(12)) node.Label(kHost, random_.OneIn(10) ? "n0" : name);
    if (random_.OneIn(6)) node.WithTaint("k");
    if (random_.OneIn(8)) node.Cordoned();
    naive_.nodes.push_back(node);
    cluster_.Add(node);
  }

  void AddOther(int i) {
    Pod pod = Candidate(absl::StrCat("x", i), random_.OneIn(3) ? "infra" : "default");
    pod.scheduler_name = "other";
    pod.node_name = naive_.nodes[random_.Below(naive_.nodes.size())].meta.name;
    if (random_.OneIn(5)) pod.meta.deleted = cluster_.now;
    if (random_.OneIn(8)) pod.phase = PodPhase::kFailed;
    // It comes as another one, and is relabelled.
    if (random_.OneIn(4)) {
      Pod before = pod;
      before.meta.labels.Set("app", "before");
      before.meta.deleted.reset();
      cluster_.Add(ObjectUpserted{before});
    }
    cluster_.Add(ObjectUpserted{pod});
    if (random_.OneIn(8)) {
      cluster_.Add(
          DeletionOf(ResourceKind::kPod, pod.meta.name, pod.meta.uid, pod.meta.namespace_name));
    } else if (pod.phase != PodPhase::kFailed) {
      naive_.pods.push_back({pod, pod.node_name});
    }
  }

  LabelSelector RandomSelector() {
    if (random_.OneIn(12)) return {};
    const std::string app = random_.OneIn(2) ? "a" : "b";
    switch (random_.Below(5)) {
      case 0:
        return {.requirements = {Requires("app", SelectorOperator::kNotIn, {app})}};
      case 1:
        return {.requirements = {Requires("tier", SelectorOperator::kExists)}};
      default:
        return Labelled("app", app);
    }
  }

  std::string RandomKey() {
    constexpr const char* kKeys[] = {"zone", "rack", kHost, "nowhere"};
    return kKeys[random_.OneIn(10) ? 3 : random_.Below(3)];
  }

  PodAffinityTerm RandomTerm(const std::string& namespace_name) {
    PodAffinityTerm term{.topology_key = RandomKey(),
                         .selector = RandomSelector(),
                         .namespaces = {namespace_name},
                         .namespace_selector = std::nullopt};
    if (random_.OneIn(10)) term.selector.reset();
    if (random_.OneIn(5)) term.namespaces = {"infra"};
    if (random_.OneIn(5)) {
      term.namespace_selector = random_.OneIn(2) ? LabelSelector{} : Labelled("team", "a");
    }
    return term;
  }

  TopologySpreadConstraint RandomSpread(const std::string& namespace_name) {
    TopologySpreadConstraint constraint{.topology_key = RandomKey()};
    constraint.max_skew = 1 + static_cast<int32_t>(random_.Below(2));
    constraint.min_domains = random_.OneIn(4) ? 3 : 1;
    constraint.namespace_name = namespace_name;
    constraint.selector = RandomSelector();
    if (random_.OneIn(3)) constraint.node_affinity = NodeInclusion::kIgnore;
    if (random_.OneIn(3)) constraint.node_taints = NodeInclusion::kHonor;
    return constraint;
  }

  Pod Candidate(const std::string& name, const std::string& namespace_name) {
    MakePod made(name);
    made.In(namespace_name);
    if (!random_.OneIn(5)) made.Label("app", random_.OneIn(2) ? "a" : "b");
    if (random_.OneIn(3)) made.Label("tier", "x");
    if (random_.OneIn(4)) made.Tolerates("k");
    if (random_.OneIn(6)) made.Selector("zone", "a");
    Pod pod = made;
    PodTerms& terms = pod.constraints.pod_terms;
    if (random_.OneIn(4)) terms.near.push_back(RandomTerm(namespace_name));
    if (random_.OneIn(12)) terms.near.push_back(RandomTerm(namespace_name));
    if (random_.OneIn(3)) terms.apart.push_back(RandomTerm(namespace_name));
    if (random_.OneIn(8)) terms.apart.push_back(RandomTerm(namespace_name));
    std::ranges::sort(terms.near);
    std::ranges::sort(terms.apart);
    if (random_.OneIn(3)) pod.constraints.spread.push_back(RandomSpread(namespace_name));
    if (random_.OneIn(8)) pod.constraints.spread.push_back(RandomSpread(namespace_name));
    std::ranges::sort(pod.constraints.spread);
    return pod;
  }

  Random random_;
  TestCluster cluster_;
  NaiveCluster naive_;
};

TEST(PodTermsDifferential, TheNodesThatTakeAPodAreThoseOfTheNaiveModel) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    Case(seed).CheckNodes();
    if (testing::Test::HasFailure()) return;
  }
}

TEST(PodTermsDifferential, APlanCanComeAboutAndAProofHolds) {
  Tally tally;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    Case(seed).CheckGang(0, tally);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(tally.gave_up, 0);
  EXPECT_GT(tally.placed, 150);
  EXPECT_GT(tally.refused, 150);
}

TEST(PodTermsDifferential, SoTheyDoForGangsWithSlices) {
  Tally tally;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    Case(seed).CheckGang(seed % 2 == 0 ? 2 : 3, tally);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(tally.gave_up, 0);
  EXPECT_GT(tally.placed, 150);
  EXPECT_GT(tally.refused, 150);
}

}  // namespace
}  // namespace maniple::cycle_pod_terms_differential_test
