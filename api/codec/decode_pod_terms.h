// What a pod asks of the pods around it (api/model/pod_terms.h), from its spec. Private to this
// room.
//
// Fields come in any order, and the terms need the pod's labels and namespace: they are collected
// first and completed at the end.
//
//   PodTermsReader terms;
//   terms.ReadAffinity(field);              // spec.affinity
//   terms.ReadSpread(field);                // spec.topologySpreadConstraints
//   std::move(terms).Into(meta, constraints);
#pragma once

#include <string>
#include <vector>

#include "api/codec/cursor.h"
#include "api/model/model.h"

namespace maniple {

class PodTermsReader final {
 public:
  void ReadAffinity(const Cursor& affinity);
  void ReadSpread(const Cursor& constraints);
  void Into(const ObjectMeta& meta, PodConstraints& constraints) &&;

 private:
  struct RawTerm {
    PodAffinityTerm term;
    std::vector<std::string> match_label_keys, mismatch_label_keys;
    int32_t weight = 0;  // of a preferred one
  };
  struct RawSpread {
    TopologySpreadConstraint constraint;
    std::vector<std::string> match_label_keys;
  };
  struct RawTerms {
    std::vector<RawTerm> required, preferred;
  };

  static RawTerms ReadTerms(const Cursor& affinity);
  static RawTerm ReadTerm(const Cursor& term);
  static RawTerm ReadWeighted(const Cursor& weighted);
  static RawSpread ReadConstraint(const Cursor& constraint);
  static PodAffinityTerm Completed(RawTerm raw, const ObjectMeta& meta);
  static std::vector<PodAffinityTerm> Required(std::vector<RawTerm> raw, const ObjectMeta& meta);
  static std::vector<WeightedPodTerm> Preferred(std::vector<RawTerm> raw, const ObjectMeta& meta);

  RawTerms near_, apart_;
  std::vector<RawSpread> spread_;
};

}  // namespace maniple
