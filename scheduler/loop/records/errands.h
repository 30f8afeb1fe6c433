// The writes and reads that are on their way: what each was for, until its reply comes.
//
// Owned by the scheduling loop. Ids rise and are never reused, so that a reply to an errand of an
// earlier leadership finds nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "api/client/right.h"
#include "api/client/write_command.h"
#include "api/model/ids.h"

namespace maniple {

enum class ErrandKind : uint8_t {
  kBind,
  kRead,
  kDelete,
  kEvict,
  kVolume,
  kGroupStatus,
  kPodWaits,
  kQueueStatus,
  kCohortStatus,
  kNodeConfig,
  kStandIn,       // a PodGroup of ours for a gang that somebody else declares
  kForeignPhase,  // the status of the foreign group itself
  kNodeRequest,   // nodes asked of an autoscaler; `begun`: it is taken back
  kEvent,
};

struct Errand {
  ErrandKind kind = ErrandKind::kEvent;
  GangId gang;
  PodId pod;
  std::string name;    // of the node of a bind or a configuration, of the Queue or Cohort of a
                       // status, the uid of a pod being read, the claim ("namespace/name") of a
                       // volume
  bool begun = false;  // of a bind: of a gang that is partly bound already; of a foreign phase: it
                       // goes to the object, not to its status; see also kNodeRequest
  bool news = false;   // of a status: the reason for waiting has changed
  std::string lane;    // of a status: the lane whose turn it takes
  Right right;         // the right that the request needs; Send fills it in
};

// The version of the object that a write made; "" = the reply does not say.
[[nodiscard]] std::string MadeVersion(const WriteResult& result);

class Errands final {
 public:
  // The command that carries it out.
  [[nodiscard]] WriteCommand Send(Errand errand, HttpRequest request);
  // The errand that the reply is for; none: it is not known any more.
  [[nodiscard]] std::optional<Errand> Take(uint64_t id);
  void Forget();

  [[nodiscard]] int64_t binds() const { return binds_; }  // under way
  // Under way, and to be answered before the process ends: all but what the next leader says again.
  [[nodiscard]] int64_t awaited() const { return awaited_; }

 private:
  void Count(const Errand& errand, int64_t by);

  uint64_t next_ = 1;
  std::map<uint64_t, Errand> open_;
  int64_t binds_ = 0, awaited_ = 0;
};

}  // namespace maniple
