// The corpora of what the embedded API server is sent.
#include "test/fuzz/devcluster_targets.h"
#include "test/fuzz/replay.h"

namespace maniple {
namespace {

constexpr char kHttpAlphabet[] = "GETPOSHU /1.:\r\n0aelnoty-";
constexpr char kRequestAlphabet[] = "{}[]\",:= \n/?&%+0123456789abcdefGETPOSU";

INSTANTIATE_TEST_SUITE_P(
    Targets, FuzzReplay,
    ::testing::Values(FuzzSuite{"devcluster_http", FuzzDevclusterHttp, kHttpAlphabet, 1500},
                      FuzzSuite{"api_requests", FuzzApiRequests, kRequestAlphabet, 60},
                      FuzzSuite{"selectors", FuzzSelectors, std::string("\0\1\2\3\4\5", 6), 1000},
                      FuzzSuite{"selector_text", FuzzSelectorText, "ab,!=()<> inot7./-", 2000},
                      FuzzSuite{"json_patch", FuzzJsonPatch, kJsonAlphabet, 1000},
                      FuzzSuite{"merge_patch", FuzzMergePatch, kJsonAlphabet, 1000},
                      FuzzSuite{"strategic_patch", FuzzStrategicPatch, kJsonAlphabet, 1000},
                      FuzzSuite{"apply", FuzzApply, kJsonAlphabet, 1000},
                      FuzzSuite{"protobuf", FuzzProtobuf, std::string("\0\1\2\12\22\32\"k8s", 10),
                                3000}),
    FolderOf);

}  // namespace
}  // namespace maniple
