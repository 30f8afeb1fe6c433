#include "api/client/cluster_client.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"

namespace maniple {
namespace {

// Above all kinds: a ResourceKind has eight bits.
constexpr uint16_t kElectorOwner = 0x8000;
constexpr uint16_t kWriterOwner = 0x8001;

ElectorOptions WithOwner(ElectorOptions options) {
  options.owner = kElectorOwner;
  return options;
}

WriterOptions WithOwner(WriterOptions options) {
  options.owner = kWriterOwner;
  return options;
}

// Every API server has it. A 404 is the word of a proxy, or of a server that starts: the objects
// are there all the same, and take room.
bool IsBuiltIn(ResourceKind kind) {
  return !IsForeign(kind) && !absl::StartsWith(ResourceCollectionPath(kind),
                                               absl::StrCat("/apis/", kManipleGroup, "/"));
}

std::vector<std::string> CollectionsOf(const ForeignKind& kind) {
  std::vector<std::string> paths;
  for (const std::string& version : kind.versions) {
    paths.push_back(absl::StrCat("/apis/", kind.group, "/", version, "/", kind.resource));
  }
  return paths;
}

}  // namespace

ClusterClient::ClusterClient(ClusterClientOptions options, Transport& transport)
    : transport_(transport),
      foreign_(std::move(options.foreign)),
      reader_(std::move(options.reader)),
      decoder_(reader_.get()),
      writer_(WithOwner(options.writer), options.seed),
      told_missing_(kResourceKinds + foreign_.size()) {
  const size_t kinds = kResourceKinds + foreign_.size();
  CHECK_LE(kinds, size_t{std::numeric_limits<std::underlying_type_t<ResourceKind>>::max()} + 1);
  for (size_t kind = 0; kind < kinds; ++kind) {
    WatchSessionOptions watch = options.watch;
    watch.kind = static_cast<ResourceKind>(kind);
    watch.owner = static_cast<uint16_t>(kind);
    if (IsBuiltIn(watch.kind)) watch.uninstalled_after = absl::InfiniteDuration();
    if (IsForeign(watch.kind))
      watch.collections = CollectionsOf(foreign_[ForeignIndex(watch.kind)]);
    sessions_.push_back(std::make_unique<WatchSession>(std::move(watch), options.seed + 1 + kind));
  }
  if (options.election.has_value()) {
    elector_.emplace(WithOwner(*std::move(options.election)), options.seed + 100);
  }
}

void ClusterClient::Start(absl::Time now) {
  for (size_t kind = 0; kind < sessions_.size(); ++kind) {
    Take(sessions_[kind]->Start(), static_cast<ResourceKind>(kind));
  }
  if (elector_.has_value()) {
    Elected(elector_->Start(now), now);
  } else {
    leads_ = true;
    BeginToLead();
    Take(writer_.SetLeadUntil(absl::InfiniteFuture(), now));
  }
}

void ClusterClient::On(const HttpInput& input, absl::Time now) {
  owner_.Check();
  const uint16_t owner = RequestIds::OwnerOf(input.request);
  if (owner < sessions_.size()) {
    Take(sessions_[owner]->On(input, decoder_, now), static_cast<ResourceKind>(owner));
    AnnounceLead();
  } else if (owner == kElectorOwner && elector_.has_value()) {
    Elected(elector_->On(input, now), now);
  } else if (owner == kWriterOwner) {
    Take(writer_.On(input, now));
  }
}

void ClusterClient::Write(std::vector<WriteCommand> writes, uint64_t lead, absl::Time now) {
  owner_.Check();
  for (WriteCommand& write : writes) {
    if (lead == lead_) {
      Take(writer_.Submit(std::move(write), now));
    } else {
      news_.results.push_back({.id = write.id, .outcome = WriteOutcome::kFenced});
    }
  }
}

void ClusterClient::OnTime(absl::Time now) {
  owner_.Check();
  for (size_t kind = 0; kind < sessions_.size(); ++kind) {
    if (sessions_[kind]->NextDeadline() <= now) {
      Take(sessions_[kind]->OnTime(now), static_cast<ResourceKind>(kind));
    }
  }
  if (elector_.has_value()) Elected(elector_->OnTime(now), now);
  if (writer_.NextDeadline() <= now) Take(writer_.OnTime(now));
}

absl::Time ClusterClient::NextDeadline() const {
  absl::Time next = writer_.NextDeadline();
  for (const auto& session : sessions_) next = std::min(next, session->NextDeadline());
  if (elector_.has_value()) {
    next = std::min(next, elector_->NextDeadline());
    // Losing the lead is news even when no answer comes.
    if (leading_) next = std::min(next, elector_->lead_until());
  }
  return next;
}

ClusterNews ClusterClient::TakeNews() {
  news_.lead = lead_;
  return std::exchange(news_, {});
}

void ClusterClient::Release(absl::Time now) {
  if (elector_.has_value()) Elected(elector_->Release(now), now);
}

bool ClusterClient::Released() const {
  return !elector_.has_value() || elector_->state() == ElectorState::kReleased;
}

std::vector<std::string> ClusterClient::Problems() const {
  std::vector<std::string> problems;
  for (size_t kind = 0; kind < sessions_.size(); ++kind) {
    if (!sessions_[kind]->problem().empty()) {
      problems.push_back(absl::StrCat(NameOf(kind), ": ", sessions_[kind]->problem()));
    }
  }
  if (elector_.has_value() && !elector_->problem().empty()) {
    problems.push_back(absl::StrCat("Lease: ", elector_->problem()));
  }
  return problems;
}

ForbiddenCounts ClusterClient::Forbidden() const {
  ForbiddenCounts forbidden;
  if (elector_.has_value()) forbidden = elector_->counters().forbidden;
  for (const auto& session : sessions_) {
    for (const auto& [right, times] : session->counters().forbidden) forbidden[right] += times;
  }
  return forbidden;
}

const WatchSession& ClusterClient::session(ResourceKind kind) const {
  return *sessions_[static_cast<size_t>(kind)];
}

void ClusterClient::Take(SessionOutput output, ResourceKind kind) {
  Perform(std::move(output.http), transport_);
  for (ObjectEvent& event : output.events) news_.events.push_back(std::move(event));
  const size_t index = static_cast<size_t>(kind);
  if (HasNothingToWaitFor(index) && !sessions_[index]->synced() && !told_missing_[index]) {
    told_missing_[index] = true;
    news_.events.push_back(KindSynced{kind});
  }
}

std::string ClusterClient::NameOf(size_t kind) const {
  const auto resource = static_cast<ResourceKind>(kind);
  if (!IsForeign(resource)) return std::string(ResourceKindName(resource));
  const ForeignKind& foreign = foreign_[ForeignIndex(resource)];
  return absl::StrCat(foreign.resource, ".", foreign.group);
}

// A kind whose CRD is absent is complete as it is. So is a producer's kind that may not
// or cannot be read: the scheduler must not wait for it.
bool ClusterClient::HasNothingToWaitFor(size_t kind) const {
  const WatchSession& session = *sessions_[kind];
  const bool is_absent =
      session.state() == SessionState::kNotInstalled && !IsBuiltIn(static_cast<ResourceKind>(kind));
  return is_absent || session.forbidden() || session.unreadable();
}

void ClusterClient::Take(WriterOutput output) {
  Perform(std::move(output.http), transport_);
  for (WriteResult& result : output.results) news_.results.push_back(std::move(result));
}

void ClusterClient::Elected(HttpActions actions, absl::Time now) {
  Perform(std::move(actions), transport_);
  Take(writer_.SetLeadUntil(elector_->lead_until(), now));
  leads_ = elector_->state() == ElectorState::kLeading && now < elector_->lead_until();
  if (!leads_) {
    if (std::exchange(leading_, false)) {
      news_.leading = false;
      news_.lost_lead = true;
      caught_up_from_ = absl::InfinitePast();  // a watch may also be late with our own writes
    }
    if (caught_up_from_ == absl::InfiniteFuture()) caught_up_from_ = absl::InfinitePast();
    // A rival that has not renewed in time writes no more: the lists of a large cluster need not
    // wait for its lease to run out.
    const absl::Time rival_ends = elector_->rival_ends();
    if (now >= rival_ends && caught_up_from_ != rival_ends) CatchUp(rival_ends);
  } else if (!leading_) {
    // The lists hold only if the record did not change between the rival's end and our lead.
    const bool holds =
        caught_up_from_ == absl::InfiniteFuture() || caught_up_from_ == elector_->took_over_from();
    if (!holds) CatchUp(absl::InfiniteFuture());
    AnnounceLead();
  }
}

void ClusterClient::CatchUp(absl::Time nobody_writes_from) {
  caught_up_from_ = nobody_writes_from;
  lists_before_.clear();
  for (const auto& session : sessions_) lists_before_.push_back(session->counters().lists);
  for (size_t kind = 0; kind < sessions_.size(); ++kind) {
    Take(sessions_[kind]->Relist(), static_cast<ResourceKind>(kind));
  }
}

void ClusterClient::AnnounceLead() {
  for (size_t kind = 0; kind < lists_before_.size(); ++kind) {
    const bool listed = sessions_[kind]->counters().lists > lists_before_[kind];
    if (!listed && !HasNothingToWaitFor(kind)) return;
  }
  lists_before_.clear();
  if (!leads_ || leading_) return;
  BeginToLead();
}

void ClusterClient::BeginToLead() {
  leading_ = true;
  ++lead_;
  news_.leading = true;
}

}  // namespace maniple
