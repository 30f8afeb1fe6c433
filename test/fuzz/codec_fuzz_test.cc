// The corpora of what reads bytes of the API server.
#include "test/fuzz/codec_targets.h"
#include "test/fuzz/replay.h"

namespace maniple {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Targets, FuzzReplay,
    ::testing::Values(FuzzSuite{"json", FuzzJson, kJsonAlphabet, 3000},
                      FuzzSuite{"yaml", FuzzYaml, kYamlAlphabet, 1500},
                      FuzzSuite{"quantity", FuzzQuantity, "0123456789.+-eEKMGTPinumk \n", 5000},
                      FuzzSuite{"watch", FuzzWatchLine, kJsonAlphabet, 1500},
                      FuzzSuite{"list", FuzzList, kJsonAlphabet, 1500},
                      FuzzSuite{"status", FuzzStatus, kJsonAlphabet, 1500},
                      FuzzSuite{"time", FuzzTime, "0123456789-:.+TZtz ", 5000}),
    FolderOf);

}  // namespace
}  // namespace maniple
