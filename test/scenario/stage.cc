#include "test/scenario/stage.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/base/check.h"
#include "api/base/status_macros.h"
#include "api/model/maniple_types.h"
#include "test/support/crds.h"

namespace maniple::scenario {
namespace {

constexpr char kGroups[] = "/apis/scheduling.maniple.dev/v1alpha1/namespaces/default/podgroups";
// Whatever was under way has come to its end.
constexpr absl::Duration kLongEnough = absl::Minutes(10);

// "/api/v1/namespaces/default/pods" for a Pod.
std::string CollectionOf(const Json& object) {
  const std::string& version = object["apiVersion"].AsString();
  const std::string ns = object["metadata"]["namespace"].AsString();
  std::string plural = absl::AsciiStrToLower(object["kind"].AsString());
  if (plural.ends_with("y")) {
    plural.replace(plural.size() - 1, 1, "ies");
  } else {
    plural += plural.ends_with("s") ? "es" : "s";
  }
  return absl::StrCat(version == "v1" ? "/api/v1" : "/apis/" + version,
                      ns.empty() ? "" : "/namespaces/" + ns, "/", plural);
}

std::string TargetOf(const Json& object) {
  return absl::StrCat(CollectionOf(object), "/", object["metadata"]["name"].AsString());
}

}  // namespace

Stage::Stage(SchedulerConfig config) : config_(std::move(config)) {
  for (const Json& crd : InstalledCrds()) {
    const absl::Status status = Create(crd);
    CHECK(status.ok()) << status;
  }
}

absl::StatusOr<Json> Stage::Call(absl::string_view method, absl::string_view target,
                                 const Json& body) {
  const devcluster::ApiReply reply = network_.Call(sim::RequestOf(method, target, body));
  if (reply.status >= 300) {
    return absl::FailedPreconditionError(
        absl::StrCat(method, " ", target, ": ", reply.status, ": ", reply.body));
  }
  return Json::Parse(reply.body);
}

absl::Status Stage::Create(const Json& object) {
  RETURN_IF_ERROR(Call("POST", CollectionOf(object), object).status());
  if (!object.Has("status")) return absl::OkStatus();
  return Call("PATCH", absl::StrCat(TargetOf(object), "/status"),
              Json::Object({{"status", object["status"]}}))
      .status();
}

absl::Status Stage::Delete(const Json& object) {
  return Call("DELETE", TargetOf(object), Json()).status();
}

absl::Status Stage::Put(const Json& object) {
  const std::string target = TargetOf(object);
  absl::StatusOr<Json> known = Call("GET", target, Json());
  if (!known.ok()) return Create(object);
  known->Set("spec", object["spec"]);
  return Call("PUT", target, *known).status();
}

void Stage::StartScheduler() {
  KillScheduler();
  scheduler_ = std::make_unique<Scheduler>(
      network_, events_, Scheduler::Settings{.life = ++lives_, .config = config_},
      Scheduler::Listeners{
          .on_decision = [this](std::string line) { fresh_.push_back(std::move(line)); },
          .on_violation =
              [this](absl::string_view violation) {
                violations_.push_back(absl::StrFormat(
                    "%.3f %s", absl::ToDoubleSeconds(clock_.Now() - began_), violation));
              }});
}

void Stage::KillScheduler() {
  turns_of_the_dead_ = audited_turns();
  scheduler_.reset();
}

int64_t Stage::audited_turns() const {
  return turns_of_the_dead_ + (scheduler_ == nullptr ? 0 : scheduler_->audited_turns());
}

void Stage::Stamp() {
  for (std::string& line : fresh_) {
    log_.push_back(absl::StrFormat("%8.3f %s", absl::ToDoubleSeconds(clock_.Now() - began_), line));
  }
  fresh_.clear();
}

void Stage::Advance(absl::Duration by) {
  const absl::Time until = clock_.Now() + by;
  while (!events_.empty() && events_.NextTime() <= until) {
    events_.RunNext();
    Stamp();
  }
  clock_.AdvanceTo(until);
}

absl::StatusOr<Json> Stage::PodGroup(absl::string_view name) {
  return Call("GET", absl::StrCat(kGroups, "/", name), Json());
}

std::vector<Json> Stage::PodsOf(absl::string_view gang) {
  const absl::StatusOr<Json> list = Call("GET", "/api/v1/namespaces/default/pods", Json());
  CHECK(list.ok()) << list.status();
  std::vector<Json> pods;
  for (const Json& pod : (*list)["items"].items()) {
    // A pod without a group is a gang of one, called by its name without the index.
    const std::string& name = pod["metadata"]["name"].AsString();
    const std::string& label = pod["metadata"]["labels"][kPodGroupLabel].AsString();
    if (label == gang || (label.empty() && name.substr(0, name.rfind('-')) == gang))
      pods.push_back(pod);
  }
  return pods;
}

absl::Status Stage::CheckAtRest() const {
  if (scheduler_ == nullptr) return absl::OkStatus();
  return scheduler_->loop().CheckParkedCannotStart(clock_.Now());
}

absl::Status Stage::CheckNothingLeaks() {
  if (scheduler_ == nullptr) return absl::OkStatus();
  for (const char* collection : {kGroups, "/api/v1/namespaces/default/pods"}) {
    ASSIGN_OR_RETURN(const Json list, Call("GET", collection, Json()));
    for (const Json& object : list["items"].items()) {
      const std::string& name = object["metadata"]["name"].AsString();
      RETURN_IF_ERROR(Call("DELETE", absl::StrCat(collection, "/", name), Json()).status());
    }
  }
  Advance(kLongEnough);
  return scheduler_->loop().CheckNothingHeld();
}

std::vector<std::string> Stage::TakeViolations() { return std::exchange(violations_, {}); }

std::vector<std::string> Stage::TakeLog() { return std::exchange(log_, {}); }

}  // namespace maniple::scenario
