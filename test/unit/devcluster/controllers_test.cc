#include "api/devcluster/controllers/controllers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "test/unit/devcluster/world.h"

namespace maniple::devcluster {
namespace {

class ControllersTest : public DevclusterWorld {
 protected:
  Json Budget(const std::string& name) {
    const ObjectPtr budget =
        store_.Get(Type("policy/v1", "PodDisruptionBudget").storage, {"default", name});
    return budget == nullptr ? Json() : *budget;
  }
  void AddBudget(const std::string& spec) {
    Create(
        "policy/v1", "PodDisruptionBudget",
        absl::StrCat(R"({"metadata": {"name": "b", "namespace": "default"}, "spec": )", spec, "}"));
    Settle();
  }
  void AddLabelledPods(int count, const std::string& node) {
    for (int i = 0; i < count; ++i) {
      AddPod(absl::StrCat("p", i), node, R"({"cpu": "1"})", "{}", R"(, "labels": {"app": "web"})");
    }
    Settle();
  }
  std::string AddConfigMap(const std::string& name, const std::string& metadata = "") {
    return Create("v1", "ConfigMap",
                  absl::StrCat(R"({"metadata": {"name": ")", name, R"(", "namespace": "default")",
                               metadata, "}}"));
  }
  bool HasConfigMap(const std::string& name, const std::string& space = "default") {
    return store_.Get(Type("v1", "ConfigMap").storage, {space, name}) != nullptr;
  }
  static std::string OwnedBy(const std::string& name, const std::string& uid, bool blocks = false) {
    return absl::StrCat(
        R"(, "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": ")", name,
        R"(", "uid": ")", uid, R"(", "blockOwnerDeletion": )", blocks ? "true" : "false", "}]");
  }
  void DeleteConfigMap(const std::string& name, std::optional<Propagation> propagation = {}) {
    EXPECT_TRUE(DeleteObject(cluster(), Type("v1", "ConfigMap"), {"default", name},
                             {.propagation = propagation})
                    .ok());
    Settle();
  }
};

TEST_F(ControllersTest, ABudgetCountsThePodsOfItsSelector) {
  Start({});
  AddNode("n1", R"({"cpu": "10"})");
  AddBudget(R"({"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}})");
  EXPECT_EQ(Budget("b")["status"]["disruptionsAllowed"].AsInt(), 0);
  AddLabelledPods(3, "n1");
  const Json status = Budget("b")["status"];
  EXPECT_EQ(status["expectedPods"].AsInt(), 3);
  EXPECT_EQ(status["currentHealthy"].AsInt(), 3);
  EXPECT_EQ(status["desiredHealthy"].AsInt(), 2);
  EXPECT_EQ(status["disruptionsAllowed"].AsInt(), 1);
  Delete("p0");
  Settle();
  EXPECT_EQ(Budget("b")["status"]["disruptionsAllowed"].AsInt(), 0);
}

TEST_F(ControllersTest, PercentagesOfABudgetRoundUp) {
  Start({});
  AddNode("n1", R"({"cpu": "10"})");
  AddLabelledPods(3, "n1");
  AddBudget(R"({"minAvailable": "50%", "selector": {"matchLabels": {"app": "web"}}})");
  EXPECT_EQ(Budget("b")["status"]["desiredHealthy"].AsInt(), 2);
}

TEST_F(ControllersTest, MaxUnavailableIsCountedFromThePodsThatShouldBe) {
  Start({});
  AddNode("n1", R"({"cpu": "10"})");
  AddLabelledPods(4, "n1");
  AddBudget(R"({"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}})");
  EXPECT_EQ(Budget("b")["status"]["disruptionsAllowed"].AsInt(), 1);
  SetPhase("p0", "Failed");
  EXPECT_EQ(Budget("b")["status"]["expectedPods"].AsInt(), 3);
  EXPECT_EQ(Budget("b")["status"]["disruptionsAllowed"].AsInt(), 1);
}

TEST_F(ControllersTest, ABoundThatIsNullIsNone) {
  Start({});
  AddNode("n1", R"({"cpu": "10"})");
  AddLabelledPods(4, "n1");
  AddBudget(
      R"({"maxUnavailable": null, "minAvailable": 3, "selector": {"matchLabels": {"app": "web"}}})");
  EXPECT_EQ(Budget("b")["status"]["disruptionsAllowed"].AsInt(), 1);
}

TEST_F(ControllersTest, ABudgetWithoutPodsAllowsNothing) {
  Start({});
  AddBudget(R"({"maxUnavailable": 1, "selector": {"matchLabels": {"app": "nobody"}}})");
  const Json status = Budget("b")["status"];
  EXPECT_EQ(status["disruptionsAllowed"].AsInt(), 0);
  ASSERT_EQ(status["conditions"].size(), 1u) << "nobody has counted it";
  EXPECT_EQ(status["conditions"].items()[0]["reason"].AsString(), "InsufficientPods");
}

TEST_F(ControllersTest, ADeletedNamespaceIsEmptiedThenGoes) {
  Start({.delete_delay = absl::Seconds(2)});
  AddNode("n1", R"({"cpu": "10"})");
  Create("v1", "Namespace", R"({"metadata": {"name": "team"}})");
  Create("v1", "ConfigMap", R"({"metadata": {"name": "c", "namespace": "team"}})");
  Create("v1", "Pod", R"({"metadata": {"name": "p", "namespace": "team"},
    "spec": {"nodeName": "n1", "containers": [{"name": "m", "image": "i"}]}})");
  Settle();
  EXPECT_TRUE(DeleteObject(cluster(), Type("v1", "Namespace"), {"", "team"}, {}).ok());
  Settle();
  const StorageId namespaces = Type("v1", "Namespace").storage;
  ASSERT_NE(store_.Get(namespaces, {"", "team"}), nullptr);
  EXPECT_EQ((*store_.Get(namespaces, {"", "team"}))["status"]["phase"].AsString(), "Terminating");
  EXPECT_FALSE(HasConfigMap("c", "team"));
  Advance(absl::Seconds(2));
  EXPECT_EQ(store_.Get(namespaces, {"", "team"}), nullptr);
}

TEST_F(ControllersTest, DependentsGoWithTheirOnlyOwner) {
  Start({});
  const std::string uid = AddConfigMap("owner");
  const std::string child = AddConfigMap("child", OwnedBy("owner", uid));
  AddConfigMap("grandchild", OwnedBy("child", child));
  AddConfigMap("other");
  Settle();
  DeleteConfigMap("owner");
  EXPECT_FALSE(HasConfigMap("child"));
  EXPECT_FALSE(HasConfigMap("grandchild"));
  EXPECT_TRUE(HasConfigMap("other"));
}

TEST_F(ControllersTest, AnObjectWithAnotherOwnerStays) {
  Start({});
  const std::string one = AddConfigMap("one");
  const std::string two = AddConfigMap("two");
  AddConfigMap("child", absl::StrCat(R"(, "ownerReferences": [
    {"apiVersion": "v1", "kind": "ConfigMap", "name": "one", "uid": ")",
                                     one, R"("},
    {"apiVersion": "v1", "kind": "ConfigMap", "name": "two", "uid": ")",
                                     two, R"("}])"));
  Settle();
  DeleteConfigMap("one");
  ASSERT_TRUE(HasConfigMap("child"));
  DeleteConfigMap("two");
  EXPECT_FALSE(HasConfigMap("child"));
}

TEST_F(ControllersTest, AnOwnerOfTheSameNameButAnotherUidDoesNotCount) {
  Start({});
  AddConfigMap("owner");
  AddConfigMap("child", OwnedBy("owner", "of-an-earlier-life"));
  Settle();
  EXPECT_FALSE(HasConfigMap("child"));
}

TEST_F(ControllersTest, OrphansStayWithoutTheirReference) {
  Start({});
  const std::string uid = AddConfigMap("owner");
  AddConfigMap("child", OwnedBy("owner", uid));
  Settle();
  DeleteConfigMap("owner", Propagation::kOrphan);
  EXPECT_FALSE(HasConfigMap("owner"));
  ASSERT_TRUE(HasConfigMap("child"));
  const Json child = *store_.Get(Type("v1", "ConfigMap").storage, {"default", "child"});
  EXPECT_FALSE(child["metadata"].Has("ownerReferences"));
}

TEST_F(ControllersTest, AForegroundDeletionWaitsForTheDependentsThatBlockIt) {
  Start({.delete_delay = absl::Seconds(2)});
  AddNode("n1", R"({"cpu": "10"})");
  const std::string uid = AddConfigMap("owner");
  AddPod("p", "n1", R"({"cpu": "1"})", "{}", OwnedBy("owner", uid, true));
  Settle();
  DeleteConfigMap("owner", Propagation::kForeground);
  EXPECT_TRUE(HasConfigMap("owner"));
  Advance(absl::Seconds(2));
  EXPECT_FALSE(HasPod("p"));
  EXPECT_FALSE(HasConfigMap("owner"));
}

TEST_F(ControllersTest, NothingToDoMeansNoDeadline) {
  Start({});
  AddNode("n1", R"({"cpu": "10"})");
  AddLabelledPods(2, "n1");
  AddBudget(R"({"minAvailable": 1, "selector": {}})");
  Settle();
  EXPECT_EQ(deadline(), absl::InfiniteFuture());
}

}  // namespace
}  // namespace maniple::devcluster
