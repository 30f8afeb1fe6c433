#include "test/sim/onlooker.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "api/model/maniple_types.h"

namespace maniple::sim {
namespace {

// As the bind says it.
std::string AdmittedQueueIn(const HttpRequest& bind) {
  if (!absl::StrContains(bind.body, kAdmittedQueueAnnotation)) return "";
  const absl::StatusOr<Json> body = Json::Parse(bind.body);
  CHECK(body.ok()) << bind.body;
  return (*body)["metadata"]["annotations"][kAdmittedQueueAnnotation].AsString();
}

}  // namespace

void Onlooker::OnSent(const Process& process, const HttpRequest& request) {
  const absl::Time now = world_.events.Now();
  CheckFence(process.life(), request);
  conduct_.OnSent(process.life(), request, process.decided_since(), now);
  world_.raised_quorums.OnSent(process.life(), request, now);
  world_.evictions.OnSent(process.life(), request, now);
  if (const std::string node = DividedNode(request); !node.empty()) {
    world_.truth.NoteDivisionSent(node, process.life(), now);
  }
}

void Onlooker::CheckFirstWords(uint64_t life, const HttpRequest& request, bool in_order) {
  first_words_.OnSent(life, request, in_order, world_.events.Now());
}

void Onlooker::CheckFence(uint64_t life, const HttpRequest& request) {
  const Process* process = world_.processes.Of(life);
  if (process == nullptr || !world_.Elects()) return;
  if (request.method == HttpMethod::kGet || request.lane == HttpLane::kLease) return;
  const absl::Time now = world_.events.Now();
  world_.truth.CheckFencing(process->identity(), request.target, now);
  if (process->decided_at() < process->lead_began()) {
    world_.truth.Violated(now,
                          absl::StrCat("Fencing: ", process->identity(), " sends ", request.target,
                                       ", which it decided on before it came to lead once more"));
  }
  if (now < leads_until_[life]) return;
  world_.truth.Violated(now, absl::StrCat("Fencing: ", process->identity(), " sends ",
                                          request.target, " after its own deadline"));
}

void Onlooker::OnReply(uint64_t life, const HttpRequest& request, absl::string_view body) {
  conduct_.OnReply(life, request, body, world_.events.Now());
}

// It comes from who leads still. Whose Lease has run out does not, though it may not know yet: a
// rival need not wait for what it has sent.
bool Onlooker::IsOfLeader(const Sender& sender) const {
  const Process* process = world_.processes.Of(sender.life);
  if (process == nullptr || !process->alive() || !process->leading()) return false;
  return sender.sent_at >= process->led_since() && HoldsLease(sender.life);
}

// Who runs alone needs none.
bool Onlooker::HoldsLease(uint64_t life) const {
  if (!world_.Elects()) return true;
  const auto until = leads_until_.find(life);
  return until != leads_until_.end() && world_.events.Now() < until->second;
}

// Two may lead for a moment after a hand has taken the Lease from one of them; the other may have
// its lists already.
bool Onlooker::IsContested(const Sender& sender) const {
  const Process* process = world_.processes.Of(sender.life);
  return process != nullptr && world_.truth.lease().IsTampered(world_.events.Now()) &&
         (world_.processes.Leaders() > 1 || world_.truth.lease().holder != process->identity());
}

void Onlooker::OnWrite(const Sender& sender, const HttpRequest& request) {
  const std::string pod = BoundPod(request);
  if (pod.empty()) return;
  const Process* process = world_.processes.Of(sender.life);
  const bool leads = IsOfLeader(sender);
  if (!leads || IsContested(sender)) world_.truth.ExpectForeignBind(pod);
  world_.truth.ExpectBind({.pod = pod,
                           .life = sender.life,
                           .decided = conduct_.Decided(sender.life, request),
                           .leads_since = leads ? process->led_since() : absl::InfiniteFuture(),
                           .queue = AdmittedQueueIn(request)});
}

void Onlooker::OnWritten(const Sender& sender, const HttpRequest& request, int status) {
  const absl::Time now = world_.events.Now();
  if (status / 100 != 2) {
    world_.truth.NoForeignBind(BoundPod(request));
  } else if (const std::string bound = BoundPod(request); !bound.empty()) {
    if (world_.volumes.has_value()) world_.volumes->NoteBind(bound);
  } else if (request.lane == HttpLane::kLease) {
    absl::Time& until = leads_until_[sender.life];
    until = std::max(until, sender.sent_at + ElectorOptions().renew_deadline);
  } else if (const std::string pod = EvictedPod(request); !pod.empty()) {
    world_.evictions.OnGranted(sender.life, pod, now);
  } else if (const std::string node = DividedNode(request); !node.empty()) {
    ++divisions_;
    if (!IsOfLeader(sender) || IsContested(sender)) return;
    world_.truth.CheckDividedWhenIdle(node, sender.life, now);
  }
}

}  // namespace maniple::sim
