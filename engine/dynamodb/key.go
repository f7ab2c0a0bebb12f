// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"crypto/md5"
	"encoding/binary"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// Keys follow the space's prefix:
//
//	00                                     version of the format
//	01 name                                a table's record (record.go)
//	02 table[4] index[2] entry             items, index entries, expiry times
//	03 digest[32]                          a transaction's token (token.go)
//	04, 05                                 streams (package stream)
//
// Numbers are big-endian. The id of a table is never given again, nor is the id of an index in its
// table. Entries are
//
//	index 0       hash[4] partition-key sort-key       the item
//	index 1…      hash[4] index-key tie[4] item        an index entry; item is as
//	                                                   in index 0
//	index ffff    expiry[8] item                       when the item expires
//
// The values of keys are in their order-preserving form. hash and tie are the beginning of an MD5:
// hash over the values of the partition key, tie over the whole key of the item. So the order of a
// Scan, and of index entries with equal keys, is DynamoDB's own.
const (
	regionFormat = 0x00
	regionRecord = 0x01
	regionEntry  = 0x02
	regionToken  = 0x03

	indexItems  = 0
	indexExpiry = 0xffff

	prefixLen = 1 + 1 + 4 + 2 // the length of the common beginning of entries, before the part that depends on the index
	hashLen   = 4
)

// appendPrefix appends the common beginning of the entries of one index of a table.
func appendPrefix(dst []byte, space byte, table uint32, index uint16) []byte {
	dst = append(dst, space, regionEntry)
	dst = binary.BigEndian.AppendUint32(dst, table)
	return binary.BigEndian.AppendUint16(dst, index)
}

// appendItem appends an item's place among the items of its table. item has at least the table's
// whole key.
func appendItem(dst []byte, k schema.Key, item attribute.Item) []byte {
	v, _ := item.Get(k.Hash[0])
	dst = appendHash(dst, v)
	dst = attribute.AppendKey(dst, v)
	if len(k.Range) > 0 {
		v, _ := item.Get(k.Range[0])
		dst = attribute.AppendKey(dst, v)
	}
	return dst
}

// appendPartition appends the prefix of all entries of one partition key.
func appendPartition(dst []byte, hash []attribute.Value) []byte {
	dst = appendHash(dst, hash...)
	for _, v := range hash {
		dst = attribute.AppendKey(dst, v)
	}
	return dst
}

// appendEntry appends an item's place in an index. It returns false if the item is not in the
// index: it lacks an attribute of the index's key, or has one of another type, empty or too long.
// Items older than the index may be like that.
func appendEntry(dst []byte, table schema.Key, ix *index, item attribute.Item) ([]byte, bool) {
	var hash [4]attribute.Value
	n := len(dst)
	for i, k := range ix.hash {
		v, ok := item.Get(k.Name)
		if !ok || !isKey(v, k.Type, attribute.MaxHashSize) {
			return dst[:n], false
		}
		hash[i] = v
	}
	dst = appendPartition(dst, hash[:len(ix.hash)])
	for _, k := range ix.sort {
		v, ok := item.Get(k.Name)
		if !ok || !isKey(v, k.Type, attribute.MaxRangeSize) {
			return dst[:n], false
		}
		dst = attribute.AppendKey(dst, v)
	}
	return appendTie(dst, table, item), true
}

// isKey reports whether a value may be a key attribute with this type and length.
func isKey(v attribute.Value, want attribute.Kind, most int) bool {
	if v.Kind() != want || want == attribute.N {
		return v.Kind() == want
	}
	return len(v.Text()) > 0 && len(v.Text()) <= most
}

// appendTie appends the bytes that distinguish an index entry from others with the same key.
func appendTie(dst []byte, table schema.Key, item attribute.Item) []byte {
	var key [2]attribute.Value
	key[0], _ = item.Get(table.Hash[0])
	n := 1
	if len(table.Range) > 0 {
		key[1], _ = item.Get(table.Range[0])
		n = 2
	}
	dst = appendHash(dst, key[:n]...)
	return appendItem(dst, table, item)
}

// salt is the beginning of the bytes that DynamoDB hashes for a key.
const salt = "Outliers"

// appendHash appends the hash of a key.
func appendHash(dst []byte, key ...attribute.Value) []byte {
	var room [128]byte
	buf := append(room[:0], salt...)
	for _, v := range key {
		if v.Kind() == attribute.N {
			buf = appendNumber(buf, v.Text())
		} else {
			buf = append(buf, v.Text()...)
		}
	}
	sum := md5.Sum(buf)
	return append(dst, sum[:hashLen]...)
}

// appendNumber appends the form in which DynamoDB hashes a number: an exponent of 100, then pairs
// of digits. The bytes of a negative number are complemented, and 102 ends them if they do not have
// the full length. The text is canonical.
func appendNumber(dst []byte, text string) []byte {
	if text == "0" {
		return append(dst, 0x80)
	}
	negative := text[0] == '-'
	if negative {
		text = text[1:]
	}
	// digits holds the significant digits, and point is the number of them before the point.
	var room [64]byte
	digits, point, seen := room[:0], 0, false
	for i := range len(text) {
		if text[i] == '.' {
			seen = true
			continue
		}
		if len(digits) == 0 && text[i] == '0' {
			if seen {
				point--
			}
			continue
		}
		digits = append(digits, text[i]-'0')
		if !seen {
			point++
		}
	}
	for len(digits) > 0 && digits[len(digits)-1] == 0 {
		digits = digits[:len(digits)-1]
	}
	odd := point & 1
	exponent := byte((point+odd)/2 - 64)
	if negative {
		exponent ^= 0xff
	}
	dst = append(dst, exponent)
	pairs := 0
	for i := -odd; i < len(digits); i += 2 {
		var pair byte
		if i >= 0 {
			pair = 10 * digits[i]
		}
		if i+1 < len(digits) {
			pair += digits[i+1]
		}
		if negative {
			dst = append(dst, 101-pair)
		} else {
			dst = append(dst, pair+1)
		}
		pairs++
	}
	if negative && pairs < 20 {
		dst = append(dst, 102)
	}
	return dst
}

// appendAfter appends the first key after all keys that begin with p.
func appendAfter(dst, p []byte) []byte {
	n := len(dst)
	dst = append(dst, p...)
	for i := len(dst) - 1; i >= n; i-- {
		dst[i]++
		if dst[i] != 0 {
			return dst[:i+1]
		}
	}
	return dst // all bytes were ff, which a prefix with a region never is
}
