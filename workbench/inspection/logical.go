// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Logical adds up logical partitions. Their physical partitions come in any order. It keeps the
// keys whose hash is below a threshold, and halves the threshold when they become too many. A kept
// key was kept from its first partition on.
type Logical struct {
	keys  map[uint64]*LogicalPartition
	halve int // how often the threshold was halved
}

// LogicalPartition holds the counts of a logical partition.
type LogicalPartition struct {
	Rows     int64 `json:"rows"`
	Bytes    int64 `json:"bytes"`
	Physical int64 `json:"physical"` // number of physical partitions
	Most     int64 `json:"most"`     // bytes of the largest physical partition
	Token    int64 `json:"token"`    // of the largest physical partition
	key      [][]byte
}

// logicalMost is the greatest number of logical partitions that are kept.
const logicalMost = 20_000

// NewLogical makes an empty Logical.
func NewLogical() *Logical { return &Logical{keys: make(map[uint64]*LogicalPartition)} }

func (l *Logical) wanted(hash uint64) bool {
	return l.halve == 0 || hash>>(64-l.halve) == 0
}

func (l *Logical) add(hash uint64, p Partition) {
	if !l.wanted(hash) {
		return
	}
	k := l.keys[hash]
	if k == nil {
		k = &LogicalPartition{Token: p.Token, key: clone(p.Key)}
		l.keys[hash] = k
	}
	k.Rows += p.Rows
	k.Bytes += p.Bytes
	k.Physical++
	if p.Bytes > k.Most {
		k.Most, k.Token = p.Bytes, p.Token
	}
	l.trim()
}

func (l *Logical) trim() {
	for len(l.keys) > logicalMost {
		l.halve++
		for h := range l.keys {
			if !l.wanted(h) {
				delete(l.keys, h)
			}
		}
	}
}

func (l *Logical) merge(o *Logical) {
	if o.halve > l.halve {
		l.halve = o.halve
		for h := range l.keys {
			if !l.wanted(h) {
				delete(l.keys, h)
			}
		}
	}
	for h, k := range o.keys {
		if !l.wanted(h) {
			continue
		}
		have := l.keys[h]
		if have == nil {
			c := *k
			l.keys[h] = &c
			continue
		}
		have.Rows += k.Rows
		have.Bytes += k.Bytes
		have.Physical += k.Physical
		if k.Most > have.Most {
			have.Most, have.Token = k.Most, k.Token
		}
		if have.key == nil {
			have.key = k.key
		}
	}
	l.trim()
}

// Share returns the share of the logical partitions that is kept.
func (l *Logical) Share() float64 {
	s := 1.0
	for range l.halve {
		s /= 2
	}
	return s
}

// list returns the kept logical partitions, the largest first.
func (l *Logical) list() []*LogicalPartition {
	out := make([]*LogicalPartition, 0, len(l.keys))
	for _, k := range l.keys {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b *LogicalPartition) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Token, b.Token))
	})
	return out
}

type logicalJSON struct {
	Halved int                          `json:"halved"`
	Keys   map[uint64]*LogicalPartition `json:"keys"`
}

// MarshalJSON writes the counts without the values of keys.
func (l *Logical) MarshalJSON() ([]byte, error) {
	return json.Marshal(logicalJSON{l.halve, l.keys})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (l *Logical) UnmarshalJSON(text []byte) error {
	var j logicalJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	if j.Halved < 0 || j.Halved > 63 {
		return fmt.Errorf("a threshold that was halved %d times is none", j.Halved)
	}
	l.halve, l.keys = j.Halved, j.Keys
	if l.keys == nil {
		l.keys = make(map[uint64]*LogicalPartition)
	}
	for _, k := range l.keys {
		if k == nil {
			return fmt.Errorf("a logical partition is null")
		}
	}
	return nil
}

// MarshalJSON writes the hashes.
func (d Distinct) MarshalJSON() ([]byte, error) {
	if d.Many {
		return []byte(`{"many":true}`), nil
	}
	hashes := make([]uint64, 0, len(d.hashes))
	for h := range d.hashes {
		hashes = append(hashes, h)
	}
	slices.Sort(hashes)
	return json.Marshal(struct {
		Hashes []uint64 `json:"hashes"`
	}{hashes})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *Distinct) UnmarshalJSON(text []byte) error {
	var j struct {
		Many   bool     `json:"many"`
		Hashes []uint64 `json:"hashes"`
	}
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*d = Distinct{Many: j.Many}
	for _, h := range j.Hashes {
		d.Add(h)
	}
	return nil
}
