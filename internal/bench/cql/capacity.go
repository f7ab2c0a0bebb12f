// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

// The measured proxy has one core for itself. The clients and the mock share the other one.
const proxyCore, clientCore = "0", "1"

// capacity measures how many point operations a proxy forwards in a second on one core. The store is a
// mock, so that the store does not limit the proxy.
func (b *bench) capacity(ctx context.Context) error {
	m, err := startMock(b.cassandra)
	if err != nil {
		return err
	}
	defer m.close()
	confine := func(cores string) error {
		out, err := exec.CommandContext(ctx, "taskset", "-a", "-p", "-c", cores, fmt.Sprint(os.Getpid())).CombinedOutput()
		if err != nil {
			return fmt.Errorf("taskset: %w\n%s", err, out)
		}
		return nil
	}
	if err := confine(clientCore); err != nil {
		return err
	}
	defer confine(clientCore + "," + proxyCore)
	onOneCore := func(name, binary string, args ...string) (*measure.Process, error) {
		addr, err := measure.FreeAddr()
		if err != nil {
			return nil, err
		}
		for i, a := range args {
			args[i] = strings.ReplaceAll(a, "ADDR", addr)
		}
		return measure.Launch(ctx, name, addr, "taskset", append([]string{"-c", proxyCore, binary}, args...)...)
	}
	door, err := onOneCore("evenkeel", b.Evenkeel, "serve", "--listen-cql", "ADDR", "--listen-http", "off", "--listen-dynamodb", "off", "--cassandra", m.addr())
	if err != nil {
		return err
	}
	defer door.Stop()
	var arms []arm
	if b.options.proxy != "" {
		host, port, _ := strings.Cut(m.addr(), ":")
		proxy, err := onOneCore("cql-proxy", b.options.proxy, "--contact-points", host, "--port", port, "--bind", "ADDR", "--protocol-version", "v4")
		if err != nil {
			return err
		}
		defer proxy.Stop()
		arms = append(arms, arm{"cql-proxy", proxy, tableOf(0)})
	}
	arms = append(arms, arm{"evenkeel, forwarding", door, tableOf(0)}, arm{"evenkeel, N = 50", door, tableOf(50)})
	const connections, inFlight = 8, 64
	for _, op := range operations {
		what := fmt.Sprintf("capacity on one core, mock store, %d connections, %s", connections, op.name)
		measure.Progress("%s", what)
		samples, err := measure.Rounds(ctx, b.rounds, len(arms), func(i int) (measure.Sample, error) { return b.together(arms[i], op, connections, inFlight) })
		if err != nil {
			return err
		}
		for i, a := range arms {
			b.report.addPoint(what, inFlight, a.name, samples[i])
		}
	}
	return nil
}

// together sends requests over several connections at the same time.
func (b *bench) together(a arm, op operation, connections, inFlight int) (measure.Sample, error) {
	if _, err := b.once(a, op, 1, 0); err != nil { // the mock records the answer
		return measure.Sample{}, fmt.Errorf("%s: %w", a.name, err)
	}
	samples := make([]measure.Sample, connections)
	var all errgroup.Group
	own := measure.CPU(a.server.PID)
	for i := range samples {
		all.Go(func() (err error) {
			samples[i], err = b.once(a, op, inFlight, b.length)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return measure.Sample{}, fmt.Errorf("%s: %w", a.name, err)
	}
	sum := measure.Sample{CPU: measure.CPU(a.server.PID) - own}
	for _, s := range samples {
		sum.Requests += s.Requests
		sum.Wall = max(sum.Wall, s.Wall)
		sum.Latencies = append(sum.Latencies, s.Latencies...)
	}
	return sum, nil
}
