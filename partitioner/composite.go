// SPDX-License-Identifier: Apache-2.0

package partitioner

import (
	"encoding/binary"
	"errors"
)

// MaxComponent is the longest value, in bytes, that a composite key can hold.
const MaxComponent = 65535

// AppendComposite appends the serialized partition key of these values to dst. A single value is
// appended unchanged; of several, each becomes a 2-byte length, the value and 0x00
// (CompositeType). In a key of several values, a value longer than MaxComponent is cut, so check
// before.
func AppendComposite(dst []byte, values ...[]byte) []byte {
	if len(values) == 1 {
		return append(dst, values[0]...)
	}
	for _, v := range values {
		v = v[:min(len(v), MaxComponent)]
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(v)))
		dst = append(dst, v...)
		dst = append(dst, 0)
	}
	return dst
}

var errComposite = errors.New("malformed composite partition key")

// SplitComposite appends to dst the n values of a key, as slices of key.
func SplitComposite(dst [][]byte, key []byte, n int) ([][]byte, error) {
	if n == 1 {
		return append(dst, key), nil
	}
	for range n {
		if len(key) < 3 {
			return nil, errComposite
		}
		l := int(binary.BigEndian.Uint16(key))
		if len(key) < l+3 {
			return nil, errComposite
		}
		dst = append(dst, key[2:2+l:2+l])
		key = key[l+3:]
	}
	if len(key) > 0 {
		return nil, errComposite
	}
	return dst, nil
}
