// The promise under arbitrary inputs: a naive API server with one gang, random faults, a watch that
// lags. Whatever happens, the gang ends with its quorum bound or with nothing bound, no pod is ever
// asked twice at a time, and nothing is bound that is known to be bound or gone.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/bind/gang_binding.h"

namespace maniple {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

// What the server holds of one pod.
struct ServerPod {
  MemberState state = MemberState::kPending;
  std::optional<NodeId> node;
  std::string status_reason;
  bool exists = true;
};

class Walk {
 public:
  explicit Walk(uint64_t seed)
      : random_(seed),
        binding_({.first = absl::Milliseconds(100), .most = absl::Seconds(1)}, BindPhase::kBinding,
                 kStart) {
    const auto pods = static_cast<uint32_t>(2 + random_.Below(4));
    quorum_ = static_cast<int32_t>(1 + random_.Below(pods));
    gang_.group_exists = true;
    gang_.spec.min_member = quorum_;
    gang_.spec.quorum_loss_grace = absl::Seconds(20);
    gang_.spec.schedule_timeout = absl::Seconds(20);
    for (uint32_t i = 0; i < pods; ++i) AddPod();
  }

  void Run() {
    Step([this](BindStep& step) {
      std::vector<Placement> plan;
      for (int32_t i = 0; i < quorum_; ++i) {
        const PodId pod = gang_.members[static_cast<size_t>(i)].pod;
        plan.push_back({pod, NodeId(pod.index())});
      }
      binding_.Start(plan, gang_, step);
    });
    for (int turn = 0; turn < 400 && !binding_.done(); ++turn) {
      faults_ = turn < 60;
      OneTurn();
      if (::testing::Test::HasFatalFailure()) return;
    }
    ASSERT_TRUE(binding_.done());
    // As the watch shows it: what happens to a pod later is another story.
    const auto bound =
        static_cast<int32_t>(std::ranges::count_if(gang_.members, [](const Member& m) {
          return m.state == MemberState::kBound || m.state == MemberState::kSucceeded;
        }));
    const bool all_succeeded = std::ranges::none_of(
        gang_.members, [](const Member& m) { return m.state == MemberState::kBound; });
    if (binding_.phase() == BindPhase::kBound) {
      EXPECT_GE(bound, quorum_);
    } else {
      EXPECT_TRUE(all_succeeded) << bound << " of " << quorum_ << " left";
    }
  }

 private:
  struct Request {
    enum { kBind, kRead, kDelete } verb;
    PodId pod;
    NodeId node;
  };

  void AddPod() {
    Member member;
    member.pod = PodId(next_pod_++);
    member.shape = ShapeId(0);
    gang_.members.push_back(member);
    server_[member.pod] = {};
  }

  void Watch() {
    std::vector<Member> members;
    for (const auto& [pod, server] : server_) {
      if (!server.exists) continue;
      Member member;
      member.pod = pod;
      member.shape = ShapeId(0);
      member.state = server.state;
      member.node = server.node.value_or(NodeId());
      member.status_reason = server.status_reason;
      members.push_back(member);
    }
    gang_.members = members;
  }

  void Step(const std::function<void(BindStep&)>& input) {
    std::vector<BindAction> actions;
    const auto still_reserved = [](PodId, NodeId) { return true; };
    const auto misplaced_on = [](PodId, NodeId node) { return node.index() == 1000; };
    BindStep step{now_, random_, still_reserved, misplaced_on, actions};
    input(step);
    for (const BindAction& action : actions) {
      if (const auto* bind = std::get_if<SendBind>(&action)) {
        ASSERT_TRUE(under_way_.insert(bind->pod).second) << "two requests for one pod";
        ASSERT_FALSE(told_.contains(bind->pod)) << "a bind for a pod that was said to be taken";
        const auto gone = told_gone_.find(bind->pod);
        ASSERT_TRUE(gone == told_gone_.end() || now_ - gone->second >= absl::Seconds(5))
            << "a bind for a pod that was just said to be gone";
        ASSERT_NE(binding_.phase(), BindPhase::kUndoing);
        requests_.push_back({Request::kBind, bind->pod, bind->node});
      } else if (const auto* refused = std::get_if<MemberRefused>(&action)) {
        if (binding_.phase() == BindPhase::kBinding) told_.insert(refused->pod);
      } else if (const auto* read = std::get_if<ReadPod>(&action)) {
        ASSERT_TRUE(under_way_.insert(read->pod).second);
        requests_.push_back({Request::kRead, read->pod, {}});
      } else if (const auto* gone = std::get_if<DeletePod>(&action)) {
        // A late bind may still be on its way; its reply will be ignored.
        under_way_.insert(gone->pod);
        requests_.push_back({Request::kDelete, gone->pod, {}});
      }
    }
  }

  void ReplyTo(const Request& request) {
    under_way_.erase(request.pod);
    ServerPod& pod = server_[request.pod];
    if (request.verb == Request::kBind) {
      BindReply reply = Bind(request, pod);
      if (reply.kind == BindReplyKind::kBound || reply.kind == BindReplyKind::kBoundElsewhere) {
        told_.insert(request.pod);
      } else if (reply.kind == BindReplyKind::kGone) {
        told_gone_[request.pod] = now_;
      }
      Step([&](BindStep& step) { binding_.OnBindReply(request.pod, reply, pod.node, step); });
    } else if (request.verb == Request::kRead) {
      PodReading reading{.kind = PodReadingKind::kUnclear};
      if (!faults_ || !random_.OneIn(3)) {
        reading.kind = !pod.exists || pod.state == MemberState::kTerminating ? PodReadingKind::kGone
                       : pod.node.has_value() ? PodReadingKind::kBound
                                              : PodReadingKind::kUnbound;
      }
      Step([&](BindStep& step) { binding_.OnReading(request.pod, reading, pod.node, step); });
    } else {
      DeleteReply reply{.kind = DeleteReplyKind::kRetry};
      if (!faults_ || !random_.OneIn(3)) {
        reply.kind = DeleteReplyKind::kDone;
        if (random_.OneIn(2))
          pod.state = MemberState::kTerminating;
        else
          pod.exists = false;
      }
      Step([&](BindStep& step) { binding_.OnDeleteReply(request.pod, reply, step); });
    }
  }

  BindReply Bind(const Request& request, ServerPod& pod) {
    using enum BindReplyKind;
    const uint64_t fault = faults_ ? random_.Below(12) : 99;
    if (fault == 0) return {.kind = kRetry};
    if (fault == 1) return {.kind = kUnclear};  // never arrived
    if (fault == 2) return {.kind = kRefused};
    if (fault == 3 && pod.exists && pod.state == MemberState::kPending) {
      pod.node = NodeId(random_.OneIn(2) ? 1000 : 500);  // somebody else was first
      pod.state = MemberState::kBound;
    }
    if (!pod.exists || pod.state == MemberState::kTerminating) return {.kind = kGone};
    if (pod.node.has_value()) {
      return {.kind = *pod.node == request.node ? kBound : kBoundElsewhere};
    }
    pod.node = request.node;
    pod.state = MemberState::kBound;
    return {.kind = fault == 4 ? kUnclear : kBound};  // 4: done, but the reply is lost
  }

  void DisturbOnePod() {
    auto it = server_.begin();
    std::advance(it, static_cast<int64_t>(random_.Below(server_.size())));
    ServerPod& pod = it->second;
    if (!pod.exists) return;
    switch (random_.Below(5)) {
      case 0:
        pod.exists = false;
        break;
      case 1:
        if (pod.node.has_value()) {
          pod.state = MemberState::kFailed;
          pod.status_reason = random_.OneIn(2) ? "OutOfcpu" : "Error";
        }
        break;
      case 2:
        if (pod.state == MemberState::kBound) pod.state = MemberState::kSucceeded;
        break;
      case 3:
        pod.state = MemberState::kTerminating;
        break;
      case 4:
        AddPod();
        break;
    }
  }

  void OneTurn() {
    now_ += absl::Milliseconds(50 + random_.Below(300));
    if (!requests_.empty() && random_.OneIn(2)) {
      std::swap(requests_.front(), requests_[random_.Below(requests_.size())]);
    }
    for (size_t n = random_.Below(4); n > 0 && !requests_.empty(); --n) {
      const Request request = requests_.front();
      requests_.pop_front();
      ReplyTo(request);
    }
    if (faults_ && random_.OneIn(8)) DisturbOnePod();
    if (!faults_ || random_.OneIn(2)) Watch();
    Step([this](BindStep& step) { binding_.Settle(gang_, step); });
    if (binding_.wants_repair() && random_.OneIn(2)) Repair();
    if (requests_.empty() && binding_.NextDeadline() < absl::InfiniteFuture()) {
      now_ = std::max(now_, binding_.NextDeadline());
    }
  }

  void Repair() {
    const QuorumNeed need = binding_.NeedOf(gang_);
    std::vector<Placement> plan;
    for (const Member& member : gang_.members) {
      if (std::cmp_equal(plan.size(), need.total)) break;
      if (member.state == MemberState::kPending && binding_.MayPlan(member.pod)) {
        plan.push_back({member.pod, NodeId(member.pod.index())});
      }
    }
    Step([&](BindStep& step) { binding_.Start(plan, gang_, step); });
  }

  Random random_;
  GangBinding binding_;
  Gang gang_;
  int32_t quorum_ = 0;
  uint32_t next_pod_ = 0;
  absl::Time now_ = kStart;
  bool faults_ = true;
  std::map<PodId, ServerPod> server_;
  std::deque<Request> requests_;
  std::set<PodId> under_way_, told_;
  std::map<PodId, absl::Time> told_gone_;
};

TEST(GangBindingWalk, EndsWithTheQuorumBoundOrWithNothingBound) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Walk(seed).Run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace maniple
