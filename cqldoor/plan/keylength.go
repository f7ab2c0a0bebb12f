// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/partitioner"
)

// checkKey refuses a logical partition key that Cassandra would refuse. The store cannot check
// it: its key also has the shard.
func checkKey(key [][]byte) error {
	n := 0
	for _, v := range key {
		if v == nil {
			return nil // the store refuses it for another reason
		}
		n += len(v)
	}
	if len(key) > 1 {
		n += 3 * len(key)
	}
	switch {
	case n == 0:
		return wire.Invalidf("Key may not be empty")
	case n > partitioner.MaxComponent:
		return wire.Invalidf("Key length of %d is longer than maximum of %d", n, partitioner.MaxComponent)
	}
	n = 0
	for _, v := range key {
		n += len(v)
	}
	if n > longestKey(len(key)) {
		return tooLong(n, len(key))
	}
	return nil
}

// longestKey returns how many bytes the values of a logical partition key with so many columns
// may have. The store's key also has the shard, an int, and 3 bytes for each column.
func longestKey(columns int) int { return partitioner.MaxComponent - 4 - 3*(columns+1) }

func tooLong(n, columns int) error {
	return refused(fmt.Sprintf("a partition key of %d bytes is too long: the store keeps more beside it, so that at most %d are possible", n, longestKey(columns)),
		"use a shorter key, such as a hash of it")
}

// checkKeys refuses logical partition keys that the store cannot keep.
func checkKeys(columns int, keys *analysis.Tuples) error {
	if n, long := keys.Longer(longestKey(columns)); long {
		return tooLong(n, columns)
	}
	return nil
}
