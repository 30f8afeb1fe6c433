#include "scheduler/bind/gang_volumes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/check.h"

namespace maniple {
namespace {

constexpr absl::Duration kTakeBackWithin = absl::Seconds(30);

}  // namespace

VolumeReply ReadVolumeReply(const WriteResult& result) {
  VolumeReply reply{.retry_after = result.status.retry_after, .detail = result.status.message};
  if (result.outcome != WriteOutcome::kAnswered) return reply;
  const int code = result.http_status;
  if (code / 100 == 2) {
    reply.kind = VolumeReplyKind::kDone;
  } else if (code / 100 == 4 && code != 401 && code != 408 && code != 409 && code != 429) {
    reply.kind = VolumeReplyKind::kRefused;
  }
  return reply;
}

GangVolumes::GangVolumes(BackoffPolicy backoff, std::vector<Placement> placements,
                         std::vector<ClaimGoal> goals, absl::Time deadline)
    : placements_(std::move(placements)), goals_(std::move(goals)), deadline_(deadline) {
  entries_.assign(goals_.size(), Entry{.backoff = Backoff(backoff)});
}

std::string GangVolumes::NameOf(size_t goal) const {
  return absl::StrCat("claim ", goals_[goal].namespace_name, "/", goals_[goal].name);
}

size_t GangVolumes::bound() const {
  return static_cast<size_t>(std::ranges::count_if(entries_, &Entry::bound));
}

void GangVolumes::OnReply(absl::string_view claim_key, const VolumeReply& reply, VolumeStep& step) {
  for (size_t i = 0; i < goals_.size(); ++i) {
    if (absl::StrCat(goals_[i].namespace_name, "/", goals_[i].name) != claim_key) continue;
    Entry& entry = entries_[i];
    if (!entry.under_way) return;
    entry.under_way = false;
    switch (reply.kind) {
      case VolumeReplyKind::kDone:
        entry.done = true;
        break;
      case VolumeReplyKind::kAgain:
        entry.over_version.clear();
        entry.retry_at = step.now + std::max(reply.retry_after.value_or(absl::ZeroDuration()),
                                             entry.backoff.Next(step.random));
        break;
      case VolumeReplyKind::kRefused:
        if (phase_ == VolumePhase::kBinding) {
          Fail(absl::StrCat(NameOf(i), ": ", reply.detail), step);
        }
        break;
    }
    return;
  }
}

void GangVolumes::Fail(std::string why, VolumeStep& step) {
  if (phase_ != VolumePhase::kBinding) return;
  phase_ = VolumePhase::kUndoing;
  trouble_ = std::move(why);
  deadline_ = step.now + kTakeBackWithin;
  for (Entry& entry : entries_) {
    entry.retry_at = absl::InfinitePast();
    entry.over_version.clear();
  }
}

void GangVolumes::Cancel(std::string why, VolumeStep& step) { Fail(std::move(why), step); }

void GangVolumes::Withdraw(std::string why, VolumeStep& step) {
  withdrawn_ = withdrawn_ || phase_ == VolumePhase::kBinding;
  Fail(std::move(why), step);
}

void GangVolumes::Send(size_t goal, VolumeWrite what, const std::string& version,
                       VolumeStep& step) {
  Entry& entry = entries_[goal];
  // The watch may show a version that is older than our last write.
  if (entry.under_way || entry.retry_at > step.now || entry.over_version == version) return;
  entry.under_way = true;
  entry.done = false;
  entry.over_version = version;
  if (what != VolumeWrite::kTakeBack) entry.told = true;
  step.actions.push_back({.goal = goal, .what = what});
}

// Our write made the version after the one that it was sent over.
// So any other version shows its effect, or a later one.
bool GangVolumes::WasDone(const Entry& entry, const std::string& version) {
  return entry.shown || (entry.done && version != entry.over_version);
}

void GangVolumes::SetVolumeAside(size_t goal, const ClaimSight& sight, VolumeStep& step) {
  Entry& entry = entries_[goal];
  switch (sight.volume) {
    case VolumeStanding::kOurs:
      entry.shown = true;
      return;
    case VolumeStanding::kFree:
      if (WasDone(entry, sight.volume_version)) {
        Fail(absl::StrCat(NameOf(goal), ": volume ", goals_[goal].volume,
                          " is not kept for it any more"),
             step);
        return;
      }
      Send(goal, VolumeWrite::kSetAside, sight.volume_version, step);
      return;
    case VolumeStanding::kNone:
    case VolumeStanding::kOthers:
      Fail(absl::StrCat(NameOf(goal), ": volume ", goals_[goal].volume, " is not to be had"), step);
      return;
  }
}

void GangVolumes::SelectNode(size_t goal, const ClaimSight& sight, VolumeStep& step) {
  Entry& entry = entries_[goal];
  const std::string& node = goals_[goal].node;
  if (sight.selected_node == node) {
    entry.shown = true;
  } else if (!sight.selected_node.empty()) {
    Fail(absl::StrCat(NameOf(goal), ": node ", sight.selected_node, " was selected by another"),
         step);
  } else if (WasDone(entry, sight.claim_version)) {
    // A provisioner takes the node back to say that it cannot make the volume.
    Fail(absl::StrCat(NameOf(goal), ": no volume could be made for node ", node), step);
  } else {
    Send(goal, VolumeWrite::kSelectNode, sight.claim_version, step);
  }
}

void GangVolumes::SettleGoal(size_t goal, const ClaimSight& sight, VolumeStep& step) {
  entries_[goal].bound = sight.there && sight.bound;
  if (!sight.there) {
    Fail(absl::StrCat(NameOf(goal), " is gone"), step);
  } else if (sight.bound || sight.named) {
    return;  // bound, or about to be
  } else if (!goals_[goal].volume.empty()) {
    SetVolumeAside(goal, sight, step);
  } else {
    SelectNode(goal, sight, step);
  }
}

void GangVolumes::TakeBack(std::span<const ClaimSight> sights, VolumeStep& step) {
  bool left = false;
  for (size_t i = 0; i < goals_.size(); ++i) {
    const ClaimSight& sight = sights[i];
    const Entry& entry = entries_[i];
    const bool waits = entry.told && goals_[i].volume.empty() && sight.there && !sight.bound &&
                       sight.selected_node == goals_[i].node;
    left = left || waits || entry.under_way;
    if (waits) Send(i, VolumeWrite::kTakeBack, sight.claim_version, step);
  }
  if (!left || step.now >= deadline_) phase_ = VolumePhase::kFailed;
}

void GangVolumes::Settle(std::span<const ClaimSight> sights, VolumeStep& step) {
  CHECK_EQ(sights.size(), goals_.size());
  for (Entry& entry : entries_) {
    if (entry.retry_at <= step.now) entry.retry_at = absl::InfinitePast();
  }
  for (size_t i = 0; i < goals_.size() && phase_ == VolumePhase::kBinding; ++i) {
    SettleGoal(i, sights[i], step);
  }
  if (phase_ == VolumePhase::kBinding && bound() == goals_.size()) phase_ = VolumePhase::kReady;
  if (phase_ == VolumePhase::kBinding && step.now >= deadline_) {
    Fail(absl::StrCat(bound(), " of ", goals_.size(), " claims were bound in time"), step);
  }
  if (phase_ == VolumePhase::kUndoing) TakeBack(sights, step);
}

absl::Time GangVolumes::NextDeadline() const {
  if (phase_ == VolumePhase::kReady || phase_ == VolumePhase::kFailed) {
    return absl::InfiniteFuture();
  }
  absl::Time next = deadline_;
  for (const Entry& entry : entries_) {
    // If nothing was sent since, the write is due again at this time.
    if (!entry.under_way && !entry.bound && entry.over_version.empty() &&
        entry.retry_at != absl::InfinitePast()) {
      next = std::min(next, entry.retry_at);
    }
  }
  return next;
}

}  // namespace maniple
