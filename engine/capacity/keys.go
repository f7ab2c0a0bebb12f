// SPDX-License-Identifier: Apache-2.0

package capacity

import "bytes"

// keys counts the partition keys that a partition is asked for most: a few
// counters, of which the least is taken for a key that has none and goes on from
// there (Space-Saving), in windows of ten seconds.
type keys struct {
	window  int64
	current []counter
	last    []counter
}

// counter is of one partition key.
type counter struct {
	key     []byte
	units   float64
	refused int64
	inherit float64 // of units, those that may be another key's
}

// keysKept is how many keys are counted at a time.
const keysKept = 32

const keyWindow = 10 * second

func (c *counter) weight() float64 { return c.units + float64(c.refused) }

func (s *keys) roll(now nano) {
	w := now / int64(keyWindow)
	if w == s.window {
		return
	}
	s.last, s.current = s.current, s.last[:0]
	if w != s.window+1 {
		s.last = s.last[:0]
	}
	s.window = w
}

func (s *keys) add(key []byte, units float64, refused int64, now nano) {
	s.roll(now)
	least := -1
	for i := range s.current {
		c := &s.current[i]
		if bytes.Equal(c.key, key) {
			c.units += units
			c.refused += refused
			return
		}
		if least < 0 || c.weight() < s.current[least].weight() {
			least = i
		}
	}
	if n := len(s.current); n < keysKept {
		if n < cap(s.current) {
			s.current = s.current[:n+1]
		} else {
			s.current = append(s.current, counter{})
		}
		c := &s.current[n]
		*c = counter{key: append(c.key[:0], key...), units: units, refused: refused}
		return
	}
	c := &s.current[least]
	*c = counter{key: append(c.key[:0], key...), units: c.weight() + units, refused: refused, inherit: c.weight()}
}
