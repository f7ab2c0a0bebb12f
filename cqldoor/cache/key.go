// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"encoding/binary"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// An account only gets answers that the same account asked for: its name is in the key of a read.

// partition returns the hash of a partition.
func (c *Cache) partition(t *table, key []byte) uint64 {
	return c.fence.Hash(kindPartition, append(appendLength([]byte(nil), len(t.name)), t.name+string(key)...))
}

// readKey returns the key under which the cache keeps the answer to a read. The key contains the account, the protocol
// version and the keyspace. Many drivers send a timestamp with each request. A read does not use it, so the key has none.
func readKey(l *link, e *wire.Execute) []byte {
	plain := *e
	plain.Params.Flags &^= wire.QueryDefaultTimestamp | wire.QuerySerialConsistency
	text := appendText(nil, l.options.Username)
	text = appendText(appendText(text, l.options.Startup), l.options.Keyspace)
	text = append(text, byte(l.options.Version))
	return wire.AppendExecute(text, l.options.Version, &plain)
}

// appendLength appends the length of a text.
func appendLength(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(n)) }

// appendText appends a text after its length, so that texts cannot run together.
func appendText(dst []byte, s string) []byte { return append(appendLength(dst, len(s)), s...) }
