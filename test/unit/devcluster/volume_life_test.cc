// The simulated volume controllers: who is bound to what, and when.
#include "api/devcluster/controllers/volume_life.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "test/unit/devcluster/world.h"

namespace maniple::devcluster {
namespace {

class VolumeLifeTest : public DevclusterWorld {
 protected:
  void SetUp() override { Start({}); }

  void AddClass(const std::string& name, const std::string& provisioner, const std::string& mode,
                const std::string& more = "") {
    Create("storage.k8s.io/v1", "StorageClass",
           absl::StrCat(R"({"metadata": {"name": ")", name, R"("}, "provisioner": ")", provisioner,
                        R"(", "volumeBindingMode": ")", mode, "\"", more, "}"));
    Settle();
  }
  void AddClaim(const std::string& name, const std::string& class_name,
                const std::string& size = "10Gi") {
    Create("v1", "PersistentVolumeClaim",
           absl::StrCat(R"({"metadata": {"name": ")", name, R"(", "namespace": "default"}, "spec":
               {"accessModes": ["ReadWriteOnce"], "storageClassName": ")",
                        class_name, R"(", "resources": {"requests": {"storage": ")", size,
                        R"("}}}})"));
    Settle();
  }
  void AddVolume(const std::string& name, const std::string& size, const std::string& more = "") {
    Create("v1", "PersistentVolume",
           absl::StrCat(R"({"metadata": {"name": ")", name,
                        R"("}, "spec": {"capacity": {"storage": ")", size,
                        R"("}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
                        "local": {"path": "/x"})",
                        more, "}}"));
    Settle();
  }
  Json Claim(const std::string& name) {
    const ObjectPtr claim =
        store_.Get(Type("v1", "PersistentVolumeClaim").storage, {"default", name});
    return claim == nullptr ? Json() : *claim;
  }
  Json Volume(const std::string& name) {
    const ObjectPtr volume = store_.Get(Type("v1", "PersistentVolume").storage, {"", name});
    return volume == nullptr ? Json() : *volume;
  }
  void Change(const char* kind, Json object) {
    store_.Put(Type("v1", kind).storage, std::move(object));
    Settle();
  }
  void Select(const std::string& claim, const std::string& node) {
    Json object = Claim(claim);
    object.Mutable("metadata")
        .Mutable("annotations")
        .Set("volume.kubernetes.io/selected-node", node);
    Change("PersistentVolumeClaim", std::move(object));
  }
  // Pod p with an ephemeral volume of class csi. Its uid.
  std::string AddPodWithScratch() {
    const std::string uid = Create("v1", "Pod", R"({"metadata": {"name": "p", "namespace":
        "default"}, "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": [{"name":
        "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes":
        ["ReadWriteOnce"], "storageClassName": "csi", "resources": {"requests": {"storage":
        "1Gi"}}}}}}]}})");
    Settle();
    return uid;
  }
  std::string PhaseOf(const std::string& claim) {
    return Claim(claim)["status"]["phase"].AsString();
  }
};

TEST_F(VolumeLifeTest, AClaimThatBindsAtOnceTakesTheSmallestVolumeThatServes) {
  AddClass("local", "kubernetes.io/no-provisioner", "Immediate");
  AddVolume("small", "5Gi");
  AddVolume("large", "50Gi");
  AddVolume("fit", "12Gi");
  EXPECT_EQ(Volume("fit")["status"]["phase"].AsString(), "Available");
  AddClaim("data", "local");
  EXPECT_EQ(PhaseOf("data"), "Bound");
  EXPECT_EQ(Claim("data")["spec"]["volumeName"].AsString(), "fit");
  EXPECT_EQ(Volume("fit")["status"]["phase"].AsString(), "Bound");
  AddClaim("huge", "local", "1Ti");
  EXPECT_EQ(PhaseOf("huge"), "Pending");
}

TEST_F(VolumeLifeTest, AClaimThatWaitsIsBoundWhenAVolumeIsSetAside) {
  AddClass("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer");
  AddVolume("pv", "12Gi");
  AddClaim("data", "local");
  EXPECT_EQ(PhaseOf("data"), "Pending");
  Json volume = Volume("pv");
  volume.Mutable("spec").Set(
      "claimRef", ParsedJson(absl::StrCat(R"({"namespace": "default", "name": "data", "uid": ")",
                                          Claim("data")["metadata"]["uid"].AsString(), R"("})")));
  Change("PersistentVolume", std::move(volume));
  EXPECT_EQ(PhaseOf("data"), "Bound");
}

TEST_F(VolumeLifeTest, AVolumeIsMadeForTheNodeThatWasSelected) {
  AddNode("n1", R"({"cpu": "1"})");
  Json node = *store_.Get(Type("v1", "Node").storage, {"", "n1"});
  node.Mutable("metadata").Mutable("labels").Set("topology.kubernetes.io/zone", "a");
  Change("Node", std::move(node));
  AddClass("csi", "csi.example.com", "WaitForFirstConsumer");
  AddClaim("data", "csi");
  EXPECT_EQ(PhaseOf("data"), "Pending");
  Select("data", "n1");
  ASSERT_EQ(PhaseOf("data"), "Bound");
  const Json volume = Volume(Claim("data")["spec"]["volumeName"].AsString());
  EXPECT_EQ(volume["spec"]["csi"]["driver"].AsString(), "csi.example.com");
  EXPECT_NE(volume["spec"]["nodeAffinity"].Dump().find("topology.kubernetes.io/zone"),
            std::string::npos);
}

TEST_F(VolumeLifeTest, AProvisionerThatFailsTakesTheNodeAway) {
  AddClass("bad", "csi.example.com", "WaitForFirstConsumer",
           R"(, "parameters": {"maniple.dev/fails": "true"})");
  AddClaim("data", "bad");
  Select("data", "n1");
  EXPECT_EQ(PhaseOf("data"), "Pending");
  EXPECT_FALSE(Claim("data")["metadata"]["annotations"].Has("volume.kubernetes.io/selected-node"));
}

TEST_F(VolumeLifeTest, AnEphemeralVolumeGetsAClaimThatIsThePods) {
  AddClass("csi", "csi.example.com", "Immediate");
  AddPodWithScratch();
  EXPECT_EQ(PhaseOf("p-scratch"), "Bound");
  EXPECT_EQ(Claim("p-scratch")["metadata"]["ownerReferences"].items()[0]["name"].AsString(), "p");
}

TEST_F(VolumeLifeTest, ANamesakesEphemeralVolumeIsWaitedFor) {
  AddClass("csi", "csi.example.com", "Immediate");
  Create("v1", "PersistentVolumeClaim", R"({"metadata": {"name": "p-scratch", "namespace":
      "default", "finalizers": ["example.com/held"], "ownerReferences": [{"apiVersion": "v1",
      "kind": "Pod", "name": "p", "uid": "of-one-that-is-gone"}]}, "spec": {"accessModes":
      ["ReadWriteOnce"], "storageClassName": "csi", "resources": {"requests": {"storage":
      "1Gi"}}}})");
  const std::string uid = AddPodWithScratch();
  const auto owner = [this] {
    return Claim("p-scratch")["metadata"]["ownerReferences"].items()[0]["uid"].AsString();
  };
  EXPECT_EQ(owner(), "of-one-that-is-gone");
  store_.Erase(Type("v1", "PersistentVolumeClaim").storage, {"default", "p-scratch"});
  Settle();
  EXPECT_EQ(owner(), uid);
  EXPECT_EQ(PhaseOf("p-scratch"), "Bound");
}

class SlowVolumeLifeTest : public VolumeLifeTest {
 protected:
  void SetUp() override { Start({.volume_delay = absl::Seconds(2)}); }
};

TEST_F(SlowVolumeLifeTest, AClaimIsBoundAfterTheDelay) {
  AddClass("csi", "csi.example.com", "Immediate");
  Advance(absl::Seconds(5));
  AddClaim("data", "csi");
  Advance(absl::Seconds(1));
  EXPECT_EQ(PhaseOf("data"), "Pending");
  Advance(absl::Seconds(1));
  EXPECT_EQ(PhaseOf("data"), "Bound");
}

TEST_F(VolumeLifeTest, AClaimWhoseVolumeIsGoneIsLostAndAVolumeWhoseClaimIsGoneReleased) {
  AddClass("local", "kubernetes.io/no-provisioner", "Immediate");
  AddVolume("a", "12Gi");
  AddVolume("b", "12Gi");
  AddClaim("x", "local");
  AddClaim("y", "local");
  const std::string of_y = Claim("y")["spec"]["volumeName"].AsString();
  store_.Erase(Type("v1", "PersistentVolume").storage,
               {"", Claim("x")["spec"]["volumeName"].AsString()});
  store_.Erase(Type("v1", "PersistentVolumeClaim").storage, {"default", "y"});
  Settle();
  EXPECT_EQ(PhaseOf("x"), "Lost");
  EXPECT_EQ(Volume(of_y)["status"]["phase"].AsString(), "Released");
}

}  // namespace
}  // namespace maniple::devcluster
