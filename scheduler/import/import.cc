#include "scheduler/import/import.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "api/codec/yaml.h"
#include "scheduler/import/dialects.h"

namespace maniple {
namespace {

struct KindRule {
  absl::string_view group, kind;
  absl::string_view skipped_because;  // "" = it is translated
};

struct Dialect {
  absl::string_view name;
  void (*translate)(ForeignManifests&, Imported&);
  std::vector<KindRule> kinds;
};

const Dialect& DialectOf(ImportFrom from) {
  constexpr absl::string_view kKueueGroup = "kueue.x-k8s.io",
                              kVolcanoGroup = "scheduling.volcano.sh",
                              kKaiGroup = "scheduling.run.ai";
  constexpr absl::string_view kMadeAnew = "the jobs make theirs anew";
  constexpr absl::string_view kNoChecks = "nothing outside is asked before a gang starts";
  static const auto* const dialects = new std::map<ImportFrom, Dialect>{
      {ImportFrom::kKueue,
       {"kueue",
        ImportKueue,
        {{kKueueGroup, "ResourceFlavor", ""},
         {kKueueGroup, "Topology", ""},
         {kKueueGroup, "Cohort", ""},
         {kKueueGroup, "ClusterQueue", ""},
         {kKueueGroup, "LocalQueue", ""},
         {kKueueGroup, "WorkloadPriorityClass", ""},
         {kKueueGroup, "Workload", kMadeAnew},
         {kKueueGroup, "AdmissionCheck", kNoChecks},
         {kKueueGroup, "ProvisioningRequestConfig", kNoChecks},
         {kKueueGroup, "MultiKueueConfig", "one scheduler serves one cluster"},
         {kKueueGroup, "MultiKueueCluster", "one scheduler serves one cluster"}}}},
      {ImportFrom::kVolcano,
       {"volcano",
        ImportVolcano,
        {{kVolcanoGroup, "Queue", ""},
         {"", "Node", ""},
         {kVolcanoGroup, "PodGroup", kMadeAnew},
         {"topology.volcano.sh", "HyperNode",
          "the scheduler reads it where it is: leave it, with its definition"}}}},
      {ImportFrom::kKai,
       {"kai",
        ImportKai,
        {{kKaiGroup, "Queue", ""},
         {"kai.scheduler", "Topology", ""},
         {"", "Node", ""},
         {kKaiGroup, "PodGroup", kMadeAnew},
         {kKaiGroup, "BindRequest", "they pass with the scheduler that made them"},
         {"kai.scheduler", "SchedulingShard",
          "run one scheduler for each pool, with a name of its own"},
         {"kai.scheduler", "Config", "see the configuration file of the scheduler"}}}},
      {ImportFrom::kYuniKorn,
       {"yunikorn", ImportYuniKorn, {{"", "ConfigMap", ""}, {"", "Node", ""}}}},
  };
  return dialects->at(from);
}

ForeignManifests Parse(const std::vector<ManifestFile>& files, Findings& findings) {
  ForeignManifests out;
  for (const ManifestFile& file : files) {
    const absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(file.text);
    if (!documents.ok()) {
      findings.push_back(
          {.file = file.name, .line = 1, .message = std::string(documents.status().message())});
      continue;
    }
    for (const YamlDocument& document : *documents) {
      for (ManifestItem& item : ItemsOf(document)) {
        out.emplace_back(std::move(item.value), file.name, item.line);
      }
    }
  }
  return out;
}

// Keeps the objects that the dialect translates, the first of those with one kind and name.
void KeepWhatIsTranslated(const Dialect& dialect, ForeignManifests& objects, Findings& findings) {
  std::map<std::tuple<std::string, std::string, std::string>, int> seen;
  std::map<std::pair<std::string, std::string>, std::pair<const ForeignManifest*, int>> skipped;
  ForeignManifests kept;
  for (const ForeignManifest& object : objects) {
    const auto rule = std::ranges::find_if(dialect.kinds, [&](const KindRule& each) {
      return each.group == object.group() && each.kind == object.kind();
    });
    if (rule == dialect.kinds.end() || !rule->skipped_because.empty()) {
      const std::string why =
          rule == dialect.kinds.end()
              ? absl::StrCat("no object that ", dialect.name, " reads its quotas from")
              : std::string(rule->skipped_because);
      auto& [first, count] = skipped[{object.kind(), why}];
      if (count++ == 0) first = &object;
      continue;
    }
    if (object.name().empty()) {
      object.Error("metadata.name", "the object has no name", findings);
    } else if (seen[{object.kind(), object.namespace_name(), object.name()}]++ > 0) {
      object.Error("metadata.name", "the object is there twice; the first counts", findings);
    } else {
      kept.push_back(object);
    }
  }
  for (const auto& [kind_and_why, first_and_count] : skipped) {
    const auto& [first, count] = first_and_count;
    first->Note("",
                absl::StrCat(count > 1 ? absl::StrCat("and ", count - 1, " more ") : "",
                             "skipped: ", kind_and_why.second),
                findings);
  }
  objects = std::move(kept);
}

// Leaves out objects that our own CRDs refuse: a name or amount that is sound there
// need not be sound here.
void LeaveOutUnsound(Imported& out) {
  std::vector<ManifestFile> files;
  for (const Json& object : out.objects) {
    files.push_back({.name = absl::StrCat(files.size()), .text = DumpYaml(object)});
  }
  std::set<size_t> unsound;
  for (const ManifestFinding& found : ValidateManifests(files)) {
    size_t index = 0;
    if (found.severity != ManifestFinding::Severity::kError) continue;
    CHECK(absl::SimpleAtoi(found.file, &index));
    unsound.insert(index);
    const Json& object = out.objects[index];
    out.findings.push_back({.file = "result",
                            .line = 1,
                            .path = found.path,
                            .message = absl::StrCat(object["kind"].AsString(), " ",
                                                    object.At("metadata.name").AsString(),
                                                    " is left out: ", found.message)});
  }
  for (auto index = unsound.rbegin(); index != unsound.rend(); ++index) {
    out.objects.erase(out.objects.begin() + static_cast<ptrdiff_t>(*index));
  }
}

// By the name of each Cohort that has a parent: the parent's.
using Parents = std::map<std::string, std::string>;

Parents ParentsOf(const std::vector<Json>& objects) {
  Parents parents;
  for (const Json& object : objects) {
    const std::string& parent = object.At("spec.parent").AsString();
    if (object["kind"].AsString() == "Cohort" && !parent.empty()) {
      parents[object.At("metadata.name").AsString()] = parent;
    }
  }
  return parents;
}

// How many Cohorts stand above it. No rings are left: our CRDs refuse them.
size_t DepthOf(const Json& object, const Parents& parents) {
  size_t depth = 0;
  if (object["kind"].AsString() != "Cohort") return depth;
  auto above = parents.find(object.At("metadata.name").AsString());
  for (; above != parents.end() && depth <= parents.size(); ++depth) {
    above = parents.find(above->second);
  }
  return depth;
}

// Flavors and Topologies, then Cohorts, then Queues, then objects that name these.
int RankOf(const Json& object) {
  constexpr absl::string_view kOrder[] = {"ResourceFlavor", "Topology", "Cohort", "Queue",
                                          "PriorityClass"};
  return static_cast<int>(std::ranges::find(kOrder, object["kind"].AsString()) - kOrder);
}

}  // namespace

std::optional<ImportFrom> ImportFromNamed(absl::string_view name) {
  for (const ImportFrom from :
       {ImportFrom::kKueue, ImportFrom::kVolcano, ImportFrom::kKai, ImportFrom::kYuniKorn}) {
    if (DialectOf(from).name == name) return from;
  }
  return std::nullopt;
}

ImportResult ImportObjects(ImportFrom from, const std::vector<ManifestFile>& files) {
  const Dialect& dialect = DialectOf(from);
  Imported out;
  ForeignManifests objects = Parse(files, out.findings);
  KeepWhatIsTranslated(dialect, objects, out.findings);
  dialect.translate(objects, out);
  for (const ForeignManifest& object : objects) {
    // Of a node only what it has is asked for.
    if (object.kind() != "Node") object.TellTheRest(out.findings);
  }
  LeaveOutUnsound(out);
  std::ranges::stable_sort(out.objects, {}, [parents = ParentsOf(out.objects)](const Json& object) {
    return std::pair(RankOf(object), DepthOf(object, parents));
  });
  const auto place = [](const ManifestFinding& finding) {
    return std::tie(finding.file, finding.line);
  };
  std::ranges::stable_sort(out.findings, {}, place);
  return {std::move(out.objects), std::move(out.findings)};
}

Json OurObject(absl::string_view kind, absl::string_view name, Json spec) {
  return Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                       {"kind", kind},
                       {"metadata", Json::Object({{"name", name}})},
                       {"spec", std::move(spec)}});
}

}  // namespace maniple
