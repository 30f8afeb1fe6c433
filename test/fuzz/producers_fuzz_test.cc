// The corpora of what readers of other projects' objects read.
#include "test/fuzz/producers_targets.h"
#include "test/fuzz/replay.h"

namespace maniple {
namespace {

INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplay,
                         ::testing::Values(FuzzSuite{"foreign", FuzzForeign, kJsonAlphabet, 2000}),
                         FolderOf);

}  // namespace
}  // namespace maniple
