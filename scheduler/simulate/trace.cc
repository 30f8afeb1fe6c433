#include "scheduler/simulate/trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/base/status_macros.h"
#include "api/codec/gzip.h"
#include "scheduler/simulate/trace_table.h"

namespace maniple {
namespace {

constexpr double kMostSeconds = 1e10;
constexpr int64_t kMostPods = 20'000;
constexpr int64_t kMostGpus = 100'000;
constexpr int64_t kMostMilli = int64_t{1} << 40;

// A row as read, with seconds of the trace's own clock.
struct TraceJobRow {
  double submitted = 0;
  TraceJob job;
};

constexpr size_t kLongestName = 63;

// As Kubernetes allows names: small letters, digits and hyphens, at most 63. A name that it allows
// is kept, dots included.
std::string QueueNameOf(absl::string_view text) {
  const auto may_stand = [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-' || c == '.';
  };
  const auto parts_are_names = [text] {
    const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
    return std::ranges::none_of(parts, [](absl::string_view part) {
      return part.empty() || part.front() == '-' || part.back() == '-';
    });
  };
  if (text.size() <= kLongestName && std::ranges::all_of(text, may_stand) && parts_are_names()) {
    return std::string(text);
  }
  std::string name;
  for (const char c : text) {
    if (absl::ascii_isascii(c)) {
      name += absl::ascii_isalnum(c) ? absl::ascii_tolower(c) : '-';
    } else {  // of two teams two Queues
      absl::StrAppend(&name, absl::Hex(static_cast<uint8_t>(c)));
    }
  }
  if (name.find_first_not_of('-') == std::string::npos) return "";
  if (name.front() == '-') name.insert(0, "q");
  if (name.size() > kLongestName) name.resize(kLongestName);
  name.resize(name.find_last_not_of('-') + 1);
  return name;
}

// Of two teams two Queues, though their names become one.
class QueueNames final {
 public:
  const std::string& Of(const std::string& text) {
    const auto [at, fresh] = names_.try_emplace(text);
    if (!fresh) return at->second;
    const std::string name = QueueNameOf(text);
    at->second = name;
    for (int i = 2; !name.empty() && !taken_.insert(at->second).second; ++i) {
      const std::string number = absl::StrCat("-", i);
      at->second = absl::StrCat(name.substr(0, kLongestName - number.size()), number);
    }
    return at->second;
  }

 private:
  std::map<std::string, std::string> names_;  // by what the trace says
  std::set<std::string> taken_;
};

class Reader final {
 public:
  Reader(const TraceTable& table, int64_t gpus_per_node)
      : table_(table), gpus_per_node_(gpus_per_node) {}

  absl::Status Own() {
    for (size_t row = 0; row < table_.size(); ++row) {
      ASSIGN_OR_RETURN(const double at, Seconds(row, "submit_s"));
      TraceJob job{.name = std::string(table_.At(row, "name")),
                   .queue = std::string(table_.At(row, "queue"))};
      ASSIGN_OR_RETURN(job.pods, table_.Whole(row, "pods", 1, kMostPods, 1));
      ASSIGN_OR_RETURN(job.gpus, table_.Whole(row, "gpus", 0, kMostGpus, 0));
      ASSIGN_OR_RETURN(job.cpu_milli, table_.Whole(row, "cpu_milli", 0, kMostMilli, 0));
      ASSIGN_OR_RETURN(job.memory_mib, table_.Whole(row, "memory_mib", 0, kMostMilli, 0));
      ASSIGN_OR_RETURN(const int64_t priority,
                       table_.Whole(row, "priority", -1'000'000'000, 1'000'000'000, 0));
      job.priority = static_cast<int32_t>(priority);
      job.models = absl::StrSplit(table_.At(row, "model"), '|', absl::SkipEmpty());
      ASSIGN_OR_RETURN(const double runs, Seconds(row, "duration_s"));
      Add(at, runs, std::move(job));
    }
    return absl::OkStatus();
  }

  absl::Status Openb() {
    for (size_t row = 0; row < table_.size(); ++row) {
      TraceJob job{.name = std::string(table_.At(row, "name"))};
      ASSIGN_OR_RETURN(job.gpus, table_.Whole(row, "num_gpu", 0, kMostGpus, 0));
      ASSIGN_OR_RETURN(const int64_t milli, table_.Whole(row, "gpu_milli", 0, 1000, 0));
      ASSIGN_OR_RETURN(job.cpu_milli, table_.Whole(row, "cpu_milli", 0, kMostMilli, 0));
      ASSIGN_OR_RETURN(job.memory_mib, table_.Whole(row, "memory_mib", 0, kMostMilli, 0));
      job.models = absl::StrSplit(table_.At(row, "gpu_spec"), '|', absl::SkipEmpty());
      if (job.gpus > 0 && milli > 0 && milli < 1000) ++trace_.rounded;
      ASSIGN_OR_RETURN(const double at, Seconds(row, "creation_time"));
      // A pod that was never scheduled, or never ended, has no run time.
      double runs = 0;
      if (!table_.At(row, "deletion_time").empty() && !table_.At(row, "scheduled_time").empty()) {
        ASSIGN_OR_RETURN(const double began, Seconds(row, "scheduled_time"));
        ASSIGN_OR_RETURN(const double ended, Seconds(row, "deletion_time"));
        runs = ended - began;
      }
      Add(at, runs, std::move(job));
    }
    return absl::OkStatus();
  }

  absl::Status Philly() {
    for (size_t row = 0; row < table_.size(); ++row) {
      absl::Time at;
      if (!absl::ParseTime("%Y-%m-%d %H:%M:%S", table_.At(row, "timestamp"), &at, nullptr)) {
        return table_.Wrong(row, "timestamp", "a time such as 2017-10-09 07:01:55");
      }
      ASSIGN_OR_RETURN(const double runs, Seconds(row, "duration"));
      ASSIGN_OR_RETURN(const int64_t gpus, table_.Whole(row, "num_gpus", 0, kMostGpus, 0));
      Add(absl::ToDoubleSeconds(at - absl::UnixEpoch()), runs,
          Divided(gpus, table_.At(row, "cluster")));
    }
    return absl::OkStatus();
  }

  absl::Status Gavel() {
    for (size_t row = 0; row < table_.size(); ++row) {
      ASSIGN_OR_RETURN(const double at, Seconds(row, "arrival_s"));
      ASSIGN_OR_RETURN(const double runs, Seconds(row, "duration_s_est"));
      ASSIGN_OR_RETURN(const int64_t gpus, table_.Whole(row, "gpus", 0, kMostGpus, 0));
      Add(at, runs, Divided(gpus, table_.At(row, "vc")));
    }
    return absl::OkStatus();
  }

  absl::Status Sacct() {
    const absl::string_view tres = table_.Has("ReqTRES") ? "ReqTRES" : "AllocTRES";
    for (size_t row = 0; row < table_.size(); ++row) {
      const absl::string_view id = table_.At(row, "JobID");
      if (absl::StrContains(id, '.')) continue;  // a step of a job
      absl::Time at;
      if (!absl::ParseTime("%Y-%m-%d%ET%H:%M:%S", table_.At(row, "Submit"), &at, nullptr)) {
        return table_.Wrong(row, "Submit", "a time such as 2026-01-31T12:00:00");
      }
      const std::optional<double> runs = SlurmSeconds(table_.At(row, "Elapsed"));
      if (!runs.has_value()) {
        return table_.Wrong(row, "Elapsed", "a duration such as 1-02:03:04");
      }
      TraceJob job = Divided(GpusOf(table_.At(row, tres)), table_.At(row, "Account"));
      job.name = absl::StrCat("job-", id);
      Add(absl::ToDoubleSeconds(at - absl::UnixEpoch()), *runs, std::move(job));
    }
    return absl::OkStatus();
  }

  // 18 numbers, -1 where unknown: number, submitted, waited, ran, processors, …, user 12, group 13,
  // …, queue 15.
  void Swf(const std::array<double, 18>& fields) {
    const double processors = fields[4] > 0 ? fields[4] : fields[7];
    const auto whole = [&fields](size_t i) { return static_cast<int64_t>(fields[i]); };
    TraceJob job = Divided(std::clamp<int64_t>(static_cast<int64_t>(processors), 0, kMostGpus),
                           fields[14] >= 0 ? absl::StrCat("queue-", whole(14)) : "");
    job.name = absl::StrCat("job-", whole(0));
    Add(fields[1], fields[3], std::move(job));
  }

  [[nodiscard]] WorkloadTrace Take(absl::string_view format) && {
    std::stable_sort(rows_.begin(), rows_.end(), [](const TraceJobRow& a, const TraceJobRow& b) {
      return a.submitted < b.submitted;
    });
    trace_.format = std::string(format);
    trace_.jobs.reserve(rows_.size());
    QueueNames queues;
    for (TraceJobRow& row : rows_) {
      row.job.submitted = absl::Seconds(row.submitted - rows_.front().submitted);
      row.job.queue = queues.Of(row.job.queue);
      if (row.job.name.empty()) row.job.name = absl::StrCat("job-", trace_.jobs.size());
      trace_.jobs.push_back(std::move(row.job));
    }
    return std::move(trace_);
  }

 private:
  absl::StatusOr<double> Seconds(size_t row, absl::string_view column) const {
    return table_.Number(row, column, 0, kMostSeconds);
  }

  void Add(double at, double runs, TraceJob job) {
    if (runs <= 0) {
      ++trace_.never_ran;
      return;
    }
    job.runs = absl::Seconds(runs);
    rows_.push_back({.submitted = at, .job = std::move(job)});
  }

  // The largest equal parts that a node can hold.
  [[nodiscard]] TraceJob Divided(int64_t gpus, absl::string_view queue) const {
    TraceJob job{.queue = std::string(queue)};
    job.gpus = std::min(gpus, gpus_per_node_);
    while (job.gpus > 1 && gpus % job.gpus != 0) --job.gpus;
    job.pods = job.gpus > 0 ? gpus / job.gpus : 1;
    return job;
  }

  // "[DD-[HH:]]MM:SS", with a fraction or without.
  static std::optional<double> SlurmSeconds(absl::string_view text) {
    double seconds = 0;
    const std::vector<absl::string_view> days = absl::StrSplit(text, '-');
    double number = 0;
    if (days.size() == 2) {
      if (!absl::SimpleAtod(days[0], &number) || number < 0) return std::nullopt;
      seconds = number * 24;
    }
    for (const absl::string_view part : absl::StrSplit(days.back(), ':')) {
      if (!absl::SimpleAtod(part, &number) || number < 0) return std::nullopt;
      seconds = part.data() == days.back().data() ? seconds + number : seconds * 60 + number;
    }
    const auto colons = std::ranges::count(days.back(), ':');
    if (days.size() > 2 || colons < 1 || colons > 2) return std::nullopt;
    if (!(seconds <= kMostSeconds)) return std::nullopt;  // nor is it a number
    return seconds;
  }

  // Of "billing=8,cpu=8,gres/gpu=8,gres/gpu:h100=8". Some sites tell the types alone.
  static int64_t GpusOf(absl::string_view tres) {
    int64_t all = 0, of_types = 0;
    for (const absl::string_view part : absl::StrSplit(tres, ',')) {
      const std::pair<absl::string_view, absl::string_view> words =
          absl::StrSplit(part, absl::MaxSplits('=', 1));
      int64_t gpus = 0;
      if (!absl::SimpleAtoi(words.second, &gpus)) continue;
      gpus = std::clamp<int64_t>(gpus, 0, kMostGpus);
      if (words.first == "gres/gpu") all = gpus;
      if (absl::StartsWith(words.first, "gres/gpu:")) of_types += gpus;
    }
    return std::min(all > 0 ? all : of_types, kMostGpus);
  }

  const TraceTable& table_;
  const int64_t gpus_per_node_;
  WorkloadTrace trace_;
  std::vector<TraceJobRow> rows_;
};

absl::StatusOr<WorkloadTrace> ReadSwf(absl::string_view text, int64_t gpus_per_node) {
  const TraceTable none;
  Reader reader(none, gpus_per_node);
  int64_t line = 0;
  for (const absl::string_view row : absl::StrSplit(text, '\n')) {
    ++line;
    const std::vector<absl::string_view> words =
        absl::StrSplit(row, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty() || absl::StartsWith(words.front(), ";")) continue;
    std::array<double, 18> fields = {};
    bool good = words.size() == fields.size() && line <= kMostTraceJobs;
    for (size_t i = 0; good && i < fields.size(); ++i) {
      good = absl::SimpleAtod(words[i], &fields[i]) && std::abs(fields[i]) <= kMostSeconds;
    }
    if (!good || fields[1] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", line, ": 18 numbers of the Standard Workload Format expected",
                       line > 1 ? ""
                                : "; other traces begin with the names of their columns, "
                                  "with commas between them, or as sacct -P prints them"));
    }
    reader.Swf(fields);
  }
  return std::move(reader).Take("Standard Workload Format");
}

bool HasAll(const TraceTable& table, std::initializer_list<absl::string_view> columns) {
  return std::ranges::all_of(columns, [&](absl::string_view name) { return table.Has(name); });
}

absl::StatusOr<WorkloadTrace> ReadColumns(const TraceTable& table, int64_t gpus_per_node) {
  Reader reader(table, gpus_per_node);
  if (HasAll(table, {"submit_s", "duration_s", "gpus"})) {
    RETURN_IF_ERROR(reader.Own());
    return std::move(reader).Take("CSV of jobs");
  }
  if (HasAll(table, {"num_gpu", "gpu_milli", "creation_time", "deletion_time", "scheduled_time"})) {
    RETURN_IF_ERROR(reader.Openb());
    return std::move(reader).Take("openb");
  }
  if (HasAll(table, {"timestamp", "duration", "num_gpus", "cluster"})) {
    RETURN_IF_ERROR(reader.Philly());
    return std::move(reader).Take("Philly");
  }
  if (HasAll(table, {"vc", "arrival_s", "gpus", "duration_s_est"})) {
    RETURN_IF_ERROR(reader.Gavel());
    return std::move(reader).Take("Philly, as Gavel samples it");
  }
  return absl::InvalidArgumentError(
      "line 1: no trace that is known has these columns; its own has submit_s, duration_s, gpus, "
      "and may have name, queue, pods, cpu_milli, memory_mib, model, priority");
}

}  // namespace

absl::StatusOr<WorkloadTrace> ReadTrace(absl::string_view bytes, int64_t gpus_per_node) {
  std::string unpacked;
  if (IsGzip(bytes)) {
    ASSIGN_OR_RETURN(unpacked, Gunzip(bytes, kMostTraceBytes));
    bytes = unpacked;
  }
  absl::ConsumePrefix(&bytes, "\xEF\xBB\xBF");  // a spreadsheet begins its CSV so
  if (bytes.size() > kMostTraceBytes) {
    return absl::InvalidArgumentError("larger than 1 GiB");
  }
  const size_t begin = bytes.find_first_not_of("\r\n");
  const absl::string_view first =
      begin == absl::string_view::npos ? "" : bytes.substr(begin, bytes.find('\n', begin) - begin);
  const std::vector<absl::string_view> fields = absl::StrSplit(absl::StripSuffix(first, "\r"), '|');
  absl::StatusOr<WorkloadTrace> trace;
  if (fields.size() > 1 && std::ranges::find(fields, "JobID") != fields.end()) {
    ASSIGN_OR_RETURN(const TraceTable table, TraceTable::Read(bytes, '|'));
    const absl::string_view tres = table.Has("ReqTRES") ? "ReqTRES" : "AllocTRES";
    for (const absl::string_view column :
         {absl::string_view("Submit"), absl::string_view("Elapsed"), absl::string_view("Account"),
          tres}) {
      if (table.Has(column)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("line 1: sacct -P needs the columns JobID, Submit, Elapsed, Account and "
                       "ReqTRES or AllocTRES; there is no ",
                       column));
    }
    Reader reader(table, gpus_per_node);
    RETURN_IF_ERROR(reader.Sacct());
    trace = std::move(reader).Take("sacct");
  } else if (absl::StrContains(first, ',') && !absl::StartsWith(first, ";")) {
    ASSIGN_OR_RETURN(const TraceTable table, TraceTable::Read(bytes, ','));
    trace = ReadColumns(table, gpus_per_node);
  } else {
    trace = ReadSwf(bytes, gpus_per_node);
  }
  if (trace.ok() && trace->jobs.empty()) {
    return absl::InvalidArgumentError("no job in it that ran");
  }
  return trace;
}

}  // namespace maniple
