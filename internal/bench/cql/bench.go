// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

// bench holds the measured servers and the measurements.
type bench struct {
	options
	report *report

	direct, proxy, door, embedded *measure.Process
	store, doors                  []int // processes of Cassandra, and of the doors in front of it
	sessions                      []*gocql.Session
}

// layouts are the measured numbers of shards; 0: a plain table.
var layouts = []int{0, 1, 10, 50, 200}

const keyspace = "evenkeel_bench"

func (b *bench) start(ctx context.Context) error {
	b.direct = &measure.Process{Name: "Cassandra", Addr: b.cassandra, PID: b.pid}
	addr, err := measure.FreeAddr()
	if err != nil {
		return err
	}
	if b.door, err = measure.Launch(ctx, "evenkeel", addr, b.Evenkeel, "serve", "--listen-cql", addr, "--listen-http", "off", "--listen-dynamodb", "off", "--cassandra", b.cassandra); err != nil {
		return err
	}
	b.store, b.doors = []int{b.direct.PID}, []int{b.door.PID}
	if b.options.proxy != "" {
		if addr, err = measure.FreeAddr(); err != nil {
			return err
		}
		host, port, _ := strings.Cut(b.cassandra, ":")
		if b.proxy, err = measure.Launch(ctx, "cql-proxy", addr, b.options.proxy, "--contact-points", host, "--port", port, "--bind", addr, "--protocol-version", "v4"); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "evenkeel-bench")
	if err != nil {
		return err
	}
	if addr, err = measure.FreeAddr(); err != nil {
		return err
	}
	if b.embedded, err = measure.Launch(ctx, "evenkeel embedded", addr, b.Evenkeel, "serve", "--listen-cql", addr, "--listen-http", "off", "--listen-dynamodb", "off", "--data", dir); err != nil {
		return err
	}
	b.embedded.Dir = dir
	measure.Progress("loading %d rows into each of %d tables", b.rows, len(layouts))
	return b.load(ctx)
}

func (b *bench) close() {
	for _, s := range b.sessions {
		s.Close()
	}
	if b.direct != nil {
		if s, err := measure.Connect(b.direct.Addr); err == nil {
			s.Query("DROP KEYSPACE IF EXISTS " + keyspace).Exec()
			s.Close()
		}
	}
	for _, p := range []*measure.Process{b.door, b.proxy, b.embedded} {
		if p != nil {
			p.Stop()
		}
	}
}

func (b *bench) session(p *measure.Process) (*gocql.Session, error) {
	s, err := measure.Connect(p.Addr)
	if err == nil {
		b.sessions = append(b.sessions, s)
	}
	return s, err
}

// tableOf returns the table of a layout.
func tableOf(n int) string {
	if n == 0 {
		return keyspace + ".plain"
	}
	return fmt.Sprintf("%s.sharded_%d", keyspace, n)
}

const day = "2020-07-09"

// title returns the i-th title. Titles differ early, as real ones do.
func title(i int) string { return fmt.Sprintf("%08x a title of a blog", uint32(i)*2654435761) }

var description = strings.Repeat("A description of what is told. ", 3)

// load creates the tables through the doors and fills them.
func (b *bench) load(ctx context.Context) error {
	for _, p := range []*measure.Process{b.door, b.embedded} {
		s, err := b.session(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if err := s.Query("CREATE KEYSPACE IF NOT EXISTS " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").Exec(); err != nil {
			return err
		}
		for _, n := range layouts {
			text := "CREATE TABLE " + tableOf(n) + " (publish_date date, title text, description text, PRIMARY KEY (publish_date, title))"
			if n > 0 {
				text += fmt.Sprintf(" WITH write_sharding = {'shards': '%d'}", n)
			}
			if err := s.Query(text).Exec(); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
			if err := fill(ctx, s, tableOf(n), b.rows); err != nil {
				return err
			}
		}
	}
	return nil
}

func fill(ctx context.Context, s *gocql.Session, table string, rows int) error {
	inserts, failed := errgroup.WithContext(ctx)
	inserts.SetLimit(64)
	for i := 0; i < rows && failed.Err() == nil; i++ {
		inserts.Go(func() error {
			return s.Query("INSERT INTO "+table+" (publish_date, title, description) VALUES (?, ?, ?)", day, title(i), description).Exec()
		})
	}
	return errors.Join(inserts.Wait(), ctx.Err())
}
