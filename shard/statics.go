// SPDX-License-Identifier: Apache-2.0

package shard

// Home returns the shard that has the static columns of a logical partition. The murmur3 hash of the
// serialized key chooses it, under every strategy and hash. It is one of the places of rows that are in
// no epoch.
func (l *Layout) Home(key []byte) int {
	s := l.Spread(key)
	return s.Base + Murmur3.shard([][]byte{key}, s.N)
}
