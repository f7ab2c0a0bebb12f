// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

// bench holds the measured door and the results.
type bench struct {
	options
	door    *measure.Process
	session *gocql.Session
	results []result
}

const (
	keyspace = "evenkeel_bench_reshard"
	table    = keyspace + ".t"
	byHand   = keyspace + ".by_hand"
)

// value is the text of each row.
var value = strings.Repeat("a reading of a device. ", 5)

func (b *bench) start(ctx context.Context) error {
	addr, err := measure.FreeAddr()
	if err != nil {
		return err
	}
	args := []string{"serve", "--listen-cql", addr, "--listen-http", "off", "--listen-dynamodb", "off"}
	dir := ""
	if b.cassandra != "" {
		args = append(args, "--cassandra", b.cassandra)
	} else if dir, err = os.MkdirTemp("", "evenkeel-bench"); err != nil {
		return err
	} else {
		args = append(args, "--data", dir)
	}
	if b.door, err = measure.Launch(ctx, "evenkeel", addr, b.Evenkeel, args...); err != nil {
		return err
	}
	b.door.Dir = dir
	if b.session, err = measure.Connect(addr); err != nil {
		return err
	}
	return b.exec(ctx, "CREATE KEYSPACE IF NOT EXISTS "+keyspace+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
}

func (b *bench) close() {
	if b.session != nil {
		b.session.Query("DROP KEYSPACE IF EXISTS " + keyspace).Exec()
		b.session.Close()
	}
	if b.door != nil {
		b.door.Stop()
	}
}

func (b *bench) exec(ctx context.Context, text string) error {
	return b.session.Query(text).ExecContext(ctx)
}

// create creates a table of n shards, or a plain one if n is 0. It drops an earlier one.
func (b *bench) create(ctx context.Context, name string, n int) error {
	text := "CREATE TABLE " + name + " (k text, c int, v text, PRIMARY KEY (k, c))"
	if n > 0 {
		text += fmt.Sprintf(" WITH write_sharding = {'shards': '%d'}", n)
	}
	return errors.Join(b.exec(ctx, "DROP TABLE IF EXISTS "+name), b.exec(ctx, text))
}

// load creates the table of a scene and fills it.
func (b *bench) load(ctx context.Context, s scene) error {
	if err := b.create(ctx, table, s.from); err != nil {
		return err
	}
	measure.Progress("  loading %d rows", b.rows)
	inserts, failed := errgroup.WithContext(ctx)
	inserts.SetLimit(64)
	for i := 0; i < b.rows && failed.Err() == nil; i++ {
		inserts.Go(func() error { return b.insert(failed, table, b.key(s, i), i, value) })
	}
	return errors.Join(inserts.Wait(), ctx.Err())
}

func (b *bench) insert(ctx context.Context, into, k string, c int, v string) error {
	return b.session.Query("INSERT INTO "+into+" (k, c, v) VALUES (?, ?, ?)", k, c, v).ExecContext(ctx)
}

// each calls f with each row of the table.
func (b *bench) each(ctx context.Context, f func(k string, c int, v string) error) error {
	it := b.session.Query("SELECT k, c, v FROM " + table).PageSize(5000).IterContext(ctx)
	var k, v string
	var c int
	for it.Scan(&k, &c, &v) {
		if err := f(k, c, v); err != nil {
			return errors.Join(err, it.Close())
		}
	}
	return it.Close()
}

// check reads the table after the change. Each row is there once.
func (b *bench) check(ctx context.Context, s scene) error {
	seen := make([]bool, b.rows)
	n := 0
	err := b.each(ctx, func(k string, c int, _ string) error {
		if c < 0 || c >= len(seen) || seen[c] || k != b.key(s, c) {
			return fmt.Errorf("row (%s, %d) came twice, or nobody has written it", k, c)
		}
		seen[c] = true
		n++
		return nil
	})
	if err == nil && n != b.rows {
		err = fmt.Errorf("%d rows of %d are there after the change", n, b.rows)
	}
	return err
}

// copyByHand copies the table into one of the new layout, as a careful script does, while clients
// use the table. It returns the number of rows copied in a second.
func (b *bench) copyByHand(ctx context.Context, s scene, rate float64, request func(*rand.Rand) error) (float64, error) {
	if err := b.create(ctx, byHand, s.to); err != nil {
		return 0, err
	}
	during, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); steady(during, rate, request) }()
	defer func() { stop(); <-done }()
	began := time.Now()
	inserts, failed := errgroup.WithContext(ctx)
	inserts.SetLimit(32)
	err := b.each(failed, func(k string, c int, v string) error {
		inserts.Go(func() error { return b.insert(failed, byHand, k, c, v) })
		return nil
	})
	err = errors.Join(err, inserts.Wait())
	return float64(b.rows) / time.Since(began).Seconds(), err
}
