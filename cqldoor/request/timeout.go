// SPDX-License-Identifier: Apache-2.0

package request

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// late returns the error for a request that took too long. If it is a write, the error says that
// the write may or may not have been applied.
func (e *Coordinator) late(req *cqldoor.Request) *wire.Error {
	err := wire.Errorf(wire.CodeReadTimeout, "Operation timed out - received only 0 responses.")
	err.Consistency, err.Required = consistency(req), 1
	if e.Keys > 1 && e.Shards > 1 {
		err.Message += fmt.Sprintf(" evenkeel: the statement names %d partition keys; with %d shards each, these are %d partitions of the store; name fewer keys in a statement, or give the door a longer --request-timeout",
			e.Keys, e.Shards, e.Keys*e.Shards)
	}
	if req.Op == wire.OpBatch {
		err.Code, err.WriteType = wire.CodeWriteTimeout, wire.WriteUnloggedBatch
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if slices.ContainsFunc(e.needs, func(n Need) bool { return n.writes }) {
		err.Code, err.WriteType = wire.CodeWriteTimeout, wire.WriteSimple
	}
	return err
}
