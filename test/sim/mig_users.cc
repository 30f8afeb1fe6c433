#include "test/sim/mig_users.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "api/gpu/mig_config.h"

namespace maniple::sim {
namespace {

constexpr int kNodes = 2;
constexpr int kFirstNumber = 50;  // no other node has it
constexpr uint64_t kOneGang = 3;
constexpr const char* kProfiles[] = {"1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb"};

}  // namespace

MigUsers::MigUsers(Users& users, uint64_t seed)
    : users_(users), random_(seed * 32452843 + 11), exist_(seed % 5 == 3) {}

void MigUsers::SetUp() {
  if (!exist_) return;
  const Json labels = Json::Object({{kMigCapableLabel, "true"},
                                    {kMigStrategyLabel, "mixed"},
                                    {kMigConfigLabel, "all-disabled"},
                                    {kMigConfigStateLabel, kMigSuccess},
                                    {"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
                                    {"nvidia.com/gpu.memory", "81559"},
                                    {"nvidia.com/gpu.count", "8"}});
  for (int i = 0; i < kNodes; ++i) {
    users_.AddNode(absl::StrCat("m", kFirstNumber + i), {.labels = labels});
  }
}

// All of its pods ask for the same; the rest of what it is stays as it was.
void MigUsers::Describe(GangSpec& spec) {
  if (!exist_ || !random_.OneIn(kOneGang)) return;
  spec.mig_profile = kProfiles[random_.Below(std::size(kProfiles))];
  spec.gpus = 1 + static_cast<int64_t>(random_.Below(3));
  spec.parts.clear();
  spec.slice_size = 0;
}

}  // namespace maniple::sim
