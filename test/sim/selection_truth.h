// Which Queues let in gangs of which namespaces, and did so when. Part of the Truth.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/codec/json.h"

namespace maniple::sim {

class SelectionTruth final {
 public:
  void NoteNamespace(const std::string& name, const Json& labels, absl::Time now);
  // Null: there is no such Queue.
  void NoteSelector(const std::string& queue, const Json& selector, absl::Time now);

  // The Queue lets in gangs of the namespace, or did so at some time since then.
  [[nodiscard]] bool MaySelectSince(const std::string& queue, const std::string& namespace_name,
                                    absl::Time then) const;
  // … and has done so all the time.
  [[nodiscard]] bool SelectsSince(const std::string& queue, const std::string& namespace_name,
                                  absl::Time then) const;

 private:
  // A value that held from then on.
  struct Version {
    absl::Time since;
    Json value;
  };
  static bool WasSoSince(const std::vector<Version>& versions, size_t number, absl::Time then);
  // A process that goes by some moment since then may find that the Queue selects
  // the namespace (kSome), or that it does not (kNone).
  enum Selection : uint8_t { kSome, kNone };
  [[nodiscard]] bool AnySelection(const std::string& queue, const std::string& namespace_name,
                                  absl::Time then, Selection of_what) const;

  std::map<std::string, std::vector<Version>> namespaces_;  // their labels, since the beginning
  std::map<std::string, std::vector<Version>> selectors_;   // of Queues
};

}  // namespace maniple::sim
