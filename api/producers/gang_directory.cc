#include "api/producers/gang_directory.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"
#include "absl/hash/hash.h"
#include "api/base/check.h"
#include "api/base/sort_unique.h"
#include "api/producers/gang_maker.h"
#include "api/producers/marks.h"
#include "api/producers/object_table.h"
#include "api/producers/queue_choice.h"
#include "api/producers/resolution.h"

namespace maniple {

struct KnownGang;

// Pods of equal marks belong to the same part of the same gang, so places are worked out for these.
struct PodClass {
  const std::string* packed = nullptr;  // the key of the class
  bool anchor = false;                  // stands for a group object, and has no pods
  absl::btree_set<PodId> pods;
  size_t runners = 0;         // those of the pods that have a node and have not ended
  Resolution resolved;        // its `seen` are the slots that have this class among their watchers
  bool in_sub_group = false;  // whether the gang has resolved.sub_group
  std::string queue;          // of gangs of one
  bool brings_quota = false;  // likewise
  KnownGang* gang = nullptr;  // null: one that nobody declares
};

struct KnownGang {
  const GroupName* name = nullptr;  // the key of the gang
  ForeignGang made;
  std::vector<PodClass*> classes;  // by packed marks
  std::string carrier;  // marks of the last pod that had YuniKorn's table of task groups; "" = none
};

namespace {

struct NameHash {
  size_t operator()(const GroupName& name) const {
    return absl::HashOf(name.namespace_name, name.group_name);
  }
};

bool IsDeclared(GangOrigin origin) {
  switch (origin) {
    case GangOrigin::kObject:
    case GangOrigin::kOwner:
    case GangOrigin::kController:
    case GangOrigin::kMarks:
      return true;
    case GangOrigin::kNone:
    case GangOrigin::kOurs:
    case GangOrigin::kMissing:
      return false;
  }
  return false;
}

struct KnownPod {
  PodClass* of = nullptr;
  bool runs = false;  // counted among the runners of its class
};

bool Runs(const Pod& pod) {
  return !pod.node_name.empty() && pod.phase != PodPhase::kSucceeded &&
         pod.phase != PodPhase::kFailed;
}

PodPlace PlaceIn(const PodClass& of) {
  const Resolution& resolved = of.resolved;
  return {.group_name = resolved.gang.group_name,
          .queue = of.queue,
          .brings_quota = of.brings_quota,
          .sub_group = of.in_sub_group ? resolved.sub_group : "",
          .passed_over = resolved.passed_over,
          .awaited = resolved.awaited};
}

// What pods know of the stages and the owner of their gang, an anchor may not.
GangIdentity IdentityOf(const KnownGang& gang) {
  const auto first_that = [&gang](auto knows) {
    const auto found = std::ranges::find_if(
        gang.classes, [&](const PodClass* of) { return knows(of->resolved.gang); });
    return found != gang.classes.end() ? *found : gang.classes.front();
  };
  GangIdentity identity =
      first_that([](const GangIdentity& of) { return of.stager != nullptr; })->resolved.gang;
  identity.owner =
      first_that([](const GangIdentity& of) { return of.owner != nullptr; })->resolved.gang.owner;
  return identity;
}

// An application has its table from its first pod, which may be gone before the others.
void KeepTable(KnownGang& gang, GangIdentity& identity) {
  if (identity.dialect != MarkField::kYunikorn) return;
  const auto carrier = std::find_if(
      gang.classes.begin(), gang.classes.end(),
      [](const PodClass* of) { return PodMarks(*of->packed).Has(MarkField::kTaskGroups); });
  if (carrier != gang.classes.end()) {
    gang.carrier = *(*carrier)->packed;
  } else {
    identity.carrier = gang.carrier;
  }
}

// Whoever writes something else on each pod pays with what the rest of them say: it is not heard.
constexpr size_t kMostSayings = 1024;

const std::string& PackedOf(const PodClass* of) { return *of->packed; }

void Erase(std::vector<PodClass*>& classes, const PodClass* of) {
  classes.erase(std::remove(classes.begin(), classes.end(), of), classes.end());
}

}  // namespace

class GangDirectory::Impl final {
 public:
  explicit Impl(ProducerOptions options) : options_(std::move(options)), table_(options_.kinds) {}

  void Upsert(const ForeignObject& object, DirectoryChange& change) {
    Follow(table_.Upsert(object), change);
  }
  void Refuse(const ObjectInvalid& invalid, DirectoryChange& change) {
    Follow(table_.Refuse(invalid), change);
  }

  void Remove(const ObjectKey& key, absl::string_view uid, DirectoryChange& change) {
    ObjectSlot* slot = table_.Remove(key, uid);
    if (slot == nullptr) return;
    Round round(*this, change);
    const auto anchor =
        IsGroupObject(table_.role(slot->kind)) ? classes_.find(AnchorOf(*slot)) : classes_.end();
    const std::vector<PodClass*> watchers = slot->watchers;
    // The last watcher to leave takes the slot with it.
    if (watchers.empty()) table_.Tidy(*slot);
    for (PodClass* watcher : watchers) {
      if (anchor == classes_.end() || watcher != &anchor->second) round.Resolve(*watcher);
    }
    if (anchor != classes_.end()) round.Retire(anchor->second);
  }

  void SetServed(const KindServed& served, DirectoryChange& change) {
    if (!table_.SetServed(served)) return;
    Round round(*this, change);
    for (auto& [packed, of] : classes_) round.Resolve(of);
  }

  PodPlace Put(PodId pod, const Pod& seen, DirectoryChange& change) {
    PackMarks(seen, table_.kinds(), scratch_);
    KnownPod& known = pods_[pod];
    const bool runs = Runs(seen);
    const bool same = known.of != nullptr && *known.of->packed == scratch_;
    if (same && known.runs == runs) return PlaceIn(*known.of);
    {
      Round round(*this, change);
      // In the new class first: a gang that lives by its runners alone does not miss this one.
      PodClass& now = same ? *known.of : round.ClassOf(scratch_);
      if (runs) round.AddRunner(now);
      if (same) {
        now.pods.erase(pod);
        if (known.runs) round.DropRunner(now);
      } else if (known.of != nullptr) {
        round.TakeOut(pod, known);
      }
      known = {&now, runs};
    }
    known.of->pods.insert(pod);
    return PlaceIn(*known.of);
  }

  void Forget(PodId pod, DirectoryChange& change) {
    const auto known = pods_.find(pod);
    if (known == pods_.end()) return;
    Round(*this, change).TakeOut(pod, known->second);
    pods_.erase(known);
  }

  PodPlace PlaceOf(PodId pod) const {
    const auto known = pods_.find(pod);
    CHECK(known != pods_.end()) << "no such pod: " << pod;
    return PlaceIn(*known->second.of);
  }

  bool AsksForNone(const GroupName& name) const { return singles_.contains(name); }

  const ForeignGang* Find(const GroupName& name) const {
    const auto found = gangs_.find(name);
    return found != gangs_.end() ? &found->second.made : nullptr;
  }

 private:
  // What one event sets off; the gangs are made anew, and the change told, when it ends.
  class Round final {
   public:
    Round(Impl& of, DirectoryChange& change) : of_(of), change_(change) {}
    ~Round() { Finish(); }
    Round(const Round&) = delete;
    Round& operator=(const Round&) = delete;

    PodClass& ClassOf(const std::string& packed) {
      const auto [found, fresh] = of_.classes_.try_emplace(packed);
      if (fresh) {
        found->second.packed = &found->first;
        Resolve(found->second);
      }
      return found->second;
    }

    void Resolve(PodClass& of) {
      Remember(of);
      Resolution was =
          std::exchange(of.resolved, maniple::Resolve(PodMarks(*of.packed), of_.table_));
      SortUnique(of.resolved.seen);
      for (ObjectSlot* slot : was.seen) Unwatch(*slot, of);
      for (ObjectSlot* slot : of.resolved.seen) {
        slot->watchers.push_back(&of);
        slot->runners += of.runners;
      }
      for (ObjectSlot* slot : was.seen) of_.table_.Tidy(*slot);
      Leave(of);
      NoteSingle(of, was.larger);
      of.in_sub_group = of.resolved.gang.origin == GangOrigin::kOurs;
      of.queue = QueueOfSingle(of);
      of.brings_quota = of.resolved.gang.origin == GangOrigin::kNone && of.queue.empty() &&
                        BringsQuota({PodMarks(*of.packed)}, of_.options_);
      if (!IsDeclared(of.resolved.gang.origin)) return;
      const auto at = of_.gangs_.try_emplace(
          GroupName{std::string(PodMarks(*of.packed).Get(MarkField::kNamespace)),
                    of.resolved.gang.group_name});
      KnownGang& gang = at.first->second;
      gang.name = &at.first->first;
      gang.classes.insert(std::ranges::lower_bound(gang.classes, *of.packed, {}, PackedOf), &of);
      of.gang = &gang;
      dirty_.insert(&gang);
    }

    std::string QueueOfSingle(const PodClass& of) const {
      if (of.resolved.gang.origin != GangOrigin::kNone) return "";
      const ObjectSlot* owner = of.resolved.single_of;
      return ChooseQueue(owner == nullptr ? nullptr : owner->record->spec.get(), nullptr,
                         {PodMarks(*of.packed)}, of_.options_);
    }

    void TakeOut(PodId pod, const KnownPod& known) {
      PodClass& of = *known.of;
      of.pods.erase(pod);
      if (known.runs) DropRunner(of);
      if (of.pods.empty() && !of.anchor) Retire(of);
    }

    void AddRunner(PodClass& of) {
      ++of.runners;
      for (ObjectSlot* slot : of.resolved.seen) ++slot->runners;
    }

    void DropRunner(PodClass& of) {
      --of.runners;
      std::vector<PodClass*> left;  // by the last runner of a gang whose kind is served no more
      for (ObjectSlot* slot : of.resolved.seen) {
        if (--slot->runners > 0 || of_.table_.IsServed(slot->kind)) continue;
        left.insert(left.end(), slot->watchers.begin(), slot->watchers.end());
      }
      for (PodClass* watcher : left) Resolve(*watcher);
    }

    void Retire(PodClass& of) {
      Leave(of);
      NoteSingle(of, std::exchange(of.resolved.larger, ""));
      before_.erase(&of);
      for (ObjectSlot* slot : of.resolved.seen) {
        Unwatch(*slot, of);
        of_.table_.Tidy(*slot);
      }
      of_.classes_.erase(of_.classes_.find(*of.packed));
    }

   private:
    static void Unwatch(ObjectSlot& slot, const PodClass& of) {
      Erase(slot.watchers, &of);
      slot.runners -= of.runners;
    }

    // Those of one owner that asks for no gang, by the name that it would have.
    void NoteSingle(const PodClass& of, const std::string& before) {
      const std::string& now = of.resolved.larger;
      if (now == before) return;
      if (!now.empty()) ++of_.singles_[SingleNamed(of, now)];
      if (before.empty()) return;
      const auto last = of_.singles_.find(SingleNamed(of, before));
      if (--last->second == 0) of_.singles_.erase(last);
    }
    GroupName SingleNamed(const PodClass& of, const std::string& group_name) {
      GroupName name{std::string(PodMarks(*of.packed).Get(MarkField::kNamespace)), group_name};
      asked_for_none_.try_emplace(name, of_.singles_.contains(name));
      return name;
    }

    void Leave(PodClass& of) {
      if (of.gang == nullptr) return;
      Erase(of.gang->classes, &of);
      dirty_.insert(of.gang);
      of.gang = nullptr;
    }

    void Remember(const PodClass& of) {
      if (!of.pods.empty()) before_.try_emplace(&of, PlaceIn(of));
    }

    void Finish() {
      for (KnownGang* gang : dirty_) MakeAnew(*gang);
      for (const auto& [name, asked_for_none] : asked_for_none_) {
        if (of_.AsksForNone(name) != asked_for_none) change_.gangs.push_back(name);
      }
      SortUnique(change_.gangs);
      const size_t pods_before = change_.pods.size();
      for (const auto& [of, place] : before_) {
        if (PlaceIn(*of) == place) continue;
        change_.pods.insert(change_.pods.end(), of->pods.begin(), of->pods.end());
      }
      if (change_.pods.size() != pods_before) SortUnique(change_.pods);
    }

    void MakeAnew(KnownGang& gang) {
      if (gang.classes.empty()) {
        // One that came and went within the round was never told of.
        if (!gang.made.group_name.empty()) change_.gangs.push_back(*gang.name);
        of_.gangs_.erase(of_.gangs_.find(*gang.name));
        return;
      }
      std::vector<PodMarks> members;
      std::vector<absl::string_view> parts;
      for (size_t i = 0; i < std::min(gang.classes.size(), kMostSayings); ++i) {
        const PodClass* of = gang.classes[i];
        members.emplace_back(*of->packed);
        parts.emplace_back(of->resolved.sub_group);
      }
      GangIdentity identity = IdentityOf(gang);
      KeepTable(gang, identity);
      ForeignGang made = MakeGang(identity, members, of_.table_, of_.options_, parts);
      if (!made.problem.empty()) gang.carrier.clear();  // what makes no sense goes with its pod
      if (made != gang.made) {
        change_.gangs.push_back(*gang.name);
        gang.made = std::move(made);
      }
      for (PodClass* of : gang.classes) {
        const bool is_in = std::any_of(
            gang.made.spec.sub_groups.begin(), gang.made.spec.sub_groups.end(),
            [&](const SubGroup& group) { return group.name == of->resolved.sub_group; });
        if (is_in == of->in_sub_group) continue;
        Remember(*of);
        of->in_sub_group = is_in;
      }
    }

    Impl& of_;
    DirectoryChange& change_;
    absl::flat_hash_set<KnownGang*> dirty_;
    absl::flat_hash_map<GroupName, bool, NameHash> asked_for_none_;  // before the round
    absl::flat_hash_map<const PodClass*, PodPlace> before_;          // of classes with pods
  };

  std::string AnchorOf(const ObjectSlot& slot) const {
    std::string packed;
    PackAnchor(MarkOf(table_.role(slot.kind)), table_.NamespaceOf(slot), slot.name, packed);
    return packed;
  }

  void Follow(ObjectSlot* slot, DirectoryChange& change) {
    if (slot == nullptr) return;
    Round round(*this, change);
    const std::vector<PodClass*> watchers = slot->watchers;
    for (PodClass* watcher : watchers) round.Resolve(*watcher);
    // There without pods, too.
    if (IsGroupObject(table_.role(slot->kind))) round.ClassOf(AnchorOf(*slot)).anchor = true;
  }

  const ProducerOptions options_;
  ObjectTable table_;
  absl::node_hash_map<std::string, PodClass> classes_;  // by packed marks
  absl::flat_hash_map<PodId, KnownPod> pods_;
  absl::node_hash_map<GroupName, KnownGang, NameHash> gangs_;
  absl::flat_hash_map<GroupName, size_t, NameHash> singles_;  // classes of each name
  std::string scratch_;
};

GangDirectory::GangDirectory(ProducerOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
GangDirectory::~GangDirectory() = default;
void GangDirectory::Upsert(const ForeignObject& object, DirectoryChange& change) {
  impl_->Upsert(object, change);
}
void GangDirectory::Remove(const ObjectKey& key, absl::string_view uid, DirectoryChange& change) {
  impl_->Remove(key, uid, change);
}
void GangDirectory::Refuse(const ObjectInvalid& invalid, DirectoryChange& change) {
  impl_->Refuse(invalid, change);
}
void GangDirectory::SetServed(const KindServed& served, DirectoryChange& change) {
  impl_->SetServed(served, change);
}
PodPlace GangDirectory::Put(PodId pod, const Pod& seen, DirectoryChange& change) {
  return impl_->Put(pod, seen, change);
}
void GangDirectory::Forget(PodId pod, DirectoryChange& change) { impl_->Forget(pod, change); }
PodPlace GangDirectory::PlaceOf(PodId pod) const { return impl_->PlaceOf(pod); }
const ForeignGang* GangDirectory::Find(const GroupName& name) const { return impl_->Find(name); }
bool GangDirectory::AsksForNone(const GroupName& name) const { return impl_->AsksForNone(name); }

}  // namespace maniple
