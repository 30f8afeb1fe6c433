#include "test/scenario/shorthand.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/base/status_macros.h"
#include "api/model/maniple_types.h"

namespace maniple::scenario {
namespace {

constexpr char kNvlinkLabel[] = "nvidia.com/gpu.clique";

std::string LevelLabel(absl::string_view level) { return absl::StrCat("example.com/", level); }

std::string ResourceName(absl::string_view shorthand) {
  return shorthand == "gpu" ? "nvidia.com/gpu" : std::string(shorthand);
}

// "n[1-3]" → n1, n2, n3.
absl::StatusOr<std::vector<std::string>> Names(absl::string_view pattern) {
  const size_t open = pattern.find('['), dash = pattern.find('-', open), close = pattern.find(']');
  if (open == absl::string_view::npos) return std::vector<std::string>{std::string(pattern)};
  int first = 0, last = 0;
  if (close == absl::string_view::npos || dash == absl::string_view::npos ||
      !absl::SimpleAtoi(pattern.substr(open + 1, dash - open - 1), &first) ||
      !absl::SimpleAtoi(pattern.substr(dash + 1, close - dash - 1), &last)) {
    return absl::InvalidArgumentError(absl::StrCat("not a name or a range of names: ", pattern));
  }
  std::vector<std::string> names;
  for (int i = first; i <= last; ++i) {
    names.push_back(absl::StrCat(pattern.substr(0, open), i, pattern.substr(close + 1)));
  }
  return names;
}

// "gpu=8 cpu=64" over defaults. Where `labels` are wanted, "@key=value" is one of them.
absl::Status ReadAmounts(absl::string_view words, Json& amounts, Json* labels = nullptr) {
  for (absl::string_view word : absl::StrSplit(words, ' ', absl::SkipEmpty())) {
    const bool label = labels != nullptr && absl::ConsumePrefix(&word, "@");
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(word, absl::MaxSplits('=', 1));
    if (pair.second.empty())
      return absl::InvalidArgumentError(absl::StrCat("not resource=amount: ", word));
    if (label) {
      labels->Set(std::string(pair.first), std::string(pair.second));
    } else {
      amounts.Set(ResourceName(pair.first), std::string(pair.second));
    }
  }
  return absl::OkStatus();
}

// "block b1 rack r1 nvlink c1": the labels of where a node stands.
absl::StatusOr<Json> PlaceFrom(absl::string_view words) {
  const std::vector<absl::string_view> pairs = absl::StrSplit(words, ' ', absl::SkipWhitespace());
  if (pairs.size() % 2 != 0)
    return absl::InvalidArgumentError(absl::StrCat("not pairs of a level and a name: ", words));
  Json labels = Json::Object();
  for (size_t i = 0; i < pairs.size(); i += 2) {
    labels.Set(pairs[i] == "nvlink" ? std::string(kNvlinkLabel) : LevelLabel(pairs[i]),
               std::string(pairs[i + 1]));
  }
  return labels;
}

Json NodeNamed(const std::string& name, const Json& place, const Json& amounts, Json labels) {
  for (const Json::Member& label : place.members()) labels.Set(label.first, label.second);
  labels.Set("kubernetes.io/hostname", name);
  return Json::Object(
      {{"apiVersion", "v1"},
       {"kind", "Node"},
       {"metadata", Json::Object({{"name", name}, {"labels", labels}})},
       {"status", Json::Object({{"capacity", amounts}, {"allocatable", amounts}})}});
}

Json PodGroupFrom(const Json& gang) {
  Json spec = gang["spec"].is_object() ? gang["spec"] : Json::Object();
  if (gang.Has("queue")) spec.Set("queue", gang["queue"]);
  if (gang.Has("topology")) spec.Set("topology", gang["topology"]);
  spec.Set("minMember",
           gang.Has("min") ? gang["min"] : Json(gang.Has("pods") ? gang["pods"].AsInt() : 1));
  return Json::Object(
      {{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
       {"kind", "PodGroup"},
       {"metadata", Json::Object({{"name", gang["gang"]}, {"namespace", "default"}})},
       {"spec", spec}});
}

Json PodFrom(const Json& gang, int64_t index, const Json& amounts) {
  const std::string& name = gang["gang"].AsString();
  Json labels = Json::Object();
  if (gang["group"].AsString() != "none") labels.Set(kPodGroupLabel, name);
  labels.Set("batch.kubernetes.io/job-completion-index", absl::StrCat(index));
  if (gang.Has("sub")) labels.Set(kSubGroupLabel, gang["sub"]);
  const bool alone = gang["group"].AsString() == "none";
  if (alone && gang.Has("queue")) labels.Set(kQueueLabel, gang["queue"]);
  const Json container =
      Json::Object({{"name", "main"},
                    {"image", "registry.example/train:1"},
                    {"resources", Json::Object({{"requests", amounts}, {"limits", amounts}})}});
  Json spec = Json::Object({{"schedulerName", "maniple"},
                            {"terminationGracePeriodSeconds", 0},
                            {"containers", Json::Array({container})}});
  if (gang.Has("gate"))
    spec.Set("schedulingGates", Json::Array({Json::Object({{"name", gang["gate"]}})}));
  for (const Json::Member& member : gang["pod"].members()) spec.Set(member.first, member.second);
  return Json::Object({{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata", Json::Object({{"name", absl::StrCat(name, "-", index)},
                                                  {"namespace", "default"},
                                                  {"labels", labels},
                                                  {"annotations", gang["annotations"]}})},
                       {"spec", spec}});
}

Json OfManiple(absl::string_view kind, absl::string_view name, Json spec) {
  return Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                       {"kind", std::string(kind)},
                       {"metadata", Json::Object({{"name", std::string(name)}})},
                       {"spec", std::move(spec)}});
}

// "in pool weight=2 strict or backfill hold preempt reclaim".
absl::Status ReadBehaviour(bool queue, absl::string_view words, Json& spec) {
  bool names_parent = false;
  Json preemption = Json::Object();
  for (absl::string_view word : absl::StrSplit(words, ' ', absl::SkipEmpty())) {
    if (std::exchange(names_parent, false)) {
      spec.Set(queue ? "cohort" : "parent", std::string(word));
    } else if (word == "in") {
      names_parent = true;
    } else if (absl::ConsumePrefix(&word, "weight=")) {
      spec.Set("fairShare", Json::Object({{"weight", std::string(word)}}));
    } else if (queue && word == "strict") {
      spec.Set("ordering", "StrictFIFO");
    } else if (queue && word == "backfill") {
      spec.Set("ordering", "Backfill");
    } else if (queue && (word == "hold" || word == "drain")) {
      spec.Set("stopPolicy", word == "hold" ? "Hold" : "HoldAndDrain");
    } else if (queue && word == "preempt") {
      preemption.Set("withinQueue", "LowerPriority");
    } else if (queue && word == "reclaim") {
      preemption.Set("reclaimWithinCohort", "Any");
    } else {
      return absl::InvalidArgumentError(absl::StrCat("not a word for a queue or cohort: ", word));
    }
  }
  if (!preemption.members().empty()) spec.Set("preemption", std::move(preemption));
  return absl::OkStatus();
}

// "h100 gpu=8+4/2 cpu=64".
absl::StatusOr<Json> EntryFrom(absl::string_view words) {
  Json entry = Json::Object(), resources = Json::Array();
  for (const absl::string_view word : absl::StrSplit(words, ' ', absl::SkipEmpty())) {
    const size_t equals = word.find('=');
    if (equals == absl::string_view::npos) {
      if (entry.Has("flavor"))
        return absl::InvalidArgumentError(absl::StrCat("two flavors in one entry: ", words));
      entry.Set("flavor", std::string(word));
      continue;
    }
    absl::string_view amount = word.substr(equals + 1);
    Json quota = Json::Object({{"name", ResourceName(word.substr(0, equals))}});
    if (const size_t slash = amount.find('/'); slash != absl::string_view::npos) {
      quota.Set("lendingLimit", std::string(amount.substr(slash + 1)));
      amount = amount.substr(0, slash);
    }
    if (const size_t plus = amount.find('+'); plus != absl::string_view::npos) {
      quota.Set("borrowingLimit", std::string(amount.substr(plus + 1)));
      amount = amount.substr(0, plus);
    }
    quota.Set("nominal", std::string(amount));
    resources.Append(std::move(quota));
  }
  entry.Set("resources", std::move(resources));
  return entry;
}

}  // namespace

absl::StatusOr<std::vector<Json>> NodesFrom(absl::string_view shorthand) {
  std::vector<Json> nodes;
  for (absl::string_view part : absl::StrSplit(shorthand, ';', absl::SkipWhitespace())) {
    part = absl::StripAsciiWhitespace(part);
    Json place = Json::Object();
    if (const size_t colon = part.find(':'); colon < part.find('=')) {
      ASSIGN_OR_RETURN(place, PlaceFrom(part.substr(0, colon)));
      part = absl::StripAsciiWhitespace(part.substr(colon + 1));
    }
    const size_t space = part.find(' ');
    Json amounts = Json::Object({{"cpu", "64"}, {"memory", "512Gi"}, {"pods", "110"}});
    Json labels = Json::Object();
    if (space != absl::string_view::npos) {
      RETURN_IF_ERROR(ReadAmounts(part.substr(space), amounts, &labels));
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> names, Names(part.substr(0, space)));
    for (const std::string& name : names) {
      nodes.push_back(NodeNamed(name, place, amounts, labels));
    }
  }
  return nodes;
}

absl::StatusOr<Json> QuotaFrom(QuotaKind kind, absl::string_view name,
                               absl::string_view shorthand) {
  const bool queue = kind == QuotaKind::kQueue;
  Json spec = Json::Object();
  absl::string_view entries = shorthand;
  if (const size_t colon = shorthand.find(':'); colon != absl::string_view::npos) {
    RETURN_IF_ERROR(ReadBehaviour(queue, shorthand.substr(0, colon), spec));
    entries = shorthand.substr(colon + 1);
  }
  Json quotas = Json::Array();
  for (const absl::string_view entry : absl::StrSplit(entries, ';', absl::SkipWhitespace())) {
    ASSIGN_OR_RETURN(Json quota, EntryFrom(entry));
    quotas.Append(std::move(quota));
  }
  spec.Set("quotas", std::move(quotas));
  return OfManiple(queue ? "Queue" : "Cohort", name, std::move(spec));
}

absl::StatusOr<NodeChange> NodeChangeFrom(absl::string_view shorthand) {
  NodeChange change{.labels = Json::Object(), .amounts = Json::Object()};
  RETURN_IF_ERROR(ReadAmounts(shorthand, change.amounts, &change.labels));
  return change;
}

Json RackLabels(absl::string_view rack) {
  return Json::Object({{LevelLabel("rack"), std::string(rack)}});
}

Json TopologyFrom(const std::vector<Json>& levels) {
  Json named = Json::Array();
  for (const Json& level : levels) {
    named.Append(Json::Object({{"name", level}, {"nodeLabel", LevelLabel(level.AsString())}}));
  }
  return OfManiple("Topology", "default", Json::Object({{"levels", std::move(named)}}));
}

absl::StatusOr<Json> FlavorFrom(absl::string_view name, absl::string_view shorthand) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(shorthand, ' ', absl::SkipWhitespace());
  if (words.size() < 2 || words[0] != "rack")
    return absl::InvalidArgumentError(absl::StrCat("a flavor is `rack NAME`: ", shorthand));
  Json spec = Json::Object({{"nodeLabels", RackLabels(words[1])}});
  int64_t priority = 0;
  for (size_t i = 2; i < words.size(); ++i) {
    absl::string_view word = words[i];
    if (!absl::ConsumePrefix(&word, "priority=") || !absl::SimpleAtoi(word, &priority))
      return absl::InvalidArgumentError(absl::StrCat("not priority=NUMBER: ", words[i]));
    spec.Set("priority", priority);
  }
  return OfManiple("ResourceFlavor", name, std::move(spec));
}

absl::StatusOr<std::vector<Json>> GangFrom(const Json& shorthand) {
  if (shorthand["gang"].AsString().empty())
    return absl::InvalidArgumentError("submit needs `gang: NAME`");
  Json amounts = Json::Object();
  RETURN_IF_ERROR(
      ReadAmounts(shorthand.Has("each") ? shorthand["each"].AsString() : "cpu=1", amounts));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, Names(shorthand["gang"].AsString()));
  std::vector<Json> objects;
  for (const std::string& name : names) {
    Json gang = shorthand;
    gang.Set("gang", name);
    const int64_t first = gang["first"].AsInt();
    if (first == 0 && gang["group"].AsString().empty()) objects.push_back(PodGroupFrom(gang));
    const int64_t pods = gang.Has("pods") ? gang["pods"].AsInt() : 1;
    for (int64_t i = first; i < first + pods; ++i) objects.push_back(PodFrom(gang, i, amounts));
  }
  return objects;
}

}  // namespace maniple::scenario
