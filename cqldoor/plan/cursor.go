package plan

import (
	"encoding/binary"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/partitioner"
)

// Cursor is where a page ended: what the next one starts from. It is all that a
// door must know, so that any door can go on, after a restart too.
type Cursor struct {
	KeyIndex int      // of the partition key among those of the statement
	Scan     []byte   // of a scan of owners: the physical partition key where it is; nil: at the start
	After    [][]byte // the clustering key of the last row; nil: the partition's start
	Done     bool     // the partition has been read to its end
	Limit    int      // rows left of LIMIT, 0: no limit
	PerKey   int      // rows left of PER PARTITION LIMIT for this key, 0: no limit
}

const cursorVersion = 2

// Encode writes the cursor for the statement that identity tells from all
// others: its text, keyspace and layout.
//
//	version | uvarints KeyIndex, Limit, PerKey, 1 if Done | Scan: uvarint length and bytes |
//	After: uvarint count+1 or 0, each uvarint length and bytes |
//	8 bytes: the token of identity and all before
func (c Cursor) Encode(identity []byte) []byte {
	b := []byte{cursorVersion}
	b = binary.AppendUvarint(b, uint64(c.KeyIndex))
	b = binary.AppendUvarint(b, uint64(c.Limit))
	b = binary.AppendUvarint(b, uint64(c.PerKey))
	done := uint64(0)
	if c.Done {
		done = 1
	}
	b = binary.AppendUvarint(b, done)
	b = binary.AppendUvarint(b, uint64(len(c.Scan)))
	b = append(b, c.Scan...)
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

// DecodeCursor reads a paging state; a foreign or damaged one is a protocol
// error, as Cassandra gives it.
func DecodeCursor(identity, b []byte, clustering int) (c Cursor, err error) {
	bad := errState
	if len(b) < 1+5+1+8 || b[0] != cursorVersion {
		return c, bad
	}
	body, sum := b[:len(b)-8], b[len(b)-8:]
	if binary.BigEndian.Uint64(sum) != cursorSum(identity, body) {
		return c, bad
	}
	rest, ok := body[1:], true
	next := func() int {
		v, n := binary.Uvarint(rest)
		if n <= 0 || v > 1<<31 {
			ok = false
			return 0
		}
		rest = rest[n:]
		return int(v)
	}
	c.KeyIndex, c.Limit, c.PerKey, c.Done = next(), next(), next(), next() == 1
	if l := next(); l > 0 {
		if l > len(rest) {
			return c, bad
		}
		c.Scan, rest = rest[:l:l], rest[l:]
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
