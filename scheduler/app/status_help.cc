#include "scheduler/app/status_help.h"

#include <algorithm>

namespace maniple {
namespace {

constexpr absl::Duration kLeastRest = absl::Seconds(1);
constexpr absl::Duration kMostRest = absl::Minutes(1);
constexpr int kRestPerWork = 4000;

}  // namespace

bool StatusHelp::Step(absl::Time now) {
  if (!asked_.has_value()) {
    if (now < again_at_) return false;
    const std::optional<GangKey> gang = loop_.TakeHelpDue(now);
    if (!gang.has_value()) return false;
    asked_ = {.gang = *gang, .at = now};
  }
  const std::optional<HelpPtr> help = door_.Look(asked_->gang, asked_->at);
  if (!help.has_value()) return false;
  loop_.TellHelp(asked_->gang, *help == nullptr ? "" : CheapHelp(**help), now);
  again_at_ = now + std::clamp(kRestPerWork * (now - asked_->at), kLeastRest, kMostRest);
  asked_.reset();
  return true;
}

absl::Time StatusHelp::Next() const {
  return asked_.has_value() ? absl::InfiniteFuture() : std::max(again_at_, loop_.NextHelpDue());
}

}  // namespace maniple
