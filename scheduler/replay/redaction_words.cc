#include "scheduler/replay/redaction_words.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "api/codec/kubernetes_time.h"
#include "api/codec/quantity.h"
#include "api/model/maniple_types.h"
#include "api/producers/marks.h"

namespace maniple {
namespace {

// Longer numbers may be accounts, telephones or cards.
constexpr size_t kMostDigits = 6;

using Words = absl::flat_hash_set<absl::string_view>;

const Words& WordsOfApis() {
  static const auto* words = new Words(absl::StrSplit(
      // Operators, effects, policies.
      "In NotIn Exists DoesNotExist Gt Lt Equal NoSchedule PreferNoSchedule NoExecute "
      "DoNotSchedule ScheduleAnyway Honor Ignore Always AlwaysAllow IfUnhealthyPodIsRunning "
      "IfHealthyBudget IfNotPresent Never OnFailure PreemptLowerPriority LowerPriority "
      "LowerOrNewerEqualPriority Any Reclaim Keep Evict Hold HoldAndDrain None Strict "
      "StrictFIFO BestEffortFIFO Backfill LessThanOrEqualToFinalShare LessThanInitialShare "
      "Immediate WaitForFirstConsumer Retain Delete Recycle Filesystem Block ReadWriteOnce "
      "ReadOnlyMany ReadWriteMany ReadWriteOncePod RollingUpdate OrderedReady Parallel "
      "WaitForWorkersReady AtStartup LeaderCreated LeaderReady InOrder AnyOrder Indexed NonIndexed "
      "TerminatingOrFailed Failed Restart Count Ready Complete Default File Infeasible "
      // Phases and conditions.
      "Pending Running Succeeded Unknown Terminating Waiting Binding Completed Active Bound "
      "Available Released Lost True False PodScheduled Unschedulable SchedulingGated Initialized "
      "ContainersReady DisruptionTarget MemoryPressure DiskPressure PIDPressure "
      "NetworkUnavailable Suspended Worker Launcher Master Chief PS Evaluator Scheduler Head "
      "Established NamesAccepted Namespaced Cluster Node HyperNode "
      // Resources and sources.
      "cpu memory pods storage ephemeral-storage TCP UDP SCTP BestEffort Burstable Guaranteed "
      "soft hard host slice block loosely-coupled true false "
      // Names with a meaning.
      "default system-node-critical system-cluster-critical metadata.name nvlink "
      // Reasons why a kubelet rejects a pod; "OutOf" and a resource is another.
      "UnexpectedAdmissionError NodeAffinity TopologyAffinityError",
      ' '));
  return *words;
}

// A word that code puts beside names, and letters that sort between it and the next one.
struct WordBesideNames {
  absl::string_view word, letters_behind;
};
constexpr WordBesideNames kWordsBesideNames[] = {
    {"", "c"},        {"default", "di"}, {"docker", "dp"},   {"driver", "ea"},   {"exec", "f"},
    {"head", "hf"},   {"io", "j"},       {"latest", "latf"}, {"launcher", "lb"}, {"leader", "lf"},
    {"library", "m"}, {"pg", "pi"},      {"podgroup", "q"},  {"sha256", "t"},    {"worker", "x"}};

// Domains under which labels, annotations and resources have public names.
bool IsPublicDomain(absl::string_view domain) {
  for (const absl::string_view known :
       {"kubernetes.io", "k8s.io",        "x-k8s.io",   "maniple.dev",      "nvidia.com",
        "amd.com",       "intel.com",     "volcano.sh", "kubeflow.org",     "ray.io",
        "kai.scheduler", "run.ai",        "apache.org", "koordinator.sh",   "grove.io",
        "hami.io",       "topograph.run", "k8s.aws",    "cloud.google.com", "habana.ai",
        "karpenter.sh"}) {
    if (domain == known) return true;
    const bool below = absl::EndsWith(domain, known) && domain.size() > known.size() &&
                       domain[domain.size() - known.size() - 1] == '.';
    if (below) return true;
  }
  return false;
}

// Under these the part after the slash is chosen by users: roles, teams, names of containers.
bool IsFreeBehindSlash(absl::string_view domain) {
  return absl::EndsWith(domain, "node-role.kubernetes.io") ||
         absl::EndsWith(domain, "node-restriction.kubernetes.io") ||
         absl::StartsWith(domain, "container.apparmor.security.") ||
         absl::StartsWith(domain, "container.seccomp.security.");
}

bool IsOfKey(char c) { return absl::ascii_isalnum(c) || absl::StrContains("-_.", c); }

bool IsPublicKey(absl::string_view text) {
  const size_t slash = text.find('/');
  if (slash == absl::string_view::npos || slash + 1 == text.size()) return false;
  const absl::string_view domain = text.substr(0, slash), name = text.substr(slash + 1);
  return std::ranges::all_of(name, IsOfKey) && !IsFreeBehindSlash(domain) && IsPublicDomain(domain);
}

bool IsShortNumber(absl::string_view text) {
  return text.size() <= kMostDigits && std::ranges::all_of(text, absl::ascii_isdigit);
}

// "30m", "8Gi", "0.5".
bool IsShortAmount(absl::string_view text) {
  const size_t digits = static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return absl::ascii_isdigit(c); }));
  if (text.empty() || !absl::ascii_isdigit(text[0]) || digits > kMostDigits) return false;
  absl::Duration ignored;
  return Quantity::Parse(text).ok() || absl::ParseDuration(text, &ignored);
}

// "hugepages-2Mi"
bool IsHugePages(absl::string_view text) {
  return absl::ConsumePrefix(&text, "hugepages-") && IsShortAmount(text);
}

// The level of a Volcano HyperNode: "tier-2".
bool IsTier(absl::string_view text) {
  return absl::ConsumePrefix(&text, kTierWord) && !text.empty() && IsShortNumber(text);
}

bool IsLackOfPublic(absl::string_view text) {
  return absl::ConsumePrefix(&text, "OutOf") && (WordsOfApis().contains(text) || IsPublicKey(text));
}

}  // namespace

bool IsPublic(absl::string_view text) {
  return text.empty() || IsMarkKey(text) || WordsOfApis().contains(text) || IsShortAmount(text) ||
         IsPublicKey(text) || IsHugePages(text) || IsTier(text) || IsLackOfPublic(text) ||
         ParseKubernetesTime(text).ok();
}

bool IsPublicPiece(absl::string_view piece) {
  return IsShortNumber(piece) || std::ranges::any_of(kWordsBesideNames, [piece](const auto& word) {
           return !piece.empty() && word.word == piece;
         });
}

absl::string_view LettersFor(absl::string_view piece) {
  const auto* after =
      std::ranges::upper_bound(kWordsBesideNames, piece, {}, &WordBesideNames::word);
  return std::prev(after)->letters_behind;
}

bool TellsOfGpus(absl::string_view label) {
  for (const absl::string_view prefix :
       {"nvidia.com/gpu.", "nvidia.com/mig", "nvidia.com/cuda", "amd.com/gpu.", "gpu.intel.com/",
        "karpenter.k8s.aws/instance-gpu-", "cloud.google.com/gke-accelerator",
        "cloud.google.com/gke-gpu-"}) {
    if (absl::StartsWith(label, prefix)) return label != "nvidia.com/gpu.clique";
  }
  return false;
}

bool IsReadAnnotation(absl::string_view key) {
  if (IsMarkKey(key)) return true;
  const size_t slash = key.find('/');
  if (slash == absl::string_view::npos || !IsPublicKey(key)) return false;
  const absl::string_view domain = key.substr(0, slash);
  return domain != "kubectl.kubernetes.io" && domain != "deployment.kubernetes.io";
}

bool IsPrivateField(absl::string_view field) {
  static const auto* fields = new Words(absl::StrSplit(
      "env envFrom command args lifecycle livenessProbe readinessProbe startupProbe volumeMounts "
      "volumeDevices workingDir imageID containerID containerStatuses initContainerStatuses "
      "ephemeralContainers ephemeralContainerStatuses imagePullSecrets serviceAccountName "
      "serviceAccount hostname subdomain hostAliases dnsConfig securityContext managedFields "
      "message description providerID addresses nodeInfo podIP podIPs hostIP hostIPs selfLink "
      "data stringData binaryData sparkConf hadoopConf volumesAttached volumesInUse externalID "
      "config runtimeEnvYAML entrypoint",
      ' '));
  return fields->contains(field);
}

bool IsPublicField(absl::string_view field) {
  return field == "kind" || field == "apiVersion" || field == "schedulerName";
}

}  // namespace maniple
