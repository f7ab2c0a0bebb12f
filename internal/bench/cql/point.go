// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

// arm is one server and table of a comparison.
type arm struct {
	name   string
	server *measure.Process
	table  string
}

// operation is a prepared point operation.
type operation struct {
	name   string
	text   string // %s is the table
	values func(dst []byte, i int) (raw []byte, count int)
}

var date = []byte{0x80, 0x00, 0x48, 0x14} // 2020-07-09

var operations = []operation{
	{"read", "SELECT description FROM %s WHERE publish_date = ? AND title = ?", func(dst []byte, i int) ([]byte, int) {
		return wire.AppendBytes(wire.AppendBytes(dst, date), []byte(title(i))), 2
	}},
	{"write", "INSERT INTO %s (publish_date, title, description) VALUES (?, ?, ?)", func(dst []byte, i int) ([]byte, int) {
		return wire.AppendBytes(wire.AppendBytes(wire.AppendBytes(dst, date), []byte(title(i))), []byte(description)), 3
	}},
}

// points compares the ways of a point operation with 1 and 48 requests in flight.
func (b *bench) points(ctx context.Context) error {
	arms := []arm{{"direct", b.direct, tableOf(0)}}
	if b.proxy != nil {
		arms = append(arms, arm{"cql-proxy", b.proxy, tableOf(0)})
	}
	arms = append(arms, arm{"evenkeel, forwarding", b.door, tableOf(0)})
	for _, n := range layouts[1:] {
		arms = append(arms, arm{fmt.Sprintf("evenkeel, N = %d", n), b.door, tableOf(n)})
	}
	return b.compare(ctx, "point", operations, arms)
}

// engine compares the embedded engine with Cassandra.
func (b *bench) engine(ctx context.Context) error {
	return b.compare(ctx, "embedded", operations, []arm{
		{"Cassandra", b.direct, tableOf(0)},
		{"evenkeel embedded", b.embedded, tableOf(0)},
		{"evenkeel embedded, N = 50", b.embedded, tableOf(50)},
	})
}

func (b *bench) compare(ctx context.Context, what string, operations []operation, arms []arm) error {
	for _, op := range operations {
		for _, inFlight := range []int{1, 48} {
			measure.Progress("%s %s, %d in flight", what, op.name, inFlight)
			samples, err := measure.Rounds(ctx, b.rounds, len(arms), func(i int) (measure.Sample, error) {
				s, err := b.once(arms[i], op, inFlight, b.length)
				if err != nil {
					err = fmt.Errorf("%s: %w", arms[i].name, err)
				}
				return s, err
			})
			if err != nil {
				return err
			}
			for i, a := range arms {
				b.report.addPoint(what+" "+op.name, inFlight, a.name, samples[i])
			}
		}
	}
	return nil
}

func (b *bench) once(a arm, op operation, inFlight int, length time.Duration) (measure.Sample, error) {
	c, err := dial(a.server.Addr)
	if err != nil {
		return measure.Sample{}, err
	}
	defer c.close()
	id, err := c.prepare(fmt.Sprintf(op.text, a.table))
	if err != nil {
		return measure.Sample{}, err
	}
	var raw []byte
	own, backend := measure.CPU(a.server.PID), b.storeCPU()
	s, err := c.drive(inFlight, length, func(dst []byte, i int) []byte {
		var n int
		raw, n = op.values(raw[:0], i*7919%b.rows)
		p := wire.Params{Consistency: wire.LocalOne}
		p.SetValues(wire.Values{Count: n, Raw: raw})
		p.SetSkipMetadata(true)
		return wire.AppendExecute(dst, wire.V4, &wire.Execute{ID: id, Params: p})
	})
	s.CPU, s.Backend = measure.CPU(a.server.PID)-own, b.storeCPU()-backend
	return s, err
}
