// The corpora of what the client hears.
#include "test/fuzz/client_targets.h"
#include "test/fuzz/replay.h"

namespace maniple {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Targets, FuzzReplay,
    ::testing::Values(FuzzSuite{"lines", FuzzLines, "\n\r ab{}", 3000},
                      FuzzSuite{"reply_head", FuzzReplyHead, "HTTP/1. 023456789\r\n:-abcdeinoprtTy",
                                3000},
                      FuzzSuite{"lease", FuzzLease, kJsonAlphabet, 800},
                      FuzzSuite{"kubeconfig", FuzzKubeconfig, kYamlAlphabet, 800},
                      FuzzSuite{"exec_credential", FuzzExecCredential, kJsonAlphabet, 1500}),
    FolderOf);

}  // namespace
}  // namespace maniple
