// SPDX-License-Identifier: Apache-2.0

package write

import (
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
)

// together returns the type of a batch that executes one statement in several partitions. In one
// partition the statement is atomic. So the batch is logged if it changes no counters.
func together(counter bool) wire.BatchType {
	if counter {
		return wire.BatchCounter // counters cannot be logged
	}
	return wire.BatchLogged
}

// Kind returns the type of the physical batch. asked is the type that the client asked for. Writes to
// one logical partition are atomic. If they go to several shards, they need a logged batch.
func (g *Gathering) Kind(asked wire.BatchType) wire.BatchType {
	if asked != wire.BatchUnlogged || !g.Split || !rule.On(rule.LoggedWhenSplit) {
		return asked
	}
	return together(g.counters)
}
