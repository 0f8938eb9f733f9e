// Copyright (c) 2026 sunset.kube contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// Command limit does what our engine does with as little as possible around it: a compiled client with no rate limit,
// one kept connection a worker, protobuf lists, no plan, no report. Nobody is expected to be faster than the best of it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const page = 2000

type options struct {
	kubeconfig, resource, namespace, action, finalizer string
	workers                                            int
}

type result struct {
	Objects    int     `json:"objects"`
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpu_seconds"`
	Requests   int64   `json:"requests"`
}

func main() {
	began := time.Now()
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "how to reach the API server")
	flag.StringVar(&o.resource, "resource", "v1/configmaps", "group/version/plural; the core group has no first part")
	flag.StringVar(&o.namespace, "namespace", "", "empty for all")
	flag.StringVar(&o.action, "action", "delete", "delete (and wait until all are gone) or finalizer (remove one)")
	flag.StringVar(&o.finalizer, "finalizer", "", "the name to remove")
	flag.IntVar(&o.workers, "workers", 64, "requests at once")
	flag.Parse()
	objects, requests, err := run(context.Background(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "limit:", err)
		os.Exit(1)
	}
	answer := result{Objects: objects, Seconds: time.Since(began).Seconds(), CPUSeconds: cpuSeconds(), Requests: requests}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (int, int64, error) {
	resource, err := parse(o.resource)
	if err != nil {
		return 0, 0, err
	}
	counter := &counter{}
	client, err := connect(o, counter)
	if err != nil {
		return 0, 0, err
	}
	scope := client.Resource(resource).Namespace(o.namespace)
	objects, version, err := list(ctx, scope)
	if err != nil {
		return 0, 0, err
	}
	in := func(object metav1.PartialObjectMetadata) metadata.ResourceInterface {
		return client.Resource(resource).Namespace(object.Namespace)
	}
	switch o.action {
	case "delete":
		err = deleteAndWait(ctx, scope, version, objects, o.workers, in)
	case "finalizer":
		err = forEach(objects, o.workers, func(object metav1.PartialObjectMetadata) error {
			return removeFinalizer(ctx, in(object), object, o.finalizer)
		})
	default:
		err = fmt.Errorf("unknown action %q", o.action)
	}
	return len(objects), counter.sent.Load(), err
}

func parse(text string) (schema.GroupVersionResource, error) {
	parts := strings.Split(text, "/")
	if len(parts) == 2 {
		parts = append([]string{""}, parts...)
	}
	if len(parts) != 3 {
		return schema.GroupVersionResource{}, fmt.Errorf("not group/version/plural: %q", text)
	}
	return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}, nil
}

// connect makes a client without a rate limit, and with HTTP/1.1 on as many kept connections as there are workers.
func connect(o options, counter *counter) (metadata.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	counter.next = &http.Transport{TLSClientConfig: tls, MaxIdleConnsPerHost: o.workers + 2, DisableCompression: true}
	return metadata.NewForConfigAndClient(config, &http.Client{Transport: counter})
}

type counter struct {
	next http.RoundTripper
	sent atomic.Int64
}

func (c *counter) RoundTrip(request *http.Request) (*http.Response, error) {
	c.sent.Add(1)
	return c.next.RoundTrip(request)
}

func list(ctx context.Context, scope metadata.ResourceInterface) ([]metav1.PartialObjectMetadata, string, error) {
	var objects []metav1.PartialObjectMetadata
	for next := ""; ; {
		answer, err := scope.List(ctx, metav1.ListOptions{Limit: page, Continue: next})
		if err != nil {
			return nil, "", err
		}
		objects = append(objects, answer.Items...)
		if next = answer.Continue; next == "" {
			return objects, answer.ResourceVersion, nil
		}
	}
}

// deleteAndWait opens the watch before the first write, so that it sees every end.
func deleteAndWait(
	ctx context.Context, scope metadata.ResourceInterface, version string, objects []metav1.PartialObjectMetadata,
	workers int, in func(metav1.PartialObjectMetadata) metadata.ResourceInterface,
) error {
	events, err := scope.Watch(ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return err
	}
	defer events.Stop()
	gone := make(chan error, 1)
	go func() { gone <- waitForAll(events, objects) }()
	background := metav1.DeletePropagationBackground
	err = forEach(objects, workers, func(object metav1.PartialObjectMetadata) error {
		uid := object.UID
		how := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background}
		return in(object).Delete(ctx, object.Name, how)
	})
	if err != nil {
		return err
	}
	return <-gone
}

func waitForAll(events watch.Interface, objects []metav1.PartialObjectMetadata) error {
	pending := make(map[types.UID]struct{}, len(objects))
	for _, object := range objects {
		pending[object.UID] = struct{}{}
	}
	for len(pending) > 0 {
		event, open := <-events.ResultChan()
		if !open {
			return fmt.Errorf("the watch ended with %d objects left", len(pending))
		}
		if object, ok := event.Object.(*metav1.PartialObjectMetadata); ok && event.Type == watch.Deleted {
			delete(pending, object.UID)
		}
	}
	return nil
}

func removeFinalizer(
	ctx context.Context, in metadata.ResourceInterface, object metav1.PartialObjectMetadata, finalizer string,
) error {
	place := slices.Index(object.Finalizers, finalizer)
	if place < 0 {
		return fmt.Errorf("%s/%s has no finalizer %s", object.Namespace, object.Name, finalizer)
	}
	path := fmt.Sprintf("/metadata/finalizers/%d", place)
	patch, err := json.Marshal([]map[string]string{
		{"op": "test", "path": "/metadata/uid", "value": string(object.UID)},
		{"op": "test", "path": path, "value": finalizer},
		{"op": "remove", "path": path},
	})
	if err != nil {
		return err
	}
	_, err = in.Patch(ctx, object.Name, types.JSONPatchType, patch, metav1.PatchOptions{})
	return err
}

// forEach works on all objects, `workers` at once. The first error stops the rest.
func forEach(objects []metav1.PartialObjectMetadata, workers int, work func(metav1.PartialObjectMetadata) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	failures := make([]error, workers)
	for worker := range workers {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(objects)); i = next.Add(1) - 1 {
				if failures[worker] = work(objects[i]); failures[worker] != nil {
					next.Store(int64(len(objects)))
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}
