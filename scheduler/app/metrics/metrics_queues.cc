#include "scheduler/app/metrics/metrics_queues.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "scheduler/app/metrics/metrics_text.h"

namespace maniple {
namespace {

// One value of each Queue.
struct QueueRow {
  const char* name;
  const char* help;
  double (*value)(const QueueView&);
};
constexpr QueueRow kQueueRows[] = {
    {"maniple_queue_pending_gangs", "Gangs of the Queue that wait.",
     [](const QueueView& queue) { return static_cast<double>(queue.pending); }},
    {"maniple_queue_running_gangs", "Gangs of the Queue whose quorum is bound.",
     [](const QueueView& queue) { return static_cast<double>(queue.running); }},
    {"maniple_queue_pending_pods", "Pods of the Queue without a node.",
     [](const QueueView& queue) { return static_cast<double>(queue.pending_pods); }},
    {"maniple_queue_running_pods", "Pods of the Queue with a node.",
     [](const QueueView& queue) { return static_cast<double>(queue.running_pods); }},
    {"maniple_queue_fair_share",
     "Dominant borrowed share by weight, in permille; 0 when nothing is borrowed.",
     [](const QueueView& queue) { return static_cast<double>(queue.fair_share); }},
    {"maniple_queue_active", "1 while gangs may start from the Queue, else 0.",
     [](const QueueView& queue) {
       return queue.problem.empty() && queue.stop_policy == "None" ? 1.0 : 0.0;
     }},
};

// Of each Queue.
constexpr QuotaRow kUsageRows[] = {
    {"maniple_queue_nominal_quota", "Quota of the Queue without borrowing.",
     &QuotaUsageView::nominal},
    {"maniple_queue_resource_usage", "Amount that the Queue is charged for.",
     &QuotaUsageView::used},
    {"maniple_queue_resource_borrowed", "Part of it that is borrowed from the cohort.",
     &QuotaUsageView::borrowed},
    {"maniple_queue_resource_lent", "Part of its nominal quota that others use.",
     &QuotaUsageView::lent},
    {"maniple_queue_resource_held", "Part of its usage that is held for gangs that start later.",
     &QuotaUsageView::held},
};

// Of each Queue that has such a limit.
struct LimitRow {
  const char* name;
  const char* help;
  std::optional<Amount> QuotaUsageView::*value;
};
constexpr LimitRow kLimitRows[] = {
    {"maniple_queue_borrowing_limit", "Most that the Queue may borrow; absent: no limit.",
     &QuotaUsageView::borrowing_limit},
    {"maniple_queue_lending_limit",
     "Most of its nominal quota that the Queue lends; absent: all of it.",
     &QuotaUsageView::lending_limit},
};

// A label that follows others, each of its few values written once for all Queues.
class MoreLabels final {
 public:
  explicit MoreLabels(absl::string_view name) : name_(name) {}

  const std::string& Of(absl::string_view value) {
    std::string& label = labels_[value];
    if (label.empty()) label = absl::StrCat(",", Label(name_, value));
    return label;
  }

 private:
  absl::string_view name_;
  std::map<absl::string_view, std::string> labels_;  // values stand in the Queues' views
};

class QueueText final {
 public:
  // Of one that has waiting gangs and full histograms; a guess to begin with.
  static constexpr size_t kBytesOfQueue = 4096;

  QueueText(const std::vector<QueueView>& queues, std::string& out)
      : queues_(queues), out_(out), text_(out) {
    out_.reserve(out_.size() + kBytesOfQueue * queues.size());
    for (const QueueView& queue : queues) {
      labels_.push_back(Label("queue", queue.name));
      const std::string& of = cohort_labels_.emplace_back(
          absl::StrCat(Label("cohort", queue.cohort), ",", labels_.back()));
      std::vector<std::string>& quotas = quota_labels_.emplace_back();
      for (const QuotaUsageView& usage : queue.usage) {
        quotas.push_back(
            absl::StrCat(of, ",", Label("flavor", usage.flavor), resources_.Of(usage.resource)));
      }
    }
  }

  void AddGauges(absl::Time now) {
    for (const QueueRow& row : kQueueRows) {
      text_.Begin(row.name, row.help, "gauge");
      ForEachNamed([&](const QueueView& queue, const std::string& label) {
        text_.Add(row.name, label, row.value(queue));
      });
    }
    text_.Begin("maniple_queue_info", "Always 1; the label names the cohort.", "gauge");
    MoreLabels cohorts("cohort");
    ForEachNamed([&](const QueueView& queue, const std::string& label) {
      text_.Add("maniple_queue_info", label, cohorts.Of(queue.cohort), 1);
    });
    constexpr char kOldest[] = "maniple_oldest_pending_gang_age_seconds";
    text_.Begin(
        kOldest,
        "How long the gang that has waited longest in the Queue has waited, of those that have "
        "their members and are not on hold; 0 when none does.",
        "gauge");
    ForEachNamed([&](const QueueView& queue, const std::string& label) {
      const absl::Duration age = now - std::min(now, queue.oldest_pending);
      text_.Add(kOldest, label, std::max(0.0, absl::ToDoubleSeconds(age)));
    });
  }

  void AddQuotas() {
    for (const QuotaRow& row : kUsageRows) AddQuota(row);
    for (const LimitRow& row : kLimitRows) AddQuota(row);
  }

  // Of what the Queue has quota of; which flavor it will be is not known yet.
  void AddAsked() {
    constexpr char kName[] = "maniple_queue_resource_pending";
    text_.Begin(kName, "Requests of the Queue's pods without a node.", "gauge");
    for (size_t i = 0; i < queues_.size(); ++i) {
      const QueueView& queue = queues_[i];
      if (queue.name.empty()) continue;
      std::map<absl::string_view, Amount> asked;
      for (const QuotaUsageView& usage : queue.usage) asked[usage.resource] = Amount();
      for (const ResourceAmount& part : queue.asked) {
        if (const auto at = asked.find(part.resource); at != asked.end()) at->second = part.amount;
      }
      for (const auto& [resource, amount] : asked) {
        text_.Add(kName, cohort_labels_[i], resources_.Of(resource), InBaseUnits(resource, amount));
      }
    }
  }

  // Also of gangs without a Queue. Summed over namespaces, whose names are never labels.
  void AddResourceSeconds() {
    constexpr char kName[] = "maniple_resource_seconds_total";
    text_.Begin(kName, "Seconds of use of GPUs and slices by gangs; divided by 3600: GPU-hours.",
                "counter");
    for (size_t i = 0; i < queues_.size(); ++i) {
      std::map<std::pair<absl::string_view, absl::string_view>, int64_t> sums;
      for (const ResourceSeconds& used : queues_[i].used) {
        sums[{used.flavor, used.resource}] += used.total;
      }
      for (const auto& [of, seconds] : sums) {
        text_.Add(kName,
                  absl::StrCat(labels_[i], ",", Label("flavor", of.first), ",",
                               Label("resource", of.second)),
                  static_cast<double>(seconds));
      }
    }
  }

  // Also of gangs without a Queue.
  void AddHistories() {
    text_.Begin("maniple_pending_gangs", "Gangs that are not bound, by reason.", "gauge");
    MoreLabels reasons("reason");
    for (size_t i = 0; i < queues_.size(); ++i) {
      for (const auto& [reason, gangs] : queues_[i].pending_by_reason) {
        text_.Add("maniple_pending_gangs", labels_[i], reasons.Of(reason),
                  static_cast<double>(gangs));
      }
    }
    text_.Begin("maniple_evicted_gangs_total", "Gangs that had to leave as a whole, by cause.",
                "counter");
    for (size_t i = 0; i < queues_.size(); ++i) {
      for (size_t cause = 0; cause < kLeavingCauses.size(); ++cause) {
        text_.Add("maniple_evicted_gangs_total", labels_[i], reasons.Of(kLeavingCauses[cause]),
                  static_cast<double>(queues_[i].history.left[cause]));
      }
    }
    AddPreempted();
    AddLost();
    AddHistogram("maniple_gang_wait_seconds",
                 "From a gang's creation, or its last leaving, to its quorum being bound.",
                 &QueueHistory::waited);
    AddHistogram("maniple_gang_bind_seconds",
                 "From the decision on a gang to its quorum being bound.", &QueueHistory::bound);
    AddHistogram("maniple_gang_ready_seconds",
                 "From a gang's quorum being bound to its quorum being Ready.",
                 &QueueHistory::ready);
  }

 private:
  template <typename Row>
  void AddQuota(const Row& row) {
    text_.Begin(row.name, row.help, "gauge");
    for (size_t i = 0; i < queues_.size(); ++i) {
      if (queues_[i].name.empty()) continue;
      for (size_t k = 0; k < queues_[i].usage.size(); ++k) {
        const QuotaUsageView& usage = queues_[i].usage[k];
        const std::optional<Amount> amount = usage.*row.value;
        if (!amount.has_value()) continue;
        text_.Add(row.name, quota_labels_[i][k], InBaseUnits(usage.resource, *amount));
      }
    }
  }

  // With rows that are 0: a series that begins at 1 has no increase, and the first gang would be
  // overlooked.
  void AddPreempted() {
    constexpr char kName[] = "maniple_preempted_gangs_total";
    text_.Begin(kName,
                "Gangs that were made to leave for gangs of the Queue, by the victims' Queue.",
                "counter");
    for (size_t i = 0; i < queues_.size(); ++i) {
      const std::string by = Label("preempting_queue", queues_[i].name);
      for (size_t of = 0; of < kVictimsOf.size(); ++of) {
        text_.Add(kName, absl::StrCat(by, ",", Label("reason", kVictimsOf[of])),
                  static_cast<double>(queues_[i].history.preempted[of]));
      }
    }
  }

  void AddLost() {
    constexpr char kName[] = "maniple_lost_resource_seconds_total";
    text_.Begin(kName,
                "Seconds of use of GPUs and slices by pods that were sent away: run time lost.",
                "counter");
    for (size_t i = 0; i < queues_.size(); ++i) {
      for (const auto& [resource, seconds] : queues_[i].history.lost) {
        text_.Add(kName, labels_[i], resources_.Of(resource), seconds);
      }
    }
  }

  void ForEachNamed(absl::FunctionRef<void(const QueueView&, const std::string&)> visit) const {
    for (size_t i = 0; i < queues_.size(); ++i) {
      if (!queues_[i].name.empty()) visit(queues_[i], labels_[i]);
    }
  }

  // Nothing of a Queue that has nothing to tell yet: that would be a score of lines.
  template <typename Scale>
  void AddHistogram(const char* name, const char* help,
                    DurationHistogram<Scale> QueueHistory::*member) {
    std::array<std::string, Scale::kBounds.size() + 1> ends;
    for (size_t i = 0; i < Scale::kBounds.size(); ++i) {
      ends[i] = absl::StrCat(",le=\"", Scale::kBounds[i], "\"} ");
    }
    ends.back() = ",le=\"+Inf\"} ";
    const std::string sum = absl::StrCat(name, "_sum"), count = absl::StrCat(name, "_count");
    text_.Begin(name, help, "histogram");
    for (size_t i = 0; i < queues_.size(); ++i) {
      const DurationHistogram<Scale>& histogram = queues_[i].history.*member;
      if (histogram.count() == 0) continue;
      const std::string bucket = absl::StrCat(name, "_bucket{", labels_[i]);
      uint64_t so_far = 0;
      for (size_t j = 0; j < Scale::kBounds.size(); ++j) {
        so_far += histogram.buckets()[j];
        out_.append(bucket).append(ends[j]);
        text_.EndLine(static_cast<int64_t>(so_far));
      }
      out_.append(bucket).append(ends.back());
      text_.EndLine(static_cast<int64_t>(histogram.count()));
      text_.Add(sum, labels_[i], histogram.seconds());
      text_.Add(count, labels_[i], static_cast<double>(histogram.count()));
    }
  }

  const std::vector<QueueView>& queues_;
  MoreLabels resources_{"resource"};
  std::vector<std::string> labels_;                     // by place in queues_
  std::vector<std::string> cohort_labels_;              // the same behind those of their Cohorts
  std::vector<std::vector<std::string>> quota_labels_;  // … and in its `usage`
  std::string& out_;                                    // text_ writes into it
  MetricText text_;
};

}  // namespace

void AppendQueueMetrics(const std::vector<QueueView>& queues, absl::Time now, std::string& out) {
  QueueText text(queues, out);
  text.AddGauges(now);
  text.AddQuotas();
  text.AddAsked();
  text.AddResourceSeconds();
  text.AddHistories();
}

}  // namespace maniple
