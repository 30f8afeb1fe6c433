#include "api/devcluster/store/pod_defaults.h"

#include <array>

#include "absl/strings/match.h"
#include "api/codec/quantity.h"

namespace maniple::devcluster {
namespace {

constexpr int kFileMode = 0644;
constexpr int kTokenSeconds = 3600;
constexpr std::array<absl::string_view, 2> kContainerLists = {"containers", "initContainers"};

std::string PullPolicyOf(absl::string_view image) {
  const absl::string_view last = image.substr(image.rfind('/') + 1);
  if (absl::StrContains(last, '@')) return "IfNotPresent";
  const size_t colon = last.find(':');
  const bool latest = colon == absl::string_view::npos || last.substr(colon + 1) == "latest";
  return latest ? "Always" : "IfNotPresent";
}

void DefaultHttpGet(Json& holder) {
  Json* http_get = holder.Find("httpGet");
  if (http_get == nullptr || !http_get->is_object()) return;
  SetDefaultText(*http_get, "path", "/");
  SetDefaultText(*http_get, "scheme", "HTTP");
}

void DefaultProbe(Json& container, absl::string_view name) {
  Json* probe = container.Find(name);
  if (probe == nullptr || !probe->is_object()) return;
  DefaultHttpGet(*probe);
  SetDefault(*probe, "timeoutSeconds", 1);
  SetDefault(*probe, "periodSeconds", 10);
  SetDefault(*probe, "successThreshold", 1);
  SetDefault(*probe, "failureThreshold", 3);
}

void DefaultContainer(Json& container) {
  if (!container.is_object()) return;
  SetDefault(container, "resources", Json::Object());
  SetDefaultText(container, "terminationMessagePath", "/dev/termination-log");
  SetDefaultText(container, "terminationMessagePolicy", "File");
  SetDefaultText(container, "imagePullPolicy", PullPolicyOf(container["image"].AsString()));
  if (Json* ports = container.Find("ports"); ports != nullptr && ports->is_array()) {
    for (Json& port : ports->mutable_items()) {
      if (port.is_object()) SetDefaultText(port, "protocol", "TCP");
    }
  }
  for (const absl::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    DefaultProbe(container, probe);
  }
  if (Json* env = container.Find("env"); env != nullptr && env->is_array()) {
    for (Json& variable : env->mutable_items()) {
      Json* source = variable.Find("valueFrom");
      Json* field = source == nullptr ? nullptr : source->Find("fieldRef");
      if (field != nullptr && field->is_object()) SetDefaultText(*field, "apiVersion", "v1");
    }
  }
}

void DefaultProjected(Json& volume) {
  Json* projected = volume.Find("projected");
  if (projected == nullptr || !(*projected)["sources"].is_array()) return;
  for (Json& source : projected->Mutable("sources").mutable_items()) {
    Json* token = source.Find("serviceAccountToken");
    if (token != nullptr && token->is_object()) {
      SetDefault(*token, "expirationSeconds", kTokenSeconds);
    }
  }
}

void DefaultVolume(Json& volume) {
  if (!volume.is_object()) return;
  DefaultProjected(volume);
  if (volume.size() == 1 && volume.Has("name")) volume.Set("emptyDir", Json::Object());
  for (const absl::string_view kind : {"secret", "configMap", "downwardAPI", "projected"}) {
    Json* source = volume.Find(kind);
    if (source != nullptr && source->is_object()) SetDefault(*source, "defaultMode", kFileMode);
  }
  Json* host_path = volume.Find("hostPath");
  if (host_path != nullptr && host_path->is_object()) SetDefault(*host_path, "type", "");
}

void RequestsFromLimits(Json& container) {
  Json* resources = container.Find("resources");
  if (resources == nullptr || !(*resources)["limits"].is_object()) return;
  const Json limits = (*resources)["limits"];
  SetDefault(*resources, "requests", Json::Object());
  Json& requests = resources->Mutable("requests");
  if (!requests.is_object()) return;
  for (const auto& [name, amount] : limits.members()) SetDefault(requests, name, amount);
}

void HostPortsFromContainerPorts(Json& container) {
  Json* ports = container.Find("ports");
  if (ports == nullptr || !ports->is_array()) return;
  for (Json& port : ports->mutable_items()) {
    if (port.is_object() && port["hostPort"].AsInt() == 0) {
      port.Set("hostPort", port["containerPort"]);
    }
  }
}

template <typename F>
void ForEachContainer(Json& spec, const F& visit) {
  for (const absl::string_view list : kContainerLists) {
    Json* containers = spec.Find(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (Json& container : containers->mutable_items()) {
      if (container.is_object()) visit(container);
    }
  }
}

Quantity AmountIn(const Json& resources, absl::string_view part, absl::string_view name) {
  const Json& amount = resources[part][name];
  const absl::StatusOr<Quantity> parsed =
      Quantity::Parse(amount.is_string() ? amount.AsString() : amount.Dump());
  return parsed.ok() ? *parsed : Quantity();
}

}  // namespace

void SetDefault(Json& object, absl::string_view key, Json value) {
  Json& member = object.Mutable(key);
  if (member.is_null()) member = std::move(value);
}

void SetDefaultText(Json& object, absl::string_view key, absl::string_view value) {
  Json& member = object.Mutable(key);
  if (member.is_null() || (member.is_string() && member.AsString().empty())) member = Json(value);
}

void DefaultPodSpec(Json& spec) {
  if (!spec.is_object()) return;
  ForEachContainer(spec, DefaultContainer);
  if (Json* volumes = spec.Find("volumes"); volumes != nullptr && volumes->is_array()) {
    for (Json& volume : volumes->mutable_items()) DefaultVolume(volume);
  }
  SetDefaultText(spec, "restartPolicy", "Always");
  SetDefault(spec, "terminationGracePeriodSeconds", 30);
  SetDefaultText(spec, "dnsPolicy", "ClusterFirst");
  SetDefault(spec, "securityContext", Json::Object());
  SetDefaultText(spec, "schedulerName", "default-scheduler");
}

void DefaultPod(Json& pod) {
  Json* spec = pod.Find("spec");
  if (spec == nullptr || !spec->is_object()) return;
  DefaultPodSpec(*spec);
  ForEachContainer(*spec, RequestsFromLimits);
  SetDefault(*spec, "enableServiceLinks", true);
  if ((*spec)["hostNetwork"].AsBool()) ForEachContainer(*spec, HostPortsFromContainerPorts);
}

std::string QosClass(const Json& spec) {
  bool any = false;
  bool guaranteed = true;
  for (const absl::string_view list : kContainerLists) {
    for (const Json& container : spec[list].items()) {
      const Json& resources = container["resources"];
      for (const absl::string_view name : {"cpu", "memory"}) {
        const Quantity request = AmountIn(resources, "requests", name);
        const Quantity limit = AmountIn(resources, "limits", name);
        if (request > Quantity() || limit > Quantity()) any = true;
        if (!(limit > Quantity()) || request != limit) guaranteed = false;
      }
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace maniple::devcluster
