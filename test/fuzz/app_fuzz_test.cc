// The corpora of what the scheduler's program reads.
#include "test/fuzz/app_targets.h"
#include "test/fuzz/replay.h"

namespace maniple {
namespace {

INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplay,
                         ::testing::Values(FuzzSuite{"config", FuzzConfig, kYamlAlphabet, 300},
                                           FuzzSuite{"admin_target", FuzzAdminTarget,
                                                     "/?&=%+0123456789abcdefnmsxplgq", 3000},
                                           FuzzSuite{"http_endpoint", FuzzHttpEndpoint,
                                                     "GETHADPOS /1.:\r\n0aelnoty-", 200}),
                         FolderOf);

}  // namespace
}  // namespace maniple
