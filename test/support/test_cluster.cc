#include "test/support/test_cluster.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "plugins/builtin.h"
#include "queue/assembly.h"

namespace maniple {

TestCluster::TestCluster() : state_(ClusterStateOptions{}), profile_(BuiltinProfile()) {}

void TestCluster::Add(ObjectEvent event) {
  Delta delta;
  state_.Apply(event, now, delta);
}

const Gang& TestCluster::GangOf(absl::string_view name) {
  for (const GangDialect dialect : {GangDialect::kManiple, GangDialect::kSingleton}) {
    const std::optional<GangId> id = state_.GangNamed(
        {.dialect = dialect, .namespace_name = "default", .name = std::string(name)});
    if (id.has_value()) return *state_.FindGang(*id);
  }
  CHECK(false) << "no gang " << name;
  return *state_.FindGang(GangId());
}

GangRequest TestCluster::RequestOf(absl::string_view name) {
  const Gang& gang = GangOf(name);
  GangRequest request;
  request.gang = gang.id;
  request.name = std::string(name);
  request.need = Assemble(gang).need;
  request.topology = gang.spec.topology;
  for (const SubGroup& part : gang.spec.sub_groups) {
    request.sub_group_topologies.push_back(part.topology);
    request.sub_group_names.push_back(part.name);
  }
  const std::vector<int32_t> rank_groups = RankGroupsOf(gang);
  for (size_t i = 0; i < gang.members.size(); ++i) {
    const Member& member = gang.members[i];
    const RankPlace rank{.group = rank_groups[i], .index = member.rank.index};
    const auto groups = static_cast<int32_t>(gang.spec.sub_groups.size());
    const int32_t sub_group = member.rank.sub_group < groups ? member.rank.sub_group : -1;
    if (member.state == MemberState::kPending) {
      request.wants.push_back(
          {.pod = member.pod, .shape = member.shape, .sub_group = sub_group, .rank = rank});
    } else if (member.state == MemberState::kBound) {
      request.pinned.push_back(
          {member.pod, member.node, member.shape, sub_group, member.name, rank});
    }
  }
  return request;
}

Decision TestCluster::Decide(absl::string_view gang) { return Decide(RequestOf(gang)); }

Decision TestCluster::Decide(const GangRequest& request) {
  const SnapshotPtr snapshot = state_.Publish();
  return maniple::Decide({.snapshot = *snapshot, .request = request, .now = now}, profile_);
}

std::vector<std::string> TestCluster::PlacesOf(const Decision& decision) {
  const Plan* plan = std::get_if<Plan>(&decision);
  if (plan == nullptr) return {"rejected"};
  std::vector<std::string> places;
  for (const Placement& placement : plan->placements) {
    places.push_back(
        absl::StrCat(state_.FindPod(placement.pod)->name, "=", state_.NodeName(placement.node)));
  }
  return places;
}

std::vector<std::string> TestCluster::ReasonsOf(const Decision& decision) {
  std::vector<std::string> texts;
  const Rejection* rejection = std::get_if<Rejection>(&decision);
  if (rejection == nullptr) return {"placed"};
  for (const NodeReasonCount& count : rejection->reasons) {
    texts.push_back(
        absl::StrCat(count.nodes, ": ", ReasonText(count.reason, *state_.Publish()->tables)));
  }
  return texts;
}

}  // namespace maniple
