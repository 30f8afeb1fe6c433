#include "scheduler/cycle/start_plan.h"

#include <algorithm>
#include <utility>

namespace maniple {
namespace {

// The cluster as it will be, release by release.
class Prospect final {
 public:
  Prospect(const DecideInput& input, std::vector<Release> releases, const Profile& profile)
      : input_(input), profile_(profile), releases_(std::move(releases)) {
    for (Release& release : releases_) release.at = std::max(release.at, input_.now);
    std::ranges::stable_sort(releases_, {}, &Release::at);
    for (size_t i = 0; i < releases_.size(); ++i) {
      if (i + 1 == releases_.size() || releases_[i].at != releases_[i + 1].at) {
        moments_.push_back(i + 1);
      }
    }
  }

  std::optional<StartPlan> First() {
    std::optional<Plan> found = PlanAfter(0, Counted::kAll);
    if (found.has_value()) return StartPlan{.at = input_.now, .plan = *std::move(found)};
    if (moments_.empty()) return std::nullopt;
    found = PlanAfter(moments_.back(), Counted::kAll);
    if (!found.has_value()) return std::nullopt;
    // It does not fit before moments_[low], and it fits at moments_[high].
    size_t low = 0, high = moments_.size() - 1;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (std::optional<Plan> earlier = PlanAfter(moments_[middle], Counted::kAll)) {
        found = std::move(earlier);
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return Described(moments_[high], *std::move(found));
  }

 private:
  enum class Counted : uint8_t { kAll, kKnown };

  // The plan once the first `count` releases have come.
  std::optional<Plan> PlanAfter(size_t count, Counted counted) {
    std::vector<FreedRoom> freed(input_.freed.begin(), input_.freed.end());
    std::optional<QuotaTree> tree;
    std::optional<QuotaAsk> ask;
    if (input_.quota != nullptr) {
      tree = input_.quota->tree->Whole();
      ask = *input_.quota;
      ask->tree = &*tree;
    }
    for (size_t i = 0; i < count; ++i) {
      const Release& release = releases_[i];
      if (counted == Counted::kKnown && release.end != EndIs::kKnown) continue;
      freed.push_back(release.room);
      if (tree.has_value() && release.queue.valid()) tree->Remove(release.queue, release.charge);
    }
    const DecideInput then{.snapshot = input_.snapshot,
                           .request = input_.request,
                           .now = input_.now,
                           .seed = input_.seed,
                           .quota = ask.has_value() ? &*ask : nullptr,
                           .freed = freed};
    return FindPlan(then, profile_);
  }

  StartPlan Described(size_t count, Plan found) {
    StartPlan start{.at = releases_[count - 1].at, .plan = std::move(found)};
    const bool all_known =
        std::all_of(releases_.begin(), releases_.begin() + static_cast<ptrdiff_t>(count),
                    [](const Release& release) { return release.end == EndIs::kKnown; });
    if (all_known) return start;
    if (std::optional<Plan> certain = PlanAfter(count, Counted::kKnown)) {
      start.plan = *std::move(certain);
    } else {
      start.end = EndIs::kEstimated;
    }
    return start;
  }

  const DecideInput& input_;
  const Profile& profile_;
  std::vector<Release> releases_;  // by time
  std::vector<size_t> moments_;    // how many have ended, at each time at which some end
};

}  // namespace

std::optional<StartPlan> PlanStart(const DecideInput& input, std::vector<Release> releases,
                                   const Profile& profile) {
  return Prospect(input, std::move(releases), profile).First();
}

}  // namespace maniple
