#include "scheduler/loop/serve/help_questions.h"

#include <algorithm>
#include <utility>

#include "scheduler/loop/desk/preemption_rights.h"

namespace maniple {
namespace {

// The Queue, and the Cohorts above it. More quota of an inactive one would not count.
std::vector<HelpQuestion::QuotaPlace> PathFrom(QuotaNodeId queue, const QuotaBook& book) {
  std::vector<HelpQuestion::QuotaPlace> path;
  for (QuotaNodeId node = queue; node.valid(); node = book.tree().Parent(node)) {
    const bool is_cohort = node != queue;
    if (is_cohort && !book.ProblemOfCohort(book.NameOf(node)).empty()) continue;
    path.push_back({.node = node, .name = std::string(book.NameOf(node)), .is_cohort = is_cohort});
  }
  return path;
}

// The cells in the order in which the members would draw on them.
std::vector<HelpQuestion::CellName> CellsOf(const GangRequest& request, const QuotaAsk& ask,
                                            const QuotaBook& book) {
  std::vector<HelpQuestion::CellName> cells;
  for (const Want& want : request.wants) {
    const auto options = ask.options.find(want.shape);
    if (options == ask.options.end()) continue;
    for (const QuotaOption& option : options->second) {
      for (const CellAmount& part : option.each) {
        if (std::ranges::find(cells, part.cell, &HelpQuestion::CellName::cell) != cells.end()) {
          continue;
        }
        cells.push_back({.cell = part.cell,
                         .flavor = book.FlavorOfCell(part.cell),
                         .resource = book.ResourceOf(part.cell)});
      }
    }
  }
  return cells;
}

// The request names members that may be gone when it is looked at.
std::shared_ptr<const std::vector<std::string>> TakeNames(GangRequest& request) {
  auto names = std::make_shared<std::vector<std::string>>();
  for (const Pinned& pinned : request.pinned) names->emplace_back(pinned.name);
  for (size_t i = 0; i < names->size(); ++i) request.pinned[i].name = (*names)[i];
  return names;
}

}  // namespace

std::optional<ItemKind> HelpQuestions::HelpableItem(const Case& c) {
  // Others already leave for the gang, or its obstacle is neither room nor quota.
  if (c.record.claim.has_value() || !c.gang.problem.empty()) return std::nullopt;
  if (c.record.volumes_again_at.value_or(absl::InfinitePast()) > c.now) return std::nullopt;
  const std::optional<ItemKind> item = desk_.ItemOf(c);
  if (item == ItemKind::kSurplus) return std::nullopt;
  if (parts_.charges.RefusalOf(c, item.value_or(ItemKind::kQuorum)).has_value())
    return std::nullopt;
  // Whatever it is given, who comes before it in its Queue has to start first.
  if (item.has_value() && desk_.queue.BlockerOf({c.gang.id, *item}).has_value()) {
    return std::nullopt;
  }
  if (item.has_value()) return item;
  // It lacks members: with a smaller quorum it may start.
  const bool may_start = c.gang.group_exists && !c.record.binding.has_value() &&
                         !c.assembly.members_ready && c.assembly.live > 0 && !ComesAfterAHead(c);
  return may_start ? std::optional(ItemKind::kQuorum) : std::nullopt;
}

// Would it, if it had members enough?
bool HelpQuestions::ComesAfterAHead(const Case& c) const {
  if (c.gang.queue.empty()) return false;
  return desk_.queue.HoldsUp({.priority = c.gang.priority,
                              .queued = QueuedAt(c.gang, c.record),
                              .namespace_name = c.gang.key.namespace_name,
                              .name = c.gang.key.name,
                              .queue = desk_.ledger.book().QueueNamed(c.gang.queue),
                              .demand = {}});
}

std::optional<HelpQuestionPtr> HelpQuestions::More(const GangKey& gang, absl::Time now) {
  const std::optional<GangId> id = desk_.state.GangNamed(gang);
  const bool known = id.has_value() && desk_.FindRecord(*id) != nullptr;
  const std::optional<Case> c = known ? desk_.Open(*id, now) : std::nullopt;
  const std::optional<ItemKind> item = c.has_value() ? HelpableItem(*c) : std::nullopt;
  if (item.has_value()) {
    if (asked_ != gang) may_end_.Begin();
    asked_ = gang;
    if (!may_end_.More(now)) return std::nullopt;
  }
  asked_.reset();
  HelpQuestionPtr question = item.has_value() ? QuestionOf(*c, *item) : nullptr;
  may_end_.Stop();
  return question;
}

HelpQuestionPtr HelpQuestions::QuestionOf(const Case& c, ItemKind item) {
  GangRequest request = desk_.RequestOf(c, item);
  if (request.wants.empty() || request.need.Met()) return nullptr;
  auto question = std::make_shared<HelpQuestion>();
  question->names = TakeNames(request);
  Supposition supposition = parts_.charges.Suppose(c, request);
  supposition.Free(parts_.yielding.HoldsThatYieldTo(c, supposition));
  const DecideInput input = supposition.Input();
  question->as_is.freed.assign(input.freed.begin(), input.freed.end());
  if (input.quota != nullptr) {
    question->as_is.tree = std::make_shared<const QuotaTree>(supposition.tree().Whole());
    question->as_is.ask = *input.quota;
    question->as_is.ask.tree = nullptr;
    question->quota_path = PathFrom(input.quota->queue, desk_.ledger.book());
    question->cells = CellsOf(request, *input.quota, desk_.ledger.book());
  }
  question->as_is.snapshot = desk_.warm.picture;
  question->as_is.request = std::move(request);
  question->profile = &desk_.options.profile;
  question->now = c.now;
  question->seed = desk_.options.seed;
  question->min_member = c.gang.spec.min_member;
  for (const SubGroup& sub_group : c.gang.spec.sub_groups) {
    question->sub_groups.push_back(sub_group.name);
  }
  question->running = may_end_.Take(c.gang.id);
  question->preempts = c.gang.preempts;
  question->priority = c.gang.priority;
  question->queued = QueuedAt(c.gang, c.record);
  question->policy = PolicyOf(desk_, c.gang);
  question->fair_sharing = desk_.options.fair_sharing;
  question->strategies = StrategiesOf(desk_, c);
  question->ignore_pdb = desk_.options.ignore_pdb;
  for (const BudgetFacts& budget : desk_.state.Budgets())
    question->allowed.push_back(budget.allowed);
  return question;
}

}  // namespace maniple
