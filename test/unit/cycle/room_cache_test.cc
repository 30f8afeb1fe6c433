// Decisions that remember against decisions that count everything afresh, over random histories of
// clusters: the fear is that something changes and the cache does not see it, so that a gang is
// placed by what was true before.
#include "scheduler/cycle/room/room_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "plugins/framework/request_mix.h"
#include "scheduler/cycle/room/ranked_room.h"
#include "scheduler/cycle/search/search.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"
#include "test/support/worlds.h"

namespace maniple::cycle_room_cache_test {
namespace {

std::string TextOf(const Decision& decision) {
  std::string text;
  if (const auto* plan = std::get_if<Plan>(&decision)) {
    for (const Placement& placement : plan->placements) {
      absl::StrAppend(&text, placement.pod.index(), "=", placement.node.index(), " ");
    }
    for (const std::string& domain : plan->domains) absl::StrAppend(&text, domain, " ");
    return text;
  }
  const auto& no = std::get<Rejection>(decision);
  absl::StrAppend(&text, "code ", no.code, " shape ", no.shape.index(), ": ", no.placeable, " of ",
                  no.wanted, " on ", no.nodes, no.detail, no.quota_in_the_way ? " quota" : "");
  for (const auto& [reason, nodes] : no.reasons) {
    absl::StrAppend(&text, "; ", nodes, " ", reason.id.index(), " ", reason.resource.index());
    absl::StrAppend(&text, " ", reason.taint.index(), " ", reason.want, " ", reason.have);
  }
  if (no.quota.has_value()) {
    absl::StrAppend(&text, "; cell ", no.quota->cell.index(), " ", no.quota->needs.units(), " ",
                    no.quota->available.units(), " ", no.quota->potential.units());
  }
  return text;
}

// A cluster of several blocks to which things happen, and gangs of a few shapes that ask.
class History final {
 public:
  explicit History(uint64_t seed) : random_(seed), gpus_(seed % 3 == 0 ? 0 : 1) {
    AddTopology();
    const auto nodes = 200 + random_.Below(500);
    for (uint64_t i = 0; i < nodes; ++i) AddNode();
    for (int i = 0; i < 12; ++i) AddGang();
    QuotaNodeSpec queue;
    for (uint32_t cell = 0; cell < 2; ++cell) {
      queue.limits.push_back(
          {.cell = QuotaCellId(cell), .nominal = Amount(static_cast<int64_t>(random_.Below(60)))});
    }
    tree_ = QuotaTree({queue}, {0, 0});
    for (int i = 0; i < 3; ++i) pools_.push_back(RandomPool());
  }

  void Step() {
    ++steps_;
    const uint64_t what = random_.Below(24);
    if (what < 10) {
      TakeOrLeave();
    } else if (what < 14) {
      BindElsewhere();
    } else if (what == 14) {
      AddNode();
    } else if (what == 15) {
      cluster_.Add(DeletionOf(ResourceKind::kNode, NameOf(AnyNode())));
    } else if (what < 18) {
      cluster_.Add(RandomNode(NameOf(AnyNode())));
    } else if (what == 18) {
      if (const auto node = Standing()) {
        cluster_.state().CoolDown(*node, cluster_.now + absl::Seconds(random_.Below(30)));
      }
    } else if (what == 19) {
      cluster_.now += absl::Seconds(random_.Below(20));
    } else if (what == 20) {
      if (random_.OneIn(8)) AddTopology();
      AddGang();
    } else if (what == 21) {
      HoldOrDrop();
    } else if (what == 22) {
      pools_[random_.Below(pools_.size())] = RandomPool();
    } else {
      cache_ = RoomCache();  // a new leader remembers nothing
    }
  }

  // "" when both answers are the same.
  std::string Ask() {
    const std::string gang = absl::StrCat("g", random_.Below(gangs_));
    GangRequest request = cluster_.RequestOf(gang);
    if (request.wants.empty()) return "";
    if (random_.OneIn(4)) request.scope = DecideScope::kSurplus;
    if (random_.OneIn(8)) request.own_holds = holds_;
    const SnapshotPtr snapshot = cluster_.state().Publish();
    std::vector<FreedRoom> freed;
    if (const auto node = Standing(); node.has_value() && random_.OneIn(8)) {
      freed.push_back({.node = *node, .shape = request.wants.front().shape});
    }
    const QuotaAsk ask = AskFor(request);
    DecideInput input{.snapshot = *snapshot,
                      .request = request,
                      .now = cluster_.now,
                      .quota = random_.OneIn(3) ? &ask : nullptr,
                      .freed = freed};
    const Decision unbounded = Decide(input, cluster_.profile());
    const int64_t most = static_cast<int64_t>(
        random_.OneIn(3) ? random_.Below(300'000) : std::numeric_limits<int32_t>::max());
    SearchWork work_afresh(most), work(most);
    request.work = &work_afresh;
    const Decision afresh = Decide(input, cluster_.profile());
    request.work = &work;
    input.cache = &cache_;
    last_ = Decide(input, cluster_.profile());
    cut_short_ += work.spent() ? 1 : 0;
    if (work.used() != work_afresh.used()) return gang + ": what is remembered costs less";
    if (!MayFollow(unbounded, last_)) {
      return absl::StrCat(gang, ": ", TextOf(unbounded), "\nin a hurry: ", TextOf(last_));
    }
    placed_ += std::holds_alternative<Plan>(last_) ? 1 : 0;
    ++asked_;
    const std::string expected = TextOf(afresh), got = TextOf(last_);
    return expected == got ? "" : absl::StrCat(gang, ": ", expected, "\nremembered: ", got);
  }
  // "" when the merge of ranked blocks chooses what a ranking of all nodes does.
  std::string Rank() {
    const GangRequest request = cluster_.RequestOf(absl::StrCat("g", random_.Below(gangs_)));
    if (request.wants.empty()) return "";
    const SnapshotPtr snapshot = cluster_.state().Publish();
    const PodShape& shape = snapshot->tables->ShapeOf(request.wants.front().shape);
    auto bound =
        BoundShape::Bind({.snapshot = *snapshot, .now = cluster_.now}, shape, cluster_.profile());
    cache_.Begin(*snapshot);
    bound->Remember(&cache_);
    Overlay overlay(*snapshot, Overlay::View::kNow);
    const ShapeRoom all = bound->RoomOn(overlay, nullptr);
    const RankedRoom ranked(*bound, overlay, nullptr);
    if (ranked.total() != all.total) return "the totals differ";
    if (all.total == 0) return "";
    const auto most = static_cast<uint64_t>(std::min<int64_t>(all.total, 400));
    const auto pods = static_cast<int64_t>(1 + random_.Below(random_.OneIn(2) ? most : 1));
    const std::vector<NodeId> expected = ChooseNodes(bound->Ranked(overlay, all), pods);
    return ranked.Best(pods) == expected ? "" : absl::StrCat("the best for ", pods, " differ");
  }
  int64_t asked() const { return asked_; }
  int64_t placed() const { return placed_; }
  int64_t cut_short() const { return cut_short_; }

 private:
  // Whoever may search for less time gives up sooner, and proves nothing that is not so.
  static bool MayFollow(const Decision& unbounded, const Decision& hurried) {
    const auto* rejection = std::get_if<Rejection>(&hurried);
    if (rejection == nullptr) return std::holds_alternative<Plan>(unbounded);
    if (rejection->code == RejectionCode::kSearchLimitReached) return true;
    const auto* proven = std::get_if<Rejection>(&unbounded);
    if (proven == nullptr) return false;
    const bool never = proven->code == RejectionCode::kNeverFits;
    return proven->code == rejection->code || (never && rejection->code == RejectionCode::kNoFit) ||
           (never && rejection->code == RejectionCode::kTopologyNoFit);
  }
  // Names in another order than the rows.
  static std::string NameOf(uint64_t number) {
    return absl::StrCat("n", Random(number).Below(1'000'000), "-", number);
  }
  uint64_t AnyNode() { return random_.Below(nodes_); }
  std::optional<NodeId> Standing() { return cluster_.state().NodeNamed(NameOf(AnyNode())); }

  MakeNode RandomNode(const std::string& name) {
    MakeNode node(name);
    node.Gpu(gpus_ * static_cast<int64_t>(random_.Below(5)) * 2);
    node.Cpu(2 + static_cast<int64_t>(random_.Below(8)));
    node.Pods(3 + static_cast<int64_t>(random_.Below(10)));
    node.Label("kubernetes.io/hostname", name).Label("zone", absl::StrCat(random_.Below(3)));
    if (!random_.OneIn(12)) node.Label("example.com/rack", absl::StrCat(random_.Below(9)));
    if (!random_.OneIn(12)) node.Label("nvidia.com/gpu.clique", absl::StrCat(random_.Below(30)));
    if (random_.OneIn(6)) node.WithTaint("team");
    if (random_.OneIn(6)) node.WithTaint("soft", "", TaintEffect::kPreferNoSchedule);
    if (random_.OneIn(8)) node.Cordoned();
    if (random_.OneIn(3)) node.Image("app:1", 2000 + 1000 * static_cast<int64_t>(random_.Below(3)));
    // Where there were none, all of a sudden nodes differ by having them.
    if (steps_ > 100 && random_.OneIn(4)) node.Has("amd.com/gpu", 2);
    return node;
  }
  void AddNode() { cluster_.Add(RandomNode(NameOf(nodes_++))); }

  void AddTopology() {
    Topology topology;
    topology.meta.name = "default";
    topology.levels.push_back({.name = "zone", .node_label = "zone"});
    if (!random_.OneIn(4)) {
      topology.levels.push_back({.name = "rack", .node_label = "example.com/rack"});
    }
    cluster_.Add(ObjectUpserted{topology});
  }
  TopologyRequest RandomTopology() {
    static constexpr const char* kLevels[] = {"zone", "rack", "nvlink"};
    TopologyRequest topology;
    if (random_.OneIn(2)) topology.required = kLevels[random_.Below(3)];
    if (random_.OneIn(2)) topology.preferred = kLevels[random_.Below(3)];
    if (random_.OneIn(3)) {
      topology.slice_size = 1 + static_cast<int32_t>(random_.Below(4));
      topology.slice_level = kLevels[random_.Below(3)];
    }
    return topology;
  }

  void AddGang() {
    const std::string name = absl::StrCat("g", gangs_++);
    const auto members = 1 + random_.Below(random_.OneIn(4) ? 40 : 6);
    const auto shapes = random_.OneIn(3) ? 2 : 1;
    PodGroup group = MakePodGroup(name).MinMember(1 + static_cast<int32_t>(random_.Below(members)));
    if (random_.OneIn(2)) group.spec.topology = RandomTopology();
    cluster_.Add(ObjectUpserted{group});
    const uint64_t first = random_.Below(10);
    for (uint64_t i = 0; i < members; ++i) {
      MakePod pod(absl::StrCat(name, "-", i));
      pod.Group(name).Index(static_cast<int64_t>(i));
      const uint64_t shape = (first + random_.Below(shapes)) % 10;
      pod.Gpu(gpus_ * static_cast<int64_t>(shape % 4))
          .Cpu(500 * static_cast<int64_t>(1 + shape / 4));
      if (shape == 3) pod.Selector("zone", "1");
      if (shape == 5) pod.Tolerates("team");
      if (shape == 6) pod.Port(9000);
      if (shape == 7)
        pod.Prefers(
            10, {.expressions = {Requires("zone", SelectorOperator::kIn, {"2"})}, .fields = {}});
      if (shape == 4) pod.Runs("app:1");
      if (shape == 8) pod.Cpu(static_cast<int64_t>(random_.Below(4000)));  // one of its own
      cluster_.Add(pod);
    }
  }

  // Carries out the last plan, or gives up what one was given.
  void TakeOrLeave() {
    Delta delta;
    if (const auto* plan = std::get_if<Plan>(&last_); plan != nullptr && random_.OneIn(2)) {
      for (const Placement& placement : plan->placements) {
        if (cluster_.state().NodeName(placement.node).empty()) continue;
        cluster_.state().Reserve(placement.pod, placement.node);
        reserved_.push_back(placement.pod);
      }
      last_ = Plan{};
    } else if (!reserved_.empty()) {
      const size_t at = random_.Below(reserved_.size());
      cluster_.state().Release(reserved_[at], delta);
      reserved_.erase(reserved_.begin() + static_cast<int64_t>(at));
    }
  }
  void BindElsewhere() {
    MakePod pod(absl::StrCat("other-", random_.Below(40)));
    pod.Scheduler("other").On(NameOf(AnyNode())).Cpu(static_cast<int64_t>(random_.Below(5000)));
    pod.Uid(absl::StrCat("other-", others_++)).Gpu(gpus_ * static_cast<int64_t>(random_.Below(4)));
    if (random_.OneIn(3)) pod.Port(9000);
    cluster_.Add(pod);
  }
  void HoldOrDrop() {
    Delta delta;
    if (holds_.size() == 3) {
      cluster_.state().ReleaseHold(holds_.front(), delta);
      holds_.erase(holds_.begin());
    } else if (const auto node = Standing()) {
      holds_.push_back(cluster_.state().Hold(*node, ShapeId(0)));
    }
  }

  NodeSet RandomPool() {
    NodeSet pool(1 + random_.Below(3));
    for (NodeMask& mask : pool) {
      for (uint64_t& word : mask.words()) word = random_.Next();
    }
    return pool;
  }
  QuotaAsk AskFor(const GangRequest& request) {
    QuotaAsk ask{.tree = &tree_, .queue = QuotaNodeId(0), .options = {}};
    for (const Want& want : request.wants) {
      if (ask.options.contains(want.shape)) continue;
      for (uint32_t cell = 0; cell < 2; ++cell) {
        QuotaOption option{.nodes = {}, .each = {{QuotaCellId(cell), Amount(1)}}, .flavor = "f"};
        if (random_.OneIn(2)) option.nodes = pools_[random_.Below(pools_.size())];
        ask.options[want.shape].push_back(std::move(option));
      }
    }
    return ask;
  }

  Random random_;
  int64_t gpus_;  // 0: nobody knows of any
  TestCluster cluster_;
  RoomCache cache_;
  QuotaTree tree_;
  std::vector<NodeSet> pools_;
  uint64_t steps_ = 0, nodes_ = 0, gangs_ = 0, others_ = 0;
  std::vector<PodId> reserved_;
  std::vector<HoldId> holds_;
  Decision last_ = Plan{};
  int64_t asked_ = 0, placed_ = 0, cut_short_ = 0;
};

TEST(RoomCacheDifferential, DecidesAsIfEverythingWereCountedAfresh) {
  int64_t asked = 0, placed = 0, cut_short = 0;
  const int64_t histories = Worlds(120);
  for (int64_t seed = 0; seed < histories; ++seed) {
    History history(seed);
    for (int step = 0; step < 200; ++step) {
      history.Step();
      ASSERT_EQ(history.Ask(), "") << "seed " << seed << ", step " << step;
      ASSERT_EQ(history.Rank(), "") << "seed " << seed << ", step " << step;
    }
    asked += history.asked();
    placed += history.placed();
    cut_short += history.cut_short();
  }
  EXPECT_GE(asked, 160 * histories);
  EXPECT_GT(placed, asked / 5);
  EXPECT_LT(placed, asked);
  EXPECT_GT(cut_short, asked / 100);
}

TEST(RoomCache, KnowsABlockByItsIdentityAndForgetsTheShapeAskedForLongestAgo) {
  TestCluster cluster;
  cluster.Add(MakeNode("n1").Gpu(8));
  for (uint32_t shape = 0; shape <= RoomCache::kMostShapes; ++shape) {
    cluster.Add(MakePod(absl::StrCat("p", shape)).Cpu(1 + shape));
  }
  const SnapshotPtr snapshot = cluster.state().Publish();
  RoomCache cache;
  cache.Begin(*snapshot);
  const auto block = snapshot->blocks[0];
  cache.Of(*snapshot, ShapeId(0), nullptr).Renew(0, block).room.total = 7;
  const BlockRoom* known = cache.Of(*snapshot, ShapeId(0), nullptr).Find(0, block);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->room.total, 7);
  // An equal block is another block; so is another set of nodes another question.
  const auto copy = std::make_shared<const NodeBlock>(*block);
  EXPECT_EQ(cache.Of(*snapshot, ShapeId(0), nullptr).Find(0, copy), nullptr);
  const NodeSet all(1, block->rows().present);
  EXPECT_EQ(cache.Of(*snapshot, ShapeId(0), &all).Find(0, block), nullptr);
  for (uint32_t shape = 1; shape <= RoomCache::kMostShapes; ++shape) {
    (void)cache.Of(*snapshot, ShapeId(shape), nullptr);
  }
  cache.Begin(*snapshot);
  EXPECT_EQ(cache.Of(*snapshot, ShapeId(0), nullptr).Find(0, block), nullptr);
}

// The fear: a number that was given back and used again stands for the shape that had it before.
TEST(RoomCache, KnowsAShapeByItsIdentityAndNotByItsNumber) {
  TestCluster cluster;
  cluster.Add(MakeNode("n1").Gpu(8));
  cluster.Add(MakePod("p").Gpu(1));
  Snapshot snapshot = *cluster.state().Publish();
  RoomCache cache;
  cache.Begin(snapshot);
  (void)cache.Of(snapshot, ShapeId(0), nullptr).Renew(0, snapshot.blocks[0]);
  auto tables = std::make_shared<Tables>(*snapshot.tables);
  tables->shapes.Set(0, std::make_shared<const PodShape>(tables->ShapeOf(ShapeId(0))));
  snapshot.tables = std::move(tables);
  cache.Begin(snapshot);
  EXPECT_EQ(cache.Of(snapshot, ShapeId(0), nullptr).Find(0, snapshot.blocks[0]), nullptr);
}

TEST(RoomCache, ForgetsWhatScoresSaidOfAnotherMixOfRequests) {
  TestCluster cluster;
  cluster.Add(MakeNode("n1").Gpu(8));
  cluster.Add(MakePod("p").Gpu(1));
  Snapshot snapshot = *cluster.state().Publish();
  const auto some_mix = [] {
    const ResourceId gpu(3);
    return std::make_shared<const RequestMix>(
        std::vector<TypicalRequest>{{.amounts = {{gpu, 1}}, .pods = 1}},
        std::vector<UnitWorth>{{.resource = gpu}});
  };
  snapshot.mix = some_mix();
  RoomCache cache;
  const auto remembers = [&] {
    cache.Begin(snapshot);
    return cache.Of(snapshot, ShapeId(0), nullptr).Find(0, snapshot.blocks[0]) != nullptr;
  };
  cache.Begin(snapshot);
  (void)cache.Of(snapshot, ShapeId(0), nullptr).Renew(0, snapshot.blocks[0]);
  EXPECT_TRUE(remembers());
  // An equal mix is another one: whoever publishes it says that things have moved.
  snapshot.mix = some_mix();
  EXPECT_FALSE(remembers());
}

}  // namespace
}  // namespace maniple::cycle_room_cache_test
