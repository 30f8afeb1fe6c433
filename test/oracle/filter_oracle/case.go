package main

import (
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
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
	corev1.SetObjectDefaults_Pod(c.Pod)
	for _, pod := range c.Pods {
		corev1.SetObjectDefaults_Pod(pod)
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
