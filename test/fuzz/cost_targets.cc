#include "test/fuzz/cost_targets.h"

#include <cstdint>
#include <ctime>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/fuzz/byte_source.h"
#include "test/fuzz/strange_objects.h"
#include "test/support/builders.h"
#include "test/support/heap_in_use.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

constexpr int kNodes = 4;
constexpr size_t kPlainPodBytes = 1000;

// Generous, for sanitizers and a busy machine; what is to be found is worse by a power.
struct Bounds {
  double seconds = 3, seconds_per_megabyte = 10;
  int64_t heap_bytes = 16 << 20, heap_bytes_per_byte = 64;
  // Of the first history, beside what tables keep for the next.
  int64_t left_bytes = 256 << 10, left_percent = 25;
};

enum class Clock { kAsked, kIgnored };

class History final {
 public:
  explicit History(Clock clock) : clock_(clock) {
    for (int i = 0; i < kNodes; ++i) {
      Apply(MakeNode(absl::StrCat("n", i)).Pods(1 << 16).Label("zone", absl::StrCat(i % 3)));
    }
  }

  // "" or what costs too much. `salt` makes it a history of other names.
  [[nodiscard]] std::string Live(absl::string_view input, absl::string_view salt) {
    ByteSource bytes(input);
    StrangeObjects strange(bytes, salt);
    begun_ = std::clock();
    heap_before_ = HeapInUse();
    told_ = 0;
    for (int i = bytes.Many(2000); i > 0; --i) {
      const Pod plain = MakePod(absl::StrCat(salt, "plain", i))
                            .Label("app", absl::StrCat(i % 50))
                            .On(absl::StrCat("n", i % kNodes));
      Create({.object = plain, .bytes = kPlainPodBytes});
    }
    for (int steps = 1 + bytes.Below(6); steps > 0; --steps) {
      const StrangeObject drawn = Draw(bytes, strange, salt);
      had_strange_nodes_ |= KindOf(drawn.object) == ResourceKind::kNode;
      Create(drawn);
      const std::string& name = MetaOf(drawn.object).name;
      DecideIfGang({GangDialect::kManiple, "default", name});
      DecideIfGang({GangDialect::kSingleton, "default", name});
      if (std::string said = ExcessiveCost(); !said.empty()) {
        return absl::StrCat(said, " The last is ", ResourceKindName(KindOf(drawn.object)), " ",
                            name, " of ", drawn.bytes, " bytes.");
      }
    }
    return "";
  }

  // Names of what a node has stay known, and tenants make no nodes.
  [[nodiscard]] bool had_strange_nodes() const { return had_strange_nodes_; }

  // Everything is deleted and what nobody uses is given back.
  void End() {
    for (const auto& [kind, name] : std::exchange(alive_, {})) {
      Apply(DeletionOf(kind, name, "", IsNamespaced(kind) ? "default" : ""));
    }
    Publish();
    cluster_.state().Sweep({});
    Publish();
  }

  [[nodiscard]] std::string PlainPodStarts(absl::string_view resource) {
    Create({.object = static_cast<Node>(MakeNode("late").Has(resource, 8)), .bytes = 0});
    Create({.object = static_cast<Pod>(MakePod("plain").Wants(resource, 1)), .bytes = 0});
    const Decision decision = cluster_.Decide("plain");
    std::string said;
    if (!std::holds_alternative<Plan>(decision)) {
      said =
          absl::StrCat("A plain pod does not start on a node that joined after all was deleted: ",
                       absl::StrJoin(cluster_.ReasonsOf(decision), ", "));
    }
    End();
    return said;
  }

 private:
  void Apply(const ObjectEvent& event) {
    ClusterState& state = cluster_.state();
    cluster_.Add(event);
    static_cast<void>(state.TakeChangedCounts());
    if (state.WantsSweep()) state.Sweep({});
  }
  void Publish() { static_cast<void>(cluster_.state().Publish()); }

  void Create(const StrangeObject& made) {
    told_ += static_cast<int64_t>(made.bytes);
    Apply(ObjectUpserted{made.object});
    alive_.insert({KindOf(made.object), MetaOf(made.object).name});
  }

  static StrangeObject Draw(ByteSource& bytes, StrangeObjects& strange, absl::string_view salt) {
    const std::string name = absl::StrCat(salt, "strange", bytes.Below(3));
    const int kind = bytes.Below(8);
    if (kind == 0) return strange.DrawNode(name);
    if (kind == 1) return strange.DrawPodGroup(absl::StrCat(salt, "group"));
    return strange.DrawPod(name);
  }

  void DecideIfGang(const GangKey& key) {
    Publish();
    if (cluster_.state().GangNamed(key).has_value()) static_cast<void>(cluster_.Decide(key.name));
  }

  [[nodiscard]] std::string ExcessiveCost() const {
    const Bounds bounds;
    const double seconds = static_cast<double>(std::clock() - begun_) / CLOCKS_PER_SEC;
    const double may_take =
        bounds.seconds + bounds.seconds_per_megabyte * static_cast<double>(told_) / 1e6;
    if (clock_ == Clock::kAsked && seconds > may_take) {
      return absl::StrCat(told_, " bytes of objects took ", seconds, " s of CPU, and ", may_take,
                          " are allowed.");
    }
    const int64_t heap = HeapInUse() - heap_before_;
    const int64_t heap_may_be = bounds.heap_bytes + bounds.heap_bytes_per_byte * told_;
    if (heap <= heap_may_be) return "";
    return absl::StrCat(told_, " bytes of objects are kept in ", heap, " bytes of memory, and ",
                        heap_may_be, " are allowed.");
  }

  const Clock clock_;
  TestCluster cluster_;
  std::set<std::pair<ResourceKind, std::string>> alive_;  // but for the nodes of the start
  bool had_strange_nodes_ = false;
  // Of the history that is being lived.
  std::clock_t begun_ = 0;
  int64_t heap_before_ = 0, told_ = 0;
};

std::string CostOf(absl::string_view bytes, Clock clock) {
  History history(clock);
  // What it takes of memory once is taken by then.
  if (std::string said = history.PlainPodStarts("nvidia.com/gpu"); !said.empty()) return said;
  int64_t left[2] = {};
  for (const int round : {0, 1}) {
    const int64_t before = HeapInUse();
    std::string said = history.Live(bytes, round == 0 ? "a" : "b");
    if (!said.empty()) return said;
    history.End();
    left[round] = HeapInUse() - before;
  }
  const Bounds bounds;
  if (!history.had_strange_nodes() &&
      left[1] > bounds.left_bytes + left[0] * bounds.left_percent / 100) {
    return absl::StrCat("All was deleted, but ", left[1], " bytes more stay of a second history; ",
                        left[0], " stay of the first.");
  }
  // What the cluster has never had before is counted from the first node on that has it.
  return history.PlainPodStarts("amd.com/gpu");
}

}  // namespace

std::string FuzzCost(absl::string_view bytes) { return CostOf(bytes, Clock::kAsked); }
std::string FuzzCostUntimed(absl::string_view bytes) { return CostOf(bytes, Clock::kIgnored); }

}  // namespace maniple
