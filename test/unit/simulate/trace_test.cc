// Fear: a trace is read as something that it does not say, or a broken one ends the program.
#include "scheduler/simulate/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "api/codec/gzip.h"
#include "scheduler/simulate/simulated_cluster.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kOwn[] =
    "submit_s,duration_s,gpus,name,queue,pods,cpu_milli,memory_mib,model,priority\n"
    "100,60,8,large,Team A,4,16000,65536,H100|H200,5\n"
    "40,30.5,1,,,,,,,\n";
constexpr char kOpenb[] =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_"
    "time,"
    "scheduled_time\n"
    "openb-pod-0000,12000,16384,1,1000,V100M16|V100M32,LS,Running,10,110,20\n"
    "openb-pod-0001,6000,12288,1,460,,LS,Running,30,130,30\n"
    "openb-pod-0002,6000,12288,0,0,,LS,Pending,30,,\n";
constexpr char kPhilly[] =
    "timestamp,duration,num_gpus,gpu_time,cluster\n"
    "2017-10-09 07:01:55,66.0,12,66.0,11cb48\n"
    "2017-10-09 07:00:55,2951.0,1,2951.0,6214e9\n";
constexpr char kSwf[] =
    "; Version: 2.2\n"
    ";\n"
    "  1 0 5 100 16 -1 -1 16 -1 -1 1 1 1 -1 3 -1 -1 -1\n"
    "  2 7 -1 -1 8 -1 -1 8 -1 -1 0 1 1 -1 3 -1 -1 -1\n";
constexpr char kSacct[] =
    "JobID|Submit|Elapsed|Account|ReqTRES|State\n"
    "1234|2026-01-31T12:00:00|1-02:03:04|vision|billing=8,cpu=64,gres/"
    "gpu=16,mem=64G,node=2|COMPLETED\n"
    "1234.batch|2026-01-31T12:00:00|00:10:00|vision|cpu=8|COMPLETED\n"
    "1235_7|2026-01-31T12:00:30|02:30|nlp|cpu=4|COMPLETED\n";

WorkloadTrace Read(absl::string_view text) {
  absl::StatusOr<WorkloadTrace> trace = ReadTrace(text, 8);
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.ok() ? *std::move(trace) : WorkloadTrace();
}
std::string ErrorOf(absl::string_view text) {
  return std::string(ReadTrace(text, 8).status().message());
}

TEST(Trace, OurOwnIsSortedBySubmissionAndMayLeaveOutWhatItLikes) {
  const WorkloadTrace trace = Read(kOwn);
  ASSERT_THAT(trace.jobs, SizeIs(2));
  EXPECT_EQ(trace.jobs[0].name, "job-0");
  EXPECT_EQ(trace.jobs[0].runs, absl::Seconds(30.5));
  EXPECT_EQ(trace.jobs[0].pods, 1);
  const TraceJob& large = trace.jobs[1];
  EXPECT_EQ(large.submitted, absl::Seconds(60));
  EXPECT_EQ(large.queue, "team-a");
  EXPECT_EQ(large.all_gpus(), 32);
  EXPECT_EQ(large.cpu_milli, 16000);
  EXPECT_EQ(large.memory_mib, 65536);
  EXPECT_EQ(large.priority, 5);
  EXPECT_THAT(large.models, ElementsAre("H100", "H200"));
}

TEST(Trace, OpenbPodsRunFromTheirStartToTheirEnd) {
  const WorkloadTrace trace = Read(kOpenb);
  EXPECT_EQ(trace.format, "openb");
  ASSERT_THAT(trace.jobs, SizeIs(2));
  EXPECT_EQ(trace.jobs[0].runs, absl::Seconds(90));
  EXPECT_THAT(trace.jobs[0].models, ElementsAre("V100M16", "V100M32"));
  EXPECT_EQ(trace.jobs[1].submitted, absl::Seconds(20));
  EXPECT_EQ(trace.rounded, 1);
  EXPECT_EQ(trace.never_ran, 1);
}

TEST(Trace, AJobThatNoNodeHoldsIsDividedIntoEqualPods) {
  const WorkloadTrace trace = Read(kPhilly);
  ASSERT_THAT(trace.jobs, SizeIs(2));
  EXPECT_EQ(trace.jobs[0].queue, "6214e9");
  EXPECT_EQ(trace.jobs[1].submitted, absl::Seconds(60));
  EXPECT_EQ(trace.jobs[1].gpus, 6);
  EXPECT_EQ(trace.jobs[1].pods, 2);
}

TEST(Trace, StandardWorkloadFormat) {
  const WorkloadTrace trace = Read(kSwf);
  ASSERT_THAT(trace.jobs, SizeIs(1));
  EXPECT_EQ(trace.jobs[0].name, "job-1");
  EXPECT_EQ(trace.jobs[0].queue, "queue-3");
  EXPECT_EQ(trace.jobs[0].runs, absl::Seconds(100));
  EXPECT_EQ(trace.jobs[0].pods, 2);
  EXPECT_EQ(trace.never_ran, 1);
}

// The head of the archive's files is prose.
TEST(Trace, ACommentOfTheStandardWorkloadFormatMayHaveCommas) {
  EXPECT_THAT(
      Read("; Computer: IBM SP2, 128 nodes\n1 0 0 10 4 -1 -1 4 -1 -1 1 1 1 -1 1 -1 -1 -1\n").jobs,
      SizeIs(1));
}

TEST(Trace, AJobOfSlurmThatRanForNoNumberOfSecondsIsRefused) {
  for (const char* elapsed : {"nan:00", "inf:00", "1e300-01:00:00", "9999999999:00:00"}) {
    const absl::Status status =
        ReadTrace(absl::StrCat("JobID|Submit|Elapsed|Account|ReqTRES\n1|2026-01-31T12:00:00|",
                               elapsed, "|a|gres/gpu=1\n"),
                  8)
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << elapsed;
  }
}

TEST(Trace, SlurmsAccountingWithoutTheStepsOfJobs) {
  const WorkloadTrace trace = Read(kSacct);
  ASSERT_THAT(trace.jobs, SizeIs(2));
  EXPECT_EQ(trace.jobs[0].runs, absl::Hours(26) + absl::Minutes(3) + absl::Seconds(4));
  EXPECT_EQ(trace.jobs[0].all_gpus(), 16);
  EXPECT_EQ(trace.jobs[1].runs, absl::Seconds(150));
  EXPECT_EQ(trace.jobs[1].all_gpus(), 0);
  EXPECT_EQ(trace.jobs[1].submitted, absl::Seconds(30));
}

TEST(Trace, GzippedIsTheSame) { EXPECT_THAT(Read(Gzip(kPhilly)).jobs, SizeIs(2)); }

TEST(Trace, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(ErrorOf("a,b,c\n1,2,3\n"), HasSubstr("submit_s, duration_s, gpus"));
  EXPECT_THAT(ErrorOf("submit_s,duration_s,gpus\n1,2,3\n1,x,3\n"),
              HasSubstr("line 3, duration_s: \"x\" is not a number from 0 to"));
  EXPECT_THAT(ErrorOf("submit_s,duration_s,gpus\n1,2,1.5\n"),
              HasSubstr("line 2, gpus: \"1.5\" is not a whole number"));
  EXPECT_THAT(ErrorOf("submit_s,duration_s,gpus,pods\n1,2,3,0\n"), HasSubstr("pods: \"0\""));
  EXPECT_THAT(ErrorOf("submit_s,duration_s,gpus\n-1,2,3\n"), HasSubstr("submit_s: \"-1\""));
  EXPECT_THAT(ErrorOf("submit_s,duration_s,gpus\n"), HasSubstr("no job in it that ran"));
  EXPECT_THAT(ErrorOf("timestamp,duration,num_gpus,cluster\nyesterday,1,1,a\n"),
              HasSubstr("line 2, timestamp: \"yesterday\""));
  EXPECT_THAT(ErrorOf("1 2 3\n"), HasSubstr("line 1: 18 numbers"));
  EXPECT_THAT(ErrorOf("JobID|Submit|Elapsed\n"), HasSubstr("there is no Account"));
  EXPECT_THAT(ErrorOf("JobID|Submit|Elapsed|Account\n"), HasSubstr("there is no AllocTRES"));
  EXPECT_THAT(ErrorOf("JobID|Submit|Elapsed|Account|AllocTRES\n1|2026-01-31T12:00:00|soon|a|\n"),
              HasSubstr("Elapsed: \"soon\""));
  EXPECT_THAT(ErrorOf(Gzip(kPhilly).substr(0, 40)), HasSubstr("cut off"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("no job"));
}

TEST(Trace, CutOrDamagedAnywhereItIsReadOrRefused) {
  for (const std::string text : {kOwn, kOpenb, kPhilly, kSwf, kSacct}) {
    for (size_t i = 0; i < text.size(); ++i) {
      (void)ReadTrace(text.substr(0, i), 8);
      for (const char c : {'\0', '-', ',', '|', '9', '\n', '\xff'}) {
        std::string damaged = text;
        damaged[i] = c;
        const absl::StatusOr<WorkloadTrace> trace = ReadTrace(damaged, 8);
        if (!trace.ok()) continue;
        for (const TraceJob& job : trace->jobs) {
          EXPECT_GT(job.runs, absl::ZeroDuration());
          EXPECT_GE(job.submitted, absl::ZeroDuration());
          EXPECT_GE(job.pods, 1);
          EXPECT_LE(job.gpus, 100'000);
        }
      }
    }
  }
}

TEST(SimulatedCluster, NodesAreOfTheKindThatIsAskedFor) {
  const absl::StatusOr<NodeKind> kind = ParseNodeKind("3:gpus=4,cpu=96,memory=1Ti,model=H100");
  ASSERT_TRUE(kind.ok()) << kind.status();
  const std::vector<Json> nodes = NodesOf({*kind});
  ASSERT_THAT(nodes, SizeIs(3));
  EXPECT_EQ(nodes[2]["metadata"]["name"].AsString(), "node-00002");
  EXPECT_EQ(nodes[2]["metadata"]["labels"]["nvidia.com/gpu.product"].AsString(), "H100");
  EXPECT_EQ(nodes[2]["status"]["allocatable"]["nvidia.com/gpu"].AsString(), "4");
  for (const char* wrong :
       {"", "0", "x", "1000000", "3:gpus=-1", "3:gpus=65", "3:cpu=many", "3:racks=2", "3:model="}) {
    EXPECT_THAT(ParseNodeKind(wrong).status().message(), HasSubstr("N[:gpus=8")) << wrong;
  }
}

TEST(SimulatedCluster, NodesOfOpenb) {
  const auto nodes =
      ReadOpenbNodes("sn,cpu_milli,memory_mib,gpu,model\nn-1,64000,262144,2,P100\nn-2,1000,1,0,\n");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  ASSERT_THAT(*nodes, SizeIs(2));
  EXPECT_EQ((*nodes)[0]["status"]["allocatable"]["cpu"].AsString(), "64000m");
  EXPECT_FALSE((*nodes)[1]["status"]["allocatable"].Has("nvidia.com/gpu"));
  EXPECT_THAT(ReadOpenbNodes("sn,gpu\n").status().message(), HasSubstr("no cpu_milli"));
}

TEST(SimulatedCluster, QuotasShareAllGpusAndLeaveQueuesThatAreThereAlone) {
  std::vector<Json> cluster = NodesOf({{.count = 2, .gpus = 8}});
  cluster.push_back(Json::Object({{"kind", "Queue"}, {"metadata", Json::Object({{"name", "c"}})}}));
  const std::vector<TraceJob> jobs = {{.queue = "a", .runs = absl::Hours(1), .gpus = 3},
                                      {.queue = "b", .runs = absl::Hours(1), .gpus = 1},
                                      {.queue = "c", .runs = absl::Hours(9), .gpus = 1},
                                      {.runs = absl::Hours(9), .gpus = 1}};
  const auto nominal = [](const Json& queue) {
    return queue["spec"]["quotas"].items()[0]["resources"].items()[0]["nominal"].AsInt();
  };
  const std::vector<Json> queues = QueuesFor(jobs, cluster, QuotaBy::kDemand);
  ASSERT_THAT(queues, SizeIs(2));
  EXPECT_EQ(nominal(queues[0]), 12);
  EXPECT_EQ(nominal(queues[1]), 4);
  EXPECT_EQ(nominal(QueuesFor(jobs, cluster, QuotaBy::kEqual)[0]), 8);
  EXPECT_FALSE(QueuesFor(jobs, cluster, QuotaBy::kNone)[0]["spec"].Has("quotas"));
}

TEST(Trace, AQueueHasANameThatKubernetesTakes) {
  const auto name = [](const std::string& queue) {
    return Read(absl::StrCat("submit_s,duration_s,gpus,queue\n0,1,1,", queue, "\n")).jobs[0].queue;
  };
  EXPECT_EQ(name("ops!!"), "ops");
  EXPECT_EQ(name("Team A"), "team-a");
  EXPECT_EQ(name("-"), "");
  EXPECT_NE(name("日本"), name("東京"));
  for (const std::string& queue :
       {std::string("日本"), "_" + std::string(70, 'a'), std::string(62, 'a') + "--b"}) {
    EXPECT_LE(name(queue).size(), 63u);
    EXPECT_NE(name(queue).front(), '-');
    EXPECT_NE(name(queue).back(), '-');
  }
}

TEST(Trace, TwoTeamsHaveTwoQueuesThoughTheirNamesBecomeOne) {
  const WorkloadTrace trace = Read(
      "submit_s,duration_s,gpus,queue\n0,1,1,a.b\n1,1,1,a_b\n2,1,1,A-b\n3,1,1,a_b\n4,1,1,a.b\n");
  std::vector<std::string> queues;
  for (const TraceJob& job : trace.jobs) queues.push_back(job.queue);
  EXPECT_THAT(queues, ElementsAre("a.b", "a-b", "a-b-2", "a-b", "a.b"));
}

TEST(Trace, TheFirstLineThatSaysSomethingTellsTheFormat) {
  EXPECT_THAT(Read("\r\nsubmit_s,duration_s,gpus\n0,1,1\n").jobs, SizeIs(1));
  EXPECT_THAT(Read("Submit|Elapsed|Account|ReqTRES|JobID\n"
                   "2026-01-31T12:00:00|01:00|a|gres/gpu=1|1\n")
                  .jobs,
              SizeIs(1));
  EXPECT_THAT(ErrorOf("submit_s;duration_s;gpus\n"), HasSubstr("with commas between them"));
}

TEST(Trace, LargeNumbersOfTheStandardWorkloadFormatKeepTheirDigits) {
  const WorkloadTrace trace = Read("1234567 0 0 10 4 -1 -1 4 -1 -1 1 1 1 -1 3000001 -1 -1 -1\n");
  EXPECT_EQ(trace.jobs[0].name, "job-1234567");
  EXPECT_EQ(trace.jobs[0].queue, "queue-3000001");
}

TEST(Trace, GpusOfSlurmMayBeToldByTypeAlone) {
  const auto gpus = [](const std::string& tres) {
    return Read(absl::StrCat("JobID|Submit|Elapsed|Account|ReqTRES\n1|2026-01-31T12:00:00|01:00|a|",
                             tres, "\n"))
        .jobs[0]
        .all_gpus();
  };
  EXPECT_EQ(gpus("cpu=8,gres/gpu:h100=4,gres/gpu:a100=2,gres/gpumem=80G"), 6);
  EXPECT_EQ(gpus("gres/gpu:h100=4,gres/gpu=4"), 4);
}

TEST(Trace, ACsvOfASpreadsheetBeginsWithAMark) {
  EXPECT_THAT(Read("\xEF\xBB\xBFsubmit_s,duration_s,gpus\n0,1,1\n").jobs, SizeIs(1));
}

}  // namespace
}  // namespace maniple
