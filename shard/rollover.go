// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// Fill says how much the writes of one shard may bring under Rollover before the doors go on to
// the next shard. The fields are targets, not limits.
type Fill struct {
	Rows  int64 // 0: not counted
	Bytes int64 // of values; 0: not counted
}

// These are the smallest values of Fill. Each shard costs a read one request.
const (
	MinFillRows  = 10
	MinFillBytes = 1024
)

// Opening says when writes may go to a shard of a key.
type Opening struct {
	From int64 // microseconds: no cell of the shard has an earlier timestamp
	Open bool  // doors may write to the shard: all of them read it
}

// Rolled says how many shards the logical partitions of a table of strategy Rollover have. It is
// an immutable snapshot of the directory. nil says that every key has one shard.
//
// A shard has no cell with a timestamp before its opening. So a deletion with an earlier timestamp
// need not reach the shard. Shard 1 has no opening.
type Rolled struct {
	openings map[string][]Opening // by serialized partition key: of shard 2, shard 3, and so on
}

// NewRolled makes a snapshot. openings has those of shard 2, shard 3, and so on, by serialized
// partition key. The caller must not use it afterwards.
func NewRolled(openings map[string][]Opening) *Rolled {
	if len(openings) == 0 {
		return nil
	}
	return &Rolled{openings}
}

// of returns the openings of a key.
func (r *Rolled) of(key []byte) []Opening {
	if r == nil {
		return nil
	}
	return r.openings[string(key)]
}

// Shards returns how many shards a key has.
func (r *Rolled) Shards(key []byte) int { return 1 + len(r.of(key)) }

// Current returns the last shard of a key to which cells with a timestamp may be written.
func (r *Rolled) Current(key []byte, stamp int64) int {
	of := r.of(key)
	for i := len(of) - 1; i >= 0; i-- {
		if of[i].Open && of[i].From <= stamp {
			return i + 2
		}
	}
	return 1
}

// Last returns the last shard of a key that is open, now or later.
func (r *Rolled) Last(key []byte) int { return r.Current(key, math.MaxInt64) }

// Reached returns the shards of a key that can have cells which a deletion with a timestamp
// deletes.
func (r *Rolled) Reached(key []byte, stamp int64) []int {
	out := []int{1}
	for i, o := range r.of(key) {
		if o.From <= stamp {
			out = append(out, i+2)
		}
	}
	return out
}

// last returns the highest shard of any key.
func (r *Rolled) last() int {
	last := 0
	if r != nil {
		for of := range maps.Values(r.openings) {
			last = max(last, 1+len(of))
		}
	}
	return last
}

// Equal says whether two snapshots are the same.
func (r *Rolled) Equal(o *Rolled) bool {
	if r == nil || o == nil {
		return r == o
	}
	return maps.EqualFunc(r.openings, o.openings, slices.Equal)
}

// parseRollover parses and checks the options of strategy Rollover.
func (l *Layout) parseRollover(m map[string]string) (err error) {
	for _, o := range []struct{ option, why string }{
		{optionShards, "a key begins with one shard and gets the next one when the present one is full; 'max' bounds them"},
		{optionBy, "a row goes to the shard that is the current one when it is written"},
		{optionHash, "a row goes to the shard that is the current one when it is written"},
		{optionBase, "shards are numbered from 1"},
		{optionEpochs, "each key gets shards as its own rows fill them"},
		{optionRowEpochs, "each key gets shards as its own rows fill them"},
	} {
		if _, given := m[o.option]; given {
			return fmt.Errorf("write_sharding: '%s' means nothing under strategy 'rollover': %s; leave it out", o.option, o.why)
		}
	}
	l.N, l.Max = 1, MaxShards
	if l.Fill.Rows, err = amount(m, optionRows, MinFillRows); err != nil {
		return err
	}
	if l.Fill.Bytes, err = amount(m, optionBytes, MinFillBytes); err != nil {
		return err
	}
	if l.Fill == (Fill{}) {
		return fmt.Errorf("write_sharding: strategy 'rollover' needs to know when a shard is full; add 'rows': '100000', for instance, or 'bytes': '50000000', or both")
	}
	if most, given := m[optionMax]; given {
		if l.Max, err = strconv.Atoi(most); err != nil || l.Max < 2 || l.Max > MaxShards {
			return fmt.Errorf("write_sharding: 'max' is '%s'; it must be a whole number from 2 to %d", most, MaxShards)
		}
	}
	return nil
}

// amount parses an option that counts rows or bytes. It returns 0 if the option is not given.
func amount(m map[string]string, option string, least int64) (int64, error) {
	text, given := m[option]
	if !given {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > math.MaxInt32*1000 {
		return 0, fmt.Errorf("write_sharding: '%s' is '%s'; it must be a whole number, at least %d", option, text, least)
	}
	return n, nil
}
