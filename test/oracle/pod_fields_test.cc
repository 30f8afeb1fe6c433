// Every field of a pod's spec in Kubernetes 1.36: honoured, refused by its path, or no business of
// a scheduler. Nothing that kube-scheduler heeds may be ignored.
//
// With the Go program the table is held to the real type, so that no field is forgotten.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/codec/decode.h"
#include "test/oracle/kube_oracle.h"

namespace maniple {
namespace {

enum class Heed {
  kHonoured,
  kRefused,
  kIrrelevant,  // to where a pod may run: for the kubelet, the API server or admission
};

struct FieldRow {
  const char* field;  // "spec.…" or "containers.…", the last for containers of every sort
  Heed heed;
  // A value that says something, as the text of the member: "hostNetwork": true.
  const char* example;
  const char* refused_as = "";  // the path in the condition
};

using enum Heed;

constexpr FieldRow kSpecFields[] = {
    {"activeDeadlineSeconds", kHonoured, R"("activeDeadlineSeconds": 60)"},
    {"affinity", kHonoured, R"("affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}})"},
    {"automountServiceAccountToken", kIrrelevant, R"("automountServiceAccountToken": false)"},
    {"containers", kHonoured, R"("containers": [{"resources": {"requests": {"cpu": "1"}}}])"},
    {"dnsConfig", kIrrelevant, R"("dnsConfig": {"nameservers": ["1.2.3.4"]})"},
    {"dnsPolicy", kIrrelevant, R"("dnsPolicy": "Default")"},
    {"enableServiceLinks", kIrrelevant, R"("enableServiceLinks": false)"},
    {"ephemeralContainers", kIrrelevant, R"("ephemeralContainers": [{"name": "e"}])"},
    {"hostAliases", kIrrelevant, R"("hostAliases": [{"ip": "1.2.3.4"}])"},
    {"hostIPC", kIrrelevant, R"("hostIPC": true)"},
    {"hostNetwork", kHonoured,
     R"("hostNetwork": true, "containers": [{"ports": [{"containerPort": 80}]}])"},
    {"hostPID", kIrrelevant, R"("hostPID": true)"},
    {"hostUsers", kRefused, R"("hostUsers": false, "hostNetwork": true)", "spec.hostUsers"},
    {"hostname", kIrrelevant, R"("hostname": "h")"},
    {"hostnameOverride", kIrrelevant, R"("hostnameOverride": "h")"},
    {"imagePullSecrets", kIrrelevant, R"("imagePullSecrets": [{"name": "s"}])"},
    {"initContainers", kHonoured,
     R"("initContainers": [{"resources": {"requests": {"cpu": "1"}}}])"},
    {"nodeName", kHonoured, R"("nodeName": "n")"},
    {"nodeSelector", kHonoured, R"("nodeSelector": {"a": "b"})"},
    // The kubelet judges it; admission has made it a selector where a RuntimeClass says so.
    {"os", kIrrelevant, R"("os": {"name": "windows"})"},
    {"overhead", kHonoured, R"("overhead": {"cpu": "1"})"},
    {"preemptionPolicy", kHonoured, R"("preemptionPolicy": "Never")"},
    {"priority", kHonoured, R"("priority": 7)"},
    {"priorityClassName", kHonoured, R"("priorityClassName": "c")"},
    {"readinessGates", kIrrelevant, R"("readinessGates": [{"conditionType": "t"}])"},
    {"resourceClaims", kRefused, R"("resourceClaims": [{"name": "c"}])", "spec.resourceClaims"},
    {"resources", kHonoured, R"("resources": {"requests": {"cpu": "1"}})"},
    {"restartPolicy", kIrrelevant, R"("restartPolicy": "Never")"},
    // Admission has written its overhead, selector and tolerations into the pod.
    {"runtimeClassName", kIrrelevant, R"("runtimeClassName": "r")"},
    {"schedulerName", kHonoured, R"("schedulerName": "other")"},
    {"schedulingGates", kHonoured, R"("schedulingGates": [{"name": "g"}])"},
    {"schedulingGroup", kHonoured, R"("schedulingGroup": {"podGroupName": "g"})"},
    {"securityContext", kIrrelevant, R"("securityContext": {"runAsUser": 7})"},
    {"serviceAccount", kIrrelevant, R"("serviceAccount": "s")"},
    {"serviceAccountName", kIrrelevant, R"("serviceAccountName": "s")"},
    {"setHostnameAsFQDN", kIrrelevant, R"("setHostnameAsFQDN": true)"},
    {"shareProcessNamespace", kIrrelevant, R"("shareProcessNamespace": true)"},
    {"subdomain", kIrrelevant, R"("subdomain": "s")"},
    {"terminationGracePeriodSeconds", kIrrelevant, R"("terminationGracePeriodSeconds": 5)"},
    {"tolerations", kHonoured, R"("tolerations": [{"operator": "Exists"}])"},
    {"topologySpreadConstraints", kHonoured,
     R"("topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule"}])"},
    {"volumes", kHonoured,
     R"("volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])"},
};

// Of Kubernetes 1.35.
constexpr FieldRow kFormerSpecFields[] = {
    {"workloadRef", kRefused, R"("workloadRef": {"name": "w"})", "spec.workloadRef"},
};

constexpr FieldRow kContainerFields[] = {
    {"args", kIrrelevant, R"("args": ["a"])"},
    {"command", kIrrelevant, R"("command": ["c"])"},
    {"env", kIrrelevant, R"("env": [{"name": "e"}])"},
    {"envFrom", kIrrelevant, R"("envFrom": [{"prefix": "e"}])"},
    {"image", kHonoured, R"("image": "app:2")"},
    {"imagePullPolicy", kIrrelevant, R"("imagePullPolicy": "Always")"},
    {"lifecycle", kIrrelevant, R"("lifecycle": {"stopSignal": "SIGTERM"})"},
    {"livenessProbe", kIrrelevant, R"("livenessProbe": {"periodSeconds": 1})"},
    {"name", kIrrelevant, R"("name": "other")"},
    {"ports", kHonoured, R"("ports": [{"hostPort": 80}])"},
    {"readinessProbe", kIrrelevant, R"("readinessProbe": {"periodSeconds": 1})"},
    {"resizePolicy", kIrrelevant, R"("resizePolicy": [{"resourceName": "cpu"}])"},
    {"resources", kHonoured, R"("resources": {"requests": {"cpu": "1"}})"},
    {"restartPolicy", kIrrelevant, R"("restartPolicy": "Never")"},  // of init containers: honoured
    {"restartPolicyRules", kRefused,
     R"("restartPolicyRules": [{"action": "RestartAllContainers"}])",
     "spec.containers[0].restartPolicyRules[0].action"},
    {"securityContext", kIrrelevant, R"("securityContext": {"runAsUser": 7})"},
    {"startupProbe", kIrrelevant, R"("startupProbe": {"periodSeconds": 1})"},
    {"stdin", kIrrelevant, R"("stdin": true)"},
    {"stdinOnce", kIrrelevant, R"("stdinOnce": true)"},
    {"terminationMessagePath", kIrrelevant, R"("terminationMessagePath": "/m")"},
    {"terminationMessagePolicy", kIrrelevant, R"("terminationMessagePolicy": "File")"},
    {"tty", kIrrelevant, R"("tty": true)"},
    {"volumeDevices", kIrrelevant, R"("volumeDevices": [{"name": "v"}])"},
    {"volumeMounts", kIrrelevant, R"("volumeMounts": [{"name": "v"}])"},
    {"workingDir", kIrrelevant, R"("workingDir": "/w")"},
};

Pod PodOf(absl::string_view spec) {
  const std::string text = absl::StrCat(
      R"({"kind": "Pod", "metadata": {"name": "p", "namespace": "default", "uid": "u"}, "spec": {)",
      spec, "}}");
  const absl::StatusOr<DecodedObject> decoded = Decoder().Single(ResourceKind::kPod, text);
  EXPECT_TRUE(decoded.ok()) << decoded.status() << " " << text;
  const auto* object = decoded.ok() ? std::get_if<Object>(&decoded->what) : nullptr;
  EXPECT_NE(object, nullptr) << text;
  return object != nullptr ? std::get<Pod>(*object) : Pod();
}

bool SameToAScheduler(const Pod& a, const Pod& b) {
  return a.constraints == b.constraints && a.scheduler_name == b.scheduler_name &&
         a.node_name == b.node_name && a.priority_class_name == b.priority_class_name &&
         a.priority == b.priority && a.preempts == b.preempts &&
         a.volumes.claims == b.volumes.claims && a.scheduling_gates == b.scheduling_gates &&
         a.scheduling_group == b.scheduling_group && a.active_deadline == b.active_deadline;
}

void ExpectHeeded(const FieldRow& row, const Pod& plain, const Pod& with) {
  SCOPED_TRACE(row.field);
  EXPECT_EQ(SameToAScheduler(plain, with), row.heed == kIrrelevant);
  EXPECT_EQ(absl::StrJoin(with.constraints.unsupported, ", "), row.refused_as);
}

TEST(PodFields, EachIsHonouredRefusedOrOfNoConsequence) {
  for (const FieldRow& row : kSpecFields) ExpectHeeded(row, PodOf(""), PodOf(row.example));
  for (const FieldRow& row : kFormerSpecFields) ExpectHeeded(row, PodOf(""), PodOf(row.example));
}

TEST(PodFields, EachOfAContainerIsHonouredRefusedOrOfNoConsequence) {
  for (const FieldRow& row : kContainerFields) {
    ExpectHeeded(row, PodOf(R"("containers": [{"name": "c", "image": "app:1"}])"),
                 PodOf(absl::StrCat(R"("containers": [{"name": "c", "image": "app:1", )",
                                    row.example, "}]")));
  }
}

TEST(PodFields, AreThoseOfTheRealType) {
  const char* program = std::getenv("MANIPLE_FILTER_ORACLE");
  if (program == nullptr) GTEST_SKIP() << "MANIPLE_FILTER_ORACLE names no program to ask";
  const absl::StatusOr<Json> fields = PodFieldsOfKubernetes(program);
  ASSERT_TRUE(fields.ok()) << fields.status();
  const auto expect_all = [&](absl::string_view type, std::span<const FieldRow> rows) {
    std::set<std::string> ours, theirs;
    for (const FieldRow& row : rows) ours.insert(row.field);
    for (const Json& field : (*fields)[type].items()) theirs.insert(field.AsString());
    EXPECT_EQ(ours, theirs) << type;
  };
  expect_all("PodSpec", kSpecFields);
  expect_all("Container", kContainerFields);
}

}  // namespace
}  // namespace maniple
