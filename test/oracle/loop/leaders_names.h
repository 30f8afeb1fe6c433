// The names of a small random world, and its objects by kind and name.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "test/support/scripted_api.h"

namespace maniple::loop_new_leader_test {

inline const std::vector<std::string> kQueues = {"q0", "q1", "q2"};
inline const std::vector<std::string> kCohorts = {"c0", "c1"};
inline const std::vector<std::string> kFlavors = {"f0", "f1"};
inline const std::vector<std::string> kNodes = {"n0", "n1", "n2", "n3", "n4"};
inline const std::vector<std::string> kSpaces = {"default", "other"};
inline const std::vector<std::string> kGangs = {"a", "b", "c", "d", "e", "f", "g"};

inline std::string SpaceOf(const std::string& gang) {
  return gang == "a" || gang == "b" ? "other" : "default";
}

template <typename T>
std::vector<T> All(const ScriptedApi& api) {
  std::vector<T> all;
  for (const ObjectEvent& event : api.List()) {
    const auto* put = std::get_if<ObjectUpserted>(&event);
    const T* one = put == nullptr ? nullptr : std::get_if<T>(&put->object);
    if (one != nullptr) all.push_back(*one);
  }
  return all;
}

template <typename T>
std::optional<T> Named(const ScriptedApi& api, const std::string& name) {
  for (T& one : All<T>(api)) {
    if (one.meta.name == name) return one;
  }
  return std::nullopt;
}

}  // namespace maniple::loop_new_leader_test
