// One gang and its binding, driven step by step; shared by the tests of the bind protocol.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/bind/gang_binding.h"

namespace maniple {

inline const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);
inline constexpr BackoffPolicy kBackoff = {.first = absl::Milliseconds(100),
                                           .most = absl::Seconds(1)};

// "bind 0 to 3", "release 1", …
inline std::string Text(const BindAction& action) {
  struct {
    std::string operator()(const SendBind& a) {
      return absl::StrCat("bind ", a.pod.index(), " to ", a.node.index());
    }
    std::string operator()(const ReadPod& a) { return absl::StrCat("read ", a.pod.index()); }
    std::string operator()(const DeletePod& a) { return absl::StrCat("delete ", a.pod.index()); }
    std::string operator()(const ReleaseReservation& a) {
      return absl::StrCat("release ", a.pod.index());
    }
    std::string operator()(const CoolNode& a) { return absl::StrCat("cool ", a.node.index()); }
    std::string operator()(const MemberRefused& a) {
      return absl::StrCat("refused ", a.pod.index());
    }
    std::string operator()(const QuorumBound&) { return "quorum bound"; }
    std::string operator()(const QuorumLost&) { return "quorum lost"; }
    std::string operator()(const Undone& a) {
      switch (a.cause) {
        case UndoCause::kGroupGone:
          return absl::StrCat("undone: group gone, ", a.deleted);
        case UndoCause::kTimeout:
          return absl::StrCat("undone: timeout, ", a.deleted);
        case UndoCause::kRefused:
          return absl::StrCat("undone: refused, ", a.deleted);
        case UndoCause::kQuorumLost:
          return absl::StrCat("undone: quorum lost, ", a.deleted);
        case UndoCause::kStageLate:
          return absl::StrCat("undone: stage late, ", a.deleted);
      }
      return "";
    }
  } text;
  return std::visit(text, action);
}

// One gang, its binding, and a clock.
class Fixture {
 public:
  explicit Fixture(int pods, int min_member = 0, BindPhase phase = BindPhase::kBinding)
      : binding(kBackoff, phase, kStart) {
    gang.group_exists = true;
    gang.spec.min_member = min_member == 0 ? pods : min_member;
    gang.spec.schedule_timeout = absl::Seconds(60);
    gang.spec.quorum_loss_grace = absl::Seconds(300);
    for (int i = 0; i < pods; ++i) AddPod();
  }
  void AddPod() {
    Member member;
    member.pod = PodId(static_cast<uint32_t>(gang.members.size()));
    member.name = absl::StrCat("a-", gang.members.size());
    member.shape = ShapeId(0);
    gang.members.push_back(member);
  }
  std::vector<std::string> Do(const std::function<void(BindStep&)>& input) {
    std::vector<BindAction> actions;
    const auto still_reserved = [this](PodId, NodeId node) {
      return !lost_nodes.contains(node.index());
    };
    const auto misplaced_on = [](PodId, NodeId node) { return node.index() >= 90; };
    BindStep step{now, random, still_reserved, misplaced_on, actions};
    input(step);
    std::vector<std::string> out;
    for (const BindAction& action : actions) out.push_back(Text(action));
    return out;
  }
  std::vector<std::string> Start(std::vector<uint32_t> pods) {
    std::vector<Placement> placements;
    for (const uint32_t pod : pods) placements.push_back({PodId(pod), NodeId(pod)});
    return Do([&](BindStep& step) { binding.Start(placements, gang, step); });
  }
  std::vector<std::string> Reply(uint32_t pod, BindReplyKind kind,
                                 std::optional<uint32_t> elsewhere = std::nullopt) {
    return Do([&](BindStep& step) {
      binding.OnBindReply(PodId(pod), {.kind = kind, .detail = "detail"},
                          elsewhere ? std::optional(NodeId(*elsewhere)) : std::nullopt, step);
    });
  }
  std::vector<std::string> Read(uint32_t pod, PodReadingKind kind, uint32_t node = 0) {
    return Do(
        [&](BindStep& step) { binding.OnReading(PodId(pod), {.kind = kind}, NodeId(node), step); });
  }
  // The reply to its bind is lost, and it is being read.
  std::vector<std::string> Lose(uint32_t pod) {
    Reply(pod, BindReplyKind::kUnclear);
    now = binding.NextDeadline();
    return Settle();
  }
  std::vector<std::string> Deleted(uint32_t pod, DeleteReplyKind kind = DeleteReplyKind::kDone) {
    return Do([&](BindStep& step) { binding.OnDeleteReply(PodId(pod), {.kind = kind}, step); });
  }
  std::vector<std::string> Settle() {
    return Do([&](BindStep& step) { binding.Settle(gang, step); });
  }
  void Show(uint32_t pod, MemberState state, int node = -1, const std::string& reason = "") {
    Member& member = gang.members[pod];
    member.state = state;
    if (state != MemberState::kPending && state != MemberState::kGated) {
      member.node = NodeId(node < 0 ? pod : static_cast<uint32_t>(node));
    }
    member.status_reason = reason;
  }
  void ShowGone(uint32_t pod) {
    std::erase_if(gang.members, [pod](const Member& m) { return m.pod == PodId(pod); });
  }
  std::optional<BindState> State(uint32_t pod) const { return binding.StateOf(PodId(pod)); }

  Gang gang;
  GangBinding binding;
  Random random{1};
  absl::Time now = kStart;
  std::set<uint32_t> lost_nodes;
};

}  // namespace maniple
