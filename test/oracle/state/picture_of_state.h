// What a ClusterState shows of nodes, pods and gangs, in names only, so that two of them compare.
//
// Left out on purpose:
//   - ids of all kinds, the version, and what is known of names that nothing has or asks for;
//   - what a PodGroup that is gone said last, and what follows from it: pods keep to it;
//   - whether a member was ever ready, who bound it, and which members are cleaned away;
//   - the mix of requests, which tells of all pods that ever came.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/state/cluster_state.h"

namespace maniple {

class PictureOfState final {
 public:
  // "node n1 cpu" → "free 3 of 8", and so on.
  using Facts = std::map<std::string, std::string>;

  explicit PictureOfState(ClusterState& state) : state_(state), snapshot_(state.Publish()) {
    for (const NodeId node : snapshot_->order->by_name) NoteNode(node);
    for (const GangId gang : state_.Gangs()) NoteGang(*state_.FindGang(gang));
    NotePods();
    NoteTables();
  }

  [[nodiscard]] const Facts& facts() const { return facts_; }
  // A pod's constraints, as its shape has them, with the needs of its volumes.
  [[nodiscard]] const std::map<std::string, PodConstraints>& constraints() const;

 private:
  using NodeText = std::function<std::string(const NodeBlock&, uint32_t row)>;

  static std::string Text(int64_t number) { return absl::StrCat(number); }
  static std::string Sorted(std::vector<std::string> texts);
  static std::string TextOf(const StringMap& labels);

  void Note(const std::string& what, std::string text) { facts_[what] = std::move(text); }

  void NoteNode(NodeId node);

  void NoteRoom(const std::string& name, const NodeBlock& block, uint32_t row);
  [[nodiscard]] bool SomeNodeHas(ResourceId resource) const;

  void NoteUse(const std::string& name, const NodeBlock& block, uint32_t row);
  static std::string TextOf(const VolumeUse& use);

  // One text for each node, in the order of their names.
  [[nodiscard]] std::string OnNodes(const NodeText& text) const;
  [[nodiscard]] std::string CountsOf(PodCountId count) const;
  [[nodiscard]] bool CountsSome(PodCountId count) const;
  // Of a count that is zero everywhere, only those know who saw the pods that asked for it.
  [[nodiscard]] std::string TextOf(const std::vector<CountInDomain>& counts) const;

  void NoteTerms(const std::string& name, const ShapeTerms& terms);

  void NotePods();

  void NotePod(PodId id, const PodFacts& pod);

  void NoteImages(const std::string& name, const PodShape& shape);

  void NoteGang(const Gang& gang);
  [[nodiscard]] std::string TextOf(const Member& member, bool has_parts) const;

  void NoteTables();

  // The domain of each node, by each level.
  void NotePlaces();

  static constexpr uint32_t kMostPods = 1000;

  ClusterState& state_;
  SnapshotPtr snapshot_;
  Facts facts_;
  std::map<std::string, PodConstraints> constraints_;
};

}  // namespace maniple
