// SPDX-License-Identifier: Apache-2.0

package live

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/value"
)

// FuzzPartitionOf reads arbitrary rows, such as those of another version: they are refused or read,
// and every key has values.
func FuzzPartitionOf(f *testing.F) {
	double := func(x float64) []byte { return binary.BigEndian.AppendUint64(nil, math.Float64bits(x)) }
	key := value.AppendPart(value.AppendCount(nil, 1), []byte("2020-07-09"))
	use := value.AppendPart(value.AppendPart(value.AppendPart(nil, key), double(1.5)), double(2))
	f.Add([]byte{0, 0, 0, 1}, double(1000), value.AppendPart(value.AppendCount(nil, 1), use), key)
	f.Add([]byte{0, 0, 0, 1}, double(1000), value.AppendCount(nil, 0), []byte(nil))
	f.Add([]byte{}, []byte{1}, []byte{0, 0}, []byte{0, 0, 0, 9})
	f.Fuzz(func(t *testing.T, number, units, keys, from []byte) {
		p, err := partitionOf(catalog.Row{"partition": number, "max_write_units": units, "keys": keys, "from_key": from, "from_token": from, "share": units})
		if err == nil && p.Number < 1 {
			t.Errorf("%+v", p)
		}
	})
}

// TestPartitionOfAnotherVersion checks that unknown rows are refused.
func TestPartitionOfAnotherVersion(t *testing.T) {
	for _, r := range []catalog.Row{
		{},
		{"partition": {0, 0, 0, 1}},
		{"partition": {0, 0, 0, 1}, "max_write_units": binary.BigEndian.AppendUint64(nil, math.Float64bits(1000)), "keys": {0, 0, 0, 7}},
	} {
		if p, err := partitionOf(r); err == nil {
			t.Errorf("%v is %+v", r, p)
		}
	}
}
