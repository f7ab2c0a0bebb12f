// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/binary"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/partitioner"
)

// Cursor is the position at which a page ended and the next page starts. It holds all that a door
// needs. So any door can continue, also after a restart.
//
// As in Cassandra, a cursor works with every statement that reads the table. The statement's own
// restrictions apply.
type Cursor struct {
	KeyIndex int      // index of the partition key among those of the statement
	Key      []byte   // the partition key, serialized; for Partitions it is encoded in place of KeyIndex
	Scan     []byte   // for a scan of owners: the current physical partition key; nil: the start
	After    [][]byte // clustering key of the last row; nil: start of the partition
	Done     bool     // the partition has been read to its end
	Limit    int      // rows left of LIMIT, 0: no limit
	Layout   uint32   // for a scan of owners: checksum of the layout whose places it follows
	PerKey   int      // rows left of PER PARTITION LIMIT for this key; encoded one more, 0: no limit
}

const cursorVersion = 4

// Encode encodes the cursor. identity distinguishes the table from all others.
//
//	version | uvarints Limit, PerKey, 1 if Done, Layout | Key, Scan: uvarint length and bytes |
//	After: uvarint count+1 or 0, each uvarint length and bytes |
//	8 bytes: the token of identity and all before
func (c Cursor) Encode(identity []byte) []byte {
	b := []byte{cursorVersion}
	b = binary.AppendUvarint(b, uint64(c.Limit))
	b = binary.AppendUvarint(b, uint64(c.PerKey))
	done := uint64(0)
	if c.Done {
		done = 1
	}
	b = binary.AppendUvarint(b, done)
	b = binary.AppendUvarint(b, uint64(c.Layout))
	for _, key := range [][]byte{c.Key, c.Scan} {
		b = append(binary.AppendUvarint(b, uint64(len(key))), key...)
	}
	if c.After == nil {
		b = append(b, 0)
	} else {
		b = binary.AppendUvarint(b, uint64(len(c.After))+1)
		for _, v := range c.After {
			b = binary.AppendUvarint(b, uint64(len(v)))
			b = append(b, v...)
		}
	}
	return binary.BigEndian.AppendUint64(b, cursorSum(identity, b))
}

func cursorSum(identity, b []byte) uint64 {
	both := append(append(make([]byte, 0, len(identity)+len(b)), identity...), b...)
	return uint64(partitioner.Murmur3(both))
}

var errState = &wire.Error{Code: wire.CodeProtocol, Message: "Invalid value for the paging state"}

// IsCursor says whether a paging state is a cursor for the table with this identity.
func IsCursor(identity, b []byte) bool {
	return len(b) >= 1+7+8 && b[0] == cursorVersion && binary.BigEndian.Uint64(b[len(b)-8:]) == cursorSum(identity, b[:len(b)-8])
}

// Cursor returns where a bound statement begins: at its start, or at the position in a paging
// state.
func (p *Select) Cursor(b *analysis.BoundSelect, state []byte) (Cursor, error) {
	if state == nil {
		return Cursor{Limit: b.Limit, PerKey: b.PerPartitionLimit}, nil
	}
	if len(p.Logical.Sort) > 0 || p.Logical.Selection.Aggregated && !p.Logical.Grouped {
		return Cursor{}, errState // the statement has no pages
	}
	c, err := DecodeCursor(p.Table.Identity(), state, len(p.Table.Clustering))
	if err != nil {
		return c, err
	}
	for i, v := range c.After {
		if p.Table.Clustering[i].Type.Validate(v) != nil {
			return c, errState
		}
	}
	if c.Limit = lesser(c.Limit, b.Limit); c.PerKey == 0 {
		c.PerKey = b.PerPartitionLimit
	} else if c.PerKey--; b.PerPartitionLimit > 0 {
		c.PerKey = min(c.PerKey, b.PerPartitionLimit)
	} else {
		c.PerKey = 0
	}
	key := c.Key
	if c.Scan != nil {
		by := p.Walked(c)
		switch {
		case by == nil && p.Access == Owners:
			return c, errState // the layout belonged to a change that has ended
		case by == nil:
			by = p.Table
		}
		at, values, _, err := by.At(c.Scan)
		if err != nil {
			return c, err
		}
		if p.Access == Owners {
			if !slices.ContainsFunc(b.Tokens, func(r analysis.TokenRange) bool { return r.Start <= at.Token && at.Token <= r.End }) {
				return c, errState
			}
			return c, nil
		}
		key, c.Scan = AppendKey(nil, values), nil
	}
	if p.Access == Owners || len(key) == 0 {
		return c, errState
	}
	values, err := partitioner.SplitComposite(nil, key, len(p.Table.PartitionKey))
	if err != nil {
		return c, errState
	}
	if c.KeyIndex = b.Keys.Index(p.Table.PartitionKey, values); c.KeyIndex < 0 {
		return c, errState
	}
	if c.Done { // the next partition is read from its start
		c = Cursor{KeyIndex: c.KeyIndex + 1, Limit: c.Limit, PerKey: b.PerPartitionLimit}
	}
	return c, nil
}

// lesser returns the smaller of two limits. 0 means no limit.
func lesser(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// State returns the paging state for a cursor of a bound statement.
func (p *Select) State(b *analysis.BoundSelect, c Cursor) []byte {
	if c.Key = nil; p.Access == Partitions {
		c.Key = AppendKey(nil, b.Keys.At(c.KeyIndex))
	}
	if b.PerPartitionLimit > 0 {
		c.PerKey++
	}
	return c.Encode(p.Table.Identity())
}

// Identity returns the identity of a table, to which its paging states are bound. It does not
// depend on the layout: a position is a clustering key or a token.
func (t *Table) Identity() []byte { return t.ID[:] }

// DecodeCursor decodes a paging state. A foreign or damaged one is the protocol error that
// Cassandra returns.
func DecodeCursor(identity, b []byte, clustering int) (c Cursor, err error) {
	bad := errState
	if !IsCursor(identity, b) {
		return c, bad
	}
	rest, ok := b[1:len(b)-8], true
	next := func() int {
		v, n := binary.Uvarint(rest)
		if n <= 0 || v > 1<<32-1 {
			ok = false
			return 0
		}
		rest = rest[n:]
		return int(v)
	}
	c.Limit, c.PerKey, c.Done = next(), next(), next() == 1
	c.Layout = uint32(next())
	if c.Limit > 1<<31 || c.PerKey > 1<<31 {
		return c, bad
	}
	for _, key := range []*[]byte{&c.Key, &c.Scan} {
		if l := next(); l > 0 {
			if l > len(rest) {
				return c, bad
			}
			*key, rest = rest[:l:l], rest[l:]
		}
	}
	if n := next(); n > 0 {
		if n-1 != clustering {
			return c, bad
		}
		c.After = make([][]byte, n-1)
		for i := range c.After {
			l := next()
			if !ok || l > len(rest) {
				return c, bad
			}
			c.After[i], rest = rest[:l:l], rest[l:]
		}
	}
	if !ok || len(rest) > 0 {
		return c, bad
	}
	return c, nil
}
