#include "test/oracle/state/picture_of_state.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugins/framework/place_label.h"

namespace maniple {

const std::map<std::string, PodConstraints>& PictureOfState::constraints() const {
  return constraints_;
}

std::string PictureOfState::Sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  return absl::StrJoin(texts, ", ");
}

std::string PictureOfState::TextOf(const StringMap& labels) {
  return absl::StrJoin(labels.entries(), ",", absl::PairFormatter("="));
}

void PictureOfState::NoteNode(NodeId node) {
  const NodeBlock& block = *snapshot_->blocks[BlockOf(node)];
  const uint32_t row = RowOf(node);
  const std::string name = absl::StrCat("node ", state_.NodeName(node));
  const NodeClass& facts = *snapshot_->tables->classes[block.rows().classes[row].index()];
  std::vector<std::string> taints;
  for (const Taint& taint : facts.taints)
    taints.push_back(absl::StrCat(taint.key, "=", taint.value));
  Note(name + " labels", TextOf(state_.LabelsOf(node)));
  Note(name + " taints", Sorted(taints));
  Note(name + " cordon", Text(facts.unschedulable));
  Note(name + " gpus", absl::StrCat(facts.gpus.product, " ", facts.gpus.count, " ",
                                    facts.gpus == state_.GpusOf(node)));
  NoteRoom(name, block, row);
  NoteUse(name, block, row);
  std::vector<std::string> pods;
  state_.ForEachPodOn(node, [&](const PodFacts& pod) { pods.push_back(pod.uid); });
  Note(name + " pods", Sorted(pods));
}

void PictureOfState::NoteRoom(const std::string& name, const NodeBlock& block, uint32_t row) {
  for (uint32_t i = 0; i < snapshot_->tables->resources.size(); ++i) {
    const ResourceId resource(i);
    // Debts in what no node has let nobody in, and are known by those who saw such a node.
    if (!SomeNodeHas(resource)) continue;
    Note(
        absl::StrCat(name, " ", snapshot_->tables->resources[i].name),
        absl::StrCat("free ", block.Free(resource)[row], " of ", block.Allocatable(resource)[row]));
  }
}

bool PictureOfState::SomeNodeHas(ResourceId resource) const {
  return std::ranges::any_of(snapshot_->order->by_name, [&](NodeId node) {
    return snapshot_->blocks[BlockOf(node)]->Allocatable(resource)[RowOf(node)] != 0;
  });
}

void PictureOfState::NoteUse(const std::string& name, const NodeBlock& block, uint32_t row) {
  const Tables& tables = *snapshot_->tables;
  std::vector<std::string> ports, volumes, limits;
  for (const NodeBlock::UsedPort& used : block.used_ports()) {
    if (used.row == row) ports.push_back(Text(tables.host_ports[used.port.index()].port));
  }
  for (const NodeBlock::UsedVolume& used : block.UsedVolumesOn(row)) {
    volumes.push_back(TextOf(tables.volume_uses[used.use.index()].use));
  }
  for (const NodeRows::AttachLimit& limit : block.rows().attach_limits) {
    if (limit.row != row) continue;
    limits.push_back(absl::StrCat(tables.volume_drivers[limit.driver.index()], " ", limit.most,
                                  " unused ", limit.unused));
  }
  Note(name + " ports", Sorted(ports));
  Note(name + " volumes", Sorted(volumes));
  Note(name + " limits", Sorted(limits));
}

std::string PictureOfState::TextOf(const VolumeUse& use) {
  return absl::StrCat(static_cast<int>(use.kind), " ", use.driver, " ", use.name, use.disk.name);
}

std::string PictureOfState::OnNodes(const NodeText& text) const {
  return absl::StrJoin(snapshot_->order->by_name, " ", [&](std::string* out, NodeId node) {
    out->append(text(*snapshot_->blocks[BlockOf(node)], RowOf(node)));
  });
}

std::string PictureOfState::CountsOf(PodCountId count) const {
  return OnNodes([&](const NodeBlock& block, uint32_t row) {
    return Text(count.valid() ? block.pod_counts().At(count, row) : 0);
  });
}

bool PictureOfState::CountsSome(PodCountId count) const {
  return CountsOf(count).find_first_not_of("0 ") != std::string::npos;
}

std::string PictureOfState::TextOf(const std::vector<CountInDomain>& counts) const {
  std::vector<std::string> texts;
  for (const CountInDomain& count : counts) {
    if (!CountsSome(count.count)) continue;
    texts.push_back(
        absl::StrCat(count.topology_key, " ", count.weight, ": ", CountsOf(count.count)));
  }
  return Sorted(texts);
}

void PictureOfState::NoteTerms(const std::string& name, const ShapeTerms& terms) {
  Note(name + " near", absl::StrCat(absl::StrJoin(terms.near_keys, ","), terms.near_self, " ",
                                    CountsOf(terms.near)));
  Note(name + " apart", TextOf(terms.apart));
  Note(name + " kept away", TextOf(terms.kept_away));
  Note(name + " drawn", TextOf(terms.drawn));
  std::vector<std::string> spread;
  for (const SpreadCount& one : terms.spread) {
    spread.push_back(
        absl::StrCat(one.constraint.topology_key, one.counts_self, " ", CountsOf(one.count)));
  }
  Note(name + " spread", Sorted(spread));
}

void PictureOfState::NotePods() {
  for (uint32_t i = 0; i < kMostPods; ++i) {
    const PodFacts* pod = state_.FindPod(PodId(i));
    if (pod != nullptr) NotePod(PodId(i), *pod);
  }
}

void PictureOfState::NotePod(PodId id, const PodFacts& pod) {
  const std::string name = absl::StrCat("pod ", pod.uid);
  const PodShape& shape = snapshot_->tables->ShapeOf(pod.shape);
  constraints_[pod.uid] = shape.constraints;
  const Gang* gang = pod.gang.valid() ? state_.FindGang(pod.gang) : nullptr;
  Note(name, absl::StrCat(pod.namespace_name, "/", pod.name, " at ", pod.node_name, " ",
                          state_.NodeName(pod.node), pod.terminal, pod.terminating, " of ",
                          gang == nullptr ? "" : gang->key.name, " v", pod.resource_version));
  NoteTerms(name, shape.terms == nullptr ? ShapeTerms() : *shape.terms);
  NoteImages(name, shape);
  Note(name + " fits", OnNodes([&](const NodeBlock& block, uint32_t row) {
         const NodeId node = *state_.NodeNamed(block.rows().names[row]);
         return absl::StrCat(state_.MayFit(pod.shape, node), state_.ReachesVolumes(id, node));
       }));
  std::vector<std::string> budgets, claims;
  for (const uint32_t budget : state_.BudgetsOf(id))
    budgets.push_back(state_.Budgets()[budget].name);
  for (const ClaimToBind& claim : state_.ClaimsToBind(id)) {
    claims.push_back(absl::StrCat(claim.name, " ", claim.uid, " ", claim.reserved_volume));
  }
  Note(name + " budgets", Sorted(budgets));
  Note(name + " claims", absl::StrCat(Sorted(claims), state_.VolumeTroubleOf(id)));
}

void PictureOfState::NoteImages(const std::string& name, const PodShape& shape) {
  std::vector<std::string> images;
  for (const ImageId image : shape.images) {
    const ImageFacts facts = FactsOf(*snapshot_->images, image);
    images.push_back(absl::StrCat(
        facts.nodes, " ", facts.bytes, ":", OnNodes([&](const NodeBlock& block, uint32_t row) {
          return Text(std::ranges::any_of(block.rows().images, [&](const ImageRows& rows) {
            return rows.image == image && rows.rows.Test(row);
          }));
        })));
  }
  Note(name + " images", Sorted(images));
}

void PictureOfState::NoteGang(const Gang& gang) {
  const std::string name = absl::StrCat("gang ", static_cast<int>(gang.key.dialect),
                                        gang.key.namespace_name, "/", gang.key.name);
  std::vector<std::string> members;
  for (const Member& member : gang.members) {
    members.push_back(TextOf(member, gang.group_exists));
  }
  if (!gang.group_exists) std::sort(members.begin(), members.end());
  Note(name, absl::StrCat(gang.group_exists, gang.on_hold, gang.problem, gang.group_uid, " ",
                          state_.IsOfOthers(gang.id), absl::StrJoin(members, "")));
  if (!gang.group_exists) return Note(name + " waits for", gang.awaited);
  const PodGroupSpec& spec = gang.spec;
  std::string parts;
  for (const SubGroup& part : spec.sub_groups)
    absl::StrAppend(&parts, " ", part.name, part.min_member);
  Note(name + " spec", absl::StrCat(spec.queue, spec.min_member, spec.priority_class_name,
                                    spec.preempts, spec.topology.required, parts,
                                    gang.status.admitted_queue, " v", gang.group_resource_version,
                                    gang.group_generation, " ", absl::FormatTime(gang.created)));
  Note(name + " terms", absl::StrCat(gang.queue, " ", gang.priority, " ", gang.preempts));
}

std::string PictureOfState::TextOf(const Member& member, bool has_parts) const {
  return absl::StrCat("\n  ", member.name, " ", member.uid, " at ", state_.NodeName(member.node),
                      " ", member.priority, static_cast<int>(member.state), member.running,
                      member.preempts, has_parts ? member.rank.sub_group : -1, member.rank.job,
                      member.rank.index, member.waiting_reason, member.nominated);
}

void PictureOfState::NoteTables() {
  const Tables& tables = *snapshot_->tables;
  NotePlaces();
  for (const FreeVolume& volume : *tables.free_volumes) {
    Note(absl::StrCat("free volume ", volume.name),
         absl::StrCat(volume.storage_class, " ", volume.capacity.units(), TextOf(volume.labels),
                      volume.where.has_value()));
  }
  for (const Topology& topology : tables.topologies) {
    Note(absl::StrCat("topology ", topology.meta.name),
         Text(static_cast<int64_t>(topology.levels.size())));
  }
  for (const BudgetFacts& budget : state_.Budgets()) {
    Note(absl::StrCat("budget ", budget.namespace_name, "/", budget.name),
         absl::StrCat(budget.allowed, budget.selector.has_value()));
  }
  std::vector<std::string> promised;
  for (const PromisedRoom& room : state_.PromisedBelow(2)) {
    promised.emplace_back(state_.NodeName(room.node));
  }
  Note("promised", Sorted(promised));
}

void PictureOfState::NotePlaces() {
  for (const Topology& topology : snapshot_->tables->topologies) {
    for (const TopologyLevel& level : topology.levels) {
      const std::string key = PlaceLabel(level.node_label);
      Note(absl::StrCat("level ", key), OnNodes([&](const NodeBlock& block, uint32_t row) {
             const auto column =
                 std::ranges::find(block.rows().label_columns, key, &LabelColumn::key);
             if (column == block.rows().label_columns.end()) return std::string("none");
             const LabelValueId value = column->values[row];
             return value.valid() ? snapshot_->tables->label_values[value.index()] : "none";
           }));
    }
  }
}

}  // namespace maniple
