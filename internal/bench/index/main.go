// SPDX-License-Identifier: Apache-2.0

// Command index measures what a storage-attached index costs a node of Cassandra, in CPU time: of a
// write, of a query that names the partition and of one that does not, and of each row that a query
// selects: `make bench-index`. `evenkeel advise` reckons with these figures.
//
// Rounds of the table with the index and of the same table without it are interleaved, after a
// warm-up. The figures are the medians of the rounds. CPU is the time that the operating system charged
// to the process, so that what else the machine does matters little.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

// The table has partitions of perPartition rows. A value of "few" is in matches rows, of different
// partitions, a value of "one" in a single row.
const (
	partitions   = 600
	perPartition = 100
	matches      = 60
	inFlight     = 32
)

type bench struct {
	session *gocql.Session
	pid     int
	rounds  int
}

func main() {
	addr := flag.String("cassandra", os.Getenv("EVENKEEL_TEST_CASSANDRA"), "host:port of a Cassandra that is otherwise idle")
	rounds := flag.Int("rounds", 5, "interleaved rounds of each comparison")
	measure.Main(func(ctx context.Context) error { return run(ctx, *addr, *rounds) })
}

func run(ctx context.Context, addr string, rounds int) error {
	pid, err := measure.Listener(addr)
	if err != nil {
		return err
	}
	cluster := gocql.NewCluster(addr)
	cluster.Timeout = time.Minute
	session, err := cluster.CreateSession()
	if err != nil {
		return err
	}
	defer session.Close()
	b := &bench{session, pid, rounds}
	for _, ddl := range []string{
		"CREATE KEYSPACE bench_index WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE bench_index.plain (p int, c int, one text, few text, pad text, PRIMARY KEY ((p), c))",
		"CREATE TABLE bench_index.indexed (p int, c int, one text, few text, pad text, PRIMARY KEY ((p), c))",
		"CREATE INDEX ON bench_index.indexed (few) USING 'sai'",
		"CREATE TABLE bench_index.single (p int, c int, one text, few text, pad text, PRIMARY KEY ((p), c))",
		"CREATE INDEX ON bench_index.single (one) USING 'sai'",
	} {
		if err := session.Query(ddl).ExecContext(ctx); err != nil {
			return fmt.Errorf("%s: %w", ddl, err)
		}
	}
	if err := b.measure(ctx); err != nil {
		return err
	}
	return session.Query("DROP KEYSPACE bench_index").ExecContext(ctx)
}

// cpu returns the CPU time that each of n requests takes the node.
func (b *bench) cpu(ctx context.Context, n int, send func(i int) error) (time.Duration, error) {
	before := measure.CPU(b.pid)
	var g errgroup.Group
	g.SetLimit(inFlight)
	for i := range n {
		g.Go(func() error { return send(i) })
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	return (measure.CPU(b.pid) - before) / time.Duration(n), ctx.Err()
}

func (b *bench) write(ctx context.Context, table string) func(i int) error {
	return func(i int) error {
		p, c := i%partitions, i/partitions
		few := i * 7919 % (partitions * perPartition) / matches
		return b.session.Query("INSERT INTO bench_index."+table+" (p, c, one, few, pad) VALUES (?, ?, ?, ?, ?)", p, c, fmt.Sprintf("v%d", i), fmt.Sprintf("v%d", few), "a row of some hundred bytes, as most rows of tables of events, readings and messages are: about so long").ExecContext(ctx)
	}
}

func (b *bench) read(ctx context.Context, query string, bind func(i int) []any) func(i int) error {
	return func(i int) error {
		iter := b.session.Query(query, bind(i)...).IterContext(ctx)
		for m := make(map[string]any); iter.MapScan(m); clear(m) {
		}
		return iter.Close()
	}
}

// measure prints the figures.
func (b *bench) measure(ctx context.Context) error {
	const rows = partitions * perPartition
	one := func(i int) []any { return []any{fmt.Sprintf("v%d", i*7919%rows)} }
	few := func(i int) []any { return []any{fmt.Sprintf("v%d", i*7919%(rows/matches))} }
	within := func(i int) []any { n := i * 7919 % rows; return []any{n % partitions, fmt.Sprintf("v%d", n)} }
	kinds := []struct {
		name string
		n    int
		send func(i int) error
	}{
		{"a write", rows, b.write(ctx, "plain")},
		{"a write with the index", rows, b.write(ctx, "indexed")},
		{"a write with the index, values that do not repeat", rows, b.write(ctx, "single")},
		{"a row by its key", 10_000, b.read(ctx, "SELECT * FROM bench_index.plain WHERE p = ? AND c = ?", func(i int) []any { return []any{i % partitions, i / partitions} })},
		{"an index query, one row", 10_000, b.read(ctx, "SELECT * FROM bench_index.single WHERE one = ?", one)},
		{"an index query in a partition, one row", 10_000, b.read(ctx, "SELECT * FROM bench_index.single WHERE p = ? AND one = ?", within)},
		{fmt.Sprintf("an index query, %d rows", matches), 3_000, b.read(ctx, "SELECT * FROM bench_index.indexed WHERE few = ?", few)},
	}
	taken := make([][]time.Duration, len(kinds))
	for round := range b.rounds + 1 {
		for k, kind := range kinds {
			each, err := b.cpu(ctx, kind.n, kind.send)
			if err != nil {
				return fmt.Errorf("%s: %w", kind.name, err)
			}
			if round > 0 { // the first is the warm-up
				taken[k] = append(taken[k], each)
			}
		}
	}
	for k, kind := range kinds {
		slices.Sort(taken[k])
		fmt.Printf("%-52s %6.1f µs (%.1f to %.1f)\n", kind.name, micros(taken[k][len(taken[k])/2]), micros(taken[k][0]), micros(taken[k][len(taken[k])-1]))
	}
	return nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
