#include "plugins/framework/free_volume.h"

namespace maniple {

bool Serves(const FreeVolume& volume, const UnboundClaim& claim) {
  return volume.storage_class == claim.storage_class && volume.capacity >= claim.size &&
         volume.block == claim.block && volume.attributes_class == claim.attributes_class &&
         (claim.modes & ~volume.modes) == 0 &&
         (!claim.selector.has_value() || claim.selector->Matches(volume.labels));
}

}  // namespace maniple
