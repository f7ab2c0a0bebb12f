// SPDX-License-Identifier: Apache-2.0

package shard

// Home returns the shard of the static columns of the logical partition key. It is chosen by the
// murmur3 hash of the serialized key, under every strategy and hash, among the places of the rows
// that are in no epoch.
func (l *Layout) Home(key []byte) int {
	s := l.Spread(key)
	return s.Base + Murmur3.shard([][]byte{key}, s.N)
}
