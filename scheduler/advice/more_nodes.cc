// More GPUs, or more nodes: on copies of nodes that are there, in each domain where it would do.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "scheduler/advice/changes.h"
#include "scheduler/cycle/topology/topology.h"

namespace maniple {
namespace {

// At most so many nodes are added at once; domains with little room are left out for it.
constexpr int64_t kMostCopies = 1'024;
// The most kinds of nodes of one product that are tried, kinds without taints first.
constexpr size_t kMostKinds = 4;
constexpr size_t kMostProducts = 8;

// The unit of growth: a GPU resource as members ask for it, or whole nodes.
struct Unit {
  std::optional<ResourceId> gpus;
  int64_t most_of_a_pod = 0;
};

Unit UnitOf(const Hypothesis& from) {
  Unit unit;
  const Tables& tables = *from.snapshot->tables;
  for (const Want& want : from.request.wants) {
    for (const auto& [resource, amount] : tables.ShapeOf(want.shape).requests) {
      if (!tables.FactsOf(resource).gpu || amount <= unit.most_of_a_pod) continue;
      unit = {.gpus = resource, .most_of_a_pod = amount};
    }
  }
  return unit;
}

// The level whose domain all members, or the members of a sub-group, must share.
DomainLevelPtr RequiredLevel(const Hypothesis& from) {
  LevelStore store;
  const auto choice = ResolveTopology(*from.snapshot, from.request, store);
  if (!choice.ok()) return nullptr;
  if (choice->gang.required) return choice->gang.levels.front();
  for (const DomainWish& wish : choice->sub_groups) {
    if (wish.required) return wish.levels.front();
  }
  return nullptr;
}

// Nodes that may be copied, equal but for the domain they are in.
struct Likes {
  std::string product;
  int64_t capacity = 0;  // of the unit's resource; 1 where nodes are counted
  bool open = false;     // neither cordoned nor tainted
  struct Like {
    NodeId node;
    bool open = false;
    int64_t members = 0;  // members that the domain takes already, counted by GPUs alone
  };
  std::map<uint32_t, Like> by_domain;
};

class NodeSearch final {
 public:
  NodeSearch(const Hypothesis& from, Trials& trials)
      : from_(from), trials_(trials), unit_(UnitOf(from)), level_(RequiredLevel(from)) {}

  [[nodiscard]] std::vector<FoundChange> Run() {
    std::map<std::string, std::pair<int64_t, FoundChange>> best;  // by product
    std::map<std::string, size_t> tried;
    for (const Likes& likes : Kinds()) {
      if (tried.size() >= kMostProducts && !tried.contains(likes.product)) continue;
      if (best.contains(likes.product) && !likes.open) continue;  // found without lifting a taint
      if (++tried[likes.product] > kMostKinds) continue;
      std::optional<std::pair<int64_t, FoundChange>> found = Least(likes);
      if (!found.has_value()) continue;
      const auto at = best.find(likes.product);
      if (at == best.end()) {
        best.emplace(likes.product, *std::move(found));
      } else if (found->first < at->second.first) {
        at->second = *std::move(found);
      }
    }
    std::vector<FoundChange> all;
    for (auto& [product, found] : best) all.push_back(std::move(found.second));
    return all;
  }

 private:
  [[nodiscard]] std::vector<Likes> Kinds() const {
    const Snapshot& snapshot = *from_.snapshot;
    // Kinds differ by product and capacity, and by class where no domain is required. Where one is,
    // the copy of its node has the labels that it needs.
    std::map<std::tuple<std::string, int64_t, uint32_t>, Likes> kinds;
    for (const NodeId node : snapshot.order->by_name) {
      const NodeBlock& block = *snapshot.blocks[BlockOf(node)];
      const uint32_t row = RowOf(node);
      const int64_t capacity = unit_.gpus.has_value() ? block.Allocatable(*unit_.gpus)[row] : 1;
      if (capacity <= 0 || capacity < unit_.most_of_a_pod) continue;
      const uint32_t domain = level_ == nullptr ? 0 : level_->DomainOf(node);
      if (domain == DomainLevel::kOutside) continue;
      const NodeClassId id = block.rows().classes[row];
      const NodeClass& of = *snapshot.tables->classes[id.index()];
      const bool open = !of.unschedulable && of.taints.empty();
      Likes& likes = kinds[{unit_.gpus.has_value() ? of.gpus.product : "", capacity,
                            level_ == nullptr ? id.index() : 0}];
      likes.product = unit_.gpus.has_value() ? of.gpus.product : "";
      likes.capacity = capacity;
      likes.open = likes.open || open;
      Likes::Like& like = likes.by_domain[domain];
      if (!like.node.valid() || (open && !like.open)) {
        like.node = node;
        like.open = open;
      }
      like.members += unit_.gpus.has_value()
                          ? std::max<int64_t>(0, block.Free(*unit_.gpus)[row]) / unit_.most_of_a_pod
                          : 0;
    }
    std::vector<Likes> all;
    for (auto& [key, likes] : kinds) all.push_back(std::move(likes));
    std::ranges::stable_sort(all, std::ranges::greater(), &Likes::open);
    return all;
  }

  [[nodiscard]] std::vector<NodeCopy> Copies(const std::vector<NodeId>& likes, const Likes& of,
                                             int64_t units) const {
    std::vector<NodeCopy> copies;
    for (const NodeId like : likes) {
      for (int64_t i = 0; i < units / of.capacity; ++i)
        copies.push_back({.like = like, .only = {}});
      if (const int64_t rest = units % of.capacity; rest > 0) {
        copies.push_back({.like = like, .only = {{*unit_.gpus, rest}}});
      }
    }
    return copies;
  }

  // Enough for the whole quorum on new nodes alone.
  [[nodiscard]] int64_t Enough(const Likes& likes) const {
    const int64_t members = std::max<int64_t>(1, from_.request.need.total);
    if (!unit_.gpus.has_value()) return members;
    const int64_t per_node = likes.capacity / unit_.most_of_a_pod;
    return (members + per_node - 1) / per_node * likes.capacity;
  }

  // So many nodes have so many units.
  [[nodiscard]] static int64_t NodesOf(int64_t units, const Likes& likes) {
    return (units + likes.capacity - 1) / likes.capacity;
  }

  // What is lacking where GPUs are not; found when it is first asked for.
  [[nodiscard]] const std::vector<std::string>& Lacking() {
    if (lacking_.has_value()) return *lacking_;
    lacking_.emplace();
    if (!unit_.gpus.has_value()) return *lacking_;
    for (const ResourceId resource : LackingButGpus(from_, trials_)) {
      lacking_->push_back(resource == kPods ? "pod slots"
                                            : from_.snapshot->tables->FactsOf(resource).name);
    }
    return *lacking_;
  }

  // The most promising domains, as many as may be looked at together.
  [[nodiscard]] std::vector<NodeId> LikesToTry(const Likes& likes, int64_t enough) const {
    std::vector<Likes::Like> by_room;
    for (const auto& [domain, like] : likes.by_domain) by_room.push_back(like);
    std::ranges::stable_sort(by_room, std::ranges::greater(), &Likes::Like::members);
    const int64_t each = NodesOf(enough, likes);
    const auto most = static_cast<size_t>(std::max<int64_t>(1, kMostCopies / each));
    if (by_room.size() > most) by_room.resize(most);
    std::vector<NodeId> nodes;
    for (const Likes::Like& like : by_room) nodes.push_back(like.node);
    return nodes;
  }

  [[nodiscard]] std::optional<std::pair<int64_t, FoundChange>> Least(const Likes& likes) {
    int64_t enough = Enough(likes);
    std::vector<NodeId> nodes = LikesToTry(likes, enough);
    std::optional<Plan> plan;
    // If a node for each member does not do, something other than nodes is lacking.
    const int64_t most = std::max<int64_t>(1, from_.request.need.total) *
                         (unit_.gpus.has_value() ? likes.capacity : 1);
    const auto does = [&](int64_t units) {
      std::optional<Plan> found = trials_.Start(AddNodes(from_, Copies(nodes, likes, units)));
      if (!found.has_value()) return false;
      plan = std::move(found);
      return true;
    };
    // What each member asks for beside its GPUs may fill a node before these are all in use.
    while (!does(enough)) {
      if (enough >= most || trials_.spent()) return std::nullopt;
      enough = std::min(2 * enough, most);
      nodes = LikesToTry(likes, enough);
    }
    const int64_t did = enough;
    enough = LeastThatDoes(0, enough, does);
    if (nodes.size() > 1) {
      // Nodes in all these domains at once do; try them only in the domain that the plan uses.
      nodes = {LikeUsed(*plan, nodes, likes, enough)};
      if (!does(enough)) {
        enough = did;
        if (!does(enough)) return std::nullopt;
        enough = LeastThatDoes(0, enough, does);
      }
    }
    if (trials_.spent()) return std::nullopt;
    if (!Lacking().empty()) {
      // Cores and memory come with whole nodes.
      enough = NodesOf(enough, likes) * likes.capacity;
      if (!does(enough)) return std::nullopt;
    }
    return std::pair(enough, FoundChange{.change = ChangeOf(nodes.front(), likes, enough),
                                         .after = AddNodes(from_, Copies(nodes, likes, enough))});
  }

  // The original of the first new node that the plan uses.
  [[nodiscard]] NodeId LikeUsed(const Plan& plan, const std::vector<NodeId>& nodes,
                                const Likes& likes, int64_t units) const {
    const std::vector<NodeCopy> copies = Copies(nodes, likes, units);
    const uint32_t first = FirstNewNode(from_).index();
    for (const Placement& placement : plan.placements) {
      if (placement.node.index() >= first) return copies[placement.node.index() - first].like;
    }
    return nodes.front();
  }

  [[nodiscard]] HelpfulChange ChangeOf(NodeId like, const Likes& likes, int64_t units) {
    const std::string name = from_.snapshot->NodeName(like);
    std::string level, domain;
    if (level_ != nullptr) {
      level = level_->name;
      domain = level_->paths[level_->DomainOf(like)];
    }
    if (!unit_.gpus.has_value() || !Lacking().empty()) {
      return MoreNodes{.nodes = NodesOf(units, likes),
                       .like = name,
                       .level = level,
                       .domain = domain,
                       .lacking = Lacking()};
    }
    return MoreGpus{.amount = units,
                    .resource = from_.snapshot->tables->FactsOf(*unit_.gpus).name,
                    .product = likes.product,
                    .like = name,
                    .level = level,
                    .domain = domain};
  }

  const Hypothesis& from_;
  Trials& trials_;
  const Unit unit_;
  const DomainLevelPtr level_;
  std::optional<std::vector<std::string>> lacking_;
};

}  // namespace

std::vector<FoundChange> FindMoreNodes(const Hypothesis& from, Trials& trials) {
  return NodeSearch(from, trials).Run();
}

}  // namespace maniple
