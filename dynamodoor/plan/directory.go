// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// directory names the logical partitions of a table in the directory of its shards.
type directory struct {
	id   string // of the physical table, so that a table does not inherit the entries of an earlier one of its name
	base int    // of the layout, so that the table does not inherit those of an earlier layout
}

func (s *stored) directory() directory { return directory{s.id, s.Layout.Base} }

// Directory returns the beginning of the directory's names of all logical partitions.
func (s *stored) Directory() string { return s.directory().name(attribute.String("")) }

// longestPartition is the number of bytes of a partition key that the directory's name has. Keys
// that begin with the same bytes share their entries. That is legal: a bucket in the directory may
// have no items.
const longestPartition = 1900

// append appends the name of a logical partition.
func (d directory) append(dst []byte, hash attribute.Value) []byte {
	key := attribute.KeyText(hash)
	if len(key) > longestPartition {
		key = strings.ToValidUTF8(key[:longestPartition], "")
	}
	dst = append(dst, d.id...)
	if d.base > 0 {
		dst = strconv.AppendInt(append(dst, '.'), int64(d.base), 10)
	}
	return append(append(dst, '/'), key...)
}

// name returns the name of a logical partition.
func (d directory) name(hash attribute.Value) string { return string(d.append(nil, hash)) }

// shares reports whether other logical partitions can have the same name.
func (d directory) shares(hash attribute.Value) bool {
	const cut = utf8.UTFMax - 1 // bytes of a character that a longer key can lose with the rest
	return len(attribute.KeyText(hash)) >= longestPartition-cut
}

// rolledName returns the name of a partition key under rollover. Unlike buckets of time, two partition
// keys cannot share an entry, so the name of a long one ends with its hash.
func (d directory) rolledName(hash attribute.Value) string {
	name := d.append(nil, hash)
	if key := attribute.KeyText(hash); len(key) > longestPartition {
		sum := sha256.Sum256([]byte(key))
		name = hex.AppendEncode(append(name, '/'), sum[:])
	}
	return string(name)
}
