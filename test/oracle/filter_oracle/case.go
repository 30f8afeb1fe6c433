package main

import (
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	storagedefaults "k8s.io/kubernetes/pkg/apis/storage/v1"
)

// Case is one line of input: where may the pod run, as far as one family of rules goes?
type Case struct {
	ID     int64  `json:"id"`
	Family string `json:"family"`
	// Scores asks for the normalised scores of the nodes that fit as well.
	Scores bool `json:"scores,omitempty"`

	Pod            *v1.Pod                         `json:"pod"`
	Nodes          []*v1.Node                      `json:"nodes"`
	Pods           []*v1.Pod                       `json:"pods,omitempty"`
	Namespaces     []*v1.Namespace                 `json:"namespaces,omitempty"`
	Claims         []*v1.PersistentVolumeClaim     `json:"claims,omitempty"`
	Volumes        []*v1.PersistentVolume          `json:"volumes,omitempty"`
	StorageClasses []*storagev1.StorageClass       `json:"storageClasses,omitempty"`
	CSINodes       []*storagev1.CSINode            `json:"csiNodes,omitempty"`
	CSIDrivers     []*storagev1.CSIDriver          `json:"csiDrivers,omitempty"`
	Capacities     []*storagev1.CSIStorageCapacity `json:"capacities,omitempty"`
	Attachments    []*storagev1.VolumeAttachment   `json:"attachments,omitempty"`
}

// Answer is one line of output. Feasible has a '1' or '0' for each node of the case, in its order.
type Answer struct {
	ID       int64   `json:"id"`
	Feasible string  `json:"feasible"`
	Scores   []int64 `json:"scores,omitempty"` // -1 where the pod does not fit
	Error    string  `json:"error,omitempty"`
}

// setDefaults does what the API server does to objects before anybody sees them.
func (c *Case) setDefaults() {
	for _, pod := range append([]*v1.Pod{c.Pod}, c.Pods...) {
		corev1.SetObjectDefaults_Pod(pod)
		mergeLabelKeys(pod)
	}
	for _, node := range c.Nodes {
		corev1.SetObjectDefaults_Node(node)
	}
	for _, claim := range c.Claims {
		corev1.SetObjectDefaults_PersistentVolumeClaim(claim)
	}
	for _, volume := range c.Volumes {
		corev1.SetObjectDefaults_PersistentVolume(volume)
	}
	for _, class := range c.StorageClasses {
		storagedefaults.SetObjectDefaults_StorageClass(class)
	}
}

// podsOnNodes are those that a scheduler's cache holds: assigned to a node that exists, and not ended.
func (c *Case) podsOnNodes() []*v1.Pod {
	known := make(map[string]bool, len(c.Nodes))
	for _, node := range c.Nodes {
		known[node.Name] = true
	}
	var pods []*v1.Pod
	for _, pod := range c.Pods {
		ended := pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
		if !ended && known[pod.Spec.NodeName] {
			pods = append(pods, pod)
		}
	}
	return pods
}

// mergeLabelKeys writes the pod's own labels into the selectors that name them, as the API server does when a pod is made.
func mergeLabelKeys(pod *v1.Pod) {
	merge := func(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator) {
		for _, key := range keys {
			if value, ok := pod.Labels[key]; ok && selector != nil {
				selector.MatchExpressions = append(selector.MatchExpressions,
					metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
			}
		}
	}
	mergeTerm := func(term *v1.PodAffinityTerm) {
		merge(term.LabelSelector, term.MatchLabelKeys, metav1.LabelSelectorOpIn)
		merge(term.LabelSelector, term.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
	}
	mergeTerms := func(required []v1.PodAffinityTerm, preferred []v1.WeightedPodAffinityTerm) {
		for i := range required {
			mergeTerm(&required[i])
		}
		for i := range preferred {
			mergeTerm(&preferred[i].PodAffinityTerm)
		}
	}
	for i := range pod.Spec.TopologySpreadConstraints {
		constraint := &pod.Spec.TopologySpreadConstraints[i]
		merge(constraint.LabelSelector, constraint.MatchLabelKeys, metav1.LabelSelectorOpIn)
	}
	affinity := pod.Spec.Affinity
	if affinity == nil {
		return
	}
	if to := affinity.PodAffinity; to != nil {
		mergeTerms(to.RequiredDuringSchedulingIgnoredDuringExecution, to.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if from := affinity.PodAntiAffinity; from != nil {
		mergeTerms(from.RequiredDuringSchedulingIgnoredDuringExecution, from.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}
