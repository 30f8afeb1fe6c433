// ClusterState against a model that keeps copies of all objects and adds everything up from
// scratch. The fear is that the clever structure drifts from the plain truth, misses a change that
// should wake somebody, or writes into a snapshot.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "scheduler/state/cluster_state.h"
#include "test/support/builders.h"
#include "test/support/worlds.h"

namespace maniple::state_model_test {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
constexpr const char* kResources[] = {"pods", "cpu", kGpuResource, "example.com/fpga",
                                      "made.up/r7"};

// What the cluster looks like, in names only.
struct Picture {
  std::map<std::string, std::map<std::string, int64_t>> free;  // node → resource → amount
  std::map<std::string, std::multiset<int>> ports;             // node → taken
  std::map<std::string, std::vector<std::string>> members;     // gang → "pod uid state node"
  friend bool operator==(const Picture&, const Picture&) = default;
};

int64_t AmountOf(const ResourceAmounts& amounts, const std::string& resource) {
  for (const ResourceAmount& entry : amounts) {
    if (entry.resource == resource) return entry.amount.units();
  }
  return 0;
}

class Model final {
 public:
  std::map<std::string, Node> nodes;
  std::map<std::string, Pod> pods;
  std::map<std::string, std::string> gang_of;             // by pod name
  std::map<std::string, std::string> reserved;            // pod name → node
  std::map<uint32_t, std::pair<std::string, Pod>> holds;  // hold → node, shape

  void RemoveNode(const std::string& name) {
    nodes.erase(name);
    // A reservation of ours outlives its node: the bind under way names it, and it may come back.
    std::erase_if(reserved, [&](const auto& entry) {
      return entry.second == name && pods.at(entry.first).scheduler_name != "maniple";
    });
    std::erase_if(holds, [&](const auto& entry) { return entry.second.first == name; });
  }
  void PutPod(const Pod& pod) {
    const auto it = pods.find(pod.meta.name);
    // Who runs, or is being bound, stays with its gang, whatever its labels say by now.
    const bool same = it != pods.end() && it->second.meta.uid == pod.meta.uid;
    const bool stays = same && Stands(it->second) && Stands(pod);
    if (!stays) gang_of[pod.meta.name] = GangNamedBy(pod);
    if (it != pods.end() && it->second.meta.uid != pod.meta.uid) reserved.erase(pod.meta.name);
    if (!pod.node_name.empty()) reserved.erase(pod.meta.name);
    pods[pod.meta.name] = pod;
  }
  void Release(const std::string& name) {
    const Pod& pod = pods.at(name);
    if (reserved.erase(name) > 0) gang_of[name] = GangNamedBy(pod);
  }
  void RemovePod(const std::string& name) {
    pods.erase(name);
    gang_of.erase(name);
    reserved.erase(name);
  }

  // Some node has it, or it is none of the extended ones.
  [[nodiscard]] bool Counts(const std::string& resource) const {
    return resource.find('/') == std::string::npos ||
           std::ranges::any_of(nodes, [&](const auto& named) {
             return AmountOf(named.second.allocatable, resource) > 0;
           });
  }

  [[nodiscard]] Picture Draw() const {
    Picture picture;
    for (const auto& [name, node] : nodes) {
      for (const char* resource : kResources) {
        picture.free[name][resource] = AmountOf(node.allocatable, resource);
      }
      picture.ports[name];
    }
    const auto charge = [&picture](const std::string& node, const Pod& pod) {
      const auto it = picture.free.find(node);
      if (it == picture.free.end()) return;
      for (const char* resource : kResources) {
        it->second[resource] -= AmountOf(pod.constraints.requests, resource);
      }
      it->second["pods"] -= 1;
      for (const HostPort& port : pod.constraints.host_ports) picture.ports[node].insert(port.port);
    };
    for (const auto& [name, pod] : pods) {
      Note(pod, picture);
      if (pod.phase == PodPhase::kSucceeded || pod.phase == PodPhase::kFailed) continue;
      if (!pod.node_name.empty()) {
        charge(pod.node_name, pod);
      } else if (reserved.contains(name)) {
        charge(reserved.at(name), pod);
      } else if (pod.scheduler_name != "maniple" && !pod.meta.deleted.has_value()) {
        charge(pod.nominated_node_name, pod);
      }
    }
    for (const auto& [hold, room] : holds) charge(room.first, room.second);
    // Nobody counts what no node has.
    for (auto& [node, amounts] : picture.free) {
      for (auto& [resource, free] : amounts) free = Counts(resource) ? free : 0;
    }
    return picture;
  }

 private:
  [[nodiscard]] bool Stands(const Pod& pod) const {
    const bool ended = pod.phase == PodPhase::kSucceeded || pod.phase == PodPhase::kFailed;
    const bool placed = !pod.node_name.empty() || reserved.contains(pod.meta.name);
    return pod.scheduler_name == "maniple" && placed && !ended;
  }
  static std::string GangNamedBy(const Pod& pod) {
    const std::string group(pod.meta.labels.Get(kPodGroupLabel));
    return group.empty() ? absl::StrCat("pod ", pod.meta.name) : group;
  }

  void Note(const Pod& pod, Picture& picture) const {
    if (pod.scheduler_name != "maniple") return;
    const std::string& key = gang_of.at(pod.meta.name);
    MemberState state = MemberState::kPending;
    if (pod.phase == PodPhase::kSucceeded) {
      state = MemberState::kSucceeded;
    } else if (pod.phase == PodPhase::kFailed) {
      state = MemberState::kFailed;
    } else if (pod.meta.deleted.has_value()) {
      state = MemberState::kTerminating;
    } else if (!pod.node_name.empty()) {
      state = MemberState::kBound;
    } else if (!pod.scheduling_gates.empty()) {
      state = MemberState::kGated;
    }
    picture.members[key].push_back(
        absl::StrCat(pod.meta.name, " ", pod.meta.uid, " ", static_cast<int>(state), " ",
                     nodes.contains(pod.node_name) ? pod.node_name : ""));
  }
};

// One random history, applied to both.
class History final {
 public:
  enum class Sweeps : uint8_t { kNever, kOften };
  History(uint64_t seed, Sweeps sweeps) : sweeps_(sweeps), random_(seed), random_of_sweeps_(seed) {}

  void Run(int steps) {
    for (int step = 0; step < steps; ++step) {
      const Picture before = model_.Draw();
      Delta delta;
      Step(delta);
      if (sweeps_ == Sweeps::kOften && random_of_sweeps_.OneIn(3)) state_.Sweep({});
      const Picture after = model_.Draw();
      const Picture observed = Observed();
      ASSERT_EQ(observed.free, after.free) << "step " << step;
      ASSERT_EQ(observed, after) << "step " << step;
      CheckNothingIsMissed(before, after, delta, step);
      ASSERT_EQ(state_.CheckInvariants().message(), "") << "step " << step;
      KeepSnapshot();
    }
    for (const auto& [snapshot, fingerprint] : kept_) {
      ASSERT_EQ(snapshot->Fingerprint(), fingerprint) << "snapshot " << snapshot->version;
    }
  }

 private:
  std::string AnyNode() { return absl::StrCat("n", random_.Below(12)); }
  std::string AnyPod() { return absl::StrCat("p", random_.Below(25)); }

  Node RandomNode(const std::string& name) {
    MakeNode node(name);
    node.Gpu(static_cast<int64_t>(random_.Below(9))).Cpu(static_cast<int64_t>(random_.Below(9)));
    node.Has("example.com/fpga", static_cast<int64_t>(random_.Below(3)));
    node.Label("zone", absl::StrCat(random_.Below(3))).Label("host", name);
    if (random_.OneIn(4)) node.Label(RandomLabel(), "yes");
    if (random_.OneIn(4)) node.Has(absl::StrCat("made.up/r", random_.Below(40)), 4);
    if (random_.OneIn(4)) node.Image(absl::StrCat("image-", random_.Below(40)), 100);
    if (random_.OneIn(4)) node.WithTaint("t", absl::StrCat(random_.Below(2)));
    if (random_.OneIn(6)) node.Cordoned();
    return node;
  }

  std::string RandomLabel() { return absl::StrCat("label-", random_.Below(40)); }

  Pod RandomPod(const std::string& name) {
    MakePod pod(name);
    // Amounts stay the same for most of a pod's life; now and then they are resized in place.
    Random shape(random_.OneIn(8) ? random_.Next() : name.back());
    pod.Gpu(static_cast<int64_t>(shape.Below(4))).Cpu(static_cast<int64_t>(shape.Below(3)) * 1000);
    if (shape.OneIn(3)) pod.Wants("example.com/fpga", 1);
    if (shape.OneIn(3)) pod.Port(static_cast<int32_t>(80 + shape.Below(2)));
    if (shape.OneIn(3)) pod.Selector(shape.OneIn(2) ? "zone" : "host", "1");
    if (name.back() % 3 == 0) pod.Scheduler("other");  // for good
    if (random_.OneIn(2)) pod.Group(absl::StrCat("g", random_.Below(3)));
    if (random_.OneIn(2)) pod.On(AnyNode());
    if (random_.OneIn(5)) pod.Nominated(AnyNode());
    if (random_.OneIn(6)) pod.Phase(random_.OneIn(2) ? PodPhase::kSucceeded : PodPhase::kFailed);
    if (random_.OneIn(6)) pod.Deleting();
    if (random_.OneIn(8)) pod.Gated();
    if (random_.OneIn(10)) pod.Uid(absl::StrCat("uid-", name, "-", random_.Below(3)));
    pod.Priority(static_cast<int32_t>(random_.Below(3)));
    if (random_.OneIn(4)) pod.Runs(absl::StrCat("image-", random_.Below(40)));
    if (random_.OneIn(4)) pod.Wants(absl::StrCat("made.up/r", random_.Below(40)), 1);
    if (random_.OneIn(4))
      pod.Prefers(1, {.expressions = {Requires(RandomLabel(), SelectorOperator::kExists)}});
    if (random_.OneIn(2)) pod.Label("app", absl::StrCat(random_.Below(3)));
    if (random_.OneIn(3)) pod.Label("tier", absl::StrCat(random_.Below(2)));
    if (random_.OneIn(3)) pod.With(RandomTerms());
    if (random_.OneIn(4)) pod.Spread(random_.OneIn(2) ? "zone" : "host", RandomSelector());
    return pod;
  }

  LabelSelector RandomSelector() {
    LabelSelector selector;
    for (uint64_t i = random_.Below(3); i > 0; --i) {
      const auto op = static_cast<SelectorOperator>(random_.Below(6));
      std::vector<std::string> values;
      if (op == SelectorOperator::kIn || op == SelectorOperator::kNotIn) {
        for (uint64_t v = 0; v <= random_.Below(2); ++v) values.push_back(absl::StrCat(v));
      } else if (op == SelectorOperator::kGt || op == SelectorOperator::kLt) {
        values.emplace_back("1");
      }
      selector.requirements.push_back(Requires(random_.OneIn(2) ? "app" : "tier", op, values));
    }
    return selector;
  }

  PodTerms RandomTerms() {
    PodAffinityTerm term{.topology_key = random_.OneIn(2) ? "zone" : "host"};
    term.selector = RandomSelector();
    if (random_.OneIn(3)) {
      term.namespace_selector = LabelSelector{};
      if (random_.OneIn(2))
        term.namespace_selector = Labelled("team", absl::StrCat(random_.Below(2)));
    }
    if (!random_.OneIn(4)) term.namespaces = {"default"};
    PodTerms terms;
    if (random_.OneIn(2)) {
      (random_.OneIn(2) ? terms.near : terms.apart).push_back(std::move(term));
    } else {
      auto& rather = random_.OneIn(2) ? terms.rather_near : terms.rather_apart;
      rather.push_back({.weight = 5, .term = std::move(term)});
    }
    return terms;
  }

  void RelabelNamespace(Delta& delta) {
    Namespace object;
    object.meta.name = "default";
    object.meta.labels.Set("team", absl::StrCat(random_.Below(3)));
    if (random_.OneIn(3)) {
      Apply(DeletionOf(ResourceKind::kNamespace, "default", "", ""), delta);
    } else {
      Apply(ObjectUpserted{object}, delta);
    }
  }

  void Apply(ObjectEvent event, Delta& delta) { state_.Apply(event, kNow, delta); }

  void Step(Delta& delta) {
    switch (random_.Below(13)) {
      case 12:
        return RelabelNamespace(delta);
      case 0:
      case 1: {
        const Node node = RandomNode(AnyNode());
        model_.nodes[node.meta.name] = node;
        Apply(ObjectUpserted{node}, delta);
        return;
      }
      case 2: {
        const std::string name = AnyNode();
        model_.RemoveNode(name);
        Apply(DeletionOf(ResourceKind::kNode, name), delta);
        return;
      }
      case 3: {
        const std::string name = AnyPod();
        const std::string uid = random_.OneIn(4) ? "uid-stale" : "";
        if (uid.empty()) model_.RemovePod(name);
        Apply(DeletionOf(ResourceKind::kPod, name, uid), delta);
        return;
      }
      case 4: {
        const std::string name = AnyPod();
        model_.RemovePod(name);
        Apply(
            ObjectInvalid{
                .key = {.kind = ResourceKind::kPod, .namespace_name = "default", .name = name},
                .uid = "",
                .problem = "bad"},
            delta);
        return;
      }
      case 5:
        return Reserve();
      case 6:
        return Release(delta);
      case 7:
        return Hold(delta);
      case 8: {
        const std::string name = absl::StrCat("g", random_.Below(3));
        Apply(random_.OneIn(3) ? DeletionOf(ResourceKind::kPodGroup, name)
                               : ObjectEvent(MakePodGroup(name).MinMember(2)),
              delta);
        return;
      }
      default: {
        const Pod pod = RandomPod(AnyPod());
        model_.PutPod(pod);
        Apply(ObjectUpserted{pod}, delta);
      }
    }
  }

  std::optional<std::pair<std::string, PodId>> SomePod() {
    const auto it = model_.pods.find(AnyPod());
    if (it == model_.pods.end()) return std::nullopt;
    return std::make_pair(it->first, state_.PodWithUid(it->second.meta.uid).value());
  }

  void Reserve() {
    const auto pod = SomePod();
    const std::string node = AnyNode();
    if (!pod.has_value() || !model_.nodes.contains(node)) return;
    const Pod& known = model_.pods[pod->first];
    if (!known.node_name.empty() || known.scheduler_name != "maniple") return;
    if (model_.reserved.contains(pod->first)) return;
    model_.reserved[pod->first] = node;
    state_.Reserve(pod->second, state_.NodeNamed(node).value());
  }

  void Release(Delta& delta) {
    const auto pod = SomePod();
    if (!pod.has_value()) return;
    model_.Release(pod->first);
    state_.Release(pod->second, delta);
    state_.FileMoved(delta);
    EXPECT_FALSE(state_.HasMoved());
  }

  void Hold(Delta& delta) {
    if (random_.OneIn(2)) {
      const auto pod = SomePod();
      const std::string node = AnyNode();
      if (!pod.has_value() || !model_.nodes.contains(node)) return;
      const HoldId hold =
          state_.Hold(state_.NodeNamed(node).value(), state_.FindPod(pod->second)->shape);
      model_.holds[hold.index()] = {node, model_.pods[pod->first]};
      return;
    }
    const auto hold = static_cast<uint32_t>(random_.Below(30));
    model_.holds.erase(hold);
    state_.ReleaseHold(HoldId(hold), delta);
  }

  Picture Observed() {
    Picture picture;
    const SnapshotPtr snapshot = state_.Publish();
    for (const NodeId node : snapshot->order->by_name) {
      const std::string& name = snapshot->NodeName(node);
      const NodeBlock& block = *snapshot->blocks[BlockOf(node)];
      for (const char* resource : kResources) picture.free[name][resource] = 0;
      for (uint32_t r = 0; r < snapshot->tables->resources.size(); ++r) {
        const std::string& resource = snapshot->tables->resources[r].name;
        if (picture.free[name].contains(resource)) {
          picture.free[name][resource] = block.Free(ResourceId(r))[RowOf(node)];
        }
        EXPECT_GE(block.MaxFree(ResourceId(r)), block.Free(ResourceId(r))[RowOf(node)]);
      }
      for (auto& [resource, free] : picture.free[name]) free = model_.Counts(resource) ? free : 0;
      picture.ports[name];
      for (const NodeBlock::UsedPort& used : block.used_ports()) {
        if (used.row != RowOf(node)) continue;
        picture.ports[name].insert(snapshot->tables->host_ports[used.port.index()].port);
      }
    }
    for (const GangId id : state_.Gangs()) {
      const Gang& gang = *state_.FindGang(id);
      const bool single = gang.key.dialect == GangDialect::kSingleton;
      for (const Member& member : gang.members) {
        picture.members[single ? absl::StrCat("pod ", gang.key.name) : gang.key.name].push_back(
            absl::StrCat(member.name, " ", member.uid, " ", static_cast<int>(member.state), " ",
                         state_.NodeName(member.node)));
      }
    }
    for (auto& [gang, members] : picture.members) std::sort(members.begin(), members.end());
    return picture;
  }

  // Whatever could let somebody start is in the delta.
  void CheckNothingIsMissed(const Picture& before, const Picture& after, const Delta& delta,
                            int step) {
    for (const auto& [name, free] : after.free) {
      const NodeId node = state_.NodeNamed(name).value();
      const auto had = before.free.find(name);
      if (had == before.free.end()) {
        EXPECT_TRUE(delta.nodes_changed.contains(node)) << name << " appeared, step " << step;
        continue;
      }
      bool grew = before.ports.at(name).size() > after.ports.at(name).size();
      for (const auto& [resource, amount] : free) {
        // Where no node has it any more, the debts of nodes are forgotten; that lets nobody start.
        if (model_.Counts(resource)) grew = grew || amount > had->second.at(resource);
      }
      EXPECT_TRUE(!grew || delta.room_grew.contains(node)) << name << " grew, step " << step;
    }
    for (const auto& [name, members] : after.members) {
      const auto had = before.members.find(name);
      if (had != before.members.end() && had->second == members) continue;
      const bool single = name.starts_with("pod ");
      const std::optional<GangId> gang =
          state_.GangNamed({.dialect = single ? GangDialect::kSingleton : GangDialect::kManiple,
                            .namespace_name = "default",
                            .name = single ? name.substr(4) : name});
      ASSERT_TRUE(gang.has_value());
      EXPECT_TRUE(delta.gangs_changed.contains(*gang)) << name << " changed, step " << step;
    }
  }

  void KeepSnapshot() {
    const SnapshotPtr snapshot = state_.Publish();
    if (random_.OneIn(10)) kept_.emplace_back(snapshot, snapshot->Fingerprint());
  }

  const Sweeps sweeps_;
  Random random_, random_of_sweeps_;
  Model model_;
  ClusterState state_{ClusterStateOptions{}};
  std::vector<std::pair<SnapshotPtr, uint64_t>> kept_;
};

class ClusterStateModel : public ::testing::TestWithParam<uint64_t> {};

TEST_P(ClusterStateModel, AgreesWithAddingEverythingUpFromScratch) {
  History(GetParam(), History::Sweeps::kNever).Run(400);
}

// The fear: a number is given to another while somebody still means the first by it.
TEST_P(ClusterStateModel, AgreesWhateverIsSweptAwayMeanwhile) {
  History(GetParam(), History::Sweeps::kOften).Run(400);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ClusterStateModel,
                         ::testing::Range<uint64_t>(0, static_cast<uint64_t>(Worlds(40))));

}  // namespace
}  // namespace maniple::state_model_test
