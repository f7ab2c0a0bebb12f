// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

var errOrder = errors.New("rows are not in title order")

// way is one way to read the day.
type way struct {
	name string
	run  func() (rows, fetched int, err error)
}

// pages compares an ordered page of 100 rows and the whole day: one unsharded partition, shards by
// hand, and evenkeel.
func (b *bench) pages(ctx context.Context) error {
	direct, err := b.session(b.direct)
	if err != nil {
		return err
	}
	door, err := b.session(b.door)
	if err != nil {
		return err
	}
	const page = 100
	var first, whole, long []way
	for _, n := range layouts {
		table := tableOf(n)
		if n == 0 {
			first = append(first, way{"direct, one partition", func() (int, int, error) { return readPage(direct, table, page) }})
			whole = append(whole, way{"direct, one partition", func() (int, int, error) { return readDay(direct, table, dayPage) }})
			long = append(long, way{"direct, one partition", func() (int, int, error) { return readDay(direct, table, longPage) }})
			continue
		}
		hand := &byHand{direct, table, n}
		first = append(first,
			way{fmt.Sprintf("by hand, N = %d", n), func() (int, int, error) {
				rows, fetched, err := hand.page(page)
				return len(rows), fetched, err
			}},
			way{fmt.Sprintf("evenkeel, N = %d", n), func() (int, int, error) { return readPage(door, table, page) }})
		whole = append(whole,
			way{fmt.Sprintf("by hand, N = %d", n), func() (int, int, error) {
				rows, err := hand.day()
				return rows, rows, err
			}},
			way{fmt.Sprintf("evenkeel, N = %d", n), func() (int, int, error) { return readDay(door, table, dayPage) }})
		long = append(long, way{fmt.Sprintf("evenkeel, N = %d", n), func() (int, int, error) { return readDay(door, table, longPage) }})
	}
	if err := b.ways(ctx, fmt.Sprintf("ordered page of %d", page), first, 20, page); err != nil {
		return err
	}
	if err := b.ways(ctx, fmt.Sprintf("whole day in pages of %d", dayPage), whole, 1, b.rows); err != nil {
		return err
	}
	return b.ways(ctx, fmt.Sprintf("whole day in pages of %d", longPage), long, 1, b.rows)
}

// These are the page sizes for a whole day: the driver's default, and a longer one, which reads
// each shard less often.
const (
	dayPage  = 5_000
	longPage = 50_000
)

// ways measures each way in interleaved rounds of repeat runs.
func (b *bench) ways(ctx context.Context, what string, ways []way, repeat, rows int) error {
	measure.Progress("%s", what)
	fetched := make([]int, len(ways))
	samples, err := measure.Rounds(ctx, b.rounds, len(ways), func(i int) (s measure.Sample, err error) {
		w := ways[i]
		before := b.usage()
		start := time.Now()
		for range repeat {
			began := time.Now()
			n, f, err := w.run()
			if err != nil {
				return s, fmt.Errorf("%s: %w", w.name, err)
			}
			if n != rows {
				return s, fmt.Errorf("%s: %d rows came, not %d", w.name, n, rows)
			}
			fetched[i] = f
			s.Requests++
			s.Latencies = append(s.Latencies, time.Since(began))
		}
		s.Wall = time.Since(start)
		after := b.usage()
		s.Backend, s.CPU, s.Client = after[0]-before[0], after[1]-before[1], after[2]-before[2]
		return s, nil
	})
	if err != nil {
		return err
	}
	for i, w := range ways {
		b.report.addWay(what, w.name, samples[i], fetched[i])
	}
	return nil
}

// usage returns the CPU time of Cassandra, the doors, and this process.
func (b *bench) usage() [3]time.Duration {
	return [3]time.Duration{b.storeCPU(), cpu(b.doors...), measure.CPU(os.Getpid())}
}

// storeCPU returns the CPU time of Cassandra.
func (b *bench) storeCPU() time.Duration { return cpu(b.store...) }

func cpu(pids ...int) (all time.Duration) {
	for _, pid := range pids {
		all += measure.CPU(pid)
	}
	return all
}

// readPage reads one page as an application does.
func readPage(s *gocql.Session, table string, size int) (int, int, error) {
	it := s.Query("SELECT title, description FROM "+table+" WHERE publish_date = ?", day).PageSize(size).PageState(nil).Iter()
	n, err := count(it)
	return n, n, err
}

// readDay reads all pages.
func readDay(s *gocql.Session, table string, page int) (int, int, error) {
	it := s.Query("SELECT title, description FROM "+table+" WHERE publish_date = ?", day).PageSize(page).Iter()
	n, err := count(it)
	return n, n, err
}

func count(it *gocql.Iter) (int, error) {
	rows, last := 0, ""
	var p post
	for it.Scan(&p.title, &p.description) {
		if p.title < last {
			return 0, errOrder
		}
		last = p.title
		rows++
	}
	return rows, it.Close()
}
