#include "scheduler/cli/hands.h"

#include <algorithm>
#include <iostream>
#include <memory>
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
    if (answer.status == 403) return absl::PermissionDeniedError(text);
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

std::string PathOfGroup(const HandsRequest& request, absl::string_view name) {
  return absl::StrCat(PathOfGroups(request), "/", UrlEncoded(name));
}

// The PodGroup "podgroup/train", if it is ours; of all else that declares gangs the PodGroups that
// stand for it, one for each of its gangs.
absl::StatusOr<std::vector<std::string>> GroupsTyped(const HandsRequest& request, Hands& hands) {
  if (HowTyped(request.gang) == TypedAs::kPodGroup) {
    const std::string name(NameTyped(request.gang));
    const absl::Status ours = hands.Ask(HttpMethod::kGet, PathOfGroup(request, name)).status();
    if (ours.ok()) return std::vector{name};
    if (!absl::IsNotFound(ours)) return ours;
  }
  ASSIGN_OR_RETURN(const Json groups, hands.Ask(HttpMethod::kGet, PathOfGroups(request)));
  std::vector<std::string> names = StandInsTyped(request.gang, groups["items"].items());
  if (names.empty()) {
    return absl::NotFoundError(absl::StrCat("no PodGroup in namespace \"", request.namespace_name,
                                            "\" is or stands for \"", request.gang, "\""));
  }
  return names;
}

bool IsGroupTyped(const HandsRequest& request) {
  const TypedAs as = HowTyped(request.gang);
  return as == TypedAs::kPodGroup || as == TypedAs::kOther;
}

// Once something is found by what was typed, nothing else is looked for.
absl::Status OnceFound(const absl::Status& status) {
  return status.ok() ? status : absl::FailedPreconditionError(status.message());
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

std::string HoldPatch(const Json& value) {
  return Json::Object({{"metadata",
                        Json::Object({{"annotations", Json::Object({{kHoldAnnotation, value}})}})}})
      .Dump();
}

absl::StatusOr<Json> SetGroupHold(const HandsRequest& request, Hands& hands, absl::string_view name,
                                  const Json& value) {
  return hands.Ask(HttpMethod::kPatch, PathOfGroup(request, name), kMergePatch, HoldPatch(value));
}

// Writes it on the PodGroup, or on the pod of that name: if there is no PodGroup, or if only a pod
// is meant. Returns the object as it is then. REQUIRES: `request.gang` is the name alone.
absl::StatusOr<Json> SetHold(const HandsRequest& request, Hands& hands, TypedAs as,
                             const Json& value) {
  absl::StatusOr<Json> group = absl::NotFoundError(absl::StrCat("no pod ", request.gang));
  if (as == TypedAs::kName) group = SetGroupHold(request, hands, request.gang, value);
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
  return hands.Ask(HttpMethod::kPatch, path, kMergePatch, HoldPatch(value));
}

// The objects written.
absl::StatusOr<std::vector<Json>> SetHolds(const HandsRequest& request, const Json& value) {
  ASSIGN_OR_RETURN(Hands hands, Hands::Reach(request.client));
  std::vector<Json> written;
  if (!IsGroupTyped(request)) {
    HandsRequest named = request;
    named.gang = std::string(NameTyped(request.gang));
    ASSIGN_OR_RETURN(written.emplace_back(), SetHold(named, hands, HowTyped(request.gang), value));
    return written;
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, GroupsTyped(request, hands));
  for (const std::string& name : names) {
    absl::StatusOr<Json> held = SetGroupHold(request, hands, name, value);
    RETURN_IF_ERROR(OnceFound(held.status()));
    written.push_back(*std::move(held));
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
    RETURN_IF_ERROR(OnceFound(pod.status()));
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

// What to ask the scheduler for, one for each gang: never a name alone where a kind was typed.
absl::StatusOr<std::vector<std::string>> GangsToAskFor(const HandsRequest& request, Hands& hands) {
  if (!IsGroupTyped(request)) return std::vector{request.gang};
  absl::StatusOr<std::vector<std::string>> names = GroupsTyped(request, hands);
  // The scheduler itself knows more than PodGroups tell: "jobset/train".
  if (absl::IsNotFound(names.status())) return std::vector{request.gang};
  RETURN_IF_ERROR(names.status());
  for (std::string& name : *names) name = absl::StrCat("podgroup.", kManipleGroup, "/", name);
  return names;
}

// The pods that are gone.
absl::StatusOr<std::vector<Json>> Requeue(const HandsRequest& request) {
  ASSIGN_OR_RETURN(Hands hands, Hands::Reach(request.client));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, GangsToAskFor(request, hands));
  std::vector<Json> pods;
  for (const std::string& name : names) {
    const absl::Status added = AddPodsThatStand(request, name, hands, pods);
    RETURN_IF_ERROR(name == request.gang ? added : OnceFound(added));
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
      return Annotate(OnceFound(deleted.status()),
                      absl::StrCat(gone, " of ", pods.size(), " were deleted"));
    }
    ++gone;
  }
  return pods;
}

// The objects that `act` touches. The request is then of the namespace that was typed, if one was.
template <typename Act>
absl::StatusOr<std::vector<Json>> Touched(HandsRequest& request, const Act& act) {
  const HandsRequest typed = request;
  return LookFor(typed.namespace_name, typed.gang,
                 [&](const std::string& in, const std::string& gang) {
                   request.namespace_name = in;
                   request.gang = gang;
                   return act(request);
                 });
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
  HandsRequest request = InItsNamespace(given);
  const absl::StatusOr<std::vector<Json>> held =
      Touched(request, [](const HandsRequest& meant) { return SetHolds(meant, "true"); });
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
  HandsRequest request = InItsNamespace(given);
  const absl::StatusOr<std::vector<Json>> released =
      Touched(request, [](const HandsRequest& meant) { return SetHolds(meant, nullptr); });
  if (!released.ok()) return Complain(released.status().message());
  if (PrintedFor(request, *released)) return 0;
  for (const Json& object : *released) {
    std::cout << request.namespace_name << "/" << object["metadata"]["name"].AsString()
              << " is released\n";
  }
  return 0;
}

int RunRequeue(const HandsRequest& given) {
  HandsRequest request = InItsNamespace(given);
  const absl::StatusOr<std::vector<Json>> pods = Touched(request, Requeue);
  if (!pods.ok()) return Complain(pods.status().message());
  if (PrintedFor(request, *pods)) return 0;
  std::cout << request.namespace_name << "/" << request.gang << ": " << pods->size()
            << (pods->size() == 1 ? " pod was" : " pods were") << " deleted\n";
  return 0;
}

}  // namespace maniple
