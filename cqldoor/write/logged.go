// SPDX-License-Identifier: Apache-2.0

package write

import (
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
)

// together returns the type of a batch that carries out one statement in several partitions. In one
// partition the statement is atomic. So the batch is logged.
func together(counter bool) wire.BatchType {
	if counter {
		return wire.BatchCounter // counters cannot be logged
	}
	return wire.BatchLogged
}

// Kind returns the type for the physical batch. Writes that were atomic because they were in one
// partition need a logged batch when they are spread.
func (g *Gathering) Kind(asked wire.BatchType) wire.BatchType {
	if asked != wire.BatchUnlogged || !g.Split || !rule.On(rule.LoggedWhenSplit) {
		return asked
	}
	return together(g.counters)
}
