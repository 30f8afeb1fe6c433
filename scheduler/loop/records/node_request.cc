#include "scheduler/loop/records/node_request.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "api/base/fingerprint.h"
#include "api/codec/provisioning.h"
#include "queue/assembly.h"

namespace maniple {
namespace {

// cluster-autoscaler looks every ten seconds.
constexpr absl::Duration kBetweenLooks = absl::Seconds(10);
constexpr absl::Duration kAcceptedWithin = absl::Minutes(2);
// A node must boot, and its device plugin must report within this time.
constexpr absl::Duration kNodesComeWithin = absl::Minutes(15);
constexpr size_t kMostPodSets = 32;  // the most that the kind allows

bool Made(const WriteResult& result) {
  return result.http_status / 100 == 2 ||
         (result.http_status == 409 && result.status.reason == "AlreadyExists");
}

// The same request is worth another try.
bool Passes(const WriteResult& result) {
  return result.outcome != WriteOutcome::kAnswered || result.http_status == 429 ||
         result.http_status >= 500;
}

// The share of the quorum among the members that wait.
class QuorumShare final {
 public:
  explicit QuorumShare(const QuorumNeed& need) : of_parts_(need.sub_groups), rest_(need.total) {
    rest_ -= std::accumulate(of_parts_.begin(), of_parts_.end(), int32_t{0});
  }
  [[nodiscard]] bool Takes(const Member& member) {
    const auto part = static_cast<size_t>(std::max(0, member.rank.sub_group));
    int32_t& lacks = part < of_parts_.size() && of_parts_[part] > 0 ? of_parts_[part] : rest_;
    return lacks-- > 0;
  }

 private:
  std::vector<int32_t> of_parts_;
  int32_t rest_;
};

std::string NameOf(const NodeAsk& ask, absl::string_view group) {
  constexpr size_t kMostName = 63 - 12;  // with the serial number of a template
  Fingerprint print;
  print.Add(ask.owner.uid);
  for (const NodeAsk::PodSet& set : ask.pod_sets) {
    print.Add(set.pod.uid);
    print.Add(static_cast<uint64_t>(set.count));
  }
  const uint64_t value = print.value();
  return absl::StrCat(group.substr(0, kMostName), "-",
                      absl::Hex(static_cast<uint32_t>(value ^ (value >> 32)), absl::kZeroPad8));
}

}  // namespace

std::optional<NodeAsk> NodeAskOf(const Gang& gang) {
  const bool foreign = gang.foreign != nullptr;
  if (gang.key.dialect == GangDialect::kSingleton || !gang.group_exists) return std::nullopt;
  if (foreign && !gang.stand_in.has_value()) return std::nullopt;
  NodeAsk ask{.namespace_name = gang.key.namespace_name,
              .owner = {.kind = "PodGroup",
                        .name = gang.key.name,
                        .uid = foreign ? gang.stand_in->uid : gang.group_uid,
                        .api_version = absl::StrCat(kManipleGroup, "/", kManipleVersion)}};
  QuorumShare share(Assemble(gang).need);
  for (const Member& member : gang.members) {
    if (member.state == MemberState::kBound) return std::nullopt;
    if (member.state != MemberState::kPending || !share.Takes(member)) continue;
    const auto set = std::ranges::find(ask.pod_sets, member.shape, &NodeAsk::PodSet::shape);
    if (set != ask.pod_sets.end()) {
      ++set->count;
    } else {
      ask.pod_sets.push_back(
          {{ask.namespace_name, member.name, member.uid}, member.shape, /*count=*/1});
    }
  }
  if (ask.pod_sets.empty() || ask.pod_sets.size() > kMostPodSets) return std::nullopt;
  ask.name = NameOf(ask, gang.key.name);
  return ask;
}

NodeRequest::NodeRequest(NodeAsk ask, const NodeRequestOptions& options, absl::Time now)
    : ask_(std::move(ask)), options_(&options), since_(now) {}

std::string NodeRequest::TemplateName(size_t set) const {
  return absl::StrCat(ask_.name, "-", set);
}

std::optional<HttpRequest> NodeRequest::Next(absl::Time now) {
  if (under_way_ || stage_ == Stage::kOver || now < again_at_) return std::nullopt;
  under_way_ = true;
  return Request();
}

HttpRequest NodeRequest::Request() const {
  switch (stage_) {
    case Stage::kReading:
      return ReadPodRequest(ask_.pod_sets[set_].pod);
    case Stage::kDescribing:
      return MakePodTemplateRequest(ask_.namespace_name, template_);
    case Stage::kAsking: {
      NewProvisioningRequest whole{.namespace_name = ask_.namespace_name,
                                   .name = ask_.name,
                                   .owner = ask_.owner,
                                   .class_name = options_->class_name,
                                   .parameters = options_->parameters,
                                   .pod_sets = {}};
      for (size_t i = 0; i < ask_.pod_sets.size(); ++i) {
        whole.pod_sets.push_back({TemplateName(i), ask_.pod_sets[i].count});
      }
      return MakeProvisioningRequest(whole);
    }
    case Stage::kLooking:
    case Stage::kOver:
      break;
  }
  return ReadProvisioningRequest(ask_.namespace_name, ask_.name);
}

void NodeRequest::Hear(const WriteResult& result, absl::Time now, Random& random) {
  under_way_ = false;
  if (Passes(result)) {
    again_at_ = now + backoff_.Next(random);
    return;
  }
  backoff_.Reset();
  Advance(result, now);
}

void NodeRequest::Advance(const WriteResult& result, absl::Time now) {
  const bool there = result.http_status / 100 == 2;
  switch (stage_) {
    case Stage::kReading: {
      if (!there) return End(result.status.message);
      absl::StatusOr<std::string> described =
          EncodePodTemplate(ask_.namespace_name, TemplateName(set_), ask_.owner, result.body);
      if (!described.ok()) return End(std::string(described.status().message()));
      template_ = *std::move(described);
      stage_ = Stage::kDescribing;
      return;
    }
    case Stage::kDescribing:
      if (!Made(result)) return End(result.status.message);
      if (there) templates_.emplace_back(TemplateName(set_), UidIn(result.body));
      template_.clear();
      stage_ = ++set_ < ask_.pod_sets.size() ? Stage::kReading : Stage::kAsking;
      return;
    case Stage::kAsking:
      if (!Made(result)) return End(result.status.message);
      if (there) uid_ = UidIn(result.body);
      stage_ = Stage::kLooking;
      since_ = now;
      again_at_ = now + kBetweenLooks;
      return;
    case Stage::kLooking:
      if (!there) return End(result.status.message);
      uid_ = UidIn(result.body);
      return Look(result.body, now);
    case Stage::kOver:
      return;
  }
}

void NodeRequest::Look(const std::string& answer, absl::Time now) {
  const ProvisioningAnswer read = ReadProvisioningAnswer(answer);
  again_at_ = now + kBetweenLooks;
  switch (read.state) {
    case ProvisioningState::kFailed:
      return End(read.why);
    case ProvisioningState::kProvisioned:
      if (!std::exchange(provisioned_, true)) since_ = now;
      if (now >= since_ + kNodesComeWithin) End("its nodes have not come");
      return;
    case ProvisioningState::kAccepted:
      accepted_ = true;
      return;
    case ProvisioningState::kOpen:
      if (!accepted_ && now >= since_ + kAcceptedWithin) End("no autoscaler has accepted it");
      return;
  }
}

void NodeRequest::End(std::string why) {
  stage_ = Stage::kOver;
  why_ = std::move(why);
  again_at_ = absl::InfiniteFuture();
}

std::vector<HttpRequest> NodeRequest::TakeBack() const {
  std::vector<HttpRequest> out;
  if (!uid_.empty()) {
    out.push_back(DeleteProvisioningRequest(ask_.namespace_name, ask_.name, uid_));
  }
  for (const auto& [name, uid] : templates_) {
    out.push_back(DeletePodTemplateRequest(ask_.namespace_name, name, uid));
  }
  return out;
}

std::string NodeRequest::Text() const {
  const std::string name = absl::StrCat("ProvisioningRequest ", ask_.name);
  if (stage_ == Stage::kOver) return absl::StrCat(name, " came to nothing: ", why_);
  if (provisioned_) return absl::StrCat(name, " is provisioned, and its nodes have yet to appear");
  return absl::StrCat(name, " asks for its nodes");
}

}  // namespace maniple
