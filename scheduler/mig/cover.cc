#include "scheduler/mig/cover.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace maniple {
namespace {

using Amounts = std::vector<int64_t>;

// A setting other than the first, as a difference to the first.
struct Move {
  size_t group = 0, setting = 0;
  Amounts adds;  // by kind; negative: a node gives less of it than before
  bool changes = false;
};

int64_t CeilOf(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Search final {
 public:
  explicit Search(const CoverProblem& problem) : problem_(problem), unmet_(problem.demand) {
    for (size_t g = 0; g < problem.groups.size(); ++g) AddGroup(g);
    KeepUseful();
    FindBetter();
    counts_.assign(moves_.size(), 0);
    met_before_ =
        std::accumulate(problem.demand.begin(), problem.demand.end(), int64_t{0}) - UnmetSum();
    FindLosses();
  }

  CoverAnswer Solve() {
    best_ = {.counts = counts_, .met = met_before_};
    Greedy();
    steps_left_ = problem_.most_steps;
    Try(0, met_before_, 0);
    return Answer();
  }

 private:
  struct Found {
    std::vector<int32_t> counts;
    int64_t met = 0, changes = 0;
    bool by_search = false;  // not by greed: the first of its equals
  };

  void AddGroup(size_t g) {
    const CoverGroup& group = problem_.groups[g];
    left_.push_back(group.nodes);
    // To give more than the demand is as good as to meet it.
    const auto given = [&](size_t s, size_t k) {
      return std::min<int64_t>(group.settings[s].gives[k], problem_.demand[k]);
    };
    for (size_t k = 0; k < unmet_.size(); ++k) unmet_[k] -= given(0, k) * group.nodes;
    for (size_t s = 1; s < group.settings.size(); ++s) {
      Move move{.group = g, .setting = s, .adds = {}, .changes = group.settings[s].changes};
      for (size_t k = 0; k < unmet_.size(); ++k) move.adds.push_back(given(s, k) - given(0, k));
      moves_.push_back(std::move(move));
    }
  }

  // A move never helps if it adds nothing, or if another of its group adds as much
  // for no more changes.
  void KeepUseful() {
    const std::vector<Move> all = std::exchange(moves_, {});
    for (size_t m = 0; m < all.size(); ++m) {
      const Move& move = all[m];
      const bool adds = std::ranges::any_of(move.adds, [](int64_t amount) { return amount > 0; });
      bool useful = left_[move.group] > 0 && adds;
      for (size_t other = 0; useful && other < all.size(); ++other) {
        if (other == m || all[other].group != move.group) continue;
        if (all[other].changes && !move.changes) continue;
        if (!std::ranges::equal(all[other].adds, move.adds, std::ranges::greater_equal())) continue;
        // Of two that are alike the first stays.
        const bool alike = all[other].adds == move.adds && all[other].changes == move.changes;
        useful = alike && m < other;
      }
      if (useful) moves_.push_back(move);
    }
  }

  // Moves of earlier groups that do as much: while one of those groups has a node left,
  // no node of a later group need be taken.
  void FindBetter() {
    better_.resize(moves_.size());
    for (size_t m = 0; m < moves_.size(); ++m) {
      for (size_t other = 0; other < m; ++other) {
        if (moves_[other].group == moves_[m].group) continue;
        if (moves_[other].changes && !moves_[m].changes) continue;
        if (std::ranges::equal(moves_[other].adds, moves_[m].adds, std::ranges::greater_equal())) {
          better_[m].push_back(moves_[other].group);
        }
      }
    }
  }

  // The amounts of each kind that the moves from each one on may take away: a demand
  // that is met now may be unmet then.
  void FindLosses() {
    losses_.assign(moves_.size() + 1, Amounts(unmet_.size(), 0));
    for (size_t m = moves_.size(); m-- > 0;) {
      losses_[m] = losses_[m + 1];
      for (size_t k = 0; k < unmet_.size(); ++k) {
        losses_[m][k] += std::max<int64_t>(0, -moves_[m].adds[k]) * left_[moves_[m].group];
      }
    }
  }

  [[nodiscard]] int64_t UnmetSum() const {
    int64_t sum = 0;
    for (const int64_t unmet : unmet_) sum += std::max<int64_t>(0, unmet);
    return sum;
  }

  // How much more is met by one move now.
  [[nodiscard]] int64_t GainOf(const Move& move) const {
    int64_t gain = 0;
    for (size_t k = 0; k < unmet_.size(); ++k) {
      gain += std::max<int64_t>(0, unmet_[k]) - std::max<int64_t>(0, unmet_[k] - move.adds[k]);
    }
    return gain;
  }

  void Apply(const Move& move, int64_t times) {
    for (size_t k = 0; k < unmet_.size(); ++k) unmet_[k] -= move.adds[k] * times;
    left_[move.group] -= static_cast<int32_t>(times);
  }

  void Greedy() {
    Found found = best_;
    const Amounts unmet = unmet_;
    const std::vector<int32_t> left = left_;
    while (true) {
      size_t best = moves_.size();
      int64_t most = 0;
      for (size_t m = 0; m < moves_.size(); ++m) {
        if (left_[moves_[m].group] == 0) continue;
        const int64_t gain = GainOf(moves_[m]);
        if (gain <= most) continue;
        most = gain;
        best = m;
      }
      if (best == moves_.size()) break;
      Apply(moves_[best], 1);
      ++found.counts[best];
      found.met += most;
      found.changes += moves_[best].changes ? 1 : 0;
    }
    unmet_ = unmet;
    left_ = left;
    if (found.met > best_.met) best_ = std::move(found);
  }

  // Bounds on the moves from `from` on, by several arguments. Each is valid whatever the moves
  // take away meanwhile: no kind can gain more than its present unmet amount.
  struct Outlook {
    int64_t gain = 0;     // no more than this can be gained
    int64_t changes = 0;  // … and the demand takes at least so many changes
  };
  [[nodiscard]] Outlook OutlookFrom(size_t from, int64_t wanted) {
    const size_t kinds = unmet_.size();
    most_.assign(kinds, 0);  // of one move, by kind
    each_.assign(kinds, 0);  // of all nodes that are left, by kind
    bool free_moves = false;
    for (size_t m = from; m < moves_.size(); ++m) {
      if (left_[moves_[m].group] == 0) continue;
      free_moves = free_moves || !moves_[m].changes;
      for (size_t k = 0; k < kinds; ++k) {
        most_[k] = std::max(most_[k], std::min(moves_[m].adds[k], unmet_[k]));
        each_[k] += std::max<int64_t>(0, moves_[m].adds[k]) * left_[moves_[m].group];
      }
    }
    Outlook out;
    for (size_t k = 0; k < kinds; ++k) {
      out.gain += std::clamp<int64_t>(unmet_[k], 0, each_[k]);
    }
    if (out.gain >= wanted) Tighten(from, wanted, out);
    if (free_moves) out.changes = 0;
    return out;
  }

  // Some kinds are given at no cost, the cheapest first; the others must come from moves.
  void Tighten(size_t from, int64_t wanted, Outlook& out) {
    const size_t kinds = unmet_.size();
    order_.resize(kinds);
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      return std::pair(unmet_[a], a) < std::pair(unmet_[b], b);
    });
    int64_t given = 0;
    free_.assign(kinds, 0);
    for (size_t i = 0; i <= kinds; ++i) {
      int64_t best = 0, sum = 0;
      by_group_.assign(left_.size(), 0);
      for (size_t m = from; m < moves_.size(); ++m) {
        if (left_[moves_[m].group] == 0) continue;
        int64_t value = 0;
        for (size_t k = 0; k < kinds; ++k) {
          if (free_[k] == 0)
            value += std::clamp<int64_t>(moves_[m].adds[k], 0, std::max<int64_t>(0, unmet_[k]));
        }
        best = std::max(best, value);
        by_group_[moves_[m].group] = std::max(by_group_[moves_[m].group], value);
      }
      for (size_t g = 0; g < left_.size(); ++g) sum += by_group_[g] * left_[g];
      out.gain = std::min(out.gain, given + sum);
      if (best > 0 && wanted > given) {
        out.changes = std::max(out.changes, CeilOf(wanted - given, best));
      }
      if (i == kinds) break;
      free_[order_[i]] = 1;
      given += std::max<int64_t>(0, unmet_[order_[i]]);
    }
    out.changes = std::max(out.changes, ByShares(from, wanted));
  }

  // Weighs each kind by the least share of a move that one of it takes.
  // The amount that may stay unmet counts as the dearest.
  [[nodiscard]] int64_t ByShares(size_t from, int64_t wanted) {
    const size_t kinds = unmet_.size();
    double most = 0;
    for (size_t m = from; m < moves_.size(); ++m) {
      if (left_[moves_[m].group] == 0) continue;
      double value = 0;
      for (size_t k = 0; k < kinds; ++k) {
        if (most_[k] <= 0) continue;
        const int64_t adds =
            std::clamp<int64_t>(moves_[m].adds[k], 0, std::max<int64_t>(0, unmet_[k]));
        value += static_cast<double>(adds) / static_cast<double>(most_[k]);
      }
      most = std::max(most, value);
    }
    if (most <= 0 || wanted <= 0) return 0;
    std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      return std::pair(-most_[a], a) < std::pair(-most_[b], b);
    });
    double shares = 0;
    for (const size_t k : order_) {
      if (most_[k] <= 0 || wanted <= 0) continue;
      const int64_t take = std::min(wanted, std::min(unmet_[k], each_[k]));
      shares += static_cast<double>(take) / static_cast<double>(most_[k]);
      wanted -= take;
    }
    constexpr double kRounding = 1e-6;
    return static_cast<int64_t>(shares / most - kRounding) + 1;
  }

  [[nodiscard]] bool Better(int64_t met, int64_t changes) const {
    if (met != best_.met) return met > best_.met;
    if (changes != best_.changes) return changes < best_.changes;
    return !best_.by_search;
  }

  void Try(size_t m, int64_t met, int64_t changes) {
    if (--steps_left_ < 0) return;
    if (m == moves_.size()) {
      if (Better(met, changes)) best_ = {counts_, met, changes, true};
      return;
    }
    const Outlook outlook = OutlookFrom(m, std::max<int64_t>(0, best_.met - met));
    if (!Better(met + outlook.gain,
                met + outlook.gain > best_.met ? 0 : changes + outlook.changes)) {
      return;
    }
    const Move& move = moves_[m];
    const bool better = std::ranges::any_of(better_[m], [&](size_t g) { return left_[g] > 0; });
    const int64_t most = better ? 0 : MostTimes(m);
    for (int64_t times = most; times >= 0; --times) {
      const int64_t before = UnmetSum();
      Apply(move, times);
      counts_[m] = static_cast<int32_t>(times);
      Try(m + 1, met + before - UnmetSum(), changes + (move.changes ? times : 0));
      Apply(move, -times);
      counts_[m] = 0;
      if (steps_left_ < 0) return;
    }
  }

  // More of the move would be of no use, whatever the others take away.
  [[nodiscard]] int64_t MostTimes(size_t m) const {
    int64_t most = 0;
    for (size_t k = 0; k < unmet_.size(); ++k) {
      const int64_t adds = moves_[m].adds[k];
      if (adds <= 0) continue;
      const int64_t room = std::max<int64_t>(0, unmet_[k] + losses_[m + 1][k]);
      most = std::max(most, CeilOf(room, adds));
    }
    return std::min<int64_t>(most, left_[moves_[m].group]);
  }

  [[nodiscard]] CoverAnswer Answer() const {
    CoverAnswer answer{.nodes = {},
                       .met_before = met_before_,
                       .met = best_.met,
                       .changes = best_.changes,
                       .proven = steps_left_ >= 0};
    for (const CoverGroup& group : problem_.groups) {
      answer.nodes.emplace_back(group.settings.size(), 0);
    }
    for (size_t m = 0; m < moves_.size(); ++m) {
      answer.nodes[moves_[m].group][moves_[m].setting] = best_.counts[m];
    }
    return answer;
  }

  const CoverProblem& problem_;
  std::vector<Move> moves_;
  std::vector<Amounts> losses_;              // by move
  std::vector<std::vector<size_t>> better_;  // by move
  Amounts unmet_;                            // by kind; negative: there is more than is asked for
  std::vector<int32_t> left_;                // by group: nodes that no move has taken
  std::vector<int32_t> counts_;              // by move
  int64_t met_before_ = 0;
  int64_t steps_left_ = 0;
  Found best_;
  // Of OutlookFrom; kept so that a step allocates nothing.
  Amounts most_, each_, by_group_;
  std::vector<size_t> order_;
  std::vector<char> free_;
};

}  // namespace

CoverAnswer SolveCover(const CoverProblem& problem) { return Search(problem).Solve(); }

}  // namespace maniple
