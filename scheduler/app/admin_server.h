// The gRPC admin surface. Owns gRPC's threads. Lists and Explain are made from one fresh, immutable
// ClusterView; Watch from shared ones; decisions, diagnosis and version from what is published.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/app/answers/diagnosis.h"
#include "scheduler/app/config/tls_files.h"
#include "scheduler/app/doors/decision_journal.h"
#include "scheduler/app/doors/help_door.h"
#include "scheduler/report/view.h"

namespace maniple {

struct AdminServerOptions {
  // unix:PATH, in a folder that is made for the user alone; or HOST:PORT, with mutual TLS.
  std::string address;
  // All three, for HOST:PORT.
  TlsFiles tls;
  absl::Duration watch_interval =
      absl::Seconds(1);  // between two looks at a view, for each watcher
};

class AdminServer final {
 public:
  // Any thread; views and help are null when the scheduler did not answer in time.
  struct Sources {
    std::function<ClusterViewPtr()> view;  // made after the call
    // As new as a watcher needs it, and shared by them. Null: none came in time.
    std::function<ClusterViewPtr()> recent_view;
    std::function<HelpPtr(const GangKey&)> help;
    // As DecisionJournal::Of; any thread.
    std::function<std::vector<JournalEntry>(const std::string& ns, const std::string& name)>
        decisions;
    std::function<DiagnosisFacts()> facts;  // any thread
    // As UsageHistory::At; any thread.
    std::function<UsagePointPtr(absl::Time then)> used_by;
  };

  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(const AdminServerOptions& options,
                                                            Sources sources);
  ~AdminServer();

  // Of HOST:PORT; port 0 takes any free one.
  [[nodiscard]] int port() const;

 private:
  class Impl;
  explicit AdminServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple
