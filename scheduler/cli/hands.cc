#include "scheduler/cli/hands.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/status_macros.h"
#include "api/codec/decode.h"
#include "api/codec/json.h"
#include "api/model/maniple_types.h"
#include "scheduler/cli/command_line.h"
#include "scheduler/cli/exchange.h"
#include "scheduler/cli/typed_gang.h"

namespace maniple {
namespace {

constexpr char kMergePatch[] = "application/merge-patch+json";

HandsRequest InItsNamespace(HandsRequest request) {
  request.namespace_name = NamespaceFor(request.client, request.namespace_name);
  return request;
}

class Hands final {
 public:
  static absl::StatusOr<Hands> Reach(const AdminClientOptions& client) {
    ASSIGN_OR_RETURN(const ClientConfig config, ClientConfigOf(client));
    ASSIGN_OR_RETURN(std::unique_ptr<CurlTransport> transport,
                     CurlTransport::Create(config, RealClock(), {}));
    return Hands(std::move(transport));
  }

  // What the server has to say against it names what was asked.
  absl::StatusOr<Json> Ask(HttpMethod method, const std::string& target,
                           const std::string& content_type = "", const std::string& body = "") {
    HttpRequest request;
    request.method = method;
    request.target = target;
    request.content_type = content_type;
    request.body = body;
    ASSIGN_OR_RETURN(const ApiAnswer answer, Exchange(*transport_, std::move(request)));
    if (answer.status >= 200 && answer.status < 300) return Json::Parse(answer.body);
    const std::string text = DecodeStatus(answer.status, answer.body).message;
    if (answer.status == 404) return absl::NotFoundError(text);
    if (answer.status == 409) return absl::AbortedError(text);
    return absl::FailedPreconditionError(text);
  }

 private:
  explicit Hands(std::unique_ptr<CurlTransport> transport) : transport_(std::move(transport)) {}
  std::unique_ptr<CurlTransport> transport_;
};

std::string PathOf(const HandsRequest& request, const std::string& pod) {
  return absl::StrCat("/api/v1/namespaces/", UrlEncoded(request.namespace_name), "/pods/",
                      UrlEncoded(pod));
}

std::string PathOfGroups(const HandsRequest& request) {
  return absl::StrCat("/apis/", kManipleGroup, "/", kManipleVersion, "/namespaces/",
                      UrlEncoded(request.namespace_name), "/podgroups");
}

// Of "pytorchjob/train" the PodGroups that stand for it, one for each of its gangs; else the name.
absl::StatusOr<std::vector<std::string>> GangsTyped(const HandsRequest& request, Hands& hands) {
  if (IsNamedItself(request.gang)) return std::vector{std::string(NameTyped(request.gang))};
  ASSIGN_OR_RETURN(const Json groups, hands.Ask(HttpMethod::kGet, PathOfGroups(request)));
  std::vector<std::string> names = StandInsTyped(request.gang, groups["items"].items());
  if (names.empty()) {
    return absl::NotFoundError(absl::StrCat("no PodGroup in namespace \"", request.namespace_name,
                                            "\" stands for \"", request.gang, "\""));
  }
  return names;
}

absl::StatusOr<Json> Explained(const HandsRequest& request, absl::string_view name) {
  return AskScheduler(request.client,
                      absl::StrCat("/explain?namespace=", UrlEncoded(request.namespace_name),
                                   "&name=", UrlEncoded(name)));
}

// Whether the scheduler means this pod by its name. It may be of another cluster than the
// kubeconfig, or know an older pod. One of an older version tells no uid.
bool IsPodOf(const Json& gang, const Json& pod) {
  const Json& metadata = pod["metadata"];
  return std::ranges::any_of(gang["pods"].items(), [&](const Json& member) {
    const std::string& uid = member["uid"].AsString();
    return member["pod"].AsString() == metadata["name"].AsString() &&
           (uid.empty() || uid == metadata["uid"].AsString());
  });
}

// The gang that the scheduler counts the pod to; "" = it is one by itself, or nobody answers. Only
// the scheduler reads the marks of other projects, and owners.
std::string GangOfPod(const HandsRequest& request, const Json& pod) {
  const absl::StatusOr<Json> gang = Explained(request, absl::StrCat("pod/", request.gang));
  const bool counts = gang.ok() && !(*gang)["singleton"].AsBool() && IsPodOf(*gang, pod);
  return counts ? (*gang)["name"].AsString() : "";
}

enum class HeldObject { kAny, kPod };

// Writes it on the PodGroup, or on the pod of that name: if there is no PodGroup, or if only a pod
// is meant. Returns the object as it is then.
absl::StatusOr<Json> SetHold(const HandsRequest& request, Hands& hands, HeldObject may_be,
                             const Json& value) {
  const std::string patch =
      Json::Object(
          {{"metadata", Json::Object({{"annotations", Json::Object({{kHoldAnnotation, value}})}})}})
          .Dump();
  absl::StatusOr<Json> group = absl::NotFoundError(absl::StrCat("no pod ", request.gang));
  if (may_be == HeldObject::kAny) {
    group = hands.Ask(HttpMethod::kPatch,
                      absl::StrCat(PathOfGroups(request), "/", UrlEncoded(request.gang)),
                      kMergePatch, patch);
  }
  if (!absl::IsNotFound(group.status())) return group;
  const std::string path = PathOf(request, request.gang);
  const absl::StatusOr<Json> pod = hands.Ask(HttpMethod::kGet, path);
  if (absl::IsNotFound(pod.status())) return group;
  RETURN_IF_ERROR(pod.status());
  std::string named = (*pod)["metadata"]["labels"][kPodGroupLabel].AsString();
  if (named.empty()) named = GangOfPod(request, *pod);
  if (!named.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("pod ", request.gang, " is a member of ", named, "; give that name"));
  }
  return hands.Ask(HttpMethod::kPatch, path, kMergePatch, patch);
}

// The objects written.
absl::StatusOr<std::vector<Json>> SetHolds(const HandsRequest& request, const Json& value) {
  ASSIGN_OR_RETURN(Hands hands, Hands::Reach(request.client));
  ASSIGN_OR_RETURN(std::vector<std::string> names, GangsTyped(request, hands));
  const HeldObject may_be = IsPodTyped(request.gang) ? HeldObject::kPod : HeldObject::kAny;
  std::vector<Json> written;
  HandsRequest one = request;
  for (std::string& name : names) {
    one.gang = std::move(name);
    ASSIGN_OR_RETURN(written.emplace_back(), SetHold(one, hands, may_be, value));
  }
  return written;
}

bool HasController(const Json& pod) {
  for (const Json& owner : pod["metadata"]["ownerReferences"].items()) {
    if (owner["controller"].AsBool()) return true;
  }
  return false;
}

// Appends the pods of it that have a node, as the scheduler knows them.
absl::Status AddPodsThatStand(const HandsRequest& request, const std::string& name, Hands& hands,
                              std::vector<Json>& pods) {
  ASSIGN_OR_RETURN(const Json gang, Explained(request, name));
  for (const Json& member : gang["pods"].items()) {
    const std::string& state = member["state"].AsString();
    if (state != "bound" && state != "running") continue;
    const std::string& pod_name = member["pod"].AsString();
    absl::StatusOr<Json> pod = hands.Ask(HttpMethod::kGet, PathOf(request, pod_name));
    if (absl::IsNotFound(pod.status())) continue;
    RETURN_IF_ERROR(pod.status());
    if (!IsPodOf(gang, *pod)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "pod ", pod_name, " is not the one that the scheduler knows by that name: it was made ",
          "anew, or the scheduler is of another cluster than the kubeconfig"));
    }
    if (!HasController(*pod) && !request.force) {
      return absl::FailedPreconditionError(absl::StrCat(
          "pod ", pod_name, " has no controller to make it again; --force deletes it anyway"));
    }
    pods.push_back(*std::move(pod));
  }
  return absl::OkStatus();
}

// The pods that are gone.
absl::StatusOr<std::vector<Json>> Requeue(const HandsRequest& request) {
  ASSIGN_OR_RETURN(Hands hands, Hands::Reach(request.client));
  absl::StatusOr<std::vector<std::string>> names = GangsTyped(request, hands);
  // The scheduler itself knows more than PodGroups tell: "pod/train-0".
  if (absl::IsNotFound(names.status())) names = {request.gang};
  RETURN_IF_ERROR(names.status());
  std::vector<Json> pods;
  for (const std::string& name : *names) {
    RETURN_IF_ERROR(AddPodsThatStand(request, name, hands, pods));
  }
  if (pods.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(request.namespace_name, "/", request.gang, " has no running pod"));
  }
  size_t gone = 0;
  for (const Json& pod : pods) {
    const Json& metadata = pod["metadata"];
    const Json options =
        Json::Object({{"apiVersion", "v1"},
                      {"kind", "DeleteOptions"},
                      {"preconditions", Json::Object({{"uid", metadata["uid"]}})}});
    const absl::StatusOr<Json> deleted =
        hands.Ask(HttpMethod::kDelete, PathOf(request, metadata["name"].AsString()),
                  "application/json", options.Dump());
    // Its controller may have made another one of that name already.
    const bool is_gone =
        deleted.ok() || absl::IsNotFound(deleted.status()) || absl::IsAborted(deleted.status());
    if (!is_gone) {
      return Annotate(deleted.status(), absl::StrCat(gone, " of ", pods.size(), " were deleted"));
    }
    ++gone;
  }
  return pods;
}

// For a program; false = a person wants a sentence.
bool PrintedFor(const HandsRequest& request, const std::vector<Json>& objects) {
  if (request.output == "name") {
    for (const Json& object : objects) {
      const bool is_pod = object["kind"].AsString() == "Pod";
      std::cout << (is_pod ? "pod" : absl::StrCat("podgroup.", kManipleGroup)) << "/"
                << object["metadata"]["name"].AsString() << "\n";
    }
    return true;
  }
  const Json list =
      Json::Object({{"apiVersion", "v1"}, {"kind", "List"}, {"items", Json::Array(objects)}});
  const std::string document = DocumentOf(list, request.output);
  std::cout << document;
  return !document.empty();
}

}  // namespace

int RunHold(const HandsRequest& given) {
  const HandsRequest request = InItsNamespace(given);
  const absl::StatusOr<std::vector<Json>> held = SetHolds(request, "true");
  if (!held.ok()) return Complain(held.status().message());
  if (PrintedFor(request, *held)) return 0;
  for (const Json& object : *held) {
    const bool runs = object["status"]["phase"].AsString() == "Running";
    std::cout << request.namespace_name << "/" << object["metadata"]["name"].AsString()
              << " is on hold" << (runs ? "; its running pods go on" : "") << "\n";
  }
  return 0;
}

int RunRelease(const HandsRequest& given) {
  const HandsRequest request = InItsNamespace(given);
  const absl::StatusOr<std::vector<Json>> released = SetHolds(request, nullptr);
  if (!released.ok()) return Complain(released.status().message());
  if (PrintedFor(request, *released)) return 0;
  for (const Json& object : *released) {
    std::cout << request.namespace_name << "/" << object["metadata"]["name"].AsString()
              << " is released\n";
  }
  return 0;
}

int RunRequeue(const HandsRequest& given) {
  const HandsRequest request = InItsNamespace(given);
  const absl::StatusOr<std::vector<Json>> pods = Requeue(request);
  if (!pods.ok()) return Complain(pods.status().message());
  if (PrintedFor(request, *pods)) return 0;
  std::cout << request.namespace_name << "/" << request.gang << ": " << pods->size()
            << (pods->size() == 1 ? " pod was" : " pods were") << " deleted\n";
  return 0;
}

}  // namespace maniple
