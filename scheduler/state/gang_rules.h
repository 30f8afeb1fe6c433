// Priority, preemption policy and Queue of gangs: what follows for a gang from PriorityClasses,
// from the Queues that namespaces name, and from the default.
//
// Owned by GangTable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "queue/gang.h"

namespace maniple {

class GangRules final {
 public:
  explicit GangRules(std::string default_queue) : default_queue_(std::move(default_queue)) {}

  // For SetClass; none: there is no such class.
  struct ClassFacts {
    int32_t value = 0;
    bool preempts = true;
  };
  void SetClass(absl::string_view priority_class, std::optional<ClassFacts> facts);
  // "" = the namespace names none. False: nothing has changed.
  bool SetNamespaceQueue(absl::string_view namespace_name, absl::string_view queue);

  // The lower of the class's value and the highest among members: among those that live, if any do.
  [[nodiscard]] int32_t PriorityOf(const Gang& gang) const;
  // It names a PriorityClass that is not there: its members alone decide.
  [[nodiscard]] bool LacksClass(const Gang& gang) const;
  [[nodiscard]] bool MayPreempt(const Gang& gang) const;
  // Borrowed from the gang, or from here.
  [[nodiscard]] absl::string_view QueueOf(const Gang& gang) const;

 private:
  std::string default_queue_;
  absl::flat_hash_map<std::string, ClassFacts> classes_;
  absl::flat_hash_map<std::string, std::string> namespace_queues_;
};

}  // namespace maniple
