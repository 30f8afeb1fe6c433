#include "scheduler/advice/help.h"

#include <utility>

#include "scheduler/advice/changes.h"
#include "scheduler/advice/trials.h"

namespace maniple {
namespace {

class Search final {
 public:
  Search(const HelpQuestion& question, int64_t steps)
      : question_(question), trials_(question, steps) {}

  [[nodiscard]] Help Run() {
    const Hypothesis& as_is = question_.as_is;
    if (trials_.Starts(as_is)) return {.entries = {}, .starts_anyway = true};
    Singles(as_is);
    if (help_.entries.empty()) Pairs(as_is);
    if (help_.entries.empty()) Ends(as_is);
    help_.gave_up = trials_.gave_up();
    return std::move(help_);
  }

 private:
  void Add(FoundChange found) { help_.entries.push_back({.changes = {std::move(found.change)}}); }

  void Singles(const Hypothesis& as_is) {
    // Cheap ones first, should the work run out; they are told in the order of their kinds.
    const std::vector<FoundChange> quota = FindMoreQuota(question_, as_is, trials_);
    const std::optional<FoundChange> quorum = FindSmallerQuorum(question_, as_is, trials_);
    const std::vector<FoundChange> levels = FindWiderLevel(question_, as_is, trials_);
    for (FoundChange& found : FindMoreNodes(as_is, trials_)) Add(std::move(found));
    for (const FoundChange& found : quota) Add(found);
    if (auto found = FindHigherPriority(question_, as_is, trials_)) Add(*std::move(found));
    if (quorum.has_value()) Add(*quorum);
    for (const FoundChange& found : levels) Add(found);
    for (FoundChange& found : FindNodesBack(as_is, trials_)) Add(std::move(found));
    if (auto found = FindGangGone(as_is, LackingAfter(quorum), trials_)) {
      Add(*std::move(found));
    }
  }

  [[nodiscard]] static int64_t LackingAfter(const std::optional<FoundChange>& quorum) {
    if (!quorum.has_value()) return 1;
    const auto& change = std::get<SmallerQuorum>(quorum->change);
    return change.instead_of - change.members;
  }

  // Two quotas are lacking. Or quota is, and something else as well: first the change that does if
  // quota did not count, then the quota that it takes.
  void Pairs(const Hypothesis& as_is) {
    if (as_is.tree == nullptr) return;
    for (auto& [one, other] : FindTwoQuotas(question_, as_is, trials_)) {
      help_.entries.push_back({.changes = {std::move(one), std::move(other)}});
    }
    if (!help_.entries.empty()) return;
    Hypothesis room_only = as_is;
    room_only.quota_counts = false;
    std::vector<FoundChange> others = FindMoreNodes(room_only, trials_);
    for (FoundChange& found : FindWiderLevel(question_, room_only, trials_)) {
      others.push_back(std::move(found));
    }
    for (FoundChange& found : FindNodesBack(room_only, trials_)) others.push_back(std::move(found));
    for (FoundChange& other : others) {
      other.after.quota_counts = true;
      for (FoundChange& quota : FindMoreQuota(question_, other.after, trials_)) {
        help_.entries.push_back({.changes = {other.change, std::move(quota.change)}});
      }
    }
  }

  void Ends(const Hypothesis& as_is) {
    Help::Entry together;
    for (GangGone& gone : FindGangsGone(as_is, trials_))
      together.changes.push_back(std::move(gone));
    if (!together.changes.empty()) help_.entries.push_back(std::move(together));
  }

  const HelpQuestion& question_;
  Trials trials_;
  Help help_;
};

}  // namespace

Help AnswerHelp(const HelpQuestion& question, int64_t steps) {
  return Search(question, steps).Run();
}

}  // namespace maniple
