// The real kube-scheduler's answers, for comparison: reads cases as JSON lines and writes for each which nodes its plugin lets
// the pod run on, and how it scores them.
//
//	filter-oracle <cases.jsonl >answers.jsonl
//	filter-oracle --fields      # the fields of a pod's spec
//
// Built by test/controlplane/build.sh in the Go module beside it, from the Kubernetes release that is tested against.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

func answer(ctx context.Context, world *World, families Families, c *Case) (*Answer, error) {
	plugins := families[c.Family]
	if len(plugins) == 0 {
		return nil, fmt.Errorf("unknown family %q", c.Family)
	}
	if c.Pod == nil {
		return nil, errors.New("no pod")
	}
	c.setDefaults()
	if err := world.show(c); err != nil {
		return nil, err
	}
	question, err := newQuestion(world, c)
	if err != nil {
		return nil, err
	}
	fits := make([]bool, len(c.Nodes))
	for i := range fits {
		fits[i] = true
	}
	for _, plugin := range plugins {
		for i, fit := range question.feasible(ctx, plugin) {
			fits[i] = fits[i] && fit
		}
	}
	out := &Answer{ID: c.ID}
	for _, fit := range fits {
		if fit {
			out.Feasible += "1"
		} else {
			out.Feasible += "0"
		}
	}
	if c.Scores {
		out.Scores, err = question.scores(ctx, plugins[len(plugins)-1], fits)
	}
	return out, err
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	world, err := newWorld(ctx)
	if err != nil {
		return err
	}
	families, err := newFamilies(ctx, world)
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(in, 1<<20)
	buffered := bufio.NewWriter(out)
	encoder := json.NewEncoder(buffered)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return buffered.Flush()
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		var c Case
		if err := json.Unmarshal(line, &c); err != nil {
			return fmt.Errorf("a case that cannot be read: %w", err)
		}
		reply, err := answer(ctx, world, families, &c)
		if err != nil {
			reply = &Answer{ID: c.ID, Error: err.Error()}
		}
		if err := encoder.Encode(reply); err != nil {
			return err
		}
		// Whoever waits for this answer has written nothing more.
		if lines.Buffered() == 0 {
			if err := buffered.Flush(); err != nil {
				return err
			}
		}
	}
}

func main() {
	klog.SetLogger(logr.Discard())
	metrics.Register()
	ctx := klog.NewContext(context.Background(), logr.Discard())
	if len(os.Args) == 2 && os.Args[1] == "--fields" {
		if err := json.NewEncoder(os.Stdout).Encode(podFields()); err != nil {
			os.Exit(1)
		}
		return
	}
	if err := run(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "filter-oracle:", err)
		os.Exit(1)
	}
}
