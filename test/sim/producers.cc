#include "test/sim/producers.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "test/sim/free_room.h"
#include "test/sim/waiting.h"
#include "test/support/crds.h"

namespace maniple::sim {
namespace {

constexpr char kJobPods[] = "/api/v1/namespaces/jobs/pods";
constexpr char kStandIns[] = "/apis/scheduling.maniple.dev/v1alpha1/namespaces/jobs/podgroups";
constexpr size_t kMostJobs = 4;
constexpr int kSizes = 3;

std::string TargetOf(const JobObject& object) {
  return absl::StrCat("/apis/", object.api_version, "/namespaces/", kJobsNamespace, "/",
                      object.plural);
}

std::string TargetOf(const JobObject& object, const std::string& name) {
  return absl::StrCat(TargetOf(object), "/", name);
}

std::string KeyOf(const JobObject& object) { return absl::StrCat(object.kind, "/", object.name); }

std::string PodName(const JobPart& part, int index) {
  return absl::StrCat(part.prefix, "-", index);
}

// What only its controller writes.
std::string WrittenIn(const Json& object) {
  const Json& meta = object["metadata"];
  return absl::StrCat(meta["uid"].AsString(), object["spec"].Dump(), meta["labels"].Dump(),
                      meta["annotations"].Dump(), meta["ownerReferences"].Dump(),
                      meta["finalizers"].Dump());
}

bool IsLost(const Truth::PodFacts* pod) {
  return pod == nullptr || pod->phase == "Failed" || pod->deleting;
}

// Each pod goes where it leaves the least.
bool FitIn(const std::vector<int64_t>& gpus, std::map<std::string, int64_t> free) {
  for (const int64_t wanted : gpus) {
    auto best = free.end();
    for (auto it = free.begin(); it != free.end(); ++it) {
      if (it->second < wanted) continue;
      if (best == free.end() || it->second < best->second) best = it;
    }
    if (best == free.end()) return false;
    best->second -= wanted;
  }
  return true;
}

}  // namespace

Producers::Producers(Users& users, Truth& truth, uint64_t seed)
    : users_(users),
      truth_(truth),
      random_(seed * 49979687 + 11),
      exist_(seed % 5 == 3),
      many_scale_(random_.OneIn(2)) {}

void Producers::SetUp() {
  if (!exist_) return;
  for (const Json& crd : JobDefinitions()) users_.InstallCrd(crd);
  for (const Json& crd : ProducerCrds()) users_.InstallCrd(crd);
  users_.Call("POST", "/api/v1/namespaces",
              Json::Object({{"apiVersion", "v1"},
                            {"kind", "Namespace"},
                            {"metadata", Json::Object({{"name", kJobsNamespace}})}}));
}

void Producers::Act() {
  if (!exist_) return;
  switch (random_.Below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return Submit();
    case 4:
      return End();
    case 5:
      return Meddle();
    default:
      return;
  }
}

void Producers::Submit() {
  if (jobs_.size() >= kMostJobs) return;
  const int first = many_scale_ && random_.OneIn(2) ? kFirstThatScales : 0;
  const int kind =
      first + static_cast<int>(random_.Below(static_cast<uint64_t>(kJobKinds - first)));
  Make(absl::StrCat("job", ++next_), kind);
}

void Producers::Make(const std::string& name, int kind) {
  const int size = 1 + static_cast<int>(random_.Below(kSizes));
  jobs_[name] = {.kind = kind, .recipe = RecipeFor(kind, name, size)};
}

// And perhaps it begins anew at once, under its name, with another size.
void Producers::End() {
  if (jobs_.empty()) return;
  const auto job = std::next(jobs_.begin(), static_cast<int64_t>(random_.Below(jobs_.size())));
  const std::string name = job->first;
  const int kind = job->second.kind;
  Delete(name);
  if (random_.OneIn(2)) Make(name, kind);
}

void Producers::Delete(const std::string& name) {
  const Job& job = jobs_.at(name);
  for (const JobObject& object : job.recipe.objects) {
    users_.Call("DELETE", TargetOf(object, object.name), Json());
  }
  for (const JobPart& part : job.recipe.parts) DeletePods(part);
  jobs_.erase(name);
}

void Producers::DeletePods(const JobPart& part) {
  for (int i = 0; i < part.pods; ++i) {
    users_.Call("DELETE", absl::StrCat(kJobPods, "/", PodName(part, part.first + i)), Json());
  }
}

// Somebody deletes what stands for a job, and may make something of that name that asks for less.
void Producers::Meddle() {
  const std::vector<std::string> names = StandIns();
  if (names.empty()) return;
  const std::string& name = names[random_.Below(names.size())];
  const std::string target = absl::StrCat(kStandIns, "/", name);
  users_.Call("DELETE", target, Json());
  theirs_.erase(target);
  if (random_.OneIn(2)) return;
  users_.Call("POST", kStandIns,
              Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                            {"kind", "PodGroup"},
                            {"metadata", Json::Object({{"name", name}})},
                            {"spec", Json::Object({{"minMember", 1}})}}));
  theirs_[target] = WrittenIn(users_.Get(target));
}

std::vector<std::string> Producers::StandIns() const {
  std::vector<std::string> names;
  for (const auto& [key, group] : truth_.groups()) {
    if (IsOfProducer(key)) names.push_back(key.substr(key.find('/') + 1));
  }
  return names;
}

void Producers::DeleteAll() {
  while (!jobs_.empty()) Delete(std::string(jobs_.begin()->first));
  for (const std::string& name : StandIns()) {
    users_.Call("DELETE", absl::StrCat(kStandIns, "/", name), Json());
  }
}

void Producers::ControllerTurn(absl::Time now) {
  for (auto& [name, job] : jobs_) {
    GoOn(job);
    CheckPhase(name, job, now);
  }
}

// Of its group.
std::string Producers::PhaseOf(const Job& job) {
  const JobObject& group = job.recipe.objects.front();
  return users_.Get(TargetOf(group, group.name))["status"]["phase"].AsString();
}

// Volcano's controller takes it for a failure.
void Producers::CheckPhase(const std::string& name, const Job& job, absl::Time now) {
  if (job.recipe.parts.front().after != JobPart::After::kPhaseIsOpen) return;
  if (PhaseOf(job) != "Unknown") return;
  truth_.Violated(now, absl::StrCat("PhaseIsKnown: the group of ", name, " has phase Unknown"));
}

const Truth::PodFacts* Producers::Find(const std::string& pod) const {
  const auto it = truth_.pods().find(absl::StrCat(kJobsNamespace, "/", pod));
  return it == truth_.pods().end() ? nullptr : &it->second;
}

std::vector<std::string> Producers::JobsThatScale() const {
  std::vector<std::string> names;
  for (const auto& [name, job] : jobs_) {
    if (CanBeScaled(job.kind) && job.uids.size() == job.recipe.objects.size())
      names.push_back(name);
  }
  return names;
}

// So many start together at least as it has ever asked for: a leader may have decided before the
// edit, and who comes after a start comes late.
void Producers::Scale(const std::string& name, int size) {
  Job& job = jobs_.at(name);
  const std::map<std::string, int> least = job.recipe.least;
  JobPart surplus = job.recipe.parts.back();
  job.recipe = RecipeFor(job.kind, name, size);
  for (const auto& [unit, pods] : least) {
    job.recipe.least[unit] = std::min(job.recipe.least[unit], pods);
  }
  const JobObject& object = job.recipe.objects.front();
  const std::string target = TargetOf(object, object.name);
  users_.Call("PATCH", target, Json::Object({{"spec", object.spec}}));
  job.written[target] = WrittenIn(users_.Get(target));
  surplus.first += size;
  surplus.pods -= size;
  DeletePods(surplus);
}

// In pieces: whoever sees only some of its pods does not know how many are to come.
void Producers::GoOn(Job& job) {
  if (job.recipe.restarts_whole && HasLostSome(job)) return StartAnew(job);
  for (size_t i = 0; i < job.recipe.parts.size(); ++i) {
    if (MayMake(job, i)) job.open.insert(i);
  }
  MakeObjects(job);
  for (const size_t part : job.open) {
    if (!MakePods(job, job.recipe.parts[part])) return;
  }
}

bool Producers::AllAre(Stage stage, const JobPart& part) const {
  for (int i = 0; i < part.pods; ++i) {
    const Truth::PodFacts* pod = Find(PodName(part, part.first + i));
    if (IsLost(pod) || pod->node.empty()) return false;
    if (stage == Stage::kRunning && pod->phase != "Running") return false;
  }
  return true;
}

bool Producers::MayMake(const Job& job, size_t part) {
  using After = JobPart::After;
  if (job.open.contains(part)) return false;
  switch (job.recipe.parts[part].after) {
    case After::kNothing:
      return true;
    case After::kPhaseIsOpen: {
      const std::string phase = PhaseOf(job);
      return phase == "Inqueue" || phase == "Running";
    }
    case After::kOthersRun:
      return AllAre(Stage::kRunning, job.recipe.parts[part - 1]);
    case After::kOthersStand:
      return AllAre(Stage::kBound, job.recipe.parts[part - 1]);
  }
  return false;
}

void Producers::MakeObjects(Job& job) {
  for (const JobObject& object : job.recipe.objects) {
    if (object.with_part >= 0 && !job.open.contains(static_cast<size_t>(object.with_part)))
      continue;
    if (job.uids.contains(KeyOf(object))) continue;
    const Json owners = OwnersOf(job, object.owner);
    if (!object.owner.empty() && owners.size() == 0) return;  // it is not there yet
    Json meta = Json::Object({{"name", object.name}});
    if (object.annotations.size() > 0) meta.Set("annotations", object.annotations);
    if (owners.size() > 0) meta.Set("ownerReferences", owners);
    const int status = users_.Call("POST", TargetOf(object),
                                   Json::Object({{"apiVersion", object.api_version},
                                                 {"kind", object.kind},
                                                 {"metadata", meta},
                                                 {"spec", object.spec}}));
    if (status == 409) return;  // its namesake is not gone yet
    CHECK(status == 201) << TargetOf(object) << ": " << status;
    const std::string target = TargetOf(object, object.name);
    const Json made = users_.Get(target);
    job.uids[KeyOf(object)] = made["metadata"]["uid"].AsString();
    job.written[target] = WrittenIn(made);
  }
}

Json Producers::OwnersOf(const Job& job, const std::string& owner) {
  if (owner.empty()) return Json::Array();
  const std::string name = owner.substr(owner.find('/') + 1);
  std::string uid, api_version = "v1";
  if (absl::StartsWith(owner, "Pod/")) {
    const Truth::PodFacts* pod = Find(name);
    if (pod != nullptr) uid = pod->uid;
  } else if (const auto it = job.uids.find(owner); it != job.uids.end()) {
    uid = it->second;
    api_version = std::ranges::find(job.recipe.objects, owner, KeyOf)->api_version;
  }
  if (uid.empty()) return Json::Array();
  return Json::Array({Json::Object({{"apiVersion", api_version},
                                    {"kind", owner.substr(0, owner.find('/'))},
                                    {"name", name},
                                    {"uid", uid},
                                    {"controller", true}})});
}

// False: not all of them yet.
bool Producers::MakePods(const Job& job, const JobPart& part) {
  for (int i = 0; i < part.pods; ++i) {
    const std::string name = PodName(part, part.first + i);
    const Truth::PodFacts* pod = Find(name);
    if (pod != nullptr && pod->phase == "Failed") {
      users_.Call("DELETE", absl::StrCat(kJobPods, "/", name), Json());
      pod = Find(name);
    }
    if (pod != nullptr) continue;
    MakePod(job, part, part.first + i);
    if (random_.OneIn(3)) return false;
  }
  return true;
}

void Producers::MakePod(const Job& job, const JobPart& part, int index) {
  const Json owners = OwnersOf(job, part.owner);
  if (!part.owner.empty() && owners.size() == 0) return;
  Json labels = Json::Object({{kUnitLabel, part.unit}});
  for (const auto& [key, value] : part.labels) labels.Set(key, value);
  if (!part.index_label.empty()) labels.Set(part.index_label, absl::StrCat(index));
  Json annotations = Json::Object();
  for (const auto& [key, value] : part.annotations) annotations.Set(key, value);
  Json meta = Json::Object(
      {{"name", PodName(part, index)}, {"labels", labels}, {"annotations", annotations}});
  if (owners.size() > 0) meta.Set("ownerReferences", owners);
  const Json gpus = Json::Object({{"nvidia.com/gpu", absl::StrCat(part.gpus)}});
  const Json container =
      Json::Object({{"name", "main"},
                    {"image", "registry.example/train:1"},
                    {"resources", Json::Object({{"requests", gpus}, {"limits", gpus}})}});
  users_.Call("POST", kJobPods,
              Json::Object({{"apiVersion", "v1"},
                            {"kind", "Pod"},
                            {"metadata", meta},
                            {"spec", Json::Object({{"schedulerName", "maniple"},
                                                   {"terminationGracePeriodSeconds", 5},
                                                   {"containers", Json::Array({container})}})}}));
}

bool Producers::HasLostSome(const Job& job) const {
  return std::ranges::any_of(job.open, [&](size_t at) {
    const JobPart& part = job.recipe.parts[at];
    if (!job.whole.contains(part.unit)) return false;
    for (int i = 0; i < part.pods; ++i) {
      if (IsLost(Find(PodName(part, part.first + i)))) return true;
    }
    return false;
  });
}

void Producers::StartAnew(Job& job) {
  for (const size_t part : job.open) DeletePods(job.recipe.parts[part]);
  // What hangs on a pod goes with it.
  for (const JobObject& object : job.recipe.objects) {
    if (!absl::StartsWith(object.owner, "Pod/")) continue;
    users_.Call("DELETE", TargetOf(object, object.name), Json());
    job.uids.erase(KeyOf(object));
    job.written.erase(TargetOf(object, object.name));
  }
  job.open.clear();
  job.whole.clear();
  job.ran.clear();
}

Producers::Unit Producers::UnitOf(const std::string& unit) const {
  Unit found;
  const std::string gang = absl::StrCat(kJobsNamespace, "/", unit);
  found.of_others = truth_.BoundByOthers(gang);
  for (const auto& [key, pod] : truth_.pods()) {
    if (pod.gang != gang || pod.ended() || pod.deleting) continue;
    ++found.live;
    if (pod.node.empty()) {
      found.waiting.push_back(pod.gpus);
    } else {
      ++found.bound;
    }
  }
  return found;
}

void Producers::OnServerChange(absl::Time now) {
  for (auto& [name, job] : jobs_) {
    for (const auto& [unit_name, least] : job.recipe.least) {
      if (job.ran.contains(unit_name)) continue;
      const Unit unit = UnitOf(unit_name);
      if (unit.bound >= least && job.ran.insert(unit_name).second) ++started_;
      if (unit.live >= least || job.whole.contains(unit_name)) {
        job.whole.insert(unit_name);
      } else if (unit.bound > 0 && !unit.of_others) {
        truth_.Violated(now,
                        absl::StrCat("StagedGangNeverHalfBound: ", unit_name, " has ", unit.bound,
                                     " pods bound and ", unit.live, " of ", least, " that exist"));
      }
    }
  }
}

bool Producers::SomeAreMissing() const {
  return std::ranges::any_of(jobs_, [&](const auto& entry) {
    const JobRecipe& recipe = entry.second.recipe;
    return std::ranges::any_of(recipe.least, [&](const auto& least) {
      const Unit unit = UnitOf(least.first);
      return unit.bound > 0 && unit.bound < least.second;
    });
  });
}

bool Producers::Fit(std::vector<int64_t> gpus) const {
  std::ranges::sort(gpus, std::greater());
  const std::vector<std::set<std::string>> ways = WaysToKeepRoom(truth_, {});
  return !ways.empty() && std::ranges::all_of(ways, [&](const std::set<std::string>& kept) {
    std::map<std::string, int64_t> free = FreeGpus(truth_);
    for (const std::string& node : kept) free.erase(node);
    return FitIn(gpus, std::move(free));
  });
}

// Those that are there already may be wanted together with it. Who comes late to a job that was
// scaled up is wanted alone.
std::vector<int64_t> Producers::WantedNext(const Job& job, const Unit& unit, int least) const {
  if (CanBeScaled(job.kind) && unit.bound >= least) return {std::ranges::min(unit.waiting)};
  std::vector<int64_t> next;
  for (const auto& [other, least_of_other] : job.recipe.least) {
    const std::vector<int64_t> more = UnitOf(other).waiting;
    next.insert(next.end(), more.begin(), more.end());
  }
  return next;
}

void Producers::CheckUnit(const Job& job, const std::string& name, absl::Time now) {
  const Unit unit = UnitOf(name);
  const int least = job.recipe.least.at(name);
  if (unit.of_others) return;
  int stand = unit.bound;
  for (const JobPart& part : job.recipe.parts) {
    if (part.helps == name) stand += UnitOf(part.unit).bound;
  }
  if (unit.bound > 0 && stand < least) {
    truth_.Violated(now, absl::StrCat("StagedGangNeverHalfBound: at rest ", name, " has ",
                                      unit.bound, " of ", least, " pods bound"));
  }
  const auto waiting = static_cast<int>(unit.waiting.size());
  if (waiting == 0 || unit.bound + waiting < least || !job.whole.contains(name)) return;
  if (Fit(WantedNext(job, unit, least))) {
    truth_.Violated(now, absl::StrCat("NoProducerDeadlock: ", name, " has ", waiting,
                                      " pods that wait, and there is room"));
  }
}

void Producers::CheckAtRest(absl::Time now) {
  CheckWritten(theirs_, now);
  for (auto& [name, job] : jobs_) {
    CheckWritten(job.written, now);
    for (const JobPart& part : job.recipe.parts) {
      CheckMarks(part.unit, now);
      CheckUnit(job, part.unit, now);
      // What was evicted with those before it waits for them.
      if (UnitOf(part.unit).bound < job.recipe.least.at(part.unit)) break;
    }
    const bool told = job.recipe.parts.front().after == JobPart::After::kPhaseIsOpen;
    if (told && !job.open.contains(0)) {
      truth_.Violated(now, absl::StrCat("NoProducerDeadlock: ", name,
                                        " waits for a phase in which it may make pods"));
    }
  }
}

void Producers::CheckWritten(const std::map<std::string, std::string>& objects, absl::Time now) {
  for (const auto& [target, written] : objects) {
    const Json seen = users_.Get(target);
    const bool gone = !absl::StartsWith(written, seen["metadata"]["uid"].AsString());
    if (seen.is_null() || gone || WrittenIn(seen) == written) continue;
    truth_.Violated(now, absl::StrCat("ForeignSpecUntouched: ", target, " was ", written,
                                      " and is ", WrittenIn(seen)));
  }
}

void Producers::CheckMarks(const std::string& unit, absl::Time now) {
  const Unit found = UnitOf(unit);
  if (found.bound > 0 || found.of_others) return;
  int marked = 0, others = 0;
  for (const auto& [key, pod] : truth_.pods()) {
    if (pod.gang != absl::StrCat(kJobsNamespace, "/", unit) || pod.ended() || pod.deleting)
      continue;
    const Json seen = users_.Get(absl::StrCat(kJobPods, "/", key.substr(key.find('/') + 1)));
    const bool says_so =
        std::ranges::any_of(seen["status"]["conditions"].items(), [](const Json& condition) {
          return condition["type"].AsString() == "PodScheduled" &&
                 condition["reason"].AsString() == "Unschedulable";
        });
    ++(says_so ? marked : others);
  }
  if (marked == 0 || others == 0) return;
  truth_.Violated(now, absl::StrCat("AllAskForRoom: of ", unit, " ", marked,
                                    " pods are unschedulable and ", others, " are not"));
}

}  // namespace maniple::sim
