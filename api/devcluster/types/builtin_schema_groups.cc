// The messages of the other built-in API groups, as wire facts of Kubernetes 1.36: see
// builtin_schema_data.h.
#include "api/devcluster/types/builtin_schema_data.h"

namespace maniple::devcluster {

const char kGroupSchema[] = R"(
Deployment: 1=metadata/ObjectMeta 2=spec/DeploymentSpec 3=status/DeploymentStatus
DeploymentSpec: 1=replicas/*i 2=selector/*LabelSelector 3=template/PodTemplateSpec!
  4=strategy/DeploymentStrategy 5=minReadySeconds/i 6=revisionHistoryLimit/*i 7=paused/b
  9=progressDeadlineSeconds/*i
DeploymentStrategy: 1=type 2=rollingUpdate/*RollingUpdateDeployment
RollingUpdateDeployment: 1=maxUnavailable/*I 2=maxSurge/*I
DeploymentStatus: 1=observedGeneration/i 2=replicas/i 3=updatedReplicas/i 7=readyReplicas/i
  4=availableReplicas/i 5=unavailableReplicas/i 9=terminatingReplicas/*i
  6=conditions/[DeploymentCondition 8=collisionCount/*i
DeploymentCondition: 1=type! 2=status! 6=lastUpdateTime/T 7=lastTransitionTime/T 4=reason
  5=message
ReplicaSet: 1=metadata/ObjectMeta 2=spec/ReplicaSetSpec 3=status/ReplicaSetStatus
ReplicaSetSpec: 1=replicas/*i 4=minReadySeconds/i 2=selector/*LabelSelector
  3=template/PodTemplateSpec
ReplicaSetStatus: 1=replicas/i! 2=fullyLabeledReplicas/i 4=readyReplicas/i 5=availableReplicas/i
  7=terminatingReplicas/*i 3=observedGeneration/i 6=conditions/[ReplicaSetCondition
ReplicaSetCondition: 1=type! 2=status! 3=lastTransitionTime/T 4=reason 5=message
StatefulSet: 1=metadata/ObjectMeta 2=spec/StatefulSetSpec 3=status/StatefulSetStatus
StatefulSetSpec: 1=replicas/*i 2=selector/*LabelSelector 3=template/PodTemplateSpec!
  4=volumeClaimTemplates/[PersistentVolumeClaim 5=serviceName! 6=podManagementPolicy
  7=updateStrategy/StatefulSetUpdateStrategy 8=revisionHistoryLimit/*i 9=minReadySeconds/i
  10=persistentVolumeClaimRetentionPolicy/*StatefulSetPersistentVolumeClaimRetentionPolicy
  11=ordinals/*StatefulSetOrdinals
StatefulSetUpdateStrategy: 1=type 2=rollingUpdate/*RollingUpdateStatefulSetStrategy
RollingUpdateStatefulSetStrategy: 1=partition/*i 2=maxUnavailable/*I
StatefulSetPersistentVolumeClaimRetentionPolicy: 1=whenDeleted 2=whenScaled
StatefulSetOrdinals: 1=start/i!
StatefulSetStatus: 1=observedGeneration/i 2=replicas/i! 3=readyReplicas/i 4=currentReplicas/i
  5=updatedReplicas/i 6=currentRevision 7=updateRevision 9=collisionCount/*i
  10=conditions/[StatefulSetCondition 11=availableReplicas/i!
StatefulSetCondition: 1=type! 2=status! 3=lastTransitionTime/T 4=reason 5=message
DaemonSet: 1=metadata/ObjectMeta 2=spec/DaemonSetSpec 3=status/DaemonSetStatus
DaemonSetSpec: 1=selector/*LabelSelector 2=template/PodTemplateSpec!
  3=updateStrategy/DaemonSetUpdateStrategy 4=minReadySeconds/i 6=revisionHistoryLimit/*i
DaemonSetUpdateStrategy: 1=type 2=rollingUpdate/*RollingUpdateDaemonSet
RollingUpdateDaemonSet: 1=maxUnavailable/*I 2=maxSurge/*I
DaemonSetStatus: 1=currentNumberScheduled/i! 2=numberMisscheduled/i! 3=desiredNumberScheduled/i!
  4=numberReady/i! 5=observedGeneration/i 6=updatedNumberScheduled/i 7=numberAvailable/i
  8=numberUnavailable/i 9=collisionCount/*i 10=conditions/[DaemonSetCondition
DaemonSetCondition: 1=type! 2=status! 3=lastTransitionTime/T 4=reason 5=message
ControllerRevision: 1=metadata/ObjectMeta 2=data/R 3=revision/i!
Job: 1=metadata/ObjectMeta 2=spec/JobSpec 3=status/JobStatus
JobSpec: 1=parallelism/*i 2=completions/*i 3=activeDeadlineSeconds/*i
  11=podFailurePolicy/*PodFailurePolicy 16=successPolicy/*SuccessPolicy 7=backoffLimit/*i
  12=backoffLimitPerIndex/*i 13=maxFailedIndexes/*i 4=selector/*LabelSelector 5=manualSelector/*b
  6=template/PodTemplateSpec! 8=ttlSecondsAfterFinished/*i 9=completionMode/*s 10=suspend/*b
  14=podReplacementPolicy/*s 15=managedBy/*s
PodFailurePolicy: 1=rules/[PodFailurePolicyRule!
PodFailurePolicyRule: 1=action! 2=onExitCodes/*PodFailurePolicyOnExitCodesRequirement
  3=onPodConditions/[PodFailurePolicyOnPodConditionsPattern
PodFailurePolicyOnExitCodesRequirement: 1=containerName/*s 2=operator! 3=values/[i!
PodFailurePolicyOnPodConditionsPattern: 1=type! 2=status!
SuccessPolicy: 1=rules/[SuccessPolicyRule!
SuccessPolicyRule: 1=succeededIndexes/*s 2=succeededCount/*i
JobStatus: 1=conditions/[JobCondition 2=startTime/*T 3=completionTime/*T 4=active/i 5=succeeded/i
  6=failed/i 11=terminating/*i 7=completedIndexes 10=failedIndexes/*s
  8=uncountedTerminatedPods/*UncountedTerminatedPods 9=ready/*i
JobCondition: 1=type! 2=status! 3=lastProbeTime/T 4=lastTransitionTime/T 5=reason 6=message
UncountedTerminatedPods: 1=succeeded/[s 2=failed/[s
CronJob: 1=metadata/ObjectMeta 2=spec/CronJobSpec 3=status/CronJobStatus
CronJobSpec: 1=schedule! 8=timeZone/*s 2=startingDeadlineSeconds/*i 3=concurrencyPolicy
  4=suspend/*b 5=jobTemplate/JobTemplateSpec! 6=successfulJobsHistoryLimit/*i
  7=failedJobsHistoryLimit/*i
JobTemplateSpec: 1=metadata/ObjectMeta 2=spec/JobSpec
CronJobStatus: 1=active/[ObjectReference 4=lastScheduleTime/*T 5=lastSuccessfulTime/*T
PodDisruptionBudget: 1=metadata/ObjectMeta 2=spec/PodDisruptionBudgetSpec
  3=status/PodDisruptionBudgetStatus
PodDisruptionBudgetSpec: 1=minAvailable/*I 2=selector/*LabelSelector 3=maxUnavailable/*I
  4=unhealthyPodEvictionPolicy/*s
PodDisruptionBudgetStatus: 1=observedGeneration/i 2=disruptedPods/{T 3=disruptionsAllowed/i!
  4=currentHealthy/i! 5=desiredHealthy/i! 6=expectedPods/i! 7=conditions/[Condition
Eviction: 1=metadata/ObjectMeta 2=deleteOptions/*DeleteOptions
PriorityClass: 1=metadata/ObjectMeta 2=value/i! 3=globalDefault/b 4=description
  5=preemptionPolicy/*s
Lease: 1=metadata/ObjectMeta 2=spec/LeaseSpec
LeaseSpec: 1=holderIdentity/*s 2=leaseDurationSeconds/*i 3=acquireTime/*M 4=renewTime/*M
  5=leaseTransitions/*i 6=strategy/*s 7=preferredHolder/*s
events.Event: 1=metadata/ObjectMeta! 2=eventTime/M! 3=series/*events.EventSeries
  4=reportingController 5=reportingInstance 6=action 7=reason 8=regarding/ObjectReference
  9=related/*ObjectReference 10=note 11=type 12=deprecatedSource/EventSource
  13=deprecatedFirstTimestamp/T 14=deprecatedLastTimestamp/T 15=deprecatedCount/i
events.EventSeries: 1=count/i! 2=lastObservedTime/M!
StorageClass: 1=metadata/ObjectMeta 2=provisioner! 3=parameters/{s 4=reclaimPolicy/*s
  5=mountOptions/[s 6=allowVolumeExpansion/*b 7=volumeBindingMode/*s
  8=allowedTopologies/[TopologySelectorTerm
CSINode: 1=metadata/ObjectMeta 2=spec/CSINodeSpec!
CSINodeSpec: 1=drivers/[CSINodeDriver!
CSINodeDriver: 1=name! 2=nodeID! 3=topologyKeys/[s! 4=allocatable/*VolumeNodeResources
VolumeNodeResources: 1=count/*i
CSIDriver: 1=metadata/ObjectMeta 2=spec/CSIDriverSpec!
CSIDriverSpec: 1=attachRequired/*b 2=podInfoOnMount/*b 3=volumeLifecycleModes/[s
  4=storageCapacity/*b 5=fsGroupPolicy/*s 6=tokenRequests/[storage.TokenRequest
  7=requiresRepublish/*b 8=seLinuxMount/*b 9=nodeAllocatableUpdatePeriodSeconds/*i
  10=serviceAccountTokenInSecrets/*b 11=preventPodSchedulingIfMissing/*b
storage.TokenRequest: 1=audience! 2=expirationSeconds/*i
CSIStorageCapacity: 1=metadata/ObjectMeta 2=nodeTopology/*LabelSelector 3=storageClassName!
  4=capacity/*q 5=maximumVolumeSize/*q
VolumeAttachment: 1=metadata/ObjectMeta 2=spec/VolumeAttachmentSpec!
  3=status/VolumeAttachmentStatus
VolumeAttachmentSpec: 1=attacher! 2=source/VolumeAttachmentSource! 3=nodeName!
VolumeAttachmentSource: 1=persistentVolumeName/*s 2=inlineVolumeSpec/*PersistentVolumeSpec
VolumeAttachmentStatus: 1=attached/b! 2=attachmentMetadata/{s 3=attachError/*VolumeError
  4=detachError/*VolumeError
VolumeError: 1=time/T 2=message 3=errorCode/*i
Role: 1=metadata/ObjectMeta 2=rules/[PolicyRule!
PolicyRule: 1=verbs/[s! 2=apiGroups/[s 3=resources/[s 4=resourceNames/[s 5=nonResourceURLs/[s
RoleBinding: 1=metadata/ObjectMeta 2=subjects/[Subject 3=roleRef/RoleRef!
Subject: 1=kind! 2=apiGroup 3=name! 4=namespace
RoleRef: 1=apiGroup! 2=kind! 3=name!
ClusterRole: 1=metadata/ObjectMeta 2=rules/[PolicyRule! 3=aggregationRule/*AggregationRule
AggregationRule: 1=clusterRoleSelectors/[LabelSelector
ClusterRoleBinding: 1=metadata/ObjectMeta 2=subjects/[Subject 3=roleRef/RoleRef!
SelfSubjectAccessReview: 1=metadata/ObjectMeta 2=spec/SelfSubjectAccessReviewSpec!
  3=status/SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec: 1=resourceAttributes/*ResourceAttributes
  2=nonResourceAttributes/*NonResourceAttributes
ResourceAttributes: 1=namespace 2=verb 3=group 4=version 5=resource 6=subresource 7=name
  8=fieldSelector/*FieldSelectorAttributes 9=labelSelector/*LabelSelectorAttributes
FieldSelectorAttributes: 1=rawSelector 2=requirements/[FieldSelectorRequirement
LabelSelectorAttributes: 1=rawSelector 2=requirements/[LabelSelectorRequirement
NonResourceAttributes: 1=path 2=verb
SubjectAccessReviewStatus: 1=allowed/b! 4=denied/b 2=reason 3=evaluationError
SubjectAccessReview: 1=metadata/ObjectMeta 2=spec/SubjectAccessReviewSpec!
  3=status/SubjectAccessReviewStatus
SubjectAccessReviewSpec: 1=resourceAttributes/*ResourceAttributes
  2=nonResourceAttributes/*NonResourceAttributes 3=user 4=groups/[s 5=extra/{L 6=uid
LocalSubjectAccessReview: 1=metadata/ObjectMeta 2=spec/SubjectAccessReviewSpec!
  3=status/SubjectAccessReviewStatus
SelfSubjectRulesReview: 1=metadata/ObjectMeta 2=spec/SelfSubjectRulesReviewSpec!
  3=status/SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec: 1=namespace
SubjectRulesReviewStatus: 1=resourceRules/[ResourceRule! 2=nonResourceRules/[NonResourceRule!
  3=incomplete/b! 4=evaluationError
ResourceRule: 1=verbs/[s! 2=apiGroups/[s 3=resources/[s 4=resourceNames/[s
NonResourceRule: 1=verbs/[s! 2=nonResourceURLs/[s
SelfSubjectReview: 1=metadata/ObjectMeta 2=status/SelfSubjectReviewStatus
SelfSubjectReviewStatus: 1=userInfo/UserInfo
UserInfo: 1=username 2=uid 3=groups/[s 4=extra/{L
TokenReview: 1=metadata/ObjectMeta 2=spec/TokenReviewSpec! 3=status/TokenReviewStatus
TokenReviewSpec: 1=token 2=audiences/[s
TokenReviewStatus: 1=authenticated/b 2=user/UserInfo 4=audiences/[s 3=error
authentication.TokenRequest: 1=metadata/ObjectMeta 2=spec/TokenRequestSpec!
  3=status/TokenRequestStatus
TokenRequestSpec: 1=audiences/[s! 4=expirationSeconds/*i 3=boundObjectRef/*BoundObjectReference
BoundObjectReference: 1=kind 2=apiVersion 3=name 4=uid
TokenRequestStatus: 1=token! 2=expirationTimestamp/T!
RuntimeClass: 1=metadata/ObjectMeta 2=handler! 3=overhead/*Overhead 4=scheduling/*Scheduling
Overhead: 1=podFixed/{q
Scheduling: 1=nodeSelector/{s 2=tolerations/[Toleration
EndpointSlice: 1=metadata/ObjectMeta 4=addressType! 2=endpoints/[Endpoint!
  3=ports/[discovery.EndpointPort!
Endpoint: 1=addresses/[s! 2=conditions/EndpointConditions 3=hostname/*s
  4=targetRef/*ObjectReference 5=deprecatedTopology/{s 6=nodeName/*s 7=zone/*s
  8=hints/*EndpointHints
EndpointConditions: 1=ready/*b 2=serving/*b 3=terminating/*b
EndpointHints: 1=forZones/[ForZone 2=forNodes/[ForNode
ForZone: 1=name!
ForNode: 1=name!
discovery.EndpointPort: 1=name/*s 2=protocol/*s 3=port/*i 4=appProtocol/*s
Scale: 1=metadata/ObjectMeta 2=spec/ScaleSpec 3=status/ScaleStatus
ScaleSpec: 1=replicas/i
ScaleStatus: 1=replicas/i! 2=selector
HorizontalPodAutoscaler: 1=metadata/ObjectMeta 2=spec/HorizontalPodAutoscalerSpec
  3=status/HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec: 1=scaleTargetRef/CrossVersionObjectReference! 2=minReplicas/*i
  3=maxReplicas/i! 4=targetCPUUtilizationPercentage/*i
CrossVersionObjectReference: 1=kind! 2=name! 3=apiVersion
HorizontalPodAutoscalerStatus: 1=observedGeneration/*i 2=lastScaleTime/*T 3=currentReplicas/i!
  4=desiredReplicas/i! 5=currentCPUUtilizationPercentage/*i
Ingress: 1=metadata/ObjectMeta 2=spec/IngressSpec 3=status/IngressStatus
IngressSpec: 4=ingressClassName/*s 1=defaultBackend/*IngressBackend 2=tls/[IngressTLS
  3=rules/[IngressRule
IngressBackend: 4=service/*IngressServiceBackend 3=resource/*TypedLocalObjectReference
IngressServiceBackend: 1=name! 2=port/ServiceBackendPort
ServiceBackendPort: 1=name 2=number/i
IngressTLS: 1=hosts/[s 2=secretName
IngressRule: 1=host 2/IngressRuleValue
IngressRuleValue: 1=http/*HTTPIngressRuleValue
HTTPIngressRuleValue: 1=paths/[HTTPIngressPath!
HTTPIngressPath: 1=path 3=pathType/*s 2=backend/IngressBackend!
IngressStatus: 1=loadBalancer/IngressLoadBalancerStatus
IngressLoadBalancerStatus: 1=ingress/[IngressLoadBalancerIngress
IngressLoadBalancerIngress: 1=ip 2=hostname 4=ports/[IngressPortStatus
IngressPortStatus: 1=port/i! 2=protocol! 3=error/*s
IngressClass: 1=metadata/ObjectMeta 2=spec/IngressClassSpec
IngressClassSpec: 1=controller 2=parameters/*IngressClassParametersReference
IngressClassParametersReference: 1=apiGroup/*s 2=kind! 3=name! 4=scope/*s 5=namespace/*s
NetworkPolicy: 1=metadata/ObjectMeta 2=spec/NetworkPolicySpec
NetworkPolicySpec: 1=podSelector/LabelSelector! 2=ingress/[NetworkPolicyIngressRule
  3=egress/[NetworkPolicyEgressRule 4=policyTypes/[s
NetworkPolicyIngressRule: 1=ports/[NetworkPolicyPort 2=from/[NetworkPolicyPeer
NetworkPolicyPort: 1=protocol/*s 2=port/*I 3=endPort/*i
NetworkPolicyPeer: 1=podSelector/*LabelSelector 2=namespaceSelector/*LabelSelector
  3=ipBlock/*IPBlock
IPBlock: 1=cidr! 2=except/[s
NetworkPolicyEgressRule: 1=ports/[NetworkPolicyPort 2=to/[NetworkPolicyPeer
@apps/v1: Deployment ReplicaSet StatefulSet DaemonSet ControllerRevision
@batch/v1: Job CronJob
@policy/v1: PodDisruptionBudget Eviction
@scheduling.k8s.io/v1: PriorityClass
@coordination.k8s.io/v1: Lease
@events.k8s.io/v1: Event=events.Event
@storage.k8s.io/v1: StorageClass CSINode CSIDriver CSIStorageCapacity VolumeAttachment
@rbac.authorization.k8s.io/v1: Role RoleBinding ClusterRole ClusterRoleBinding
@authorization.k8s.io/v1: SelfSubjectAccessReview SubjectAccessReview LocalSubjectAccessReview
  SelfSubjectRulesReview
@authentication.k8s.io/v1: SelfSubjectReview TokenReview TokenRequest=authentication.TokenRequest
@node.k8s.io/v1: RuntimeClass
@discovery.k8s.io/v1: EndpointSlice
@autoscaling/v1: Scale HorizontalPodAutoscaler
@networking.k8s.io/v1: Ingress IngressClass NetworkPolicy
)";

}  // namespace maniple::devcluster
