// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/deadline"
)

// nodes is a session over the nodes of the backend, which learn of a change of the schema one
// after the other.
type nodes struct {
	Session
	poll time.Duration // how often to ask again
}

// Agree waits until all nodes of the store have the same schema. It stops after a few seconds. It
// reports whether the nodes agree.
func Agree(ctx context.Context, s Session) bool { return nodes{s, defaultPoll}.agree(ctx) }

// agree waits for a limited time until the nodes of the backend have the same schema, and reports
// whether they do. A node that is read after that knows of all earlier changes.
func (n nodes) agree(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	err := n.wait(ctx, func() (bool, error) {
		versions, err := n.versions(ctx)
		return err == nil && len(versions) == 1, nil
	})
	return err == nil
}

// versions returns the different versions of the schema at the backend's nodes. Each node gives its
// own version. Only if a node cannot be reached, versions takes what the other nodes know of its
// version. They may know an old one, because gossip spreads a change some time later.
func (n nodes) versions(ctx context.Context) (map[string]bool, error) {
	rows, all, err := n.each(ctx, "SELECT schema_version FROM system.local")
	if err == nil && !all {
		var peers []Row
		peers, _, err = n.each(ctx, "SELECT schema_version FROM system.peers")
		rows = append(rows, peers...)
	}
	versions := map[string]bool{}
	for _, r := range rows {
		if v := r["schema_version"]; v != nil {
			versions[string(v)] = true
		}
	}
	return versions, err
}

// each executes a statement at each node, or at any node if the session cannot choose one.
func (n nodes) each(ctx context.Context, cql string) (rows []Row, all bool, err error) {
	if s, ok := n.Session.(NodesSession); ok {
		if rows, all, err = s.EachNode(ctx, cql); err != nil || rows != nil {
			return rows, all, err
		}
	}
	rows, err = n.Query(ctx, wire.One, cql)
	return rows, false, err
}

// wait calls done until it returns true or ctx is done.
func (n nodes) wait(ctx context.Context, done func() (bool, error)) error {
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		if err := n.pause(ctx); err != nil {
			return err
		}
	}
}

func (n nodes) pause(ctx context.Context) error { return deadline.Sleep(ctx, n.poll) }

// ready reads from a new table until the backend can answer.
//
// Cassandra executes a CREATE TABLE in three steps. First system_schema shows the table. Then
// statements can name it (before: "table layouts does not exist"). Then it can be read (before:
// "Unknown CF", or a replica's failure). A door that sees the table in system_schema may be
// between these steps. Other backends create tables in the background.
func (n nodes) ready(ctx context.Context, read func() error) error {
	var unready error
	err := n.wait(ctx, func() (bool, error) {
		err := read()
		if refused := (*wire.Error)(nil); errors.As(err, &refused) {
			switch refused.Code {
			case wire.CodeInvalid, wire.CodeServer, wire.CodeReadFailure:
				unready = err
				return false, nil
			}
		}
		unready = nil
		return true, err
	})
	if unready != nil {
		return unready // tells more than the end of the time does
	}
	return err
}
