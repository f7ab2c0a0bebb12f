// SPDX-License-Identifier: Apache-2.0

package request

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// ofAggregates begins Cassandra's warnings for aggregates over several partitions.
const ofAggregates = "Aggregation query used "

// ofBatches begins Cassandra's warning for batches over many partitions that have no log: more than
// so many (unlogged_batch_across_partitions_warn_threshold).
const (
	ofBatches          = "Unlogged batch covering "
	unloggedPartitions = 10
)

// Batched counts the partitions of sharded tables in a client's batch: those that the client names,
// and those of the store.
type Batched struct{ Logical, Physical int }

// retell makes the store's warning about a batch count the partitions that the client names. It
// returns "" if these are few.
func (b Batched) retell(w string) string {
	number, rest, _ := strings.Cut(strings.TrimPrefix(w, ofBatches), " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return w
	}
	if n += b.Logical - b.Physical; n <= unloggedPartitions {
		return ""
	}
	return ofBatches + strconv.Itoa(n) + " " + rest
}

// ofQuery matches the statement in Cassandra's warnings and errors about the costs of a read, and
// in its errors the same way: "… for query SELECT … (see tombstone_warn_threshold)". Group 1 is the
// table that the statement reads.
var ofQuery = regexp.MustCompile(`(?s)\bquery SELECT .*? FROM ("?\w+"?\."?\w+"?).* \(see (\w+)\)$`)

// told translates a warning of the store for the client. The store's warning is about the door's
// statement. The client's text names the client's tables. told returns "" if the client need not
// know. The caller holds mu.
func (e *Coordinator) told(w string) string {
	switch {
	case strings.HasPrefix(w, ofAggregates):
		return "" // for the client, the statement is on one partition
	case strings.HasPrefix(w, ofBatches) && e.alone:
		return "" // for the client, the statement is no batch
	case strings.HasPrefix(w, ofBatches):
		return e.batch.retell(w)
	}
	w = e.withoutQuery(w)
	for _, n := range e.needs {
		w = HideName(w, n.table.Layout.Column)
	}
	return w
}

// without returns an error of the store without the door's own statement.
func (e *Coordinator) without(err error) error {
	var of *wire.Error
	if !errors.As(err, &of) {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	text := e.withoutQuery(of.Message)
	if text == of.Message {
		return err
	}
	told := *of
	told.Message = text
	return &told
}

// withoutQuery replaces the door's own statement in a text of the store by the name of the client's
// table. The caller holds mu.
func (e *Coordinator) withoutQuery(text string) string {
	at := ofQuery.FindStringSubmatchIndex(text)
	if at == nil {
		return text
	}
	name := strings.ReplaceAll(text[at[2]:at[3]], `"`, "")
	for _, n := range e.needs {
		if p := n.table.Physical(); name == p.Keyspace+"."+p.Name {
			name = n.table.Keyspace + "." + n.table.Name
		}
	}
	return text[:at[0]] + "query on " + name + " (see " + text[at[4]:at[5]] + ")"
}

// maxWarnings bounds the warnings in one answer.
const maxWarnings = 16

// warn adds a warning once. The caller holds mu.
func (e *Coordinator) warn(w string) {
	switch {
	case slices.Contains(e.warnings, w):
	case len(e.warnings) == maxWarnings:
		e.dropped++
	default:
		e.warnings = append(e.warnings, w)
	}
}
