// Help in sentences.
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "api/base/time_text.h"
#include "api/codec/quantity.h"
#include "scheduler/advice/help.h"

namespace maniple {
namespace {

std::string InDomain(const std::string& level, const std::string& domain) {
  return level.empty() ? "" : absl::StrCat(" in ", level, " ", domain);
}

// What Kubernetes itself finds of a node, and takes back when it is over: "not-ready" of
// "node.kubernetes.io/not-ready:NoSchedule"; "" = somebody else has tainted it.
absl::string_view ConditionOf(absl::string_view taint) {
  if (!absl::ConsumePrefix(&taint, "node.kubernetes.io/")) return "";
  return taint.substr(0, taint.find_first_of("=:"));
}

std::string BackText(const NodeBack& back) {
  if (back.taint.empty()) return absl::StrCat("node ", back.node, " uncordoned");
  const absl::string_view condition = ConditionOf(back.taint);
  if (condition == "not-ready") return absl::StrCat("node ", back.node, " ready again");
  if (condition == "unreachable") return absl::StrCat("node ", back.node, " reachable again");
  return absl::StrCat("node ", back.node, " without its taint ", back.taint);
}

struct Words {
  std::string operator()(const MoreGpus& more) const {
    return absl::StrCat(more.amount, " more ", more.resource,
                        more.product.empty() ? "" : absl::StrCat(" (", more.product, ")"),
                        InDomain(more.level, more.domain), ", on empty nodes like ", more.like);
  }
  std::string operator()(const MoreNodes& more) const {
    const bool one = more.nodes == 1;
    const std::string lacking = absl::StrJoin(more.lacking, " and ");
    return absl::StrCat(
        more.nodes, one ? " more node" : " more nodes", " like ", more.like,
        InDomain(more.level, more.domain),
        lacking.empty() ? "" : absl::StrCat(", for ", one ? "its " : "their ", lacking));
  }
  std::string operator()(const MoreQuota& more) const {
    return absl::StrCat(FormatAmount(more.resource, more.amount), " more ", more.resource,
                        " of quota for ", more.at_cohort ? "Cohort " : "Queue ", more.at,
                        more.flavor.empty() ? "" : absl::StrCat(", flavor ", more.flavor));
  }
  std::string operator()(const HigherPriority& higher) const {
    constexpr size_t kMost = 3;
    std::vector<std::string> names = higher.evicts;
    const size_t left = names.size() > kMost ? names.size() - kMost : 0;
    names.resize(names.size() - left);
    return absl::StrCat("a priority above ", higher.above, ", which evicts ",
                        absl::StrJoin(names, ", "),
                        left == 0 ? "" : absl::StrCat(" and ", left, " more"));
  }
  std::string operator()(const SmallerQuorum& smaller) const {
    return absl::StrCat("a quorum of ", smaller.members, " instead of ", smaller.instead_of);
  }
  std::string operator()(const WiderLevel& wider) const {
    return absl::StrCat(
        wider.level.empty()
            ? absl::StrCat("no required level instead of ", wider.instead_of)
            : absl::StrCat(wider.level, " as the required level instead of ", wider.instead_of),
        wider.sub_group.empty() ? "" : absl::StrCat(", for sub-group ", wider.sub_group));
  }
  std::string operator()(const NodeBack& back) const { return BackText(back); }
  std::string operator()(const GangGone& gone) const {
    if (gone.waits) {
      return absl::StrCat("the deletion of ", gone.gang, ", which waits and has room held for it");
    }
    return absl::StrCat(
        "the end of ", gone.gang,
        gone.expected.has_value() ? absl::StrCat(", expected at ", TimeText(*gone.expected)) : "");
  }
};

// The rank of a change that is but a setting, the cheapest first; none: it costs hardware, the work
// of others, or members of the job itself.
std::optional<int> CostOfSetting(const HelpfulChange& change) {
  if (const auto* back = std::get_if<NodeBack>(&change)) {
    return ConditionOf(back->taint).empty() ? std::optional<int>(0) : std::nullopt;
  }
  if (std::holds_alternative<MoreQuota>(change)) return 1;
  if (std::holds_alternative<WiderLevel>(change)) return 2;
  return std::nullopt;
}

}  // namespace

std::string HelpText(const HelpfulChange& change) { return std::visit(Words(), change); }

std::string HelpText(const Help::Entry& entry) {
  return absl::StrJoin(entry.changes, ", and ", [](std::string* out, const HelpfulChange& change) {
    absl::StrAppend(out, HelpText(change));
  });
}

std::string CheapHelp(const Help& help) {
  const Help::Entry* best = nullptr;
  for (const Help::Entry& entry : help.entries) {
    if (entry.changes.size() != 1 || !CostOfSetting(entry.changes[0]).has_value()) continue;
    if (best == nullptr || CostOfSetting(entry.changes[0]) < CostOfSetting(best->changes[0])) {
      best = &entry;
    }
  }
  return best == nullptr ? "" : HelpText(*best);
}

std::string HelpNote(const Help& help) {
  if (help.starts_anyway) return "nothing is lacking: it starts as soon as it is its turn";
  if (help.gave_up) return "the search was cut short: there may be more";
  if (help.entries.empty()) return "none of the changes that were tried would do";
  return "";
}

}  // namespace maniple
