// The question and the answer of AnswerHelp (help.h). Plain values; the question owns all that the
// answer needs, but for the profile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "plugins/framework/profile.h"
#include "scheduler/advice/hypothesis.h"
#include "scheduler/cycle/victims/preemption_question.h"

namespace maniple {

struct MoreGpus {
  int64_t amount = 0;
  std::string resource;       // "nvidia.com/gpu"
  std::string product;        // "H100-80GB-HBM3"; "" = no label tells
  std::string like;           // on empty nodes like this one
  std::string level, domain;  // "" = anywhere
};
struct MoreNodes {
  int64_t nodes = 0;
  std::string like;
  std::string level, domain;
  std::vector<std::string> lacking;  // "cpu": GPUs are not; empty: the gang asks for no GPU
};
struct MoreQuota {
  std::string at;  // a Queue, or a Cohort above it
  bool at_cohort = false;
  std::string flavor, resource;  // flavor "" = nodes that no other entry names
  Amount amount;
};
struct HigherPriority {
  int32_t above = 0;
  std::vector<std::string> evicts;  // "namespace/name"
};
struct SmallerQuorum {
  int32_t members = 0, instead_of = 0;
};
struct WiderLevel {
  std::string level;  // "" = none is required
  std::string instead_of;
  std::string sub_group;  // "" = of the whole gang
};
struct NodeBack {
  std::string node;
  std::string taint;  // "key=value:NoSchedule"; "" = uncordoned
};
struct GangGone {
  std::string gang;                    // "namespace/name"
  std::optional<absl::Time> expected;  // none: nobody said how long it runs
  bool waits = false;                  // it only has room held for it
};
using HelpfulChange = std::variant<MoreGpus, MoreNodes, MoreQuota, HigherPriority, SmallerQuorum,
                                   WiderLevel, NodeBack, GangGone>;

struct Help {
  struct Entry {
    std::vector<HelpfulChange> changes;  // one; or two that do together
  };
  std::vector<Entry> entries;  // of each kind the smallest, in the order of the kinds above
  bool starts_anyway = false;  // as soon as its turn comes
  bool gave_up = false;        // the search was cut short: there may be more
};

struct HelpQuestion {
  Hypothesis as_is;
  const Profile* profile = nullptr;  // borrowed; outlives the question
  absl::Time now;
  uint64_t seed = 0;

  struct QuotaPlace {
    QuotaNodeId node;
    std::string name;
    bool is_cohort = false;
  };
  std::vector<QuotaPlace> quota_path;  // from its Queue upwards
  struct CellName {
    QuotaCellId cell;
    std::string flavor, resource;
  };
  std::vector<CellName> cells;  // that its options draw on

  int32_t min_member = 1;
  std::vector<std::string> sub_groups;  // names, parallel to the request's

  bool preempts = true;
  int32_t priority = 0;
  absl::Time queued;
  PreemptionPolicy policy;
  FairSharing fair_sharing = FairSharing::kOn;
  std::vector<FairStrategy> strategies;
  IgnorePdb ignore_pdb = IgnorePdb::kNever;
  std::vector<int32_t> allowed;      // disruptionsAllowed, by budget
  std::vector<RunningGang> running;  // all that stand, in no order
  // The names in `as_is.request`; shared, so that they stay in place.
  std::shared_ptr<const std::vector<std::string>> names;
};
using HelpQuestionPtr = std::shared_ptr<const HelpQuestion>;  // null: nothing can be asked

}  // namespace maniple
