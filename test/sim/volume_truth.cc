#include "test/sim/volume_truth.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/sim/names.h"

namespace maniple::sim {
namespace {

// What others have bound is known by then.
constexpr absl::Duration kKnownBy = absl::Seconds(240);

bool Lists(const Json& list, const std::string& value) {
  return std::ranges::any_of(list.items(),
                             [&](const Json& item) { return item.AsString() == value; });
}

// By the name of an object, since when it has been there.
void NoteNew(const Mirror& mirror, absl::Time now, std::map<std::string, absl::Time>& since) {
  std::erase_if(since, [&](const auto& entry) { return !mirror.objects().contains(entry.first); });
  for (const auto& [name, object] : mirror.objects()) since.try_emplace(name, now);
}

}  // namespace

VolumeTruth::VolumeTruth(devcluster::ApiServer& server, Truth& truth)
    : truth_(truth),
      pods_(server, "/api/v1/pods"),
      claims_(server, "/api/v1/persistentvolumeclaims"),
      volumes_(server, "/api/v1/persistentvolumes"),
      csi_nodes_(server, "/apis/storage.k8s.io/v1/csinodes"),
      attachments_(server, "/apis/storage.k8s.io/v1/volumeattachments") {}

void VolumeTruth::Observe(absl::Time now) {
  for (Mirror* mirror : {&pods_, &claims_, &volumes_, &csi_nodes_, &attachments_}) {
    mirror->Observe(now);
  }
  NoteNew(attachments_, now, attached_since_);
  NoteNew(csi_nodes_, now, limited_since_);
  for (const std::string& pod : std::exchange(fresh_, {})) CheckBind(pod, now);
}

std::vector<std::string> VolumeTruth::ClaimsOf(const std::string& pod) const {
  const Json& object = pods_.At(pod);
  const std::string& space = object["metadata"]["namespace"].AsString();
  std::vector<std::string> claims;
  for (const Json& volume : object["spec"]["volumes"].items()) {
    const Json& named = volume["persistentVolumeClaim"]["claimName"];
    if (named.is_string()) {
      claims.push_back(absl::StrCat(space, "/", named.AsString()));
    } else if (volume.Has("ephemeral")) {
      claims.push_back(absl::StrCat(pod, "-", volume["name"].AsString()));
    }
  }
  return claims;
}

std::string VolumeTruth::VolumeOf(const std::string& claim) const {
  const Json& object = claims_.At(claim);
  const bool bound = object["metadata"]["annotations"].Has("pv.kubernetes.io/bind-completed");
  return bound ? object["spec"]["volumeName"].AsString() : "";
}

bool VolumeTruth::Reaches(const std::string& node, const Json& volume) const {
  const auto facts = truth_.nodes().find(node);
  const Json& terms = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"];
  if (terms.items().empty() || facts == truth_.nodes().end()) return true;
  return std::ranges::any_of(terms.items(), [&](const Json& term) {
    return std::ranges::all_of(term["matchExpressions"].items(), [&](const Json& expression) {
      return Lists(expression["values"],
                   facts->second.labels[expression["key"].AsString()].AsString());
    });
  });
}

bool VolumeTruth::IsKnown(const Truth::PodFacts& pod, absl::Time now) const {
  return pod.ours || pod.bound_at < now - kKnownBy;
}

void VolumeTruth::CheckBind(const std::string& pod, absl::Time now) {
  const auto facts = truth_.pods().find(pod);
  if (facts == truth_.pods().end() || !facts->second.ours || facts->second.node.empty()) return;
  for (const std::string& claim : ClaimsOf(pod)) {
    const std::string volume = VolumeOf(claim);
    if (volume.empty()) {
      truth_.Violated(now,
                      absl::StrCat("ClaimsFirst: ", pod, " is bound before its claim ", claim));
    } else if (!Reaches(facts->second.node, volumes_.At("/" + volume))) {
      truth_.Violated(now, absl::StrCat("VolumesReached: ", pod, " is bound on ",
                                        facts->second.node, ", where volume ", volume, " is not"));
    }
  }
  CheckAttachLimit(pod, now);
  CheckLoneClaims(pod, now);
}

std::vector<std::string> VolumeTruth::MadeVolumesOf(const std::string& pod) const {
  std::vector<std::string> made;
  for (const std::string& claim : ClaimsOf(pod)) {
    const std::string volume = VolumeOf(claim);
    if (volumes_.At("/" + volume)["spec"]["csi"]["driver"].AsString() == kSimDriver) {
      made.push_back(volume);
    }
  }
  return made;
}

VolumeTruth::Attachments VolumeTruth::InUse() const {
  Attachments in_use;
  for (const auto& [key, facts] : truth_.pods()) {
    if (facts.node.empty() || facts.ended()) continue;
    for (const std::string& volume : MadeVolumesOf(key)) in_use.insert({facts.node, volume});
  }
  return in_use;
}

void VolumeTruth::CheckAttachLimit(const std::string& pod, absl::Time now) {
  const std::string& node = truth_.pods().at(pod).node;
  // A node without a CSINode has no limit, and of that the watch may have told late.
  const auto limited = limited_since_.find("/" + node);
  if (limited == limited_since_.end() || limited->second + truth_.blind_for() > now) return;
  std::set<std::string> attached;
  for (const auto& [key, facts] : truth_.pods()) {
    if (facts.node != node || facts.ended() || !IsKnown(facts, now)) continue;
    for (const std::string& volume : MadeVolumesOf(key)) attached.insert(volume);
  }
  for (const auto& [name, since] : attached_since_) {
    const Json& spec = attachments_.At(name)["spec"];
    if (spec["nodeName"].AsString() != node || since >= now - kKnownBy) continue;
    attached.insert(spec["source"]["persistentVolumeName"].AsString());
  }
  const bool adds = !MadeVolumesOf(pod).empty();
  if (!adds || static_cast<int64_t>(attached.size()) <= AttachLimit(node)) return;
  truth_.Violated(
      now, absl::StrCat("AttachLimitHolds: ", node, " attaches ", AttachLimit(node), " and needs ",
                        absl::StrJoin(attached, ", "), " once ", pod, " is bound there"));
}

void VolumeTruth::CheckLoneClaims(const std::string& pod, absl::Time now) {
  for (const std::string& claim : ClaimsOf(pod)) {
    if (!Lists(claims_.At(claim)["spec"]["accessModes"], "ReadWriteOncePod")) continue;
    for (const auto& [key, facts] : truth_.pods()) {
      // Who stood on a node that is gone runs no more.
      if (key == pod || !truth_.nodes().contains(facts.node) || facts.ended()) continue;
      if (!IsKnown(facts, now)) continue;
      const std::vector<std::string> theirs = ClaimsOf(key);
      if (std::ranges::find(theirs, claim) == theirs.end()) continue;
      truth_.Violated(
          now, absl::StrCat("OnePodPerClaim: ", pod, " is bound while ", key, " uses ", claim));
    }
  }
}

void VolumeTruth::CheckNothingIsSetAside(absl::Time now) {
  for (const auto& [name, volume] : volumes_.objects()) {
    const Json& reference = volume["spec"]["claimRef"];
    if (!reference.is_object()) continue;
    const std::string claim =
        absl::StrCat(reference["namespace"].AsString(), "/", reference["name"].AsString());
    if (claims_.At(claim).is_null() || !VolumeOf(claim).empty()) continue;
    truth_.Violated(now, absl::StrCat("NothingIsSetAside: ", name, " is for ", claim,
                                      ", which is not bound to it"));
  }
}

int VolumeTruth::FreeDisks(const std::string& node) const {
  int free = 0;
  for (const auto& [name, volume] : volumes_.objects()) {
    const bool disk = volume["spec"]["storageClassName"].AsString() == kDiskClass;
    if (disk && !volume["spec"].Has("claimRef") && Reaches(node, volume)) ++free;
  }
  return free;
}

int64_t VolumeTruth::AttachLimit(const std::string& node) const {
  for (const Json& driver : csi_nodes_.At("/" + node)["spec"]["drivers"].items()) {
    const Json& count = driver["allocatable"]["count"];
    if (driver["name"].AsString() == kSimDriver && count.is_int()) return count.AsInt();
  }
  return std::numeric_limits<int64_t>::max();
}

}  // namespace maniple::sim
