package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/imagelocality"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodedeclaredfeatures"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodename"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
)

// Families are the plugins that answer for each: the last one is its own and scores; before it those without which its answer
// means little. What is wrong with a claim itself is volumebinding's to say, and the others stumble over it in their own ways;
// images refuse no node.
type Families map[string][]fwk.Plugin

// newFamilies makes every plugin once, with the arguments and feature gates that a kube-scheduler has by default.
func newFamilies(ctx context.Context, world *World) (Families, error) {
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	type withGates = func(context.Context, runtime.Object, fwk.Handle, feature.Features) (fwk.Plugin, error)
	rows := []struct {
		family string
		make   withGates
		args   runtime.Object
	}{
		{"nodename", nodename.New, nil},
		{"nodeunschedulable", nodeunschedulable.New, nil},
		{"tainttoleration", tainttoleration.New, nil},
		{"nodeaffinity", nodeaffinity.New, &config.NodeAffinityArgs{}},
		{"nodeports", nodeports.New, nil},
		{"noderesources", noderesources.NewFit, &config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{
			Type:      config.LeastAllocated,
			Resources: []config.ResourceSpec{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}},
		}}},
		{"volumebinding", volumebinding.New, &config.VolumeBindingArgs{BindTimeoutSeconds: 600}},
		{"volumezone", volumezone.New, nil},
		{"volumerestrictions", volumerestrictions.New, nil},
		{"nodevolumelimits", nodevolumelimits.NewCSI, nil},
		{"podtopologyspread", podtopologyspread.New, &config.PodTopologySpreadArgs{DefaultingType: config.SystemDefaulting}},
		{"interpodaffinity", interpodaffinity.New, &config.InterPodAffinityArgs{HardPodAffinityWeight: 1}},
		{"nodedeclaredfeatures", nodedeclaredfeatures.New, nil},
		{"imagelocality", func(ctx context.Context, args runtime.Object, handle fwk.Handle, _ feature.Features) (fwk.Plugin, error) {
			return imagelocality.New(ctx, args, handle)
		}, nil},
	}
	families := Families{}
	for _, row := range rows {
		plugin, err := row.make(ctx, row.args, world.handle, gates)
		if err != nil {
			return nil, fmt.Errorf("making %s: %w", row.family, err)
		}
		families[row.family] = []fwk.Plugin{plugin}
	}
	binding := families["volumebinding"][0]
	for _, family := range []string{"volumezone", "volumerestrictions", "nodevolumelimits"} {
		families[family] = append([]fwk.Plugin{binding}, families[family]...)
	}
	families["imagelocality"] = append(families["nodeunschedulable"], families["imagelocality"]...)
	return families, nil
}

// Question is one case put to plugins: which nodes fit, and how good are they?
type Question struct {
	c     *Case
	state fwk.CycleState
	nodes []fwk.NodeInfo // in the order of the case
}

func newQuestion(world *World, c *Case) (*Question, error) {
	q := &Question{c: c, state: framework.NewCycleState()}
	for _, node := range c.Nodes {
		info, err := world.lister.NodeInfos().Get(node.Name)
		if err != nil {
			return nil, err
		}
		q.nodes = append(q.nodes, info)
	}
	return q, nil
}

// feasible says of every node whether the pod fits. A pod that PreFilter refuses fits nowhere; one that it skips, everywhere. An
// error on any node ends kube-scheduler's attempt: then it fits nowhere either.
func (q *Question) feasible(ctx context.Context, plugin fwk.Plugin) []bool {
	fits, nowhere := make([]bool, len(q.nodes)), make([]bool, len(q.nodes))
	var only *fwk.PreFilterResult
	if pre, ok := plugin.(fwk.PreFilterPlugin); ok {
		result, status := pre.PreFilter(ctx, q.state, q.c.Pod, q.nodes)
		switch {
		case status.IsSkip():
			for i := range fits {
				fits[i] = true
			}
			return fits
		case !status.IsSuccess():
			return nowhere
		}
		only = result
	}
	filter, ok := plugin.(fwk.FilterPlugin)
	for i, node := range q.nodes {
		if !only.AllNodes() && !only.NodeNames.Has(node.Node().Name) {
			continue
		}
		if !ok {
			fits[i] = true
			continue
		}
		status := filter.Filter(ctx, q.state, q.c.Pod, node)
		if !status.IsSuccess() && !status.IsRejected() {
			return nowhere
		}
		fits[i] = status.IsSuccess()
	}
	return fits
}

// scores are those of the nodes that fit, normalised as kube-scheduler does before it weighs them; nil if the plugin has none.
func (q *Question) scores(ctx context.Context, plugin fwk.Plugin, fits []bool) ([]int64, error) {
	scorer, ok := plugin.(fwk.ScorePlugin)
	if !ok {
		return nil, nil
	}
	var fitting []fwk.NodeInfo
	for i, node := range q.nodes {
		if fits[i] {
			fitting = append(fitting, node)
		}
	}
	out := make([]int64, len(q.nodes))
	skip := false
	if pre, ok := plugin.(fwk.PreScorePlugin); ok {
		status := pre.PreScore(ctx, q.state, q.c.Pod, fitting)
		if !status.IsSuccess() && !status.IsSkip() {
			return nil, status.AsError()
		}
		skip = status.IsSkip()
	}
	var list fwk.NodeScoreList
	for _, node := range fitting {
		entry := fwk.NodeScore{Name: node.Node().Name}
		if !skip {
			score, status := scorer.Score(ctx, q.state, q.c.Pod, node)
			if !status.IsSuccess() {
				return nil, status.AsError()
			}
			entry.Score = score
		}
		list = append(list, entry)
	}
	if extensions := scorer.ScoreExtensions(); extensions != nil && !skip {
		if status := extensions.NormalizeScore(ctx, q.state, q.c.Pod, list); !status.IsSuccess() {
			return nil, status.AsError()
		}
	}
	next := 0
	for i := range out {
		if !fits[i] {
			out[i] = -1
			continue
		}
		out[i] = list[next].Score
		next++
	}
	return out, nil
}
