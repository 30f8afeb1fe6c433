#include "test/sim/raised_quorums.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "test/sim/evictions.h"

namespace maniple::sim {
namespace {

// A delete that was decided before may come so late.
constexpr absl::Duration kRaisedBefore = absl::Seconds(30);

}  // namespace

void RaisedQuorums::Observe(absl::Time now) {
  if (truth_.fingerprint() == seen_) return;  // nothing has changed since
  seen_ = truth_.fingerprint();
  NoteWhoRunsAlone(now);
  std::map<std::string, absl::Time> stand_since;
  for (const auto& [key, group] : truth_.groups()) {
    const absl::Time since = StandsSince(key, now);
    if (since <= now) stand_since[key] = since;
  }
  stand_since_ = std::move(stand_since);
}

// Until a PodGroup that stands for the owner tells of a quorum.
void RaisedQuorums::NoteWhoRunsAlone(absl::Time now) {
  std::map<std::string, std::pair<int, int>> pods;  // by owner: all, and those that stand
  for (const auto& [key, pod] : truth_.pods()) {
    if (pod.owner.empty()) continue;
    auto& [all, standing] = pods[pod.owner];
    ++all;
    standing += pod.stands() ? 1 : 0;
  }
  std::set<std::string> in_gangs;
  for (const auto& [key, group] : truth_.groups()) {
    if (group.source.empty()) continue;
    in_gangs.insert(group.source);
    if (group.says_met > 0) alone_since_.erase(group.source);
  }
  std::erase_if(alone_since_, [&pods](const auto& entry) {
    const auto of_owner = pods.find(entry.first);
    return of_owner == pods.end() || of_owner->second.second == 0;
  });
  for (const auto& [owner, count] : pods) {
    if (count == std::pair(1, 1) && !in_gangs.contains(owner)) alone_since_.try_emplace(owner, now);
  }
}

// 0: it never was met, as far as a leader that comes can know. What the truth saw last the leader
// may know as well, and not have told yet.
int64_t RaisedQuorums::MetOf(const std::string& group) const {
  const GroupFacts& facts = truth_.groups().at(group);
  const GangFacts& gang = truth_.gangs().at(group);
  if (gang.forged) return 0;
  if (facts.says_met == 0) return alone_since_.contains(facts.source) ? 1 : 0;
  if (!facts.says_stands) return 0;
  return std::max(facts.says_met, gang.quorum_met);
}

// What owns its pods is not looked at while the whole quorum stands: the truth knows that.
absl::Time RaisedQuorums::StandsSince(const std::string& group, absl::Time now) const {
  const GroupFacts& facts = truth_.groups().at(group);
  const int64_t met = MetOf(group);
  if (met == 0) return absl::InfiniteFuture();
  if (facts.min_member <= met && facts.source.empty()) {
    return truth_.gangs().at(group).whole_since;
  }
  if (!Stands(group, met)) return absl::InfiniteFuture();
  if (const auto before = stand_since_.find(group); before != stand_since_.end()) {
    return before->second;
  }
  const auto alone = alone_since_.find(facts.source);
  return alone == alone_since_.end() ? now : alone->second;
}

bool RaisedQuorums::IsMember(const Truth::PodFacts& pod, const std::string& group) const {
  const std::string& source = truth_.groups().at(group).source;
  return source.empty() ? pod.gang == group : pod.owner == source;
}

// Members that have succeeded are left out: whether these count still its leader knows.
bool RaisedQuorums::Stands(const std::string& group, int64_t met) const {
  std::map<std::string, int64_t> count;  // of each sub-group, and in all
  for (const auto& [key, pod] : truth_.pods()) {
    if (!pod.stands() || !IsMember(pod, group)) continue;
    ++count[""];
    if (!pod.sub_group.empty()) ++count[pod.sub_group];
  }
  const GroupFacts& facts = truth_.groups().at(group);
  // Parts of a stand-in are known by the marks of its producer alone; no raise is of one of them.
  return count[""] >= met &&
         (!facts.source.empty() || std::ranges::all_of(facts.sub_groups, [&count](const auto& sub) {
           return count[sub.first] >= sub.second.min_member;
         }));
}

void RaisedQuorums::OnSent(uint64_t life, const HttpRequest& request, absl::Time now) {
  const std::string pod = PodOf(request);
  if (request.method != HttpMethod::kDelete || pod.empty()) return;
  truth_.Observe(now);  // its own watch may have been cut a moment ago
  Observe(now);
  CheckNobodyLeavesForARaise(life, pod, now);
}

void RaisedQuorums::CheckNobodyLeavesForARaise(uint64_t life, const std::string& pod,
                                               absl::Time now) {
  const auto facts = truth_.pods().find(pod);
  if (facts == truth_.pods().end() || !facts->second.stands() || IsOfTenant(pod)) return;
  const std::string& gang = facts->second.gang;
  // Whom others have put into another domain than its gang nobody keeps.
  if (truth_.StandsApart(gang) && truth_.BoundByOthers(gang)) return;
  for (const auto& [group, since] : stand_since_) {
    if (!IsMember(facts->second, group)) continue;
    const absl::Duration stood_for = now - since;
    if (stood_for < truth_.blind_for() + kRaisedBefore) continue;
    truth_.Violated(now, absl::StrCat("NobodyLeavesForARaise: ", life, " deletes ", pod, " of ",
                                      group, ", of which as many as met its quorum once, ",
                                      truth_.groups().at(group).says_met, ", have stood for ",
                                      absl::FormatDuration(stood_for), "; it is ",
                                      truth_.groups().at(group).min_member, " now"));
  }
}

}  // namespace maniple::sim
