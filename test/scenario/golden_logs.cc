#include "test/scenario/golden_logs.h"

#include <fstream>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/base/check.h"

namespace maniple::scenario {
namespace {

constexpr absl::string_view kHead = "== ";

}  // namespace

GoldenLogs::GoldenLogs(std::string path) : path_(std::move(path)) {
  std::ifstream in(path_, std::ios::binary);
  std::string* log = nullptr;
  for (std::string line; std::getline(in, line);) {
    absl::string_view name = line;
    if (absl::ConsumePrefix(&name, kHead)) {
      log = &logs_[std::string(name)];
    } else {
      CHECK(log != nullptr) << path_ << " does not begin with the name of a scenario";
      absl::StrAppend(log, line, "\n");
    }
  }
}

std::string GoldenLogs::Of(const std::string& scenario) const {
  const auto log = logs_.find(scenario);
  return log == logs_.end() ? "" : log->second;
}

void GoldenLogs::Set(const std::string& scenario, std::string log) {
  logs_[scenario] = std::move(log);
}

std::vector<std::string> GoldenLogs::NamesBeside(const std::vector<std::string>& scenarios) const {
  std::vector<std::string> names;
  for (const auto& [name, log] : logs_) {
    if (!absl::c_linear_search(scenarios, name)) names.push_back(name);
  }
  return names;
}

void GoldenLogs::Write(const std::vector<std::string>& scenarios) const {
  std::ofstream out(path_, std::ios::binary);
  for (const std::string& name : scenarios) {
    if (const auto log = logs_.find(name); log != logs_.end())
      out << kHead << name << "\n" << log->second;
  }
}

}  // namespace maniple::scenario
