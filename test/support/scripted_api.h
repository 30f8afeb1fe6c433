// An API server in one object, for tests of the scheduling loop: it answers WriteCommands, changes
// its objects as a real one would, and hands out the watch events; faults are scripted.
//
//   ScriptedApi api;
//   api.Put(MakeNode("n1").Gpu(8));
//   api.Break({.on = "POST …/pods/a-2/binding", .act = FaultAct::kLoseReply});
//   api.Carry(loop.Turn(now).writes);
//   for (ObjectEvent& event : api.TakeEvents()) loop.Accept(std::move(event));
//   for (WriteResult& result : api.TakeResults()) loop.Accept(std::move(result));
//
// Bound pods run at once. No threads, no clock.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/client/write_command.h"
#include "api/codec/json.h"
#include "api/model/object.h"

namespace maniple {

enum class FaultAct : uint8_t {
  kAnswer,     // with `code`, nothing is done
  kLoseReply,  // done, but nobody hears of it
  kDrop,       // neither done nor answered
  kSteal,      // the pod is bound to `node` first, then the request is carried out
  kReject,     // carried out; then the kubelet fails the pod with `reason`
};
struct Fault {
  std::string on;  // part of "METHOD /path"
  int after = 0;   // let so many pass first
  int times = 1;   // -1 = every one
  FaultAct act = FaultAct::kAnswer;
  int code = 500;
  std::string message = "scripted", node, reason = "OutOfnvidia.com/gpu";
  std::string cause = {};  // of the Status, "DisruptionBudget"
  std::optional<absl::Duration> retry_after;
};

class ScriptedApi final {
 public:
  ScriptedApi();

  // Creates or replaces; uid and resourceVersion are the server's where the object names none.
  void Put(Object object);
  void Delete(ResourceKind kind, absl::string_view name,
              absl::string_view namespace_name = "default");
  // The kind of producers is installed from now on; none is at the start.
  void Serve(ResourceKind kind);
  void Uninstall(ResourceKind kind);
  // As the owner of the pod, or its kubelet, would.
  void SetPhase(absl::string_view pod, PodPhase phase, absl::string_view reason = "");
  void SetReady(absl::string_view pod, bool ready);
  void BindAsSomebodyElse(absl::string_view pod, absl::string_view node);
  // Deleted pods that are bound stay, terminating, until Reap(); they have been given so long.
  void KeepTerminating(absl::Duration grace = absl::ZeroDuration()) {
    keep_terminating_ = true;
    grace_ = grace;
  }
  void Reap();

  void Break(Fault fault) { faults_.push_back(std::move(fault)); }
  void Mend() { faults_.clear(); }
  void StallWatches() { stalled_ = true; }
  void ResumeWatches() { stalled_ = false; }

  void Carry(std::vector<WriteCommand> commands);
  [[nodiscard]] std::vector<ObjectEvent> TakeEvents();
  [[nodiscard]] std::vector<WriteResult> TakeResults();
  // Everything as a new watcher would hear it.
  [[nodiscard]] std::vector<ObjectEvent> List() const;

  [[nodiscard]] const Pod* FindPod(absl::string_view name) const;
  [[nodiscard]] const PodGroup* FindGroup(absl::string_view name) const;
  [[nodiscard]] const Node* FindNode(absl::string_view name) const;
  // Objects that nobody watches, PodTemplates and ProvisioningRequests: "provisioningrequests/name"
  // of the namespace "default".
  [[nodiscard]] const std::map<std::string, Json>& unwatched() const { return unwatched_; }
  void SetStatus(const std::string& unwatched, Json status);
  // The kind of ProvisioningRequests is installed.
  void ServeProvisioning() { serves_provisioning_ = true; }
  [[nodiscard]] const Json& QueueStatus(absl::string_view name) const;
  [[nodiscard]] const Json& CohortStatus(absl::string_view name) const;
  // As the scheduler has written it, of an object of another project.
  [[nodiscard]] const Json& ForeignStatus(absl::string_view name) const;
  [[nodiscard]] std::vector<const Pod*> Pods() const;  // by name
  // Requests so far whose "METHOD /path" holds the text.
  [[nodiscard]] int Count(absl::string_view text) const;
  // "reason on name: note" of the events that were created.
  [[nodiscard]] const std::vector<std::string>& events_created() const { return events_created_; }

 private:
  void Emit(ObjectEvent event);
  void Store(Object object);
  [[nodiscard]] Fault* FaultFor(const std::string& line);
  [[nodiscard]] WriteResult Serve(const WriteCommand& command);
  [[nodiscard]] WriteResult Bind(Pod& pod, const Json& body);
  [[nodiscard]] WriteResult DeletePod(Pod& pod, const Json& body);
  [[nodiscard]] WriteResult PatchPod(Pod& pod, const Json& body);
  [[nodiscard]] WriteResult PatchNode(Node& node, const Json& body);
  [[nodiscard]] WriteResult PatchGroup(PodGroup& group, const Json& body);
  [[nodiscard]] WriteResult MakeGroup(const Json& body);
  [[nodiscard]] WriteResult PatchGroupSpec(PodGroup& group, const Json& body);
  // None: the path is of no kind of producers.
  [[nodiscard]] std::optional<WriteResult> PatchForeign(const std::vector<std::string>& path,
                                                        const Json& body);
  [[nodiscard]] WriteResult ServePod(const WriteCommand& command, absl::string_view path);
  [[nodiscard]] WriteResult ServeUnwatched(const WriteCommand& command, const std::string& plural,
                                           const Json& body);
  [[nodiscard]] std::string NextVersion() { return std::to_string(++version_); }

  std::map<ObjectKey, Object> objects_;
  std::map<ResourceKind, ServedState> served_;  // kinds of producers
  std::map<std::string, Json> group_status_, queue_status_, cohort_status_, foreign_status_;
  std::map<std::string, Json> unwatched_;
  bool serves_provisioning_ = false;
  std::vector<Fault> faults_;
  std::vector<ObjectEvent> events_;
  std::vector<WriteResult> results_;
  std::vector<std::string> lines_, events_created_;
  int64_t version_ = 100;
  bool stalled_ = false;
  bool keep_terminating_ = false;
  absl::Duration grace_;
};

}  // namespace maniple
