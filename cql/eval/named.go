// SPDX-License-Identifier: Apache-2.0

package eval

import "github.com/evenkeel/evenkeel/cql/wire"

// maxNamed is the largest total size, in bytes, of values that are bound by name. A message contains a
// named value once, but any number of markers can have its name. Without a bound, a short message could
// bind any amount of memory. A message with values in the order of the markers may be as long as maxNamed.
const maxNamed = 16 << 20

// CheckNamed returns an error if the total size of values that were bound by name is too large. values
// has one value for each marker.
func CheckNamed(values []Value) error {
	n := 0
	for i := range values {
		n += len(values[i].Bytes)
	}
	if n > maxNamed {
		return wire.Invalidf("evenkeel: a value that is bound by name counts for each marker of that name; these values have %d bytes together, and may have %d", n, maxNamed)
	}
	return nil
}
