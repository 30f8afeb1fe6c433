// VolumeTable against one that is built afresh from the same objects after every change. The fear
// is a change that reaches no pod: who is not named as stale keeps what a claim asked of it before.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/storage_builders.h"
#include "test/unit/state/volume_table_fixture.h"

namespace maniple {
namespace {

constexpr int kSteps = 3000;
constexpr char kCsi[] = "csi.example.com";

// Where the pod stands, as long as it is there.
std::string NodeOf(PodId pod) { return absl::StrCat("n", pod.index() % 2); }

// Objects and pods of few names, so that they meet.
class World final {
 public:
  explicit World(uint64_t seed) : random_(seed) {}

  // One change of anything, told to the table.
  void Change(VolumeTable& table) {
    const uint64_t dice = random_.Below(10);
    if (dice < 3) return ChangePod(table);
    if (dice == 3) return Assume(table);
    const ObjectKey key = AnyKey();
    ObjectEvent event = ObjectUpserted{AnyObject(key)};
    if (random_.OneIn(5)) event = ObjectDeleted{key, ""};
    // The limits that could be read last stand.
    if (random_.OneIn(8) && key.kind != ResourceKind::kCsiNode)
      event = ObjectInvalid{key, "", "odd"};
    told_.insert_or_assign(key, event);
    Tell(table, event);
  }
  // The same world, told at once.
  void Rebuild(VolumeTable& table) const {
    for (const auto& [key, event] : told_) Tell(table, event);
    for (const auto& [pod, object] : pods_) table.SetUse(pod, object);
    for (const auto& [volume, pod] : assumed_) table.Assume(pod, volume);
  }
  const std::map<PodId, Pod>& pods() const { return pods_; }

 private:
  std::string Named(absl::string_view what, uint64_t most) {
    return absl::StrCat(what, random_.Below(most));
  }

  ObjectKey AnyKey() {
    switch (random_.Below(10)) {
      case 0:
        return {ResourceKind::kStorageClass, "", Named("class-", 2)};
      case 1:
        return {ResourceKind::kCsiDriver, "", kCsi};
      case 2:
        return {ResourceKind::kCsiStorageCapacity, "default", Named("pool-", 2)};
      case 3:
      case 4:
        return {ResourceKind::kPersistentVolume, "", Named("pv-", 4)};
      case 5:
        return {ResourceKind::kCsiNode, "", Named("n", 2)};
      case 6:
        return {ResourceKind::kVolumeAttachment, "", Named("attachment-", 3)};
      default:
        return {ResourceKind::kPersistentVolumeClaim, "default", Named("data-", 4)};
    }
  }

  Object AnyObject(const ObjectKey& key) {
    if (key.kind == ResourceKind::kStorageClass) return AnyClass(key.name);
    if (key.kind == ResourceKind::kCsiDriver) return AnyDriver(key.name);
    if (key.kind == ResourceKind::kCsiStorageCapacity) return AnyCapacity(key);
    if (key.kind == ResourceKind::kPersistentVolume) return AnyVolume(key.name);
    if (key.kind == ResourceKind::kCsiNode) return AnyNode(key.name);
    if (key.kind == ResourceKind::kVolumeAttachment) return AnyAttachment(key.name);
    return AnyClaim(key.name);
  }

  PersistentVolumeClaim AnyClaim(const std::string& name) {
    MakeClaim claim(name);
    claim.Class(Named("class-", 2)).Size(1 + static_cast<int64_t>(random_.Below(3)));
    if (random_.OneIn(3)) claim.Modes(kReadWriteOncePod);
    if (random_.OneIn(6)) claim.Selected(Named("n", 2));
    if (random_.OneIn(9)) claim.Deleting();
    if (random_.OneIn(2)) claim.BoundTo(Named("pv-", 4));
    if (random_.OneIn(9)) claim.Names(Named("pv-", 4));
    PersistentVolumeClaim out = claim;
    if (random_.OneIn(4)) out.meta.uid = "another";
    return out;
  }

  PersistentVolume AnyVolume(const std::string& name) {
    MakeVolume volume(name);
    volume.Class(Named("class-", 2)).Size(1 + static_cast<int64_t>(random_.Below(3)));
    if (random_.OneIn(2)) volume.Csi(kCsi, Named("h", 3));
    if (random_.OneIn(2)) volume.OnHost(Named("n", 2));
    if (random_.OneIn(3)) volume.Label("topology.kubernetes.io/zone", Named("z", 2));
    if (random_.OneIn(6)) volume.Unavailable();
    if (random_.OneIn(2)) {
      const std::string claim = Named("data-", 4);
      volume.For(claim, random_.OneIn(2) ? "" : absl::StrCat("uid-claim-", claim));
    }
    return volume;
  }

  StorageClass AnyClass(const std::string& name) {
    MakeClass storage(name, random_.OneIn(4) ? "" : kCsi);
    if (random_.OneIn(4)) storage.Immediate();
    if (random_.OneIn(3)) storage.Where("zone", {"a"});
    return storage;
  }

  CsiDriver AnyDriver(const std::string& name) {
    CsiDriver out;
    out.meta.name = name;
    out.tracks_capacity = !random_.OneIn(3);
    return out;
  }

  CsiNode AnyNode(const std::string& name) {
    CsiNode out;
    out.meta.name = name;
    out.limits = {{.driver = kCsi, .most = static_cast<int64_t>(random_.Below(3))}};
    return out;
  }

  VolumeAttachment AnyAttachment(const std::string& name) {
    VolumeAttachment out;
    out.meta.name = name;
    out.node = Named("n", 2);
    out.volume = Named("pv-", 4);
    return out;
  }

  CsiStorageCapacity AnyCapacity(const ObjectKey& key) {
    CsiStorageCapacity out;
    out.meta.namespace_name = key.namespace_name;
    out.meta.name = key.name;
    out.storage_class = Named("class-", 2);
    if (!random_.OneIn(5)) out.nodes = Labelled("zone", Named("z", 2));
    if (!random_.OneIn(5)) out.largest = Amount(static_cast<int64_t>(random_.Below(4)));
    return out;
  }

  void ChangePod(VolumeTable& table) {
    const PodId pod(static_cast<uint32_t>(random_.Below(5)));
    if (const auto it = pods_.find(pod); it != pods_.end()) {
      pods_.erase(it);
      std::erase_if(assumed_, [pod](const auto& entry) { return entry.second == pod; });
      table.NoteUsersChanged(NodeOf(pod));
      return table.Forget(pod);
    }
    MakePod made(absl::StrCat("p", pod.index()));
    std::set<std::string> claims;
    for (uint64_t i = 0; i <= random_.Below(3); ++i) claims.insert(Named("data-", 4));
    for (const std::string& claim : claims) made.Claim(claim);
    pods_.emplace(pod, made);
    table.SetUse(pod, made);
    table.NoteUsersChanged(NodeOf(pod));
  }

  void Assume(VolumeTable& table) {
    if (pods_.empty()) return;
    const PodId pod = pods_.begin()->first;
    if (random_.OneIn(3)) {
      std::erase_if(assumed_, [pod](const auto& entry) { return entry.second == pod; });
      return table.Unassume(pod);
    }
    const std::string volume = Named("pv-", 4);
    assumed_.insert_or_assign(volume, pod);
    table.Assume(pod, volume);
  }

  Random random_;
  std::map<ObjectKey, ObjectEvent> told_;  // what the server shows last
  std::map<PodId, Pod> pods_;
  std::map<std::string, PodId> assumed_;
};

// What somebody knows who listens to the table and asks again only for what it says has changed.
class Listener final {
 public:
  explicit Listener(VolumeTable& table) : table_(table) {}

  void Listen(const std::map<PodId, Pod>& pods) {
    std::erase_if(needs_, [&](const auto& entry) { return !pods.contains(entry.first); });
    for (const auto& [pod, object] : pods) {
      if (!needs_.contains(pod)) needs_[pod] = table_.NeedsOf(pod);
    }
    for (int round = 0; table_.any_stale(); ++round) {
      ASSERT_LT(round, 100) << "they name each other for ever";
      for (const PodId pod : table_.TakeStale()) needs_[pod] = table_.NeedsOf(pod);
    }
    if (std::optional<std::vector<FreeVolume>> free = table_.TakeFreeVolumes()) free_ = *free;
    for (const std::string& node : table_.TakeStaleLimits()) {
      limits_[node] = table_.LimitsOf(node, [&](PodId pod) { return NodeOf(pod) == node; });
    }
    std::erase_if(limits_, [](const auto& entry) { return entry.second.empty(); });
  }
  const std::map<std::string, std::vector<NodeAttachments>>& limits() const { return limits_; }
  const std::map<PodId, VolumeNeeds>& needs() const { return needs_; }
  const std::vector<FreeVolume>& free() const { return free_; }

 private:
  VolumeTable& table_;
  std::map<PodId, VolumeNeeds> needs_;
  std::vector<FreeVolume> free_;
  std::map<std::string, std::vector<NodeAttachments>> limits_;  // by node
};

class VolumeTableModel : public ::testing::TestWithParam<uint64_t> {};

TEST_P(VolumeTableModel, WhoListensKnowsWhatATableBuiltAfreshSays) {
  World world(GetParam());
  VolumeTable table;
  Listener listener(table);
  for (int step = 0; step < kSteps; ++step) {
    SCOPED_TRACE(absl::StrCat("step ", step));
    world.Change(table);
    listener.Listen(world.pods());
    VolumeTable afresh;
    Listener reader(afresh);
    world.Rebuild(afresh);
    reader.Listen(world.pods());
    ASSERT_EQ(listener.needs(), reader.needs());
    ASSERT_EQ(listener.free(), reader.free());
    ASSERT_EQ(listener.limits(), reader.limits());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, VolumeTableModel, ::testing::Range<uint64_t>(1, 5));

}  // namespace
}  // namespace maniple
