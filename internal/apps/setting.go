// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/deps"
	"github.com/evenkeel/evenkeel/internal/testkit/metrics"
)

// These are the settings, in the order in which they run. A cluster keeps its rules, so the door
// without rules comes first.
const (
	reference     = "reference"
	engine        = "engine"
	engineSharded = "engine, sharded"
	door          = "door"
	doorSharded   = "door, sharded"
)

var settings = []string{reference, engine, engineSharded, door, doorSharded}

// endpoint is the address of a suite's store.
type endpoint struct{ addr string }

func (e endpoint) host() string { h, _, _ := net.SplitHostPort(e.addr); return h }
func (e endpoint) port() string { _, p, _ := net.SplitHostPort(e.addr); return p }
func (e endpoint) url() string  { return "http://" + e.addr }

// servers starts the servers for the settings.
type servers struct {
	evenkeel string // the binary
	dir      string

	cassandra *cassandra.Instance // shared by all applications; nil until one needs it
}

func (s *servers) close() {
	if s.cassandra != nil {
		s.cassandra.Close()
	}
}

// start starts the servers of a setting. The function that it returns ends them and reports faults
// of evenkeel.
func (s *servers) start(ctx context.Context, a *application, setting string) (e endpoint, stop func() error, err error) {
	var stops []func() error
	stop = func() error {
		var errs []error
		for i := len(stops) - 1; i >= 0; i-- {
			errs = append(errs, stops[i]())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	if setting != engine && setting != engineSharded {
		if e, err = s.reference(ctx, a.API, &stops); err != nil || setting == reference {
			return e, stop, err
		}
	}
	dir, err := os.MkdirTemp(s.dir, "data")
	if err != nil {
		return e, stop, err
	}
	rules := "{}\n"
	switch {
	case setting == doorSharded && a.DoorRules != "":
		rules = a.DoorRules
	case setting == engineSharded || setting == doorSharded:
		rules = a.Rules
	}
	file := filepath.Join(dir, "rules.yaml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		return e, stop, err
	}
	args := []string{"--data", filepath.Join(dir, "data"), "--shard-rules", file}
	if setting == door || setting == doorSharded {
		args = append(args, "--shard-rules-replace")
		if a.API == cql {
			args = append(args, "--cassandra", e.addr)
		} else {
			args = append(args, "--dynamodb", e.url(), "--dynamodb-region", "us-east-1")
		}
	}
	e, err = s.serve(ctx, a.API, args, setting == engineSharded || setting == doorSharded, &stops)
	return e, stop, err
}

// reference starts the store for which an application is made.
func (s *servers) reference(ctx context.Context, api api, stops *[]func() error) (endpoint, error) {
	if api == cql {
		if s.cassandra == nil {
			i, err := cassandra.Launch(ctx, cassandra.Options{HeapMB: 1024})
			if err != nil {
				return endpoint{}, err
			}
			s.cassandra = i
		}
		return endpoint{s.cassandra.Addr()}, nil
	}
	cli, err := deps.Path("dynalite/node_modules/dynalite/cli.js")
	if err != nil {
		return endpoint{}, err
	}
	addr, err := measure.FreeAddr()
	if err != nil {
		return endpoint{}, err
	}
	e := endpoint{addr}
	p, err := measure.Launch(ctx, "dynalite", addr, "node", cli, "--host", e.host(), "--port", e.port(),
		"--createTableMs", "0", "--deleteTableMs", "0", "--updateTableMs", "0")
	if err != nil {
		return endpoint{}, err
	}
	*stops = append(*stops, func() error { p.Stop(); return nil })
	return e, nil
}

// serve starts evenkeel.
func (s *servers) serve(ctx context.Context, api api, args []string, sharded bool, stops *[]func() error) (endpoint, error) {
	addr, err := measure.FreeAddr()
	if err != nil {
		return endpoint{}, err
	}
	page, err := measure.FreeAddr()
	if err != nil {
		return endpoint{}, err
	}
	listen := []string{"--listen-cql", addr, "--listen-dynamodb", "off"}
	if api == dynamodb {
		listen = []string{"--listen-cql", "off", "--listen-dynamodb", addr}
	}
	args = append(append([]string{"serve", "--listen-http", page}, listen...), args...)
	p, err := measure.Launch(ctx, "evenkeel", addr, s.evenkeel, args...)
	if err != nil {
		return endpoint{}, err
	}
	*stops = append(*stops, func() error {
		err := noPanics(page, api)
		p.Stop()
		if err == nil && sharded && !strings.Contains(p.Printed(), created) {
			err = errors.New("no table was created sharded: look whether the rules name the tables")
		}
		return err
	})
	return endpoint{addr}, nil
}

// created is the text that evenkeel logs about a table that a rule shards. Its metrics would tell
// more, but a table's metrics disappear with the table, and tests drop their tables.
const created = "a table was created that a shard rule declares sharded"

// noPanics asks evenkeel's metrics whether a request at its door has failed because of a bug.
func noPanics(page string, api api) error {
	name := "evenkeel_cql_panics_total"
	if api == dynamodb {
		name = "evenkeel_dynamodb_panics_total"
	}
	n, err := metrics.Sum(page, name)
	if err != nil {
		return fmt.Errorf("look whether evenkeel met a bug: %w", err)
	}
	if n != 0 {
		return fmt.Errorf("%s is %v: see what evenkeel logged", name, n)
	}
	return nil
}
