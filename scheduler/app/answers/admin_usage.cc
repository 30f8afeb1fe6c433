#include "scheduler/app/answers/admin_usage.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/proto/admin.pb.h"

namespace maniple {
namespace {

namespace pb = admin::v1;

// A Queue that was made anew since then counts anew.
template <typename Number>
Number Since(Number before, Number now) {
  return now < before ? now : now - before;
}

int64_t UsedBefore(const ResourceSeconds& row, const std::vector<ResourceSeconds>& before) {
  for (const ResourceSeconds& then : before) {
    const bool same = then.namespace_name == row.namespace_name && then.flavor == row.flavor &&
                      then.resource == row.resource;
    if (same) return then.total;
  }
  return 0;
}

// Of one question.
class Teller final {
 public:
  Teller(absl::string_view namespace_name, const UsagePoint* from, pb::UsageList& out)
      : namespace_name_(namespace_name), from_(from), out_(out) {}

  void TellUse(const std::string& queue, const std::vector<ResourceSeconds>& rows) {
    const QueueTotals& before = Before(queue);
    for (const ResourceSeconds& used : rows) {
      if (!namespace_name_.empty() && used.namespace_name != namespace_name_) continue;
      const int64_t total = Since(UsedBefore(used, before.used), used.total);
      if (from_ != nullptr && total == 0) continue;
      pb::ResourceSeconds& row = *out_.add_items();
      row.set_queue(queue);
      row.set_namespace_(used.namespace_name);
      row.set_flavor(used.flavor);
      row.set_name(used.resource);
      row.set_total(total);
      row.set_recent(used.recent);
    }
  }

  void TellWaits(const QueueView& queue) {
    const QueueTotals& before = Before(queue.name);
    const QueueTotals now = TotalsOf(queue);
    pb::QueueWaits& row = *out_.add_queues();
    row.set_queue(queue.name);
    row.set_started(Since(before.started, now.started));
    row.set_waited_seconds(Since(before.waited_seconds, now.waited_seconds));
    for (size_t i = 0; i < kLeavingCauses.size(); ++i) {
      const int64_t gangs = Since(before.left[i], now.left[i]);
      if (gangs == 0) continue;
      pb::ReasonCount& left = *row.add_left();
      left.set_reason(kLeavingCauses[i]);
      left.set_gangs(gangs);
    }
  }

 private:
  [[nodiscard]] const QueueTotals& Before(const std::string& queue) const {
    static const auto* nothing = new QueueTotals();
    if (from_ == nullptr) return *nothing;
    const auto it = from_->queues.find(queue);
    return it == from_->queues.end() ? *nothing : it->second;
  }

  const absl::string_view namespace_name_;
  const UsagePoint* const from_;
  pb::UsageList& out_;
};

}  // namespace

absl::Status NoUseIsRemembered() {
  return absl::UnavailableError(
      "no use is remembered yet: this replica does not lead, or has only begun to");
}

void UsageInto(const ClusterView& view, absl::string_view namespace_name, const UsagePoint* from,
               pb::UsageList& out) {
  if (from != nullptr) out.set_since(absl::ToDoubleSeconds(from->at - absl::UnixEpoch()));
  Teller teller(namespace_name, from, out);
  teller.TellUse("", view.used_without_queue);
  for (const QueueView& queue : view.queues) {
    teller.TellUse(queue.name, queue.used);
    if (namespace_name.empty()) teller.TellWaits(queue);
  }
}

}  // namespace maniple
