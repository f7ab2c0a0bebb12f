// SPDX-License-Identifier: Apache-2.0

package throughput

import (
	"bytes"
	"slices"
)

// keys counts the partition keys that are requested most in a partition. It has ListedKeys counters. A
// key without a counter takes over the lowest counter and counts on from its value (Space-Saving).
// The counts are of windows of ten seconds.
type keys struct {
	window  int64
	current []counter
	last    []counter
}

// counter counts the requests to one partition key.
type counter struct {
	key     []byte
	units   float64
	refused int64
	inherit float64 // the part of units that may belong to another key
}

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
	if n := len(s.current); n < ListedKeys {
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

func (s *keys) usage(now nano) []KeyUsage {
	s.roll(now)
	var all []KeyUsage
	for _, half := range [][]counter{s.last, s.current} {
		for i := range half {
			c := &half[i]
			k := slices.IndexFunc(all, func(u KeyUsage) bool { return bytes.Equal(u.Key, c.key) })
			if k < 0 {
				k, all = len(all), append(all, KeyUsage{Key: bytes.Clone(c.key)})
			}
			all[k].Units += c.units - c.inherit
			all[k].Refused += c.refused
		}
	}
	slices.SortStableFunc(all, func(a, b KeyUsage) int {
		switch x, y := a.Units+float64(a.Refused), b.Units+float64(b.Refused); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return bytes.Compare(a.Key, b.Key)
	})
	return all[:min(len(all), ListedKeys)]
}
