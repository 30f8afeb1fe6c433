#include "api/producers/gang_directory.h"

#include "absl/container/flat_hash_map.h"

namespace maniple {

class GangDirectory::Impl final {
 public:
  absl::flat_hash_map<PodId, PodPlace> places;
};

GangDirectory::GangDirectory(ProducerOptions) : impl_(std::make_unique<Impl>()) {}
GangDirectory::~GangDirectory() = default;
void GangDirectory::Upsert(const ForeignObject&, DirectoryChange&) {}
void GangDirectory::Remove(const ObjectKey&, absl::string_view, DirectoryChange&) {}
void GangDirectory::Refuse(const ObjectInvalid&, DirectoryChange&) {}
void GangDirectory::SetServed(const KindServed&, DirectoryChange&) {}
PodPlace GangDirectory::Put(PodId pod, const Pod& seen, DirectoryChange&) {
  return impl_->places[pod] = {.group_name = std::string(seen.meta.labels.Get(kPodGroupLabel)),
                               .sub_group = std::string(seen.meta.labels.Get(kSubGroupLabel)),
                               .passed_over = ""};
}
void GangDirectory::Forget(PodId pod, DirectoryChange&) { impl_->places.erase(pod); }
PodPlace GangDirectory::PlaceOf(PodId pod) const { return impl_->places.at(pod); }
const ForeignGang* GangDirectory::Find(const GangName&) const { return nullptr; }

}  // namespace maniple
