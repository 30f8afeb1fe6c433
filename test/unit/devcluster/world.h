// A store with its controllers and a clock that moves when told: what the tests of kubelet and
// controllers act on.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "api/devcluster/controllers/controllers.h"
#include "api/devcluster/store/store.h"
#include "api/devcluster/store/writes.h"

namespace maniple::devcluster {

inline Json ParsedJson(absl::string_view text) {
  absl::StatusOr<Json> json = Json::Parse(text);
  EXPECT_TRUE(json.ok()) << json.status() << " in " << text;
  return json.ok() ? *json : Json();
}

class DevclusterWorld : public testing::Test {
 protected:
  void Start(const ApiServerOptions& options) {
    controllers_ = std::make_unique<Controllers>(options, types_);
    store_.AddObserver(controllers_.get());
    Create("v1", "Namespace", R"({"metadata": {"name": "default"}})");
    Settle();
  }

  [[nodiscard]] Cluster cluster() { return Cluster{store_, types_, random_, now_}; }
  [[nodiscard]] absl::Time deadline() const { return controllers_->NextDeadline(); }

  // Does what is due now, and what that makes due.
  void Settle() {
    for (int turns = 0; controllers_->NextDeadline() <= now_; ++turns) {
      ASSERT_LT(turns, 100) << "the controllers do not come to rest";
      controllers_->OnTime(cluster());
    }
  }
  // Lets time pass from deadline to deadline.
  void Advance(absl::Duration by) {
    const absl::Time until = now_ + by;
    Settle();
    while (controllers_->NextDeadline() <= until) {
      now_ = controllers_->NextDeadline();
      Settle();
    }
    now_ = until;
  }

  const ResourceType& Type(absl::string_view api_version, absl::string_view kind) {
    const ResourceType* type = types_.FindByKind(api_version, kind);
    EXPECT_NE(type, nullptr) << kind;
    return *type;
  }

  // The uid of the new object.
  std::string Create(const std::string& api_version, const std::string& kind,
                     const std::string& text) {
    Json object = ParsedJson(text);
    object.Set("apiVersion", Json(api_version));
    object.Set("kind", Json(kind));
    const ApiOr<ObjectPtr> made = CreateObject(cluster(), Type(api_version, kind), object, {});
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    return made.ok() ? (**made)["metadata"]["uid"].AsString() : "";
  }

  void AddNode(const std::string& name, const std::string& capacity) {
    Create("v1", "Node",
           absl::StrCat(R"({"metadata": {"name": ")", name, R"("}, "status": {"capacity": )",
                        capacity, "}}"));
    Settle();
  }
  void DeleteNode(const std::string& name) {
    EXPECT_TRUE(DeleteObject(cluster(), Type("v1", "Node"), {"", name}, {}).ok());
  }

  // Bound when `node` is not empty. `requests` and `annotations` are JSON.
  void AddPod(const std::string& name, const std::string& node, const std::string& requests,
              const std::string& annotations = "{}", const std::string& more_metadata = "") {
    Create("v1", "Pod",
           absl::StrCat(
               R"({"metadata": {"name": ")", name, R"(", "namespace": "default", "annotations": )",
               annotations, more_metadata, R"(}, "spec": {"nodeName": ")", node,
               R"(", "containers": [{"name": "main", "image": "i", "resources": {"requests": )",
               requests, R"(, "limits": )", requests, "}}]}}"));
  }
  ObjectPtr FindPod(const std::string& name) {
    return store_.Get(Type("v1", "Pod").storage, {"default", name});
  }
  bool HasPod(const std::string& name) { return FindPod(name) != nullptr; }
  Json PodNamed(const std::string& name) {
    const ObjectPtr pod = FindPod(name);
    EXPECT_NE(pod, nullptr) << name;
    return pod == nullptr ? Json() : *pod;
  }
  std::string PhaseOf(const std::string& pod) {
    return PodNamed(pod)["status"]["phase"].AsString();
  }

  template <typename Edit>
  void EditPod(const std::string& name, Edit edit) {
    Json pod = PodNamed(name);
    edit(pod);
    store_.Put(Type("v1", "Pod").storage, std::move(pod));
    Settle();
  }
  void SetPhase(const std::string& name, const std::string& phase) {
    EditPod(name, [&](Json& pod) { pod.Mutable("status").Set("phase", Json(phase)); });
  }
  void Delete(const std::string& pod) {
    EXPECT_TRUE(DeleteObject(cluster(), Type("v1", "Pod"), {"default", pod}, {}).ok());
  }

  TypeRegistry types_;
  Store store_{10'000};
  Random random_{1};
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  std::unique_ptr<Controllers> controllers_;
};

}  // namespace maniple::devcluster
