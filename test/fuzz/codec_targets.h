// What hostile bytes are fed to, each with an oracle: besides not crashing, an answer must agree
// with another one.
//
// A target returns "" when the oracle holds, else what does not agree. Each has a libFuzzer binary
// (fuzz_main.cc), and test/fuzz/replay.h goes through the corpus and its mutations in a test. Pure;
// the same holds for the targets of the other rooms.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// What parses is written back as text that parses to the same value.
[[nodiscard]] std::string FuzzJson(absl::string_view bytes);
[[nodiscard]] std::string FuzzYaml(absl::string_view bytes);
// Units and milli-units round the same amount.
[[nodiscard]] std::string FuzzQuantity(absl::string_view bytes);
// A line that is JSON is never refused as broken JSON, whatever the kind; every problem names
// something; the same line gives the same answer twice.
[[nodiscard]] std::string FuzzWatchLine(absl::string_view bytes);
[[nodiscard]] std::string FuzzList(absl::string_view bytes);
// What is read as a Status says what its JSON says, printably and briefly.
[[nodiscard]] std::string FuzzStatus(absl::string_view bytes);
// A time is the one that Abseil reads, and is read back as it was written.
[[nodiscard]] std::string FuzzTime(absl::string_view bytes);

}  // namespace maniple
