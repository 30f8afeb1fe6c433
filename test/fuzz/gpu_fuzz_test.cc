// The corpora of GPU labels and of MIG.
#include "test/fuzz/gpu_targets.h"
#include "test/fuzz/replay.h"

namespace maniple {
namespace {

INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplay,
                         ::testing::Values(FuzzSuite{"mig_profile", FuzzMigProfile,
                                                     "0123456789.cgb+-meal,fx", 3000},
                                           FuzzSuite{"gpu_labels", FuzzGpuLabels,
                                                     "=\n@-.0123456789aegimprstuvxSHARED", 1000},
                                           FuzzSuite{"mig_layout", FuzzMigLayout,
                                                     std::string("\0\1\2\3\4\5\6\7\10", 9), 1000}),
                         FolderOf);

}  // namespace
}  // namespace maniple
