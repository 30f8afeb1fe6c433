#include "bench/cluster/churn.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/model/maniple_types.h"

namespace maniple {
namespace {

// The rest asks for a resource and a node label that no node has, in a Queue that does not exist.
bool Starts(int64_t index) { return index % 4 == 0; }

}  // namespace

std::string ChurnPodName(int64_t index) { return absl::StrCat("churn-", index); }

std::string ChurnPodBody(int64_t index) {
  const std::string own = absl::StrCat("own-", index);
  std::string labels = absl::StrFormat(R"("%s":"x")", own);
  std::string amounts =
      absl::StrFormat(R"("cpu":"%dm","memory":"%dKi")", 1 + index % 50, 1000 + index);
  std::string selector;
  if (!Starts(index)) {
    absl::StrAppend(&labels, absl::StrFormat(R"(,"%s":"queue-%d")", kQueueLabel, index));
    absl::StrAppend(&amounts, absl::StrFormat(R"(,"example.com/%s":"1")", own));
    selector = absl::StrFormat(R"("nodeSelector":{"%s":"x"},)", own);
  }
  return absl::StrFormat(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","labels":{%s}},"spec":{"schedulerName":"%s","terminationGracePeriodSeconds":0,%s"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"%s":"x"}}}]}},"containers":[{"name":"main","image":"registry.example/%s:1","resources":{"requests":{%s},"limits":{%s}}}]}})",
      ChurnPodName(index), labels, index % 2 == 0 ? "maniple" : "default-scheduler", selector, own,
      own, amounts, amounts);
}

}  // namespace maniple
