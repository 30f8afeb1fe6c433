// What one object costs on its way from bytes to the model.
//
// Limits (release, one core of the machine the project is measured on): a 2.5 KB pod line 12 us,
// a 7.4 KB one with managedFields 20 us.
#include <benchmark/benchmark.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "api/codec/decode.h"
#include "api/codec/json.h"
#include "api/codec/quantity.h"

namespace maniple {
namespace {

// A training pod as a job controller and the API server make it.
constexpr char kMetadata[] =
    R"("name":"train-7b-worker-17","generateName":"train-7b-worker-","namespace":"team-a",)"
    R"("uid":"0b6c1f3e-6a51-4a43-9d3b-1f6f6a1e7c11","resourceVersion":"918273645",)"
    R"("creationTimestamp":"2026-07-21T10:11:12Z","labels":{"app":"train",)"
    R"("batch.kubernetes.io/job-completion-index":"17","batch.kubernetes.io/job-name":"train-7b-worker",)"
    R"("scheduling.maniple.dev/pod-group":"train-7b"},"annotations":{)"
    R"("batch.kubernetes.io/job-completion-index":"17"},"ownerReferences":[{"apiVersion":"batch/v1",)"
    R"("kind":"Job","name":"train-7b-worker","uid":"1b6c1f3e-6a51-4a43-9d3b-1f6f6a1e7c12",)"
    R"("controller":true,"blockOwnerDeletion":true}])";
constexpr char kSpec[] =
    R"("volumes":[{"name":"api-access","projected":{"sources":[{"serviceAccountToken":{)"
    R"("expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[)"
    R"({"key":"ca.crt","path":"ca.crt"}]}}],"defaultMode":420}},{"name":"shm","emptyDir":{"medium":)"
    R"("Memory"}}],"containers":[{"name":"trainer","image":"registry.example.com/ml/trainer:v3.2.1",)"
    R"("command":["torchrun","--nnodes=32","--nproc-per-node=8","train.py"],"env":[{"name":"NCCL_DEBUG",)"
    R"("value":"WARN"},{"name":"MASTER_ADDR","value":"train-7b-worker-0.train-7b"}],"resources":{"limits":)"
    R"({"cpu":"96","memory":"1000Gi","nvidia.com/gpu":"8"},"requests":{"cpu":"96","memory":"1000Gi",)"
    R"("nvidia.com/gpu":"8"}},"volumeMounts":[{"name":"shm","mountPath":"/dev/shm"},{"name":"api-access",)"
    R"("readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],)"
    R"("terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",)"
    R"("imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Never","terminationGracePeriodSeconds":30,)"
    R"("dnsPolicy":"ClusterFirst","nodeSelector":{"nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3"},)"
    R"("serviceAccountName":"default","securityContext":{},"schedulerName":"maniple","tolerations":[)"
    R"({"key":"nvidia.com/gpu","operator":"Exists","effect":"NoSchedule"},{"key":)"
    R"("node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},)"
    R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute",)"
    R"("tolerationSeconds":300}],"priorityClassName":"training","priority":1000,)"
    R"("preemptionPolicy":"PreemptLowerPriority")";
constexpr char kManagedFields[] =
    R"({"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":)"
    R"("2026-07-21T10:11:12Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},)"
    R"("f:batch.kubernetes.io/job-completion-index":{}},"f:ownerReferences":{".":{},)"
    R"("k:{\"uid\":\"1b6c1f3e-6a51-4a43-9d3b-1f6f6a1e7c12\"}":{}}},"f:spec":{"f:containers":{)"
    R"("k:{\"name\":\"trainer\"}":{".":{},"f:command":{},"f:env":{".":{},"k:{\"name\":\"NCCL_DEBUG\"}":)"
    R"({".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:resources":{".":{},"f:limits":{".":{},)"
    R"("f:cpu":{},"f:memory":{},"f:nvidia.com/gpu":{}}}}},"f:nodeSelector":{},"f:tolerations":{}}}})";
constexpr char kContainerStatus[] =
    R"({"name":"trainer","state":{"running":{"startedAt":"2026-07-21T10:11:12Z"}},"lastState":{},"ready":)"
    R"(true,"restartCount":0,"image":"registry.example.com/ml/trainer:v3.2.1","imageID":)"
    R"("registry.example.com/ml/trainer@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789",)"
    R"("containerID":"containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"})";
constexpr char kCondition[] =
    R"({"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":)"
    R"("2026-07-21T10:11:12Z"},)";

std::string SmallPod() {
  return absl::StrCat(R"({"metadata":{)", kMetadata, R"(},"spec":{)", kSpec,
                      R"(},"status":{"phase":"Pending","qosClass":"Guaranteed"}})");
}

// The pod once it runs: managedFields of five managers, conditions, container status.
std::string LargePod() {
  std::string managed;
  for (int i = 0; i < 5; ++i) absl::StrAppend(&managed, i > 0 ? "," : "", kManagedFields);
  std::string conditions;
  for (int i = 0; i < 5; ++i) conditions += kCondition;
  conditions.pop_back();
  return absl::StrCat(R"({"metadata":{)", kMetadata, R"(,"managedFields":[)", managed,
                      R"(]},"spec":{)", kSpec,
                      R"(,"nodeName":"gpu-0042"},"status":{"phase":"Running","conditions":[)",
                      conditions, R"(],"containerStatuses":[)", kContainerStatus, "]}}");
}

void ReportBytes(benchmark::State& state, size_t bytes) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(bytes));
  state.counters["bytes"] = static_cast<double>(bytes);
}

void DecodeLine(benchmark::State& state, const std::string& pod) {
  const std::string line = absl::StrCat(R"({"type":"MODIFIED","object":)", pod, "}");
  Decoder decoder;
  for (auto _ : state) {
    absl::StatusOr<WatchMessage> message = decoder.WatchLine(ResourceKind::kPod, line);
    CHECK(message.ok());
    benchmark::DoNotOptimize(message);
  }
  ReportBytes(state, line.size());
}

void BM_WatchLineOfSmallPod(benchmark::State& state) { DecodeLine(state, SmallPod()); }
BENCHMARK(BM_WatchLineOfSmallPod);

void BM_WatchLineOfLargePod(benchmark::State& state) { DecodeLine(state, LargePod()); }
BENCHMARK(BM_WatchLineOfLargePod);

void BM_ListOfPods(benchmark::State& state) {
  constexpr int kPods = 500;
  std::string body = R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[)";
  for (int i = 0; i < kPods; ++i) absl::StrAppend(&body, i > 0 ? "," : "", LargePod());
  body += "]}";
  Decoder decoder;
  for (auto _ : state) {
    const absl::StatusOr<ListHead> head = decoder.List(
        ResourceKind::kPod, body, [](DecodedObject object) { benchmark::DoNotOptimize(object); });
    CHECK(head.ok());
  }
  ReportBytes(state, body.size());
  state.SetItemsProcessed(state.iterations() * kPods);
}
BENCHMARK(BM_ListOfPods)->Unit(benchmark::kMillisecond);

void BM_JsonOfSmallPod(benchmark::State& state) {
  const std::string pod = SmallPod();
  for (auto _ : state) benchmark::DoNotOptimize(Json::Parse(pod));
  ReportBytes(state, pod.size());
}
BENCHMARK(BM_JsonOfSmallPod);

void BM_Quantity(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Quantity::Parse("1000Gi"));
}
BENCHMARK(BM_Quantity);

}  // namespace
}  // namespace maniple
