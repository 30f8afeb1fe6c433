// maniple-load: the other side of a whole-cluster measurement: creates the cluster, watches pods
// become bound, and binds a plan of its own as fast as the server lets it (the ceiling C).
//
//   maniple-load create --kubeconfig K --nodes 5000 --gangs 2000 --members 8 --gpus 1
//   maniple-load await  --kubeconfig K --pods 16000          # one line of JSON once all are bound
//   maniple-load flood  --kubeconfig K --connections 16      # binds every unbound pod, eight to a
//   node, in order of name
//   maniple-load churn  --kubeconfig K --first 0 --pods 100000   # creates pods that share nothing,
//   and deletes each when 200 later ones are there
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/base/clock.h"
#include "api/base/status_macros.h"
#include "api/client/kubeconfig.h"
#include "api/client/watch_session.h"
#include "api/codec/decode.h"
#include "api/codec/encode.h"
#include "api/http/curl_transport.h"
#include "api/model/maniple_types.h"
#include "bench/cluster/churn.h"

namespace maniple {
namespace {

constexpr uint16_t kRequestsOwner = 1;
constexpr uint16_t kWatchOwner = 2;
constexpr char kPods[] = "/api/v1/namespaces/default/pods";

struct Options {
  std::string kubeconfig, server;
  int nodes = 0, gangs = 0, members = 1, gpus = 1, connections = 32;
  int64_t pods = 0, first = 0;
  double timeout = 600;
  std::string scheduler = "maniple", prefix = "g";
  std::string groups = "maniple";
};

// Whose PodGroups gangs are declared by.
struct GroupKind {
  const char *api_version, *label;
};
constexpr GroupKind kOurs{"scheduling.maniple.dev/v1alpha1", kPodGroupLabel};
constexpr GroupKind kXk8s{"scheduling.x-k8s.io/v1alpha1", "scheduling.x-k8s.io/pod-group"};

const GroupKind& GroupKindOf(const Options& options) {
  return options.groups == "x-k8s" ? kXk8s : kOurs;
}

HttpRequest Post(std::string target, std::string body) {
  HttpRequest request;
  request.method = HttpMethod::kPost;
  request.target = std::move(target);
  request.content_type = "application/json";
  request.body = std::move(body);
  request.timeout = absl::Seconds(60);
  return request;
}

// Keeps `connections` requests under way until the generator has no more.
class Pump final {
 public:
  using Generator = std::function<std::optional<HttpRequest>()>;
  Pump(CurlTransport& transport, int connections)
      : transport_(transport), connections_(connections) {}

  // The first refusal as an error.
  absl::Status Run(const Generator& next,
                   const std::function<void(const HttpInput&)>& other = nullptr) {
    absl::Status result = absl::OkStatus();
    std::optional<HttpRequest> request = next();
    while (request.has_value() || !open_.empty()) {
      while (request.has_value() && static_cast<int>(open_.size()) < connections_) {
        const RequestId id = ids_.Next();
        open_[id] = {.target = request->target, .deletes = request->method == HttpMethod::kDelete};
        transport_.Start(id, *std::move(request));
        request = next();
      }
      for (const HttpInput& input : transport_.Poll(absl::Milliseconds(100))) {
        if (RequestIds::OwnerOf(input.request) != kRequestsOwner) {
          if (other) other(input);
          continue;
        }
        const absl::Status status = Take(input);
        if (result.ok()) result = status;
      }
    }
    return result;
  }

 private:
  struct Open {
    std::string target;
    bool deletes = false;
    int status = 0;
    std::string body;
  };

  absl::Status Take(const HttpInput& input) {
    Open& open = open_[input.request];
    absl::Status status = absl::OkStatus();
    if (const auto* head = std::get_if<HttpHead>(&input.what)) open.status = head->status;
    if (const auto* chunk = std::get_if<HttpChunk>(&input.what)) {
      if (open.status >= 300) open.body += chunk->bytes;
    }
    if (const auto* end = std::get_if<HttpEnd>(&input.what)) {
      status = end->status;
      // libcurl sends it again where a connection was closed before the reply.
      const bool is_gone = open.deletes && open.status == 404;
      if (status.ok() && open.status >= 300 && !is_gone) {
        status = absl::FailedPreconditionError(DecodeStatus(open.status, open.body).message);
      }
      status = Annotate(status, open.target);
      open_.erase(input.request);
    }
    return status;
  }

  CurlTransport& transport_;
  const int connections_;
  RequestIds ids_{kRequestsOwner};
  std::map<RequestId, Open> open_;
};

std::string NodeBody(int index) {
  const std::string name = absl::StrFormat("node-%05d", index);
  const char* amounts = R"({"cpu":"96","memory":"1Ti","pods":"110","nvidia.com/gpu":"8"})";
  return absl::StrFormat(
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"%s","labels":{"kubernetes.io/hostname":"%s","example.com/rack":"rack-%d"}},"status":{"capacity":%s,"allocatable":%s,"conditions":[{"type":"Ready","status":"True"}]}})",
      name, name, index / 100, amounts, amounts);
}

std::string PodBody(const Options& options, int gang, int member) {
  const std::string group = absl::StrFormat("%s-%05d", options.prefix, gang);
  return absl::StrFormat(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s-%d","labels":{"%s":"%s","batch.kubernetes.io/job-completion-index":"%d"}},"spec":{"schedulerName":"%s","terminationGracePeriodSeconds":0,"containers":[{"name":"main","image":"registry.example/train:1","resources":{"requests":{"cpu":"1","nvidia.com/gpu":"%d"},"limits":{"cpu":"1","nvidia.com/gpu":"%d"}}}]}})",
      group, member, GroupKindOf(options).label, group, member, options.scheduler, options.gpus,
      options.gpus);
}

absl::Status Create(const Options& options, CurlTransport& transport) {
  Pump pump(transport, options.connections);
  int node = 0, status = 0, gang = 0, member = -1;
  return pump.Run([&]() -> std::optional<HttpRequest> {
    if (node < options.nodes) return Post("/api/v1/nodes", NodeBody(node++));
    // A real server drops the status of a new node.
    if (status < options.nodes) {
      HttpRequest request =
          Post(absl::StrFormat("/api/v1/nodes/node-%05d/status", status), NodeBody(status));
      ++status;
      request.method = HttpMethod::kPatch;
      request.content_type = "application/merge-patch+json";
      return request;
    }
    if (gang == options.gangs) return std::nullopt;
    if (member < 0) {
      member = 0;
      const char* api_version = GroupKindOf(options).api_version;
      return Post(
          absl::StrFormat("/apis/%s/namespaces/default/podgroups", api_version),
          absl::StrFormat(
              R"({"apiVersion":"%s","kind":"PodGroup","metadata":{"name":"%s-%05d"},"spec":{"minMember":%d}})",
              api_version, options.prefix, gang, options.members));
    }
    HttpRequest request = Post(kPods, PodBody(options, gang, member));
    if (++member == options.members) {
      member = -1;
      ++gang;
    }
    return request;
  });
}

// More of them are alive than requests under way, so that none is deleted before it is created.
absl::Status Churn(const Options& options, CurlTransport& transport) {
  constexpr int64_t kAlive = 200;
  Pump pump(transport, options.connections);
  const int64_t end = options.first + options.pods;
  int64_t created = options.first, deleted = options.first;
  return pump.Run([&]() -> std::optional<HttpRequest> {
    const bool may_create = created < end && created - deleted < kAlive;
    if (may_create) return Post(kPods, ChurnPodBody(created++));
    if (deleted == end) return std::nullopt;
    HttpRequest request = Post(absl::StrCat(kPods, "/", ChurnPodName(deleted++)), "");
    request.method = HttpMethod::kDelete;
    return request;
  });
}

// Follows all pods and remembers when each was first seen bound.
class PodWatch final {
 public:
  PodWatch(CurlTransport& transport, uint64_t seed)
      : transport_(transport), session_({.kind = ResourceKind::kPod, .owner = kWatchOwner}, seed) {
    Take(session_.Start());
  }

  void On(const HttpInput& input) { Take(session_.On(input, decoder_, RealClock().Now())); }
  void OnTime() {
    if (session_.NextDeadline() <= RealClock().Now()) Take(session_.OnTime(RealClock().Now()));
  }
  [[nodiscard]] bool synced() const { return session_.synced(); }

  std::map<std::string, std::string> unbound;             // name → uid
  std::vector<std::pair<absl::Time, std::string>> bound;  // in the order seen: when, group

 private:
  void Take(SessionOutput output) {
    Perform(std::move(output.http), transport_);
    for (const ObjectEvent& event : output.events) {
      const auto* upserted = std::get_if<ObjectUpserted>(&event);
      if (upserted == nullptr) continue;
      const Pod& pod = std::get<Pod>(upserted->object);
      if (pod.node_name.empty()) {
        unbound[pod.meta.name] = pod.meta.uid;
      } else if (seen_.emplace(pod.meta.uid, true).second) {
        unbound.erase(pod.meta.name);
        const bool ours = !pod.meta.labels.Get(kOurs.label).empty();
        bound.emplace_back(RealClock().Now(),
                           std::string(pod.meta.labels.Get(ours ? kOurs.label : kXk8s.label)));
      }
    }
  }

  CurlTransport& transport_;
  WatchSession session_;
  Decoder decoder_;
  std::map<std::string, bool> seen_;
};

// One line of JSON: how many, from when to when, and how long a gang was seen half bound.
void Report(const PodWatch& watch, absl::Time began) {
  struct Gang {
    absl::Time first, last;
  };
  std::map<std::string, Gang> gangs;
  for (const auto& [when, group] : watch.bound) {
    Gang& gang = gangs.try_emplace(group, Gang{when, when}).first->second;
    gang.last = when;
  }
  std::vector<double> spans;
  for (const auto& [name, gang] : gangs)
    spans.push_back(absl::ToDoubleMilliseconds(gang.last - gang.first));
  std::sort(spans.begin(), spans.end());
  const double first =
      watch.bound.empty() ? 0 : absl::ToDoubleSeconds(watch.bound.front().first - began);
  const double last =
      watch.bound.empty() ? 0 : absl::ToDoubleSeconds(watch.bound.back().first - began);
  const auto at = [&](double q) {
    return spans.empty() ? 0.0 : spans[static_cast<size_t>(q * (spans.size() - 1))];
  };
  absl::PrintF(
      R"({"pods": %d, "gangs": %d, "first_bind_s": %.3f, "last_bind_s": %.3f, "pods_per_s": %.0f, "gang_span_ms_p50": %.1f, "gang_span_ms_p99": %.1f})"
      "\n",
      watch.bound.size(), gangs.size(), first, last,
      last > first ? watch.bound.size() / (last - first) : 0.0, at(0.5), at(0.99));
}

absl::Status Await(const Options& options, CurlTransport& transport) {
  const absl::Time began = RealClock().Now();
  PodWatch watch(transport, 1);
  bool told = false;
  while (static_cast<int64_t>(watch.bound.size()) < options.pods) {
    for (const HttpInput& input : transport.Poll(absl::Milliseconds(100))) watch.On(input);
    watch.OnTime();
    if (watch.synced() && !told) {
      told = true;
      std::cerr << "watching" << std::endl;  // whoever started us may start the scheduler now
    }
    if (RealClock().Now() - began > absl::Seconds(options.timeout)) {
      return absl::DeadlineExceededError(
          absl::StrCat("only ", watch.bound.size(), " pods are bound"));
    }
  }
  Report(watch, began);
  return absl::OkStatus();
}

absl::Status Flood(const Options& options, CurlTransport& transport) {
  PodWatch watch(transport, 1);
  while (!watch.synced()) {
    for (const HttpInput& input : transport.Poll(absl::Milliseconds(100))) watch.On(input);
  }
  std::vector<std::pair<std::string, std::string>> plan(watch.unbound.begin(), watch.unbound.end());
  if (options.pods > 0 && static_cast<int64_t>(plan.size()) > options.pods)
    plan.resize(options.pods);
  size_t next = 0;
  Pump pump(transport, options.connections);
  const absl::Time began = RealClock().Now();
  const int per_node = std::max(1, 8 / options.gpus);
  RETURN_IF_ERROR(pump.Run(
      [&]() -> std::optional<HttpRequest> {
        if (next == plan.size()) return std::nullopt;
        const auto& [name, uid] = plan[next];
        const std::string node = absl::StrFormat("node-%05d", next++ / per_node);
        return Post(absl::StrCat(kPods, "/", name, "/binding"),
                    EncodeBinding("default", name, uid, node, ""));
      },
      [&](const HttpInput& input) { watch.On(input); }));
  const double seconds = absl::ToDoubleSeconds(RealClock().Now() - began);
  absl::PrintF(R"({"binds": %d, "seconds": %.3f, "binds_per_s": %.0f})"
               "\n",
               plan.size(), seconds, plan.size() / seconds);
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app("Creates load, watches it being bound, and measures the ceiling of an API server.",
               "maniple-load");
  app.require_subcommand(1);
  app.fallthrough();
  Options options;
  app.add_option("--kubeconfig", options.kubeconfig, "Kubeconfig of the server");
  app.add_option("--server", options.server, "URL of the server");
  app.add_option("--connections", options.connections, "Requests under way at once");
  app.add_option("--gpus", options.gpus, "GPUs of each pod; nodes have 8");
  app.add_option("--pods", options.pods, "await, churn: how many; flood: at most");
  app.add_option("--timeout", options.timeout, "await: seconds");
  app.add_option("--prefix", options.prefix, "Of gang names");
  app.add_option("--scheduler", options.scheduler, "schedulerName of the pods");
  CLI::App* create = app.add_subcommand("create", "Creates nodes, PodGroups and pods");
  create->add_option("--nodes", options.nodes);
  create->add_option("--gangs", options.gangs);
  create->add_option("--members", options.members);
  create->add_option("--groups", options.groups, "Whose PodGroups declare the gangs")
      ->check(CLI::IsMember({"maniple", "x-k8s"}));
  CLI::App* await = app.add_subcommand("await", "Waits until so many pods are bound");
  app.add_subcommand("flood", "Binds all unbound pods");
  CLI::App* churn = app.add_subcommand("churn", "Creates and deletes pods that share nothing");
  churn->add_option("--first", options.first, "Number of the first");
  CLI11_PARSE(app, argc, argv);

  const auto run = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(ClientConfig config, LoadClientConfig({.server = options.server,
                                                            .kubeconfig = options.kubeconfig,
                                                            .environment = ProcessEnvironment()}));
    ASSIGN_OR_RETURN(std::unique_ptr<CurlTransport> transport,
                     CurlTransport::Create(std::move(config), RealClock(),
                                           {.most_writes = options.connections}));
    if (create->parsed()) return Create(options, *transport);
    if (await->parsed()) return Await(options, *transport);
    if (churn->parsed()) return Churn(options, *transport);
    return Flood(options, *transport);
  };
  const absl::Status status = run();
  if (status.ok()) return 0;
  std::cerr << "maniple-load: " << status.message() << "\n";
  return 1;
}

}  // namespace
}  // namespace maniple

int main(int argc, char** argv) { return maniple::Main(argc, argv); }
