#include "scheduler/app/answers/admin_help.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/codec/quantity.h"
#include "api/proto/admin.pb.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

namespace pb = admin::v1;

struct Fields {
  pb::HelpfulChange& out;

  void operator()(const MoreGpus& more) const {
    out.set_kind("gpus");
    out.set_amount(absl::StrCat(more.amount));
    out.set_resource(more.resource);
    out.set_product(more.product);
    out.set_node(more.like);
    out.set_level(more.level);
    out.set_domain(more.domain);
  }
  void operator()(const MoreNodes& more) const {
    out.set_kind("nodes");
    out.set_amount(absl::StrCat(more.nodes));
    out.set_resource(absl::StrJoin(more.lacking, ","));
    out.set_node(more.like);
    out.set_level(more.level);
    out.set_domain(more.domain);
  }
  void operator()(const MoreQuota& more) const {
    out.set_kind("quota");
    out.set_amount(FormatAmount(more.resource, more.amount));
    out.set_resource(more.resource);
    out.set_flavor(more.flavor);
    (more.at_cohort ? *out.mutable_cohort() : *out.mutable_queue()) = more.at;
  }
  void operator()(const HigherPriority& higher) const {
    out.set_kind("priority");
    out.set_amount(absl::StrCat(higher.above));
    for (const std::string& gang : higher.evicts) out.add_gangs(gang);
  }
  void operator()(const SmallerQuorum& smaller) const {
    out.set_kind("quorum");
    out.set_amount(absl::StrCat(smaller.members));
    out.set_instead_of(absl::StrCat(smaller.instead_of));
  }
  void operator()(const WiderLevel& wider) const {
    out.set_kind("level");
    out.set_level(wider.level);
    out.set_instead_of(wider.instead_of);
    out.set_sub_group(wider.sub_group);
  }
  void operator()(const NodeBack& back) const {
    out.set_kind("node");
    out.set_node(back.node);
    out.set_taint(back.taint);
  }
  void operator()(const GangGone& gone) const {
    out.set_kind("gang");
    out.add_gangs(gone.gang);
    if (gone.expected.has_value()) out.set_expected_end(absl::ToUnixSeconds(*gone.expected));
  }
};

}  // namespace

void HelpInto(const Help& help, pb::Gang& out) {
  for (const Help::Entry& entry : help.entries) {
    pb::Help& row = *out.add_help();
    row.set_sentence(HelpText(entry));
    for (const HelpfulChange& change : entry.changes) {
      pb::HelpfulChange& part = *row.add_changes();
      part.set_sentence(HelpText(change));
      std::visit(Fields{part}, change);
    }
  }
  out.set_help_note(HelpNote(help));
}

Help WithoutNamesOfOthers(Help help, absl::string_view namespace_name) {
  const std::string own = absl::StrCat(namespace_name, "/");
  const auto veil = [&own](std::string& gang) {
    const bool is_own = absl::StartsWith(gang, own);
    if (!is_own) gang = kGangOfAnotherNamespace;
    return !is_own;
  };
  for (Help::Entry& entry : help.entries) {
    for (HelpfulChange& change : entry.changes) {
      if (auto* gone = std::get_if<GangGone>(&change)) {
        if (veil(gone->gang)) gone->expected.reset();
      }
      if (auto* higher = std::get_if<HigherPriority>(&change)) {
        for (std::string& gang : higher->evicts) veil(gang);
      }
    }
  }
  return help;
}

}  // namespace maniple
