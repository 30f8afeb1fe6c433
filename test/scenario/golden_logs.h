// The decision logs that the scenarios of one file are to have: one file of text, and in it for
// each scenario "== NAME" and the lines of its log.
//
// Owned by the test; one thread.
#pragma once

#include <string>
#include <vector>

#include "absl/container/btree_map.h"

namespace maniple::scenario {

class GoldenLogs final {
 public:
  // Reads `path`; a file that is not there has no logs. Text before the first name is an error that
  // ends the test.
  explicit GoldenLogs(std::string path);

  // "": there is none yet.
  [[nodiscard]] std::string Of(const std::string& scenario) const;
  void Set(const std::string& scenario, std::string log);
  // Those with a log that are not among `scenarios`.
  [[nodiscard]] std::vector<std::string> NamesBeside(
      const std::vector<std::string>& scenarios) const;
  // Writes the logs of `scenarios`, in that order, and no others.
  void Write(const std::vector<std::string>& scenarios) const;

 private:
  std::string path_;
  absl::btree_map<std::string, std::string> logs_;
};

}  // namespace maniple::scenario
