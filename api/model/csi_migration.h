// Volumes of kinds from before CSI: a CSI driver serves them now, and attaches them under its own
// limit.
//
// Source: Kubernetes' CSI translation library, staging/src/k8s.io/csi-translation-lib/plugins. Each
// of these moves is complete since Kubernetes 1.33 at the latest, so a node is not asked whether it
// made it.
#pragma once

#include "absl/strings/string_view.h"

namespace maniple {

struct MigratedPlugin {
  absl::string_view field;        // of a volume's source, in a pod or a PersistentVolume
  absl::string_view provisioner;  // as storage classes name it
  absl::string_view driver;
  absl::string_view id;  // the member of `field` that tells volumes of the driver apart
};

inline constexpr MigratedPlugin kMigratedPlugins[] = {
    {"awsElasticBlockStore", "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "volumeID"},
    {"azureDisk", "kubernetes.io/azure-disk", "disk.csi.azure.com", "diskURI"},
    {"azureFile", "kubernetes.io/azure-file", "file.csi.azure.com", "shareName"},
    {"cinder", "kubernetes.io/cinder", "cinder.csi.openstack.org", "volumeID"},
    {"gcePersistentDisk", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "pdName"},
    {"portworxVolume", "kubernetes.io/portworx-volume", "pxd.portworx.com", "volumeID"},
    {"vsphereVolume", "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "volumePath"},
};

// The driver that makes the volumes of this provisioner: itself, unless another one took over.
[[nodiscard]] constexpr absl::string_view CsiDriverOf(absl::string_view provisioner) {
  for (const MigratedPlugin& plugin : kMigratedPlugins) {
    if (plugin.provisioner == provisioner) return plugin.driver;
  }
  return provisioner;
}

}  // namespace maniple
