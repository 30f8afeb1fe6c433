// The messages of meta/v1 and core/v1, as wire facts of Kubernetes 1.36 (core/v1/types.go): see
// builtin_schema_data.h.
#include "api/devcluster/types/builtin_schema_data.h"

namespace maniple::devcluster {

const char kCoreSchema[] = R"(
Pod: 1=metadata/ObjectMeta 2=spec/PodSpec 3=status/PodStatus
ObjectMeta: 1=name 2=generateName 3=namespace 4=selfLink 5=uid 6=resourceVersion 7=generation/i
  8=creationTimestamp/T 9=deletionTimestamp/*T 10=deletionGracePeriodSeconds/*i 11=labels/{s
  12=annotations/{s 13=ownerReferences/[OwnerReference 14=finalizers/[s
  17=managedFields/[ManagedFieldsEntry
OwnerReference: 5=apiVersion! 1=kind! 3=name! 4=uid! 6=controller/*b 7=blockOwnerDeletion/*b
ManagedFieldsEntry: 1=manager 2=operation 3=apiVersion 4=time/*T 6=fieldsType 7=fieldsV1/*F
  8=subresource
PodSpec: 1=volumes/[Volume 20=initContainers/[Container 2=containers/[Container!
  34=ephemeralContainers/[EphemeralContainer 3=restartPolicy 4=terminationGracePeriodSeconds/*i
  5=activeDeadlineSeconds/*i 6=dnsPolicy 7=nodeSelector/{s 8=serviceAccountName 9=serviceAccount
  21=automountServiceAccountToken/*b 10=nodeName 11=hostNetwork/b 12=hostPID/b 13=hostIPC/b
  27=shareProcessNamespace/*b 14=securityContext/*PodSecurityContext
  15=imagePullSecrets/[LocalObjectReference 16=hostname 17=subdomain 18=affinity/*Affinity
  19=schedulerName 22=tolerations/[Toleration 23=hostAliases/[HostAlias 24=priorityClassName
  25=priority/*i 26=dnsConfig/*PodDNSConfig 28=readinessGates/[PodReadinessGate
  29=runtimeClassName/*s 30=enableServiceLinks/*b 31=preemptionPolicy/*s 32=overhead/{q
  33=topologySpreadConstraints/[TopologySpreadConstraint 35=setHostnameAsFQDN/*b 36=os/*PodOS
  37=hostUsers/*b 38=schedulingGates/[PodSchedulingGate 39=resourceClaims/[PodResourceClaim
  40=resources/*ResourceRequirements 41=hostnameOverride/*s 43=schedulingGroup/*PodSchedulingGroup
Volume: 1=name! 2/VolumeSource
VolumeSource: 1=hostPath/*HostPathVolumeSource 2=emptyDir/*EmptyDirVolumeSource
  3=gcePersistentDisk/*GCEPersistentDiskVolumeSource
  4=awsElasticBlockStore/*AWSElasticBlockStoreVolumeSource 5=gitRepo/*GitRepoVolumeSource
  6=secret/*SecretVolumeSource 7=nfs/*NFSVolumeSource 8=iscsi/*ISCSIVolumeSource
  9=glusterfs/*GlusterfsVolumeSource 10=persistentVolumeClaim/*PersistentVolumeClaimVolumeSource
  11=rbd/*RBDVolumeSource 12=flexVolume/*FlexVolumeSource 13=cinder/*CinderVolumeSource
  14=cephfs/*CephFSVolumeSource 15=flocker/*FlockerVolumeSource
  16=downwardAPI/*DownwardAPIVolumeSource 17=fc/*FCVolumeSource
  18=azureFile/*AzureFileVolumeSource 19=configMap/*ConfigMapVolumeSource
  20=vsphereVolume/*VsphereVirtualDiskVolumeSource 21=quobyte/*QuobyteVolumeSource
  22=azureDisk/*AzureDiskVolumeSource 23=photonPersistentDisk/*PhotonPersistentDiskVolumeSource
  26=projected/*ProjectedVolumeSource 24=portworxVolume/*PortworxVolumeSource
  25=scaleIO/*ScaleIOVolumeSource 27=storageos/*StorageOSVolumeSource 28=csi/*CSIVolumeSource
  29=ephemeral/*EphemeralVolumeSource 30=image/*ImageVolumeSource
HostPathVolumeSource: 1=path! 2=type/*s
EmptyDirVolumeSource: 1=medium 2=sizeLimit/*q
GCEPersistentDiskVolumeSource: 1=pdName! 2=fsType 3=partition/i 4=readOnly/b
AWSElasticBlockStoreVolumeSource: 1=volumeID! 2=fsType 3=partition/i 4=readOnly/b
GitRepoVolumeSource: 1=repository! 2=revision 3=directory
SecretVolumeSource: 1=secretName 2=items/[KeyToPath 3=defaultMode/*i 4=optional/*b
KeyToPath: 1=key! 2=path! 3=mode/*i
NFSVolumeSource: 1=server! 2=path! 3=readOnly/b
ISCSIVolumeSource: 1=targetPortal! 2=iqn! 3=lun/i! 4=iscsiInterface 5=fsType 6=readOnly/b
  7=portals/[s 8=chapAuthDiscovery/b 11=chapAuthSession/b 10=secretRef/*LocalObjectReference
  12=initiatorName/*s
LocalObjectReference: 1=name
GlusterfsVolumeSource: 1=endpoints! 2=path! 3=readOnly/b
PersistentVolumeClaimVolumeSource: 1=claimName! 2=readOnly/b
RBDVolumeSource: 1=monitors/[s! 2=image! 3=fsType 4=pool 5=user 6=keyring
  7=secretRef/*LocalObjectReference 8=readOnly/b
FlexVolumeSource: 1=driver! 2=fsType 3=secretRef/*LocalObjectReference 4=readOnly/b 5=options/{s
CinderVolumeSource: 1=volumeID! 2=fsType 3=readOnly/b 4=secretRef/*LocalObjectReference
CephFSVolumeSource: 1=monitors/[s! 2=path 3=user 4=secretFile 5=secretRef/*LocalObjectReference
  6=readOnly/b
FlockerVolumeSource: 1=datasetName 2=datasetUUID
DownwardAPIVolumeSource: 1=items/[DownwardAPIVolumeFile 2=defaultMode/*i
DownwardAPIVolumeFile: 1=path! 2=fieldRef/*ObjectFieldSelector
  3=resourceFieldRef/*ResourceFieldSelector 4=mode/*i
ObjectFieldSelector: 1=apiVersion 2=fieldPath!
ResourceFieldSelector: 1=containerName 2=resource! 3=divisor/q
FCVolumeSource: 1=targetWWNs/[s 2=lun/*i 3=fsType 4=readOnly/b 5=wwids/[s
AzureFileVolumeSource: 1=secretName! 2=shareName! 3=readOnly/b
ConfigMapVolumeSource: 1/LocalObjectReference 2=items/[KeyToPath 3=defaultMode/*i 4=optional/*b
VsphereVirtualDiskVolumeSource: 1=volumePath! 2=fsType 3=storagePolicyName 4=storagePolicyID
QuobyteVolumeSource: 1=registry! 2=volume! 3=readOnly/b 4=user 5=group 6=tenant
AzureDiskVolumeSource: 1=diskName! 2=diskURI! 3=cachingMode/*s 4=fsType/*s 5=readOnly/*b 6=kind/*s
PhotonPersistentDiskVolumeSource: 1=pdID! 2=fsType
ProjectedVolumeSource: 1=sources/[VolumeProjection! 2=defaultMode/*i
VolumeProjection: 1=secret/*SecretProjection 2=downwardAPI/*DownwardAPIProjection
  3=configMap/*ConfigMapProjection 4=serviceAccountToken/*ServiceAccountTokenProjection
  5=clusterTrustBundle/*ClusterTrustBundleProjection 6=podCertificate/*PodCertificateProjection
SecretProjection: 1/LocalObjectReference 2=items/[KeyToPath 4=optional/*b
DownwardAPIProjection: 1=items/[DownwardAPIVolumeFile
ConfigMapProjection: 1/LocalObjectReference 2=items/[KeyToPath 4=optional/*b
ServiceAccountTokenProjection: 1=audience 2=expirationSeconds/*i 3=path!
ClusterTrustBundleProjection: 1=name/*s 2=signerName/*s 3=labelSelector/*LabelSelector
  5=optional/*b 4=path!
LabelSelector: 1=matchLabels/{s 2=matchExpressions/[LabelSelectorRequirement
LabelSelectorRequirement: 1=key! 2=operator! 3=values/[s
PodCertificateProjection: 1=signerName 2=keyType 3=maxExpirationSeconds/*i 4=credentialBundlePath
  5=keyPath 6=certificateChainPath 7=userAnnotations/{s
PortworxVolumeSource: 1=volumeID! 2=fsType 3=readOnly/b
ScaleIOVolumeSource: 1=gateway! 2=system! 3=secretRef/*LocalObjectReference 4=sslEnabled/b
  5=protectionDomain 6=storagePool 7=storageMode 8=volumeName 9=fsType 10=readOnly/b
StorageOSVolumeSource: 1=volumeName 2=volumeNamespace 3=fsType 4=readOnly/b
  5=secretRef/*LocalObjectReference
CSIVolumeSource: 1=driver! 2=readOnly/*b 3=fsType/*s 4=volumeAttributes/{s
  5=nodePublishSecretRef/*LocalObjectReference
EphemeralVolumeSource: 1=volumeClaimTemplate/*PersistentVolumeClaimTemplate
PersistentVolumeClaimTemplate: 1=metadata/ObjectMeta 2=spec/PersistentVolumeClaimSpec!
PersistentVolumeClaimSpec: 1=accessModes/[s 4=selector/*LabelSelector
  2=resources/VolumeResourceRequirements 3=volumeName 5=storageClassName/*s 6=volumeMode/*s
  7=dataSource/*TypedLocalObjectReference 8=dataSourceRef/*TypedObjectReference
  9=volumeAttributesClassName/*s
VolumeResourceRequirements: 1=limits/{q 2=requests/{q
TypedLocalObjectReference: 1=apiGroup/*s 2=kind! 3=name!
TypedObjectReference: 1=apiGroup/*s 2=kind! 3=name! 4=namespace/*s
ImageVolumeSource: 1=reference 2=pullPolicy
Container: 1=name! 2=image 3=command/[s 4=args/[s 5=workingDir 6=ports/[ContainerPort
  19=envFrom/[EnvFromSource 7=env/[EnvVar 8=resources/ResourceRequirements
  23=resizePolicy/[ContainerResizePolicy 24=restartPolicy/*s
  25=restartPolicyRules/[ContainerRestartRule 9=volumeMounts/[VolumeMount
  21=volumeDevices/[VolumeDevice 10=livenessProbe/*Probe 11=readinessProbe/*Probe
  22=startupProbe/*Probe 12=lifecycle/*Lifecycle 13=terminationMessagePath
  20=terminationMessagePolicy 14=imagePullPolicy 15=securityContext/*SecurityContext 16=stdin/b
  17=stdinOnce/b 18=tty/b
ContainerPort: 1=name 2=hostPort/i 3=containerPort/i! 4=protocol 5=hostIP
EnvFromSource: 1=prefix 2=configMapRef/*ConfigMapEnvSource 3=secretRef/*SecretEnvSource
ConfigMapEnvSource: 1/LocalObjectReference 2=optional/*b
SecretEnvSource: 1/LocalObjectReference 2=optional/*b
EnvVar: 1=name! 2=value 3=valueFrom/*EnvVarSource
EnvVarSource: 1=fieldRef/*ObjectFieldSelector 2=resourceFieldRef/*ResourceFieldSelector
  3=configMapKeyRef/*ConfigMapKeySelector 4=secretKeyRef/*SecretKeySelector
  5=fileKeyRef/*FileKeySelector
ConfigMapKeySelector: 1/LocalObjectReference 2=key! 3=optional/*b
SecretKeySelector: 1/LocalObjectReference 2=key! 3=optional/*b
FileKeySelector: 1=volumeName! 2=path! 3=key! 4=optional/*b
ResourceRequirements: 1=limits/{q 2=requests/{q 3=claims/[ResourceClaim
ResourceClaim: 1=name! 2=request
ContainerResizePolicy: 1=resourceName! 2=restartPolicy!
ContainerRestartRule: 1=action 2=exitCodes/*ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: 1=operator 2=values/[i
VolumeMount: 1=name! 2=readOnly/b 7=recursiveReadOnly/*s 3=mountPath! 4=subPath
  5=mountPropagation/*s 6=subPathExpr
VolumeDevice: 1=name! 2=devicePath!
Probe: 1/ProbeHandler 2=initialDelaySeconds/i 3=timeoutSeconds/i 4=periodSeconds/i
  5=successThreshold/i 6=failureThreshold/i 7=terminationGracePeriodSeconds/*i
ProbeHandler: 1=exec/*ExecAction 2=httpGet/*HTTPGetAction 3=tcpSocket/*TCPSocketAction
  4=grpc/*GRPCAction
ExecAction: 1=command/[s
HTTPGetAction: 1=path 2=port/I! 3=host 4=scheme 5=httpHeaders/[HTTPHeader
HTTPHeader: 1=name! 2=value!
TCPSocketAction: 1=port/I! 2=host
GRPCAction: 1=port/i! 2=service/*s
Lifecycle: 1=postStart/*LifecycleHandler 2=preStop/*LifecycleHandler 3=stopSignal/*s
LifecycleHandler: 1=exec/*ExecAction 2=httpGet/*HTTPGetAction 3=tcpSocket/*TCPSocketAction
  4=sleep/*SleepAction
SleepAction: 1=seconds/i!
SecurityContext: 1=capabilities/*Capabilities 2=privileged/*b 3=seLinuxOptions/*SELinuxOptions
  10=windowsOptions/*WindowsSecurityContextOptions 4=runAsUser/*i 8=runAsGroup/*i
  5=runAsNonRoot/*b 6=readOnlyRootFilesystem/*b 7=allowPrivilegeEscalation/*b 9=procMount/*s
  11=seccompProfile/*SeccompProfile 12=appArmorProfile/*AppArmorProfile
Capabilities: 1=add/[s 2=drop/[s
SELinuxOptions: 1=user 2=role 3=type 4=level
WindowsSecurityContextOptions: 1=gmsaCredentialSpecName/*s 2=gmsaCredentialSpec/*s
  3=runAsUserName/*s 4=hostProcess/*b
SeccompProfile: 1=type! 2=localhostProfile/*s
AppArmorProfile: 1=type! 2=localhostProfile/*s
EphemeralContainer: 1/EphemeralContainerCommon 2=targetContainerName
EphemeralContainerCommon: 1=name! 2=image 3=command/[s 4=args/[s 5=workingDir
  6=ports/[ContainerPort 19=envFrom/[EnvFromSource 7=env/[EnvVar 8=resources/ResourceRequirements
  23=resizePolicy/[ContainerResizePolicy 24=restartPolicy/*s
  25=restartPolicyRules/[ContainerRestartRule 9=volumeMounts/[VolumeMount
  21=volumeDevices/[VolumeDevice 10=livenessProbe/*Probe 11=readinessProbe/*Probe
  22=startupProbe/*Probe 12=lifecycle/*Lifecycle 13=terminationMessagePath
  20=terminationMessagePolicy 14=imagePullPolicy 15=securityContext/*SecurityContext 16=stdin/b
  17=stdinOnce/b 18=tty/b
PodSecurityContext: 1=seLinuxOptions/*SELinuxOptions
  8=windowsOptions/*WindowsSecurityContextOptions 2=runAsUser/*i 6=runAsGroup/*i 3=runAsNonRoot/*b
  4=supplementalGroups/[i 12=supplementalGroupsPolicy/*s 5=fsGroup/*i 7=sysctls/[Sysctl
  9=fsGroupChangePolicy/*s 10=seccompProfile/*SeccompProfile 11=appArmorProfile/*AppArmorProfile
  13=seLinuxChangePolicy/*s
Sysctl: 1=name! 2=value!
Affinity: 1=nodeAffinity/*NodeAffinity 2=podAffinity/*PodAffinity
  3=podAntiAffinity/*PodAntiAffinity
NodeAffinity: 1=requiredDuringSchedulingIgnoredDuringExecution/*NodeSelector
  2=preferredDuringSchedulingIgnoredDuringExecution/[PreferredSchedulingTerm
NodeSelector: 1=nodeSelectorTerms/[NodeSelectorTerm!
NodeSelectorTerm: 1=matchExpressions/[NodeSelectorRequirement
  2=matchFields/[NodeSelectorRequirement
NodeSelectorRequirement: 1=key! 2=operator! 3=values/[s
PreferredSchedulingTerm: 1=weight/i! 2=preference/NodeSelectorTerm!
PodAffinity: 1=requiredDuringSchedulingIgnoredDuringExecution/[PodAffinityTerm
  2=preferredDuringSchedulingIgnoredDuringExecution/[WeightedPodAffinityTerm
PodAffinityTerm: 1=labelSelector/*LabelSelector 2=namespaces/[s 3=topologyKey!
  4=namespaceSelector/*LabelSelector 5=matchLabelKeys/[s 6=mismatchLabelKeys/[s
WeightedPodAffinityTerm: 1=weight/i! 2=podAffinityTerm/PodAffinityTerm!
PodAntiAffinity: 1=requiredDuringSchedulingIgnoredDuringExecution/[PodAffinityTerm
  2=preferredDuringSchedulingIgnoredDuringExecution/[WeightedPodAffinityTerm
Toleration: 1=key 2=operator 3=value 4=effect 5=tolerationSeconds/*i
HostAlias: 1=ip! 2=hostnames/[s
PodDNSConfig: 1=nameservers/[s 2=searches/[s 3=options/[PodDNSConfigOption
PodDNSConfigOption: 1=name 2=value/*s
PodReadinessGate: 1=conditionType!
TopologySpreadConstraint: 1=maxSkew/i! 2=topologyKey! 3=whenUnsatisfiable!
  4=labelSelector/*LabelSelector 5=minDomains/*i 6=nodeAffinityPolicy/*s 7=nodeTaintsPolicy/*s
  8=matchLabelKeys/[s
PodOS: 1=name!
PodSchedulingGate: 1=name!
PodResourceClaim: 1=name! 3=resourceClaimName/*s 4=resourceClaimTemplateName/*s
PodSchedulingGroup: 1=podGroupName/*s
PodStatus: 17=observedGeneration/i 1=phase 2=conditions/[PodCondition 3=message 4=reason
  11=nominatedNodeName 5=hostIP 16=hostIPs/[HostIP 6=podIP 12=podIPs/[PodIP 7=startTime/*T
  10=initContainerStatuses/[ContainerStatus 8=containerStatuses/[ContainerStatus 9=qosClass
  13=ephemeralContainerStatuses/[ContainerStatus 14=resize
  15=resourceClaimStatuses/[PodResourceClaimStatus
  18=extendedResourceClaimStatus/*PodExtendedResourceClaimStatus 19=allocatedResources/{q
  20=resources/*ResourceRequirements
  21=nodeAllocatableResourceClaimStatuses/[NodeAllocatableResourceClaimStatus
PodCondition: 1=type! 7=observedGeneration/i 2=status! 3=lastProbeTime/T 4=lastTransitionTime/T
  5=reason 6=message
HostIP: 1=ip!
PodIP: 1=ip!
ContainerStatus: 1=name! 2=state/ContainerState 3=lastState/ContainerState 4=ready/b!
  5=restartCount/i! 6=image! 7=imageID! 8=containerID 9=started/*b 10=allocatedResources/{q
  11=resources/*ResourceRequirements 12=volumeMounts/[VolumeMountStatus 13=user/*ContainerUser
  14=allocatedResourcesStatus/[ResourceStatus 15=stopSignal/*s
ContainerState: 1=waiting/*ContainerStateWaiting 2=running/*ContainerStateRunning
  3=terminated/*ContainerStateTerminated
ContainerStateWaiting: 1=reason 2=message
ContainerStateRunning: 1=startedAt/T
ContainerStateTerminated: 1=exitCode/i! 2=signal/i 3=reason 4=message 5=startedAt/T 6=finishedAt/T
  7=containerID
VolumeMountStatus: 1=name! 2=mountPath! 3=readOnly/b 4=recursiveReadOnly/*s
  5=volumeStatus/*VolumeStatus
VolumeStatus: 1=image/*ImageVolumeStatus
ImageVolumeStatus: 1=imageRef
ContainerUser: 1=linux/*LinuxContainerUser
LinuxContainerUser: 1=uid/i! 2=gid/i! 3=supplementalGroups/[i
ResourceStatus: 1=name! 2=resources/[ResourceHealth
ResourceHealth: 1=resourceID! 2=health 6=message/*s
PodResourceClaimStatus: 1=name! 2=resourceClaimName/*s
PodExtendedResourceClaimStatus: 1=requestMappings/[ContainerExtendedResourceRequest!
  2=resourceClaimName!
ContainerExtendedResourceRequest: 1=containerName! 2=resourceName! 3=requestName!
NodeAllocatableResourceClaimStatus: 1=resourceClaimName! 2=containers/[s 3=resources/{q!
Node: 1=metadata/ObjectMeta 2=spec/NodeSpec 3=status/NodeStatus
NodeSpec: 1=podCIDR 7=podCIDRs/[s 3=providerID 4=unschedulable/b 5=taints/[Taint
  6=configSource/*NodeConfigSource 2=externalID
Taint: 1=key! 2=value 3=effect! 4=timeAdded/*T
NodeConfigSource: 2=configMap/*ConfigMapNodeConfigSource
ConfigMapNodeConfigSource: 1=namespace! 2=name! 3=uid 4=resourceVersion 5=kubeletConfigKey!
NodeStatus: 1=capacity/{q 2=allocatable/{q 3=phase 4=conditions/[NodeCondition
  5=addresses/[NodeAddress 6=daemonEndpoints/NodeDaemonEndpoints 7=nodeInfo/NodeSystemInfo
  8=images/[ContainerImage 9=volumesInUse/[s 10=volumesAttached/[AttachedVolume
  11=config/*NodeConfigStatus 12=runtimeHandlers/[NodeRuntimeHandler 13=features/*NodeFeatures
  14=declaredFeatures/[s
NodeCondition: 1=type! 2=status! 3=lastHeartbeatTime/T 4=lastTransitionTime/T 5=reason 6=message
NodeAddress: 1=type! 2=address!
NodeDaemonEndpoints: 1=kubeletEndpoint/DaemonEndpoint
DaemonEndpoint: 1=Port/i!
NodeSystemInfo: 1=machineID! 2=systemUUID! 3=bootID! 4=kernelVersion! 5=osImage!
  6=containerRuntimeVersion! 7=kubeletVersion! 8=kubeProxyVersion! 9=operatingSystem!
  10=architecture! 11=swap/*NodeSwapStatus
NodeSwapStatus: 1=capacity/*i
ContainerImage: 1=names/[s! 2=sizeBytes/i
AttachedVolume: 1=name! 2=devicePath!
NodeConfigStatus: 1=assigned/*NodeConfigSource 2=active/*NodeConfigSource
  3=lastKnownGood/*NodeConfigSource 4=error
NodeRuntimeHandler: 1=name! 2=features/*NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures: 1=recursiveReadOnlyMounts/*b 2=userNamespaces/*b
NodeFeatures: 1=supplementalGroupsPolicy/*b
Namespace: 1=metadata/ObjectMeta 2=spec/NamespaceSpec 3=status/NamespaceStatus
NamespaceSpec: 1=finalizers/[s
NamespaceStatus: 1=phase 2=conditions/[NamespaceCondition
NamespaceCondition: 1=type! 2=status! 4=lastTransitionTime/T 5=reason 6=message
ConfigMap: 1=metadata/ObjectMeta 4=immutable/*b 2=data/{s 3=binaryData/{y
Secret: 1=metadata/ObjectMeta 5=immutable/*b 2=data/{y 4=stringData/{s 3=type
Service: 1=metadata/ObjectMeta 2=spec/ServiceSpec 3=status/ServiceStatus
ServiceSpec: 1=ports/[ServicePort 2=selector/{s 3=clusterIP 18=clusterIPs/[s 4=type
  5=externalIPs/[s 7=sessionAffinity 8=loadBalancerIP 9=loadBalancerSourceRanges/[s
  10=externalName 11=externalTrafficPolicy 12=healthCheckNodePort/i 13=publishNotReadyAddresses/b
  14=sessionAffinityConfig/*SessionAffinityConfig 19=ipFamilies/[s 17=ipFamilyPolicy/*s
  20=allocateLoadBalancerNodePorts/*b 21=loadBalancerClass/*s 22=internalTrafficPolicy/*s
  23=trafficDistribution/*s
ServicePort: 1=name 2=protocol 6=appProtocol/*s 3=port/i! 4=targetPort/I 5=nodePort/i
SessionAffinityConfig: 1=clientIP/*ClientIPConfig
ClientIPConfig: 1=timeoutSeconds/*i
ServiceStatus: 1=loadBalancer/LoadBalancerStatus 2=conditions/[Condition
LoadBalancerStatus: 1=ingress/[LoadBalancerIngress
LoadBalancerIngress: 1=ip 2=hostname 3=ipMode/*s 4=ports/[PortStatus
PortStatus: 1=port/i! 2=protocol! 3=error/*s
Condition: 1=type! 2=status! 3=observedGeneration/i 4=lastTransitionTime/T! 5=reason! 6=message!
ServiceAccount: 1=metadata/ObjectMeta 2=secrets/[ObjectReference
  3=imagePullSecrets/[LocalObjectReference 4=automountServiceAccountToken/*b
ObjectReference: 1=kind 2=namespace 3=name 4=uid 5=apiVersion 6=resourceVersion 7=fieldPath
core.Event: 1=metadata/ObjectMeta! 2=involvedObject/ObjectReference! 3=reason 4=message
  5=source/EventSource 6=firstTimestamp/T 7=lastTimestamp/T 8=count/i 9=type 10=eventTime/M
  11=series/*core.EventSeries 12=action 13=related/*ObjectReference 14=reportingComponent!
  15=reportingInstance!
EventSource: 1=component 2=host
core.EventSeries: 1=count/i 2=lastObservedTime/M
Endpoints: 1=metadata/ObjectMeta 2=subsets/[EndpointSubset
EndpointSubset: 1=addresses/[EndpointAddress 2=notReadyAddresses/[EndpointAddress
  3=ports/[core.EndpointPort
EndpointAddress: 1=ip! 3=hostname 4=nodeName/*s 2=targetRef/*ObjectReference
core.EndpointPort: 1=name 2=port/i! 3=protocol 4=appProtocol/*s
PersistentVolume: 1=metadata/ObjectMeta 2=spec/PersistentVolumeSpec
  3=status/PersistentVolumeStatus
PersistentVolumeSpec: 1=capacity/{q 2/PersistentVolumeSource 3=accessModes/[s
  4=claimRef/*ObjectReference 5=persistentVolumeReclaimPolicy 6=storageClassName 7=mountOptions/[s
  8=volumeMode/*s 9=nodeAffinity/*VolumeNodeAffinity 10=volumeAttributesClassName/*s
PersistentVolumeSource: 1=gcePersistentDisk/*GCEPersistentDiskVolumeSource
  2=awsElasticBlockStore/*AWSElasticBlockStoreVolumeSource 3=hostPath/*HostPathVolumeSource
  4=glusterfs/*GlusterfsPersistentVolumeSource 5=nfs/*NFSVolumeSource
  6=rbd/*RBDPersistentVolumeSource 7=iscsi/*ISCSIPersistentVolumeSource
  8=cinder/*CinderPersistentVolumeSource 9=cephfs/*CephFSPersistentVolumeSource
  10=fc/*FCVolumeSource 11=flocker/*FlockerVolumeSource 12=flexVolume/*FlexPersistentVolumeSource
  13=azureFile/*AzureFilePersistentVolumeSource 14=vsphereVolume/*VsphereVirtualDiskVolumeSource
  15=quobyte/*QuobyteVolumeSource 16=azureDisk/*AzureDiskVolumeSource
  17=photonPersistentDisk/*PhotonPersistentDiskVolumeSource
  18=portworxVolume/*PortworxVolumeSource 19=scaleIO/*ScaleIOPersistentVolumeSource
  20=local/*LocalVolumeSource 21=storageos/*StorageOSPersistentVolumeSource
  22=csi/*CSIPersistentVolumeSource
GlusterfsPersistentVolumeSource: 1=endpoints! 2=path! 3=readOnly/b 4=endpointsNamespace/*s
RBDPersistentVolumeSource: 1=monitors/[s! 2=image! 3=fsType 4=pool 5=user 6=keyring
  7=secretRef/*SecretReference 8=readOnly/b
SecretReference: 1=name 2=namespace
ISCSIPersistentVolumeSource: 1=targetPortal! 2=iqn! 3=lun/i! 4=iscsiInterface 5=fsType
  6=readOnly/b 7=portals/[s 8=chapAuthDiscovery/b 11=chapAuthSession/b
  10=secretRef/*SecretReference 12=initiatorName/*s
CinderPersistentVolumeSource: 1=volumeID! 2=fsType 3=readOnly/b 4=secretRef/*SecretReference
CephFSPersistentVolumeSource: 1=monitors/[s! 2=path 3=user 4=secretFile
  5=secretRef/*SecretReference 6=readOnly/b
FlexPersistentVolumeSource: 1=driver! 2=fsType 3=secretRef/*SecretReference 4=readOnly/b
  5=options/{s
AzureFilePersistentVolumeSource: 1=secretName! 2=shareName! 3=readOnly/b 4=secretNamespace/*s
ScaleIOPersistentVolumeSource: 1=gateway! 2=system! 3=secretRef/*SecretReference 4=sslEnabled/b
  5=protectionDomain 6=storagePool 7=storageMode 8=volumeName 9=fsType 10=readOnly/b
LocalVolumeSource: 1=path! 2=fsType/*s
StorageOSPersistentVolumeSource: 1=volumeName 2=volumeNamespace 3=fsType 4=readOnly/b
  5=secretRef/*ObjectReference
CSIPersistentVolumeSource: 1=driver! 2=volumeHandle! 3=readOnly/b 4=fsType 5=volumeAttributes/{s
  6=controllerPublishSecretRef/*SecretReference 7=nodeStageSecretRef/*SecretReference
  8=nodePublishSecretRef/*SecretReference 9=controllerExpandSecretRef/*SecretReference
  10=nodeExpandSecretRef/*SecretReference
VolumeNodeAffinity: 1=required/*NodeSelector
PersistentVolumeStatus: 1=phase 2=message 3=reason 4=lastPhaseTransitionTime/*T
PersistentVolumeClaim: 1=metadata/ObjectMeta 2=spec/PersistentVolumeClaimSpec
  3=status/PersistentVolumeClaimStatus
PersistentVolumeClaimStatus: 1=phase 2=accessModes/[s 3=capacity/{q
  4=conditions/[PersistentVolumeClaimCondition 5=allocatedResources/{q
  7=allocatedResourceStatuses/{s 8=currentVolumeAttributesClassName/*s
  9=modifyVolumeStatus/*ModifyVolumeStatus
PersistentVolumeClaimCondition: 1=type! 2=status! 3=lastProbeTime/T 4=lastTransitionTime/T
  5=reason 6=message
ModifyVolumeStatus: 1=targetVolumeAttributesClassName 2=status!
ResourceQuota: 1=metadata/ObjectMeta 2=spec/ResourceQuotaSpec 3=status/ResourceQuotaStatus
ResourceQuotaSpec: 1=hard/{q 2=scopes/[s 3=scopeSelector/*ScopeSelector
ScopeSelector: 1=matchExpressions/[ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement: 1=scopeName! 2=operator! 3=values/[s
ResourceQuotaStatus: 1=hard/{q 2=used/{q
LimitRange: 1=metadata/ObjectMeta 2=spec/LimitRangeSpec
LimitRangeSpec: 1=limits/[LimitRangeItem!
LimitRangeItem: 1=type! 2=max/{q 3=min/{q 4=default/{q 5=defaultRequest/{q
  6=maxLimitRequestRatio/{q
ReplicationController: 1=metadata/ObjectMeta 2=spec/ReplicationControllerSpec
  3=status/ReplicationControllerStatus
ReplicationControllerSpec: 1=replicas/*i 4=minReadySeconds/i 2=selector/{s
  3=template/*PodTemplateSpec
PodTemplateSpec: 1=metadata/ObjectMeta 2=spec/PodSpec
ReplicationControllerStatus: 1=replicas/i! 2=fullyLabeledReplicas/i 4=readyReplicas/i
  5=availableReplicas/i 3=observedGeneration/i 6=conditions/[ReplicationControllerCondition
ReplicationControllerCondition: 1=type! 2=status! 3=lastTransitionTime/T 4=reason 5=message
PodTemplate: 1=metadata/ObjectMeta 2=template/PodTemplateSpec
Binding: 1=metadata/ObjectMeta 2=target/ObjectReference!
DeleteOptions: 1=gracePeriodSeconds/*i 2=preconditions/*Preconditions 3=orphanDependents/*b
  4=propagationPolicy/*s 5=dryRun/[s 6=ignoreStoreReadErrorWithClusterBreakingPotential/*b
Preconditions: 1=uid/*s 2=resourceVersion/*s
TopologySelectorTerm: 1=matchLabelExpressions/[TopologySelectorLabelRequirement
TopologySelectorLabelRequirement: 1=key! 2=values/[s!
FieldSelectorRequirement: 1=key! 2=operator! 3=values/[s
Status: 1=metadata/ListMeta 2=status 3=message 4=reason 5=details/*StatusDetails 6=code/i
ListMeta: 1=selfLink 2=resourceVersion 3=continue 4=remainingItemCount/*i 5=shardInfo/*ShardInfo
ShardInfo: 1=selector!
StatusDetails: 1=name 2=group 3=kind 6=uid 4=causes/[StatusCause 5=retryAfterSeconds/i
StatusCause: 1=reason 2=message 3=field
@v1: Pod Node Namespace ConfigMap Secret Service ServiceAccount Event=core.Event Endpoints
  PersistentVolume PersistentVolumeClaim ResourceQuota LimitRange ReplicationController
  PodTemplate Binding
@meta.k8s.io/v1: DeleteOptions Status
)";

}  // namespace maniple::devcluster
