// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// KeyEpoch gives the keys from an instant on another number of shards: keys whose date, timestamp
// or timeuuid is From or later, up to the next epoch. Keys before the first epoch have the
// layout's default.
type KeyEpoch struct {
	From int64 // milliseconds since 1970, UTC
	Range
}

// TimeKind says how a partition-key column that contains a time is serialized.
type TimeKind = timebucket.Kind

// These are the kinds.
const (
	Date      = timebucket.Date
	Timestamp = timebucket.Timestamp
	Timeuuid  = timebucket.Timeuuid
)

// clock is the component of the partition key that decides a key's epoch.
type clock struct {
	component int
	of        int // number of components of the key
	kind      TimeKind
}

// KeyColumn describes a partition-key column as far as epochs of keys need it.
type KeyColumn struct {
	Name string
	Kind TimeKind // 0: it contains no time
}

// TimeColumn returns the index of the only column that contains a time. That column decides a
// key's epoch.
func TimeColumn(columns []KeyColumn) (at int, err error) {
	at = -1
	for i, c := range columns {
		switch {
		case c.Kind == 0:
		case at >= 0:
			return -1, fmt.Errorf("write_sharding: the partition key has several columns that tell the time, %s and %s: "+
				"which of them 'from' means is not certain; give keys numbers of shards of their own", columns[at].Name, c.Name)
		default:
			at = i
		}
	}
	if at < 0 {
		return -1, fmt.Errorf("write_sharding: epochs of keys ('from') need a partition-key column of type date, timestamp or timeuuid; " +
			"give keys numbers of shards of their own")
	}
	return at, nil
}

// Resolve returns the layout for a table with the given partition key. A layout with epochs of
// keys must be resolved before it can return shards.
func (l *Layout) Resolve(key []KeyColumn) (*Layout, error) {
	if len(l.Epochs) == 0 {
		return l, nil
	}
	at, err := TimeColumn(key)
	if err != nil {
		return nil, err
	}
	n := *l
	n.clock = clock{at, len(key), key[at].Kind}
	return &n, nil
}

// Since says whether the time in a serialized partition key is at or later. It uses the column
// that decides a key's epoch.
func (l *Layout) Since(key []byte, at int64) bool {
	when, ok := l.clock.instant(key)
	return ok && when >= at
}

// instant returns the time in a serialized partition key, in milliseconds since 1970. It returns
// false for a malformed key, which the store refuses.
func (c clock) instant(key []byte) (int64, bool) {
	if c.of == 0 {
		panic("shard: a layout with epochs of keys was not resolved")
	}
	v := key
	for i := 0; c.of > 1 && i <= c.component; i++ {
		// The key is a composite, see partitioner.AppendComposite.
		if len(key) < 2 {
			return 0, false
		}
		n := int(binary.BigEndian.Uint16(key))
		if len(key) < 2+n+1 {
			return 0, false
		}
		v, key = key[2:2+n], key[2+n+1:]
	}
	return c.kind.Instant(v)
}

// ParseInstant parses an instant in whole milliseconds: 2020-07-10 (midnight, UTC) or RFC 3339.
func ParseInstant(s string) (int64, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		t, err = time.Parse(time.RFC3339, s)
	}
	if err != nil || t.UnixNano()%int64(time.Millisecond) != 0 || t.Year() < 1678 || t.Year() > 2261 {
		return 0, fmt.Errorf("%q is not an instant; write 2020-07-10 or 2020-07-10T12:00:00Z", s)
	}
	return t.UnixMilli(), nil
}

// FormatInstant formats an instant in the form that ParseInstant parses.
func FormatInstant(ms int64) string {
	t := time.UnixMilli(ms).UTC()
	if ms%(24*60*60*1000) == 0 {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339Nano)
}

func formatKeyEpochs(epochs []KeyEpoch) string {
	parts := make([]string, len(epochs))
	for i, e := range epochs {
		parts[i] = e.Range.String() + " from " + FormatInstant(e.From)
	}
	return strings.Join(parts, ", ")
}

func parseKeyEpochs(text string) ([]KeyEpoch, error) {
	var out []KeyEpoch
	for item := range strings.SplitSeq(text, ",") {
		r, from, err := parseEpoch(item)
		if err != nil {
			return nil, err
		}
		at, err := ParseInstant(from)
		if err != nil {
			return nil, err
		}
		out = append(out, KeyEpoch{at, r})
	}
	if len(out) > maxEpochs {
		return nil, fmt.Errorf("%d epochs, of which there may be %d", len(out), maxEpochs)
	}
	for i := 1; i < len(out); i++ {
		if out[i].From <= out[i-1].From {
			return nil, errors.New("epochs must be in the order of their instants, each once")
		}
	}
	return out, nil
}

// RowEpoch puts rows into a Range: those whose first clustering column is From or greater, in the
// order of its type (not the clustering order), up to the next epoch.
type RowEpoch struct {
	From []byte // a serialized value of the first clustering column
	Range
}

// Of returns the range of a row. first is the value of the row's first clustering column. compare returns
// the order of two such values. Static columns are always in s.Range.
func (s *Spread) Of(first []byte, compare func(a, b []byte) int) Range {
	for i := len(s.Rows) - 1; i >= 0; i-- {
		if compare(first, s.Rows[i].From) >= 0 {
			return s.Rows[i].Range
		}
	}
	return s.Range
}

// Between returns the ranges that can have rows whose first clustering column is from low to
// high, both included. nil is no bound.
func (s *Spread) Between(low, high []byte, compare func(a, b []byte) int) []Range {
	var out []Range
	for i := -1; i < len(s.Rows); i++ {
		r := s.Range
		if i >= 0 {
			r = s.Rows[i].Range
			if high != nil && compare(high, s.Rows[i].From) < 0 {
				break
			}
		}
		if i+1 < len(s.Rows) && low != nil && compare(low, s.Rows[i+1].From) >= 0 {
			continue // a later epoch has these rows
		}
		out = append(out, r)
	}
	return out
}

// maxEpochs bounds a list of epochs, because every read goes through the whole list.
const maxEpochs = 100

func parseRowEpochs(text string) ([]RowEpoch, error) {
	var out []RowEpoch
	for item := range strings.SplitSeq(text, ",") {
		r, from, err := parseEpoch(item)
		if err != nil {
			return nil, err
		}
		var value []byte
		if n, err := fmt.Sscanf(from, "0x%x", &value); n != 1 || err != nil || fmt.Sprintf("0x%x", value) != from {
			return nil, fmt.Errorf("%q is not a serialized value, such as 0x0000018bcfe56800", from)
		}
		out = append(out, RowEpoch{value, r})
	}
	if len(out) > maxEpochs {
		return nil, fmt.Errorf("%d epochs, of which there may be %d", len(out), maxEpochs)
	}
	return out, nil
}

// parseEpoch parses "64@8 from X".
func parseEpoch(text string) (r Range, from string, err error) {
	words := strings.Fields(text)
	if len(words) != 3 || words[1] != "from" {
		return r, "", errors.New("an epoch is written as '64 from …', several with commas between")
	}
	r, err = parseRange(words[0])
	return r, words[2], err
}

// epochOf returns the places of a key's epoch. If the key belongs to no epoch, epochOf returns false.
func (l *Layout) epochOf(key []byte) (Range, bool) {
	if len(l.Epochs) > 0 {
		if at, ok := l.clock.instant(key); ok {
			for i := len(l.Epochs) - 1; i >= 0; i-- {
				if at >= l.Epochs[i].From {
					return l.Epochs[i].Range, true
				}
			}
		}
	}
	return Range{}, false
}
