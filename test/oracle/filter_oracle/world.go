package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// World is what the plugins see of a cluster. They are made once and keep listers into it; every case replaces what is in it.
// The informers never run: their stores are filled by hand.
type World struct {
	handle framework.Framework
	lister *replaceableLister
	stores stores
}

// replaceableLister lets plugins keep one lister while the snapshot behind it changes.
type replaceableLister struct {
	fwk.SharedLister
}

type stores struct {
	namespaces, claims, volumes, classes, csiNodes, csiDrivers, capacities, attachments cache.Indexer
}

func newWorld(ctx context.Context) (*World, error) {
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	core, storage := factory.Core().V1(), factory.Storage().V1()
	world := &World{
		lister: &replaceableLister{schedulercache.NewEmptySnapshot()},
		stores: stores{
			namespaces:  core.Namespaces().Informer().GetIndexer(),
			claims:      core.PersistentVolumeClaims().Informer().GetIndexer(),
			volumes:     core.PersistentVolumes().Informer().GetIndexer(),
			classes:     storage.StorageClasses().Informer().GetIndexer(),
			csiNodes:    storage.CSINodes().Informer().GetIndexer(),
			csiDrivers:  storage.CSIDrivers().Informer().GetIndexer(),
			capacities:  storage.CSIStorageCapacities().Informer().GetIndexer(),
			attachments: storage.VolumeAttachments().Informer().GetIndexer(),
		},
	}
	handle, err := frameworkruntime.NewFramework(ctx, nil, nil,
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSnapshotSharedLister(world.lister),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(storage.CSINodes().Lister())))
	if err != nil {
		return nil, fmt.Errorf("making the framework: %w", err)
	}
	world.handle = handle
	return world, nil
}

// show replaces the cluster by that of the case.
func (w *World) show(c *Case) error {
	w.lister.SharedLister = schedulercache.NewSnapshot(c.podsOnNodes(), c.Nodes)
	for _, err := range []error{
		replace(w.stores.namespaces, c.Namespaces),
		replace(w.stores.claims, c.Claims),
		replace(w.stores.volumes, c.Volumes),
		replace(w.stores.classes, c.StorageClasses),
		replace(w.stores.csiNodes, c.CSINodes),
		replace(w.stores.csiDrivers, c.CSIDrivers),
		replace(w.stores.capacities, c.Capacities),
		replace(w.stores.attachments, c.Attachments),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func replace[T runtime.Object](store cache.Indexer, objects []T) error {
	list := make([]any, 0, len(objects))
	for _, object := range objects {
		list = append(list, object)
	}
	return store.Replace(list, "")
}
