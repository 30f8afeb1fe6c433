#include "scheduler/cycle/domains/restriction.h"

#include "scheduler/cycle/room/bound_shape.h"

namespace maniple {
namespace {

void Intersect(NodeSet& nodes, const NodeSet& with) {
  for (size_t b = 0; b < nodes.size(); ++b) nodes[b] &= b < with.size() ? with[b] : NodeMask();
}

}  // namespace

Restriction::Restriction(std::vector<Kind>& kinds) : kinds_(kinds), sets_(kinds.size()) {
  for (const Kind& kind : kinds) {
    before_.push_back(kind.bound == nullptr ? nullptr : kind.bound->allowed());
  }
}

Restriction::~Restriction() {
  for (size_t k = 0; k < kinds_.size(); ++k) {
    if (kinds_[k].bound != nullptr) kinds_[k].bound->RestrictTo(before_[k]);
  }
}

void Restriction::To(const NodeSet& nodes, size_t kind) {
  if (kinds_[kind].bound == nullptr) return;
  sets_[kind] = nodes;
  if (before_[kind] != nullptr) Intersect(sets_[kind], *before_[kind]);
  kinds_[kind].bound->RestrictTo(&sets_[kind]);
}

}  // namespace maniple
