// What the source of a gang is called: for people, and as the name of the gang.
//
// Pure functions.
#pragma once

#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"
#include "api/model/foreign.h"

namespace maniple {

// For people: "PodGroup train (scheduling.x-k8s.io)".
[[nodiscard]] std::string NameOf(const ForeignKind& kind, absl::string_view name);

// "<name, cut to fit>-<8 hex digits>": a DNS label, the same in every process.
[[nodiscard]] std::string StableGroupName(absl::string_view name,
                                          std::initializer_list<absl::string_view> identity);

}  // namespace maniple
