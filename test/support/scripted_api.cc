#include "test/support/scripted_api.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/codec/decode.h"
#include "api/codec/kubernetes_time.h"
#include "api/producers/kinds.h"

namespace maniple {
namespace {

ObjectMeta& MutableMeta(Object& object) {
  return std::visit([](auto& value) -> ObjectMeta& { return value.meta; }, object);
}

ObjectKey KeyOf(const Object& object) {
  const ObjectMeta& meta = MetaOf(object);
  return {KindOf(object), meta.namespace_name, meta.name};
}

WriteResult Answer(int code, std::string message = "", std::string body = "{}") {
  WriteResult result{.http_status = code};
  if (code / 100 == 2) {
    result.body = std::move(body);
  } else {
    result.status = {.code = code, .message = std::move(message)};
  }
  return result;
}

// RFC 7386 for one level of nesting deep enough for a status.
void Merge(Json& into, const Json& patch) {
  for (const auto& [key, value] : patch.members()) {
    if (value.is_null()) {
      into.Erase(key);
    } else if (value.is_object() && into[key].is_object()) {
      Merge(into.Mutable(key), value);
    } else {
      into.Set(key, value);
    }
  }
}

const Json& StatusIn(const std::map<std::string, Json>& statuses, absl::string_view name) {
  static const Json kNone;
  const auto it = statuses.find(std::string(name));
  return it == statuses.end() ? kNone : it->second;
}

}  // namespace

ScriptedApi::ScriptedApi() {
  for (int kind = 0; kind < kResourceKinds; ++kind) {
    events_.push_back(KindSynced{static_cast<ResourceKind>(kind)});
  }
}

void ScriptedApi::Emit(ObjectEvent event) { events_.push_back(std::move(event)); }

void ScriptedApi::Store(Object object) {
  MutableMeta(object).resource_version = NextVersion();
  const ObjectKey key = KeyOf(object);
  objects_[key] = object;
  Emit(ObjectUpserted{std::move(object)});
}

void ScriptedApi::Put(Object object) {
  ObjectMeta& meta = MutableMeta(object);
  if (meta.uid.empty()) meta.uid = absl::StrCat("uid-", ++version_);
  if (const auto* group = std::get_if<PodGroup>(&object)) group_status_.erase(group->meta.name);
  Store(std::move(object));
}

void ScriptedApi::Delete(ResourceKind kind, absl::string_view name,
                         absl::string_view namespace_name) {
  const bool namespaced =
      kind == ResourceKind::kPod || kind == ResourceKind::kPodGroup || IsForeign(kind);
  const ObjectKey key{kind, namespaced ? std::string(namespace_name) : "", std::string(name)};
  const auto it = objects_.find(key);
  if (it == objects_.end()) return;
  Emit(ObjectDeleted{key, MetaOf(it->second).uid});
  objects_.erase(it);
}

void ScriptedApi::Serve(ResourceKind kind) {
  served_[kind] = ServedState::kServed;
  Emit(KindServed{.kind = kind, .state = ServedState::kServed, .version = "v1"});
  Emit(KindSynced{kind});
}

void ScriptedApi::Uninstall(ResourceKind kind) {
  std::vector<ObjectKey> gone;
  for (const auto& [key, object] : objects_) {
    if (key.kind == kind) gone.push_back(key);
  }
  for (const ObjectKey& key : gone) Delete(kind, key.name, key.namespace_name);
  served_[kind] = ServedState::kNotInstalled;
  Emit(KindServed{.kind = kind, .state = ServedState::kNotInstalled, .version = ""});
}

void ScriptedApi::SetPhase(absl::string_view name, PodPhase phase, absl::string_view reason) {
  Pod pod = *FindPod(name);
  pod.phase = phase;
  pod.status_reason = std::string(reason);
  Store(pod);
}

void ScriptedApi::SetReady(absl::string_view name, bool ready) {
  Pod pod = *FindPod(name);
  pod.ready = ready;
  Store(pod);
}

void ScriptedApi::BindAsSomebodyElse(absl::string_view name, absl::string_view node) {
  Pod pod = *FindPod(name);
  pod.node_name = std::string(node);
  pod.phase = PodPhase::kRunning;
  Store(pod);
}

void ScriptedApi::Reap() {
  std::vector<ObjectKey> leaving;
  for (const auto& [key, object] : objects_) {
    if (key.kind == ResourceKind::kPod && MetaOf(object).deleted.has_value()) {
      leaving.push_back(key);
    }
  }
  for (const ObjectKey& key : leaving) Delete(key.kind, key.name, key.namespace_name);
}

Fault* ScriptedApi::FaultFor(const std::string& line) {
  for (Fault& fault : faults_) {
    if (fault.times == 0 || !absl::StrContains(line, fault.on)) continue;
    if (fault.after > 0) {
      --fault.after;
      continue;
    }
    if (fault.times > 0) --fault.times;
    return &fault;
  }
  return nullptr;
}

void ScriptedApi::Carry(std::vector<WriteCommand> commands) {
  for (const WriteCommand& command : commands) {
    const std::string line =
        absl::StrCat(HttpMethodName(command.request.method), " ", command.request.target);
    lines_.push_back(line);
    const Fault* fault = FaultFor(line);
    WriteResult result;
    if (fault == nullptr) {
      result = Serve(command);
    } else if (fault->act == FaultAct::kAnswer) {
      result = Answer(fault->code, fault->message);
      result.status.retry_after = fault->retry_after;
      result.status.cause = fault->cause;
    } else if (fault->act == FaultAct::kDrop) {
      result.outcome = WriteOutcome::kUnknown;
    } else {
      const std::vector<std::string> parts = absl::StrSplit(command.request.target, '/');
      const std::string pod = parts.size() > 6 ? parts[6] : "";
      if (fault->act == FaultAct::kSteal) BindAsSomebodyElse(pod, fault->node);
      result = Serve(command);
      if (fault->act == FaultAct::kReject) SetPhase(pod, PodPhase::kFailed, fault->reason);
      if (fault->act == FaultAct::kLoseReply) result = {.outcome = WriteOutcome::kUnknown};
    }
    result.id = command.id;
    results_.push_back(std::move(result));
  }
}

WriteResult ScriptedApi::Serve(const WriteCommand& command) {
  const absl::string_view target = command.request.target;
  const absl::StatusOr<Json> body =
      Json::Parse(command.request.body.empty() ? "{}" : command.request.body);
  if (!body.ok()) return Answer(400, std::string(body.status().message()));
  if (absl::EndsWith(target, "/events")) {
    events_created_.push_back(absl::StrCat((*body)["reason"].AsString(), " on ",
                                           body->At("regarding.name").AsString(), ": ",
                                           (*body)["note"].AsString()));
    return Answer(201);
  }
  const std::vector<std::string> parts = absl::StrSplit(target, '/');
  if (parts.size() > 5 && parts[5] == "pods") return ServePod(command, parts.at(6));
  for (const char* plural : {"podtemplates", "provisioningrequests"}) {
    if (absl::StrContains(target, plural)) return ServeUnwatched(command, plural, *body);
  }
  if (parts.size() > 4 && parts[3] == "nodes") {
    const auto it = objects_.find({ResourceKind::kNode, "", parts[4]});
    if (it == objects_.end()) return Answer(404, "no such Node");
    return PatchNode(std::get<Node>(it->second), *body);
  }
  if (std::optional<WriteResult> foreign = PatchForeign(parts, *body)) return *std::move(foreign);
  if (absl::EndsWith(target, "/podgroups")) return MakeGroup(*body);
  if (absl::StrContains(target, "/podgroups/")) {
    const auto it = objects_.find({ResourceKind::kPodGroup, parts.at(5), parts.at(7)});
    if (it == objects_.end()) return Answer(404, "no such PodGroup");
    PodGroup& group = std::get<PodGroup>(it->second);
    if (command.request.method == HttpMethod::kDelete) {
      Delete(ResourceKind::kPodGroup, parts.at(7), parts.at(5));
      return Answer(200);
    }
    return body->Has("spec") ? PatchGroupSpec(group, *body) : PatchGroup(group, *body);
  }
  if (absl::StrContains(target, "/queues/")) {
    const auto it = objects_.find({ResourceKind::kQueue, "", parts.at(5)});
    if (it == objects_.end()) return Answer(404, "no such Queue");
    Merge(queue_status_[parts.at(5)], (*body)["status"]);
    return Answer(200);
  }
  if (absl::StrContains(target, "/cohorts/")) {
    const auto it = objects_.find({ResourceKind::kCohort, "", parts.at(5)});
    if (it == objects_.end()) return Answer(404, "no such Cohort");
    Merge(cohort_status_[parts.at(5)], (*body)["status"]);
    return Answer(200);
  }
  return Answer(404, "no such path");
}

WriteResult ScriptedApi::ServeUnwatched(const WriteCommand& command, const std::string& plural,
                                        const Json& body) {
  if (plural == "provisioningrequests" && !serves_provisioning_) return Answer(404, "no such kind");
  if (command.request.method == HttpMethod::kPost) {
    Json made = body;
    const std::string name = absl::StrCat(plural, "/", made["metadata"]["name"].AsString());
    if (unwatched_.contains(name)) {
      WriteResult result = Answer(409, "is there");
      result.status.reason = "AlreadyExists";
      return result;
    }
    made.Mutable("metadata").Set("uid", absl::StrCat("uid-", NextVersion()));
    return Answer(201, "", (unwatched_[name] = std::move(made)).Dump());
  }
  const std::vector<std::string> parts = absl::StrSplit(command.request.target, '/');
  const auto it = unwatched_.find(absl::StrCat(plural, "/", parts.back()));
  if (it == unwatched_.end())
    return Answer(404, absl::StrCat(plural, " ", parts.back(), " not found"));
  if (command.request.method == HttpMethod::kGet) return Answer(200, "", it->second.Dump());
  const bool meant = body.At("preconditions.uid") == it->second.At("metadata.uid");
  if (meant) unwatched_.erase(it);
  return meant ? Answer(200) : Answer(409, "another uid");
}

void ScriptedApi::SetStatus(const std::string& unwatched, Json status) {
  unwatched_.at(unwatched).Set("status", std::move(status));
}

WriteResult ScriptedApi::ServePod(const WriteCommand& command, absl::string_view name) {
  const std::vector<std::string> parts = absl::StrSplit(command.request.target, '/');
  const auto it = objects_.find({ResourceKind::kPod, parts.at(4), std::string(name)});
  if (it == objects_.end()) return Answer(404, absl::StrCat("pods \"", name, "\" not found"));
  Pod& pod = std::get<Pod>(it->second);
  const Json body =
      command.request.body.empty() ? Json::Object() : *Json::Parse(command.request.body);
  switch (command.request.method) {
    case HttpMethod::kPost:
      if (absl::EndsWith(command.request.target, "/eviction")) {
        return DeletePod(pod, body["deleteOptions"]);
      }
      return Bind(pod, body);
    case HttpMethod::kDelete:
      return DeletePod(pod, body);
    case HttpMethod::kPatch:
      return PatchPod(pod, body);
    case HttpMethod::kGet: {
      Json spec = Json::Object({{"containers", Json::Array({Json::Object({{"name", "main"}})})}});
      if (!pod.node_name.empty()) spec.Set("nodeName", pod.node_name);
      Json metadata = Json::Object({{"uid", pod.meta.uid}});
      if (pod.meta.deleted.has_value()) {
        metadata.Set("deletionTimestamp", FormatKubernetesTime(*pod.meta.deleted));
      }
      return Answer(200, "", Json::Object({{"metadata", metadata}, {"spec", spec}}).Dump());
    }
    case HttpMethod::kPut:
      break;
  }
  return Answer(405, "not allowed");
}

WriteResult ScriptedApi::Bind(Pod& pod, const Json& body) {
  if (body.At("metadata.uid").AsString() != pod.meta.uid) {
    return Answer(409, "Precondition failed: UID in precondition: x, UID in object meta: y");
  }
  if (pod.meta.deleted.has_value()) return Answer(409, "pod is being deleted, cannot be assigned");
  if (!pod.node_name.empty()) {
    return Answer(409, absl::StrCat("pod ", pod.meta.name, " is already assigned to node \"",
                                    pod.node_name, "\""));
  }
  if (!pod.scheduling_gates.empty()) return Answer(409, "pod has non-empty .spec.schedulingGates");
  Pod bound = pod;
  bound.node_name = body.At("target.name").AsString();
  bound.phase = PodPhase::kRunning;
  bound.scheduled_condition = PodCondition{.status = "True"};
  Store(bound);
  return Answer(201);
}

WriteResult ScriptedApi::DeletePod(Pod& pod, const Json& body) {
  const std::string& uid = body.At("preconditions.uid").AsString();
  if (!uid.empty() && uid != pod.meta.uid) {
    return Answer(409, "Precondition failed: UID in precondition: x, UID in object meta: y");
  }
  if (keep_terminating_ && !pod.node_name.empty()) {
    Pod leaving = pod;
    leaving.meta.deleted = absl::FromUnixSeconds(1'700'000'000);
    leaving.meta.deletion_grace = grace_;
    Store(leaving);
  } else {
    const std::string name = pod.meta.name;
    Delete(ResourceKind::kPod, name, std::string(pod.meta.namespace_name));
  }
  return Answer(200);
}

WriteResult ScriptedApi::PatchPod(Pod& pod, const Json& body) {
  if (body.At("metadata.uid").AsString() != pod.meta.uid) return Answer(409, "another uid");
  Pod patched = pod;
  for (const Json& condition : body.At("status.conditions").items()) {
    if (condition["type"].AsString() != "PodScheduled") continue;
    patched.scheduled_condition = PodCondition{.status = condition["status"].AsString(),
                                               .reason = condition["reason"].AsString(),
                                               .message = condition["message"].AsString()};
  }
  const Json& status = body["status"];
  if (const Json* nominated = status.Find("nominatedNodeName")) {
    patched.nominated_node_name = nominated->AsString();
  }
  Store(patched);
  return Answer(200);
}

WriteResult ScriptedApi::PatchNode(Node& node, const Json& body) {
  if (body.At("metadata.resourceVersion").AsString() != node.meta.resource_version) {
    return Answer(409, "the object has been modified");
  }
  Node patched = node;
  patched.meta.resource_version.clear();
  for (const auto& [key, value] : body.At("metadata.labels").members()) {
    patched.meta.labels.Set(key, value.AsString());
  }
  for (const auto& [key, value] : body.At("metadata.annotations").members()) {
    patched.meta.annotations.Set(key, value.AsString());
  }
  Put(patched);
  return Answer(200);
}

WriteResult ScriptedApi::PatchGroup(PodGroup& group, const Json& body) {
  const std::string& version = body.At("metadata.resourceVersion").AsString();
  if (!version.empty() && version != group.meta.resource_version) {
    return Answer(409, "the object has been modified");
  }
  Json& status = group_status_[group.meta.name];
  Merge(status, body["status"]);
  Json object = Json::Object(
      {{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
       {"kind", "PodGroup"},
       {"metadata", Json::Object({{"name", group.meta.name}, {"namespace", "default"}})},
       {"status", status}});
  Decoder decoder;
  absl::StatusOr<DecodedObject> decoded = decoder.Single(ResourceKind::kPodGroup, object.Dump());
  const auto* good = decoded.ok() ? std::get_if<Object>(&decoded->what) : nullptr;
  if (good == nullptr) return Answer(422, "the status cannot be decoded");
  PodGroup patched = group;
  patched.status = std::get<PodGroup>(*good).status;
  Store(patched);
  return Answer(200, "", absl::StrCat("{\"metadata\":{\"resourceVersion\":\"", version_, "\"}}"));
}

WriteResult ScriptedApi::MakeGroup(const Json& body) {
  Decoder decoder;
  absl::StatusOr<DecodedObject> decoded = decoder.Single(ResourceKind::kPodGroup, body.Dump());
  const auto* good = decoded.ok() ? std::get_if<Object>(&decoded->what) : nullptr;
  if (good == nullptr) return Answer(422, "the PodGroup cannot be decoded");
  PodGroup made = std::get<PodGroup>(*good);
  if (objects_.contains(KeyOf(*good))) {
    WriteResult refused =
        Answer(409, absl::StrCat("podgroups \"", made.meta.name, "\" already exists"));
    refused.status.reason = "AlreadyExists";
    return refused;
  }
  made.meta.created = absl::FromUnixSeconds(1'700'000'000);
  Put(std::move(made));
  return Answer(201);
}

WriteResult ScriptedApi::PatchGroupSpec(PodGroup& group, const Json& body) {
  if (body.At("metadata.uid").AsString() != group.meta.uid) return Answer(409, "another uid");
  Json object = body;
  object.Set("kind", "PodGroup");
  object.Set("metadata", Json::Object({{"name", group.meta.name}, {"namespace", "default"}}));
  Decoder decoder;
  absl::StatusOr<DecodedObject> decoded = decoder.Single(ResourceKind::kPodGroup, object.Dump());
  const auto* good = decoded.ok() ? std::get_if<Object>(&decoded->what) : nullptr;
  if (good == nullptr) return Answer(422, "the spec cannot be decoded");
  PodGroup patched = group;
  patched.spec = std::get<PodGroup>(*good).spec;
  ++patched.meta.generation;
  Store(std::move(patched));
  return Answer(200);
}

// /apis/GROUP/VERSION/namespaces/NS/RESOURCE/NAME[/status]; of Volcano's there is no subresource.
std::optional<WriteResult> ScriptedApi::PatchForeign(const std::vector<std::string>& path,
                                                     const Json& body) {
  if (path.size() < 8) return std::nullopt;
  const ForeignKinds& kinds = BuiltinForeignKinds();
  const auto kind = std::ranges::find_if(kinds, [&path](const ForeignKind& known) {
    return known.group == path[2] && known.resource == path[6];
  });
  if (kind == kinds.end()) return std::nullopt;
  if (path.size() > 8 && kind->group == "scheduling.volcano.sh") return Answer(404, "no status");
  const auto it =
      objects_.find({ForeignResource(static_cast<size_t>(kind - kinds.begin())), path[5], path[7]});
  if (it == objects_.end()) return Answer(404, "no such object");
  if (body.At("metadata.uid").AsString() != MetaOf(it->second).uid) return Answer(409, "another");
  ForeignObject patched = std::get<ForeignObject>(it->second);
  patched.phase = body.At("status.phase").AsString();
  Merge(foreign_status_[path[7]], body["status"]);
  Store(std::move(patched));
  return Answer(200);
}

std::vector<ObjectEvent> ScriptedApi::TakeEvents() {
  return stalled_ ? std::vector<ObjectEvent>() : std::exchange(events_, {});
}
std::vector<WriteResult> ScriptedApi::TakeResults() { return std::exchange(results_, {}); }

std::vector<ObjectEvent> ScriptedApi::List() const {
  std::vector<ObjectEvent> events;
  for (const auto& [kind, state] : served_) {
    events.push_back(KindServed{.kind = kind, .state = state, .version = "v1"});
  }
  for (const auto& [key, object] : objects_) events.push_back(ObjectUpserted{object});
  for (int kind = 0; kind < kResourceKinds; ++kind) {
    events.push_back(KindSynced{static_cast<ResourceKind>(kind)});
  }
  for (const auto& [kind, state] : served_) events.push_back(KindSynced{kind});
  return events;
}

const Pod* ScriptedApi::FindPod(absl::string_view name) const {
  const auto it = objects_.find({ResourceKind::kPod, "default", std::string(name)});
  return it == objects_.end() ? nullptr : &std::get<Pod>(it->second);
}
const PodGroup* ScriptedApi::FindGroup(absl::string_view name) const {
  const auto it = objects_.find({ResourceKind::kPodGroup, "default", std::string(name)});
  return it == objects_.end() ? nullptr : &std::get<PodGroup>(it->second);
}
const Node* ScriptedApi::FindNode(absl::string_view name) const {
  const auto it = objects_.find({ResourceKind::kNode, "", std::string(name)});
  return it == objects_.end() ? nullptr : &std::get<Node>(it->second);
}
const Json& ScriptedApi::QueueStatus(absl::string_view name) const {
  return StatusIn(queue_status_, name);
}
const Json& ScriptedApi::CohortStatus(absl::string_view name) const {
  return StatusIn(cohort_status_, name);
}
const Json& ScriptedApi::ForeignStatus(absl::string_view name) const {
  return StatusIn(foreign_status_, name);
}

std::vector<const Pod*> ScriptedApi::Pods() const {
  std::vector<const Pod*> pods;
  for (const auto& [key, object] : objects_) {
    if (key.kind == ResourceKind::kPod) pods.push_back(&std::get<Pod>(object));
  }
  return pods;
}

int ScriptedApi::Count(absl::string_view text) const {
  return static_cast<int>(std::ranges::count_if(
      lines_, [text](const std::string& line) { return absl::StrContains(line, text); }));
}

}  // namespace maniple
