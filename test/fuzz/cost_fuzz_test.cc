// The corpus of strange objects.
#include "test/fuzz/cost_targets.h"
#include "test/fuzz/replay.h"

namespace maniple {
namespace {

INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplay,
                         ::testing::Values(FuzzSuite{"cost", FuzzCostUntimed,
                                                     std::string("\0\1\2\3\7\12\377", 7), 10}),
                         FolderOf);

}  // namespace
}  // namespace maniple
