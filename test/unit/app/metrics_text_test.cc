// Lines of the exposition format, read back as Prometheus reads them. Fears: a quote, a backslash
// or a line end in a name breaks the line, or comes back as another name; a number loses digits or
// is none.
#include "scheduler/app/metrics/metrics_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "api/base/random.h"
#include "scheduler/app/metrics/metrics_queues.h"

namespace maniple::app_metrics_text_test {
namespace {

struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

// A quoted value off the front.
std::optional<std::string> TakeQuoted(absl::string_view& rest) {
  std::string out;
  if (!absl::ConsumePrefix(&rest, "\"")) return std::nullopt;
  while (!rest.empty() && rest[0] != '"') {
    if (rest[0] == '\n') return std::nullopt;
    if (rest[0] == '\\') {
      rest.remove_prefix(1);
      if (rest.empty() || (rest[0] != '\\' && rest[0] != '"' && rest[0] != 'n'))
        return std::nullopt;
      out += rest[0] == 'n' ? '\n' : rest[0];
    } else {
      out += rest[0];
    }
    rest.remove_prefix(1);
  }
  if (!absl::ConsumePrefix(&rest, "\"")) return std::nullopt;
  return out;
}

// One whole line; nothing: it is malformed.
std::optional<Sample> Read(absl::string_view line) {
  Sample out;
  const size_t open = line.find('{');
  if (open == absl::string_view::npos) return std::nullopt;
  out.name = std::string(line.substr(0, open));
  line.remove_prefix(open + 1);
  while (!absl::ConsumePrefix(&line, "} ")) {
    const size_t equals = line.find('=');
    if (equals == absl::string_view::npos) return std::nullopt;
    const std::string label(line.substr(0, equals));
    line.remove_prefix(equals + 1);
    const std::optional<std::string> value = TakeQuoted(line);
    if (!value.has_value() || !out.labels.emplace(label, *value).second) return std::nullopt;
    if (!absl::ConsumePrefix(&line, ",") && !absl::StartsWith(line, "} ")) return std::nullopt;
  }
  if (!absl::ConsumeSuffix(&line, "\n") || !absl::SimpleAtod(line, &out.value)) return std::nullopt;
  return out;
}

std::string AnyText(Random& random) {
  constexpr absl::string_view kLetters = "ab\\\"\n{},= n";
  std::string text;
  for (uint64_t size = random.Below(8); size > 0; --size) {
    text += kLetters[random.Below(kLetters.size())];
  }
  return text;
}

TEST(MetricsText, LabelsComeBackWhateverTheyHold) {
  Random random(4);
  for (int i = 0; i < 2000; ++i) {
    const std::string first = AnyText(random), second = AnyText(random);
    std::string out;
    MetricText(out).Add("m", Label("a", first), "," + Label("b", second), i);
    const std::optional<Sample> sample = Read(out);
    ASSERT_TRUE(sample.has_value()) << out;
    EXPECT_EQ(sample->labels, (std::map<std::string, std::string>{{"a", first}, {"b", second}}));
    EXPECT_EQ(sample->value, i);
  }
}

TEST(MetricsText, NumbersComeBack) {
  for (const double value : {0.0, -0.0, 1.0, -1.0, 0.1, 1.5, -2.25, 1e14, 1e15 - 1, 1e15, 1e15 + 2,
                             1e18, -1e18, 1e300, 1e-300, 123456789.125, 0x1p53}) {
    std::string out;
    MetricText(out).Add("m", "", value);
    const std::optional<Sample> sample = Read(out);
    ASSERT_TRUE(sample.has_value()) << out;
    EXPECT_NEAR(sample->value, value, std::abs(value) * 1e-14) << out;
  }
}

TEST(MetricsText, WholeNumbersHaveNoExponent) {
  std::string out;
  MetricText(out).Add("m", "", 999'999'999'999'999.0);
  MetricText(out).EndLine(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(out, "m{} 999999999999999\n-9223372036854775808\n");
}

TEST(MetricsText, EverySampleOfAHostileQueueIsReadable) {
  QueueView queue;
  queue.name = "a\"b\\c\nd";
  queue.cohort = "\\\"";
  queue.oldest_pending = absl::InfiniteFuture();
  queue.usage.push_back({.flavor = "f\n", .resource = "cpu", .used = Amount(1500)});
  QueueView nameless;
  std::string out;
  AppendQueueMetrics({queue, nameless}, absl::UnixEpoch(), out);
  std::map<std::string, int> seen;
  for (size_t at = 0; at < out.size();) {
    const size_t end = out.find('\n', at) + 1;
    const std::string line = out.substr(at, end - at);
    at = end;
    if (line[0] == '#') continue;
    const std::optional<Sample> sample = Read(line);
    ASSERT_TRUE(sample.has_value()) << line;
    EXPECT_EQ(seen[line.substr(0, line.rfind(' '))]++, 0) << line;
    const auto name = sample->labels.find("queue");
    if (name == sample->labels.end()) continue;
    EXPECT_TRUE(name->second == queue.name || name->second.empty()) << line;
  }
  EXPECT_TRUE(absl::StrContains(out, "resource=\"cpu\"} 1.5\n"));
}

}  // namespace
}  // namespace maniple::app_metrics_text_test
