// The role of the scheduler gives what it asks for, and nothing else: a right too few stops
// something, a right too many is a gift to whoever takes the process over.
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/base/files.h"
#include "api/client/elector.h"
#include "api/client/requests.h"
#include "api/client/right.h"
#include "api/client/watch_session.h"
#include "api/codec/yaml.h"
#include "api/producers/kinds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maniple::client_role_test {
namespace {

using ::testing::ContainerEq;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

// "create pods/binding", one for each verb, group and resource.
using Rights = std::set<std::string>;

// Of all rules of the roles of this name and kind in the file.
Rights GivenBy(const std::string& file, const std::string& kind, const std::string& name) {
  const absl::StatusOr<std::string> text = ReadWholeFile(file);
  EXPECT_TRUE(text.ok()) << text.status();
  const auto documents = ParseYaml(*text);
  EXPECT_TRUE(documents.ok()) << documents.status();
  Rights out;
  for (const YamlDocument& document : *documents) {
    const Json& role = document.value;
    if (role["kind"].AsString() != kind || role.At("metadata.name").AsString() != name) continue;
    for (const Json& rule : role["rules"].items()) {
      for (const Json& group : rule["apiGroups"].items()) {
        for (const Json& resource : rule["resources"].items()) {
          for (const Json& verb : rule["verbs"].items()) {
            out.insert(RightText({verb.AsString(), group.AsString(), resource.AsString()}));
          }
        }
      }
    }
  }
  return out;
}

// Notes what a machine asks for.
class Asked final {
 public:
  explicit Asked(Rights& rights) : rights_(rights) {}
  RequestId Note(const HttpActions& actions) {
    RequestId last = 0;
    for (const HttpStart& start : actions.start) {
      rights_.insert(RightText(RightFor(start.request)));
      last = start.id;
    }
    return last;
  }

 private:
  Rights& rights_;
};

void NoteSession(ResourceKind kind, Rights& rights) {
  Asked asked(rights);
  Decoder decoder;
  WatchSession session({.kind = kind}, 1);
  const RequestId list = asked.Note(session.Start().http);
  const std::string body = absl::StrCat(R"({"kind":")", ResourceKindName(kind),
                                        R"(List","metadata":{"resourceVersion":"1"},"items":[]})");
  asked.Note(session.On({list, HttpHead{200, "application/json", {}}}, decoder, kNow).http);
  asked.Note(session.On({list, HttpChunk{body}}, decoder, kNow).http);
  asked.Note(session.On({list, HttpEnd{}}, decoder, kNow).http);
  EXPECT_EQ(session.state(), SessionState::kWatching) << session.problem();
}

Rights AskedOfLeases() {
  Rights rights;
  Asked asked(rights);
  Elector elector({.identity = "a"}, 1);
  absl::Time now = kNow;
  const auto answer = [&](RequestId id, int status, const std::string& body) {
    asked.Note(elector.On({id, HttpHead{status, "application/json", {}}}, now));
    asked.Note(elector.On({id, HttpChunk{body}}, now));
    return asked.Note(elector.On({id, HttpEnd{}}, now));
  };
  const RequestId create = answer(asked.Note(elector.Start(now)), 404, "{}");
  answer(create, 201, R"({"metadata":{"resourceVersion":"1"},"spec":{"holderIdentity":"a"}})");
  now = elector.NextDeadline();
  asked.Note(elector.OnTime(now));
  return rights;
}

Rights AskedOfTheCluster() {
  Rights rights;
  for (int kind = 0; kind < kResourceKinds; ++kind) {
    NoteSession(static_cast<ResourceKind>(kind), rights);
  }
  const PodReference pod{.namespace_name = "n", .name = "p", .uid = "u"};
  const ObjectMeta object{.name = "o", .uid = "u"};
  for (const HttpRequest& request :
       {BindRequest(pod, "node", "queue"), ReadPodRequest(pod), DeletePodRequest(pod),
        EvictPodRequest(pod), PodIsPreemptedRequest(pod, "", kNow), PodWaitsRequest(pod, {}),
        PodGroupStatusRequest("n", "g", "1", {}), QueueStatusRequest(object, {}),
        CohortStatusRequest(object, {}), SelectNodeRequest({}, "1", "node"),
        SetAsideRequest({}, {}), EventRequest({.kind = "Node", .name = "n"}, "i", kNow, 1),
        MakePodGroupRequest({.namespace_name = "n", .name = "g"}),
        PodGroupSpecRequest("n", "g", "u", {}), DeletePodGroupRequest("n", "g", "u")}) {
    rights.insert(RightText(RightFor(request)));
  }
  // Of those who read over HTTP (scheduler/app/http/access_reviews.h).
  rights.insert("create tokenreviews in authentication.k8s.io");
  rights.insert("create subjectaccessreviews in authorization.k8s.io");
  return rights;
}

// Kinds that are not installed are asked for, too.
Rights AskedOfProducers() {
  Rights rights;
  for (const ForeignKind& kind : BuiltinForeignKinds()) {
    for (const char* verb : {"list", "watch"}) {
      rights.insert(RightText({verb, kind.group, kind.resource}));
    }
  }
  const std::string path = "/apis/scheduling.volcano.sh/v1beta1/namespaces/n/podgroups/g";
  for (const HttpRequest& request :
       {ForeignPhaseRequest("/apis/scheduling.x-k8s.io/v1alpha1/namespaces/n/podgroups/g/status",
                            {}),
        ForeignPhaseRequest(path, {}), ForeignPhaseRequest(path + "/status", {})}) {
    rights.insert(RightText(RightFor(request)));
  }
  return rights;
}

constexpr char kFile[] = "deploy/rbac/scheduler.yaml";

TEST(Role, OfTheClusterIsWhatTheSchedulerAsksFor) {
  EXPECT_THAT(GivenBy(kFile, "ClusterRole", "maniple-scheduler"), ContainerEq(AskedOfTheCluster()));
}

TEST(Role, OfItsNamespaceIsWhatTheElectorAsksFor) {
  EXPECT_THAT(GivenBy(kFile, "Role", "maniple-scheduler"), ContainerEq(AskedOfLeases()));
}

TEST(Role, OfProducersIsGivenApart) {
  EXPECT_THAT(GivenBy("deploy/rbac/producers.yaml", "ClusterRole", "maniple-scheduler-producers"),
              ContainerEq(AskedOfProducers()));
}

TEST(Role, ToAskForNodesIsGivenApart) {
  Rights asked;
  for (const HttpRequest& request :
       {MakeProvisioningRequest({.namespace_name = "n", .name = "r"}),
        ReadProvisioningRequest("n", "r"), DeleteProvisioningRequest("n", "r", "u"),
        MakePodTemplateRequest("n", "{}"), DeletePodTemplateRequest("n", "t", "u")}) {
    asked.insert(RightText(RightFor(request)));
  }
  EXPECT_THAT(GivenBy("deploy/rbac/optional/provisioning.yaml", "ClusterRole",
                      "maniple-scheduler-provisioning"),
              ContainerEq(asked));
}

TEST(Role, ToDivideNodesIsGivenApart) {
  EXPECT_THAT(
      GivenBy("deploy/rbac/optional/mig-reconfigure.yaml", "ClusterRole", "maniple-scheduler-mig"),
      ContainerEq(Rights{RightText(RightFor(NodeMetadataRequest("n", {})))}));
}

}  // namespace
}  // namespace maniple::client_role_test
