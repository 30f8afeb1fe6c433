// JobSet of jobset.x-k8s.io/v1alpha2.
#include <algorithm>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "api/producers/fields.h"
#include "api/producers/kind_readers.h"

namespace maniple {
namespace {

// Each Job in a domain of its own: all its pods but the first are refused until that one is bound.
bool IsExclusive(const Cursor& meta) {
  bool exclusive = false, by_selector = false;
  ForMember(meta, "annotations", [&](const Cursor& annotations) {
    for (const Cursor& annotation : annotations.Members()) {
      exclusive |= annotation.key() == "alpha.jobset.sigs.k8s.io/exclusive-topology";
      by_selector |= annotation.key() == "alpha.jobset.sigs.k8s.io/node-selector";
    }
  });
  return exclusive && !by_selector;
}

class JobSetReader final {
 public:
  ForeignSpec Read(const Cursor& root) {
    ForMember(root, "spec", [&](const Cursor& of) {
      for (const Cursor& field : of.Members()) {
        if (field.key() == "replicatedJobs") ReadJobs(field);
        if (field.key() == "startupPolicy") {
          ForMember(field, "startupPolicyOrder",
                    [&](const Cursor& order) { spec_.staged |= order.View() == "InOrder"; });
        }
      }
    });
    ForMember(root, "metadata", [&](const Cursor& meta) {
      if (!IsExclusive(meta)) return;
      for (Job& job : jobs_) job.exclusive = true;
    });
    for (const Job& job : jobs_) AddPart(job);
    (void)CheckedCount(MembersOf(spec_), "spec.replicatedJobs: the sum of all pods", spec_);
    CheckOrder();
    return std::move(spec_);
  }

 private:
  struct Job {
    std::string path, name;
    int64_t replicas = 1;
    int64_t parallelism = 1;
    std::optional<int64_t> completions;
    bool exclusive = false;
    std::vector<std::pair<std::string, std::string>> depends_on;  // path, name
  };

  void ReadJobs(const Cursor& list) {
    for (const Cursor& item : list.Items()) {
      Job job;
      job.path = item.Path();
      for (const Cursor& field : item.Members()) {
        if (field.key() == "name") job.name = field.Text();
        if (field.key() == "replicas") job.replicas = ReadCount(field, spec_);
        if (field.key() == "dependsOn") ReadDependencies(field, job);
        if (field.key() == "template") ReadTemplate(field, job);
      }
      jobs_.push_back(std::move(job));
    }
  }

  static void ReadDependencies(const Cursor& list, Job& job) {
    for (const Cursor& item : list.Items()) {
      ForMember(item, "name",
                [&](const Cursor& name) { job.depends_on.emplace_back(name.Path(), name.Text()); });
    }
  }

  void ReadTemplate(const Cursor& job_template, Job& job) {
    for (const Cursor& field : job_template.Members()) {
      if (field.key() == "metadata") job.exclusive |= IsExclusive(field);
      if (field.key() != "spec") continue;
      for (const Cursor& of : field.Members()) {
        if (of.key() == "parallelism") job.parallelism = ReadCount(of, spec_);
        if (of.key() == "completions") job.completions = ReadCount(of, spec_);
      }
    }
  }

  void AddPart(const Job& job) {
    if (!names_.insert(job.name).second) {
      NoteProblem(spec_, absl::StrCat(job.path, ".name: ", job.name, " is there twice"));
    }
    const int64_t at_once = std::min(job.parallelism, job.completions.value_or(job.parallelism));
    const int64_t members = CheckedCount(job.replicas * at_once, job.path, spec_);
    spec_.leader_first |= job.exclusive;
    spec_.bound_to_lead |= job.exclusive;
    spec_.staged |= !job.depends_on.empty();
    spec_.parts.push_back({.name = job.name,
                           .members = members,
                           .leaders = job.exclusive ? std::min(job.replicas, members) : members});
  }

  // A Job that depends on nobody who is there, or on itself, never starts.
  void CheckOrder() {
    absl::flat_hash_map<absl::string_view, std::vector<const Job*>> followers;
    absl::flat_hash_map<const Job*, size_t> waits_for;
    std::vector<const Job*> started;
    for (const Job& job : jobs_) {
      for (const auto& [path, name] : job.depends_on) {
        followers[name].push_back(&job);
        if (names_.contains(name)) continue;
        NoteProblem(spec_, absl::StrCat(path, ": there is no replicated Job ", name));
      }
      waits_for[&job] = job.depends_on.size();
      if (job.depends_on.empty()) started.push_back(&job);
    }
    for (size_t i = 0; i < started.size(); ++i) {
      for (const Job* follower : followers[started[i]->name]) {
        if (--waits_for[follower] == 0) started.push_back(follower);
      }
    }
    const auto stuck = std::find_if(jobs_.begin(), jobs_.end(),
                                    [&](const Job& job) { return waits_for[&job] > 0; });
    if (stuck == jobs_.end()) return;
    NoteProblem(spec_, absl::StrCat(stuck->path, ".dependsOn: forms a loop, so that ", stuck->name,
                                    " never starts"));
  }

  ForeignSpec spec_;
  std::vector<Job> jobs_;
  absl::btree_set<std::string> names_;
};

}  // namespace

ForeignSpec ReadJobSet(const Cursor& root) { return JobSetReader().Read(root); }

}  // namespace maniple
