// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// ring compares doors in front of three nodes: requests sent to replicas or to any node, and reads
// of shards sent to a second node when one is slow.
type ring struct {
	*bench
	nodes   []*cassandra.Instance
	started []*measure.Process
}

const ringNodes = 3

func (b *bench) onRing(ctx context.Context) error {
	r := &ring{bench: b}
	defer r.close()
	var err error
	if r.nodes, err = cassandra.LaunchRing(ctx, ringNodes, cassandra.Options{HeapMB: 512}); err != nil {
		return err
	}
	for _, n := range r.nodes {
		b.store = append(b.store, n.PID())
	}
	err = measure.Run(ctx, b.Only, measure.Part{Name: "token-aware point reads", Run: r.routing}, measure.Part{Name: "hedged pages", Run: r.hedging})
	if err != nil {
		for _, d := range r.started {
			d.Stop()
			measure.Progress("the door at %s printed: %s", d.Addr, d.Printed())
		}
	}
	return err
}

func (r *ring) close() {
	for _, d := range r.started {
		d.Stop()
	}
	for _, n := range r.nodes {
		n.Close()
	}
}

// door starts a door in front of the ring.
func (r *ring) door(ctx context.Context, args ...string) (*measure.Process, error) {
	addr, err := measure.FreeAddr()
	if err != nil {
		return nil, err
	}
	p, err := measure.Launch(ctx, "evenkeel", addr, r.Evenkeel, append([]string{"serve", "--listen-cql", addr, "--listen-http", "off", "--listen-dynamodb", "off", "--cassandra", r.nodes[0].Addr()}, args...)...)
	if err == nil {
		r.started = append(r.started, p)
		r.doors = append(r.doors, p.PID)
	}
	return p, err
}

// create creates a keyspace with a table of many partitions and one over shards, and fills both.
func (r *ring) create(ctx context.Context, door *measure.Process, replicas, shards int) (partitions, sharded string, err error) {
	s, err := r.session(door)
	if err != nil {
		return "", "", err
	}
	space := fmt.Sprintf("%s_%d", keyspace, replicas)
	partitions, sharded = space+".partitions", space+".sharded"
	measure.Progress("loading %d rows into each of two tables with %d replicas", r.rows, replicas)
	for _, text := range []string{
		fmt.Sprintf("CREATE KEYSPACE %s WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': %d}", space, replicas),
		"CREATE TABLE " + partitions + " (publish_date date, title text, description text, PRIMARY KEY ((publish_date, title)))",
		fmt.Sprintf("CREATE TABLE %s (publish_date date, title text, description text, PRIMARY KEY (publish_date, title)) WITH write_sharding = {'shards': '%d'}", sharded, shards),
	} {
		if err := s.Query(text).Exec(); err != nil {
			return "", "", fmt.Errorf("%s: %w", text, err)
		}
	}
	for _, table := range []string{partitions, sharded} {
		if err := fill(ctx, s, table, r.rows); err != nil {
			return "", "", err
		}
	}
	return partitions, sharded, nil
}

// routing compares point reads at LOCAL_ONE through a door that sends each to a replica and
// through one that does not.
func (r *ring) routing(ctx context.Context) error {
	aware, err := r.door(ctx)
	if err != nil {
		return err
	}
	blind, err := r.door(ctx, "--cassandra-routing", "any")
	if err != nil {
		return err
	}
	for replicas := 1; replicas <= 2; replicas++ {
		partitions, sharded, err := r.create(ctx, aware, replicas, 200)
		if err != nil {
			return err
		}
		for _, t := range []struct{ name, table string }{{"plain", partitions}, {"200 shards", sharded}} {
			what := fmt.Sprintf("%d nodes, %d replicas, %s:", ringNodes, replicas, t.name)
			if err := r.compare(ctx, what, operations[:1], []arm{{"any node", blind, t.table}, {"token-aware", aware, t.table}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// hedging compares a door that hedges with one that does not. A client reads pages over 50 shards, and a
// node stands still for a tenth of the time. The client sends requests at a steady rate, also during a
// pause. Otherwise the measurement would hardly see the pauses.
func (r *ring) hedging(ctx context.Context) error {
	const shards, page, still, of = 50, 100, 100 * time.Millisecond, time.Second
	const every, pages = 25 * time.Millisecond, 400
	var arms []string
	var doors []*measure.Process
	for _, hedge := range []string{"off", "on"} {
		d, err := r.door(ctx, "--hedge", hedge)
		if err != nil {
			return err
		}
		arms, doors = append(arms, "hedge "+hedge), append(doors, d)
	}
	_, table, err := r.create(ctx, doors[0], 3, shards)
	if err != nil {
		return err
	}
	var sessions []*gocql.Session
	for _, d := range doors {
		s, err := r.session(d)
		if err != nil {
			return err
		}
		sessions = append(sessions, s)
	}
	what := fmt.Sprintf("a page of %d over %d shards each %v; one of %d nodes stands still for %v in each second", page, shards, every, ringNodes, still)
	measure.Progress("%s", what)
	ctx, end := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- pulse(ctx, r.nodes[ringNodes-1], still, of) }()
	samples, err := measure.Rounds(ctx, r.rounds, len(arms), func(i int) (measure.Sample, error) {
		own, backend := measure.CPU(doors[i].PID), r.storeCPU()
		s, err := paced(every, pages, func() error {
			n, _, err := readPage(sessions[i], table, page)
			if err == nil && n != page {
				err = fmt.Errorf("%d rows came, not %d", n, page)
			}
			return err
		})
		s.CPU, s.Backend = measure.CPU(doors[i].PID)-own, r.storeCPU()-backend
		return s, err
	})
	end()
	if wrong := <-ended; err == nil {
		err = wrong
	}
	if err != nil {
		return err
	}
	for i, name := range arms {
		r.report.addPoint(what, 0, name, samples[i])
	}
	return nil
}

// paced starts n requests at a steady rate. It does not wait for the earlier ones to end.
func paced(every time.Duration, n int, request func() error) (measure.Sample, error) {
	s := measure.Sample{Requests: n, Latencies: make([]time.Duration, n)}
	var all errgroup.Group
	begun := time.Now()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := range n {
		due := <-tick.C
		all.Go(func() error {
			err := request()
			s.Latencies[i] = time.Since(due)
			return err
		})
	}
	err := all.Wait()
	s.Wall = time.Since(begun)
	return s, err
}

// pulse pauses a node for a part of each period until ctx is done. The node then goes on.
func pulse(ctx context.Context, n *cassandra.Instance, still, of time.Duration) error {
	for {
		if err := n.Pause(); err != nil {
			return err
		}
		time.Sleep(still)
		if err := n.Continue(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(of - still):
		}
	}
}
