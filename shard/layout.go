// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// Strategy is a way to choose the shard of a row.
type Strategy uint8

const (
	Calculated Strategy = iota // by a hash of the By columns
	Random                     // drawn evenly for each write (Drawer)
	Time                       // by the bucket of time of By, and within the bucket by a hash of the whole clustering key
	Rollover                   // the key's current shard: the next one when the present one is full (Rolled)
)

// Anywhere says that any shard of a key can have cells of a row.
func (s Strategy) Anywhere() bool { return s == Random || s == Rollover }

func (s Strategy) String() string {
	switch s {
	case Random:
		return "random"
	case Time:
		return "time"
	case Rollover:
		return "rollover"
	}
	return "calculated"
}

// These are limits and defaults of a layout.
const (
	MaxShards     = 10_000
	DefaultColumn = "shard"
)

// Layout says how a table's logical partitions are spread over physical ones. It is immutable.
//
// The number of shards depends on the key (Spread). It comes from the first of these that exists:
// the key's own entry (Keys), the key's epoch (Epochs), the table's default (N, Base and Rows).
type Layout struct {
	Strategy   Strategy
	By         []string // clustering columns that are hashed; empty: all, in their order; Time: the one column with the time
	Hash       Hash     // Calculated only
	N          int      // default number of shards of a key; Shards or Spread returns a key's number
	Base       int      // by default a key has the places Base+1 to Base+N
	Rows       []RowEpoch
	Epochs     []KeyEpoch // sorted by From
	Column     string     // the additional partition-key column of the physical tables; "": see Plain
	Generation int64      // number of the table's layout; not an option
	Keys       *Keys      // not an option

	// Width is the length of a bucket, and N the number of shards in each. Time only; see Grid.
	Width timebucket.Width

	// Numbers says how a number in By tells the time: in timebucket.Seconds or Milliseconds; 0: By
	// holds no numbers. Time only, of DynamoDB tables; it is not an option.
	Numbers timebucket.Kind

	// Keep is how long rows are kept, by the time in By; 0: for ever. Time only.
	Keep timebucket.Width

	// Floor is the first bucket that accepts rows. The buckets before it have been dropped. 0:
	// none has been dropped. It only rises. It is not an option.
	Floor int64

	// Fill says when a shard is full, and Max how many shards a key may have. Rollover only.
	Fill Fill
	Max  int

	// Rolled says how many shards the keys have. Rollover only. It is not an option.
	Rolled *Rolled

	// Drawn is how many shards are drawn for writes under Random: the first ones; 0: all. Readers
	// learn of new shards before anybody writes to them. It is not an option.
	Drawn int

	// Remains says that rows can be in shards where the layout does not put them: copies, and
	// rows that an earlier layout left behind. Readers skip them. It is not an option.
	Remains bool

	// Used is the highest number that a shard ever had, under earlier layouts and under changes
	// that were rolled back; 0: no higher than now. A place is never used twice. It is not an
	// option.
	Used int

	clock clock // column that decides Epochs; see Resolve
}

// Default returns the spread of keys that have no entry and are in no epoch.
func (l *Layout) Default() Spread { return Spread{Range{l.N, l.Base}, l.Rows} }

// Spread returns how the rows of a logical partition are spread. key is its serialized partition
// key.
func (l *Layout) Spread(key []byte) Spread {
	if l.Strategy == Rollover {
		return Spread{Range: Range{N: l.Rolled.Shards(key)}}
	}
	if s, ok := l.Keys.Of(key); ok {
		return s
	}
	if len(l.Epochs) > 0 {
		if at, ok := l.clock.instant(key); ok {
			for i := len(l.Epochs) - 1; i >= 0; i-- {
				if at >= l.Epochs[i].From {
					return Spread{Range: l.Epochs[i].Range}
				}
			}
		}
	}
	return l.Default()
}

// Shards returns the number of shards of a logical partition whose rows have no epochs. key is
// its serialized partition key. Spread returns which shards these are.
func (l *Layout) Shards(key []byte) int {
	s := l.Spread(key)
	return s.N
}

// Place returns the shard of a row under Calculated, among the places r. by holds the canonical
// serialized values of the By columns, in their order.
func (l *Layout) Place(r Range, by ...[]byte) int {
	return r.Base + l.Hash.shard(by, r.N)
}

// ShardOf returns the shard of a row under Calculated, if the key's rows have no epochs. key is
// the logical partition key. by holds the canonical serialized values of the By columns, in their
// order.
func (l *Layout) ShardOf(key []byte, by ...[]byte) int {
	s := l.Spread(key)
	return l.Place(s.Range, by...)
}

// Home returns the shard of the static columns of the logical partition key. It is chosen by the
// murmur3 hash of the serialized key, under every strategy and hash, among the places of the rows
// that are in no epoch.
func (l *Layout) Home(key []byte) int {
	s := l.Spread(key)
	return s.Base + Murmur3.shard([][]byte{key}, s.N)
}

// HasRowEpochs says whether the shard of a row can also depend on its first clustering column.
func (l *Layout) HasRowEpochs() bool {
	return len(l.Rows) > 0 || l.Keys != nil && l.Keys.rows
}

// Last returns the highest place that any row can be in, now or under an earlier layout.
func (l *Layout) Last() int {
	d := l.Default()
	last := max(l.Used, d.Last(), l.Rolled.last())
	for _, e := range l.Epochs {
		last = max(last, e.Last())
	}
	for _, s := range l.Keys.All() {
		last = max(last, s.Last())
	}
	return last
}

// Equal says whether two layouts put each row in the same shard and use the same column.
func (l *Layout) Equal(m *Layout) bool {
	return l.Strategy == m.Strategy && slices.Equal(l.By, m.By) && l.Hash == m.Hash && l.Default().Equal(m.Default()) &&
		slices.Equal(l.Epochs, m.Epochs) && l.Column == m.Column && l.Width == m.Width && l.Numbers == m.Numbers && l.Keep == m.Keep &&
		l.Fill == m.Fill && l.Max == m.Max && l.Rolled.Equal(m.Rolled) && l.Keys.Equal(m.Keys)
}

// These are the options of write_sharding.
const (
	optionStrategy  = "strategy"
	optionBy        = "by"
	optionShards    = "shards"
	optionHash      = "hash"
	optionColumn    = "column"
	optionBase      = "base"
	optionEpochs    = "epochs"
	optionRowEpochs = "row_epochs"
	optionBucket    = "bucket"
	optionKeep      = "keep"
	optionRows      = "rows"
	optionBytes     = "bytes"
	optionMax       = "max"
)

var options = []string{optionStrategy, optionBy, optionShards, optionHash, optionColumn, optionBase, optionEpochs, optionRowEpochs, optionBucket, optionKeep, optionRows, optionBytes, optionMax}

// Parse parses the options of write_sharding, such as {'shards': '200'}. `by` and `column` are
// CQL identifiers: folded to lower case unless quoted. The caller, who knows the table, checks
// that the columns exist and fit.
func Parse(m map[string]string) (*Layout, error) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(options, k) {
			return nil, fmt.Errorf("write_sharding: unknown option '%s'; the options are %s", k, strings.Join(options, ", "))
		}
	}
	l := &Layout{Column: DefaultColumn}

	switch s, given := m[optionStrategy]; {
	case !given || s == "calculated":
	case s == "random":
		l.Strategy = Random
	case s == "time":
		l.Strategy = Time
	case s == "rollover":
		l.Strategy = Rollover
	default:
		return nil, fmt.Errorf("write_sharding: unknown strategy '%s'; use 'calculated', 'random', 'time' or 'rollover'", s)
	}
	for _, option := range []string{optionRows, optionBytes, optionMax} {
		if _, given := m[option]; given && l.Strategy != Rollover {
			return nil, fmt.Errorf("write_sharding: '%s' means nothing under strategy '%s'; leave it out, or use 'rollover'", option, l.Strategy)
		}
	}
	for _, option := range []string{optionBucket, optionKeep} {
		if _, given := m[option]; given && l.Strategy != Time {
			return nil, fmt.Errorf("write_sharding: '%s' means nothing under strategy '%s'; leave it out, or use 'time'", option, l.Strategy)
		}
	}

	if l.Strategy == Rollover {
		if err := l.parseRollover(m); err != nil {
			return nil, err
		}
		return l, l.parseColumn(m)
	}
	n, given := m[optionShards]
	if !given && l.Strategy == Time {
		n, given = "1", true
	}
	if !given {
		return nil, fmt.Errorf("write_sharding: the number of shards is missing; add 'shards': '…', from 1 to %d", MaxShards)
	}
	var err error
	if l.N, err = strconv.Atoi(n); err != nil || l.N < 1 || l.N > MaxShards {
		return nil, fmt.Errorf("write_sharding: 'shards' is '%s'; it must be a whole number from 1 to %d", n, MaxShards)
	}

	if base, given := m[optionBase]; given {
		if l.Base, err = strconv.Atoi(base); err != nil || l.Base < 0 || l.Base > MaxBase {
			return nil, fmt.Errorf("write_sharding: 'base' is '%s'; it must be a whole number from 0 to %d", base, MaxBase)
		}
	}
	if epochs, given := m[optionEpochs]; given {
		if l.Epochs, err = parseKeyEpochs(epochs); err != nil {
			return nil, fmt.Errorf("write_sharding: 'epochs' is '%s': %w", epochs, err)
		}
	}
	if rows, given := m[optionRowEpochs]; given {
		if l.Rows, err = parseRowEpochs(rows); err != nil {
			return nil, fmt.Errorf("write_sharding: 'row_epochs' is '%s': %w", rows, err)
		}
		if l.Strategy == Random {
			return nil, fmt.Errorf("write_sharding: 'row_epochs' means nothing under strategy 'random', whose rows may be in any shard; leave it out, or use 'calculated'")
		}
	}

	if l.Strategy == Random {
		for _, k := range []string{optionBy, optionHash} {
			if _, given := m[k]; given {
				return nil, fmt.Errorf("write_sharding: '%s' means nothing under strategy 'random'; leave it out, or use 'calculated'", k)
			}
		}
	}
	switch h, given := m[optionHash]; {
	case !given || h == "murmur3":
	case h == "code_points":
		l.Hash = CodePoints
	default:
		return nil, fmt.Errorf("write_sharding: unknown hash '%s'; use 'murmur3' or 'code_points'", h)
	}

	if by, given := m[optionBy]; given {
		if l.By, err = identifiers(by); err != nil {
			return nil, fmt.Errorf("write_sharding: 'by' is '%s': %w; name one clustering column or several, with commas between", by, err)
		}
	}
	if err := l.parseColumn(m); err != nil {
		return nil, err
	}
	if l.Strategy == Time {
		return l, l.parseTime(m)
	}
	return l, nil
}

// parseColumn parses the name of the hidden column, if it is given.
func (l *Layout) parseColumn(m map[string]string) error {
	c, given := m[optionColumn]
	if !given {
		return nil
	}
	names, err := identifiers(c)
	if err == nil && len(names) != 1 {
		err = fmt.Errorf("%d names", len(names))
	}
	if err != nil {
		return fmt.Errorf("write_sharding: 'column' is '%s': %w; give one column name", c, err)
	}
	l.Column = names[0]
	return nil
}

// Options returns the layout as options of write_sharding, including defaults, but without a base
// of 0, without empty epochs, and without Keys. A plain layout has none.
func (l *Layout) Options() map[string]string {
	if l.Plain() {
		return map[string]string{}
	}
	m := map[string]string{
		optionStrategy: l.Strategy.String(),
		optionShards:   strconv.Itoa(l.N),
		optionColumn:   quote(l.Column),
	}
	switch l.Strategy {
	case Calculated:
		m[optionHash] = l.Hash.String()
	case Time:
		m[optionBucket] = l.Width.String()
		if l.Keep > 0 {
			m[optionKeep] = l.Keep.String()
		}
	case Rollover:
		delete(m, optionShards)
		if l.Fill.Rows > 0 {
			m[optionRows] = strconv.FormatInt(l.Fill.Rows, 10)
		}
		if l.Fill.Bytes > 0 {
			m[optionBytes] = strconv.FormatInt(l.Fill.Bytes, 10)
		}
		if l.Max != MaxShards {
			m[optionMax] = strconv.Itoa(l.Max)
		}
	}
	if len(l.By) > 0 {
		names := make([]string, len(l.By))
		for i, n := range l.By {
			names[i] = quote(n)
		}
		m[optionBy] = strings.Join(names, ", ")
	}
	if l.Base > 0 {
		m[optionBase] = strconv.Itoa(l.Base)
	}
	if len(l.Epochs) > 0 {
		m[optionEpochs] = formatKeyEpochs(l.Epochs)
	}
	if len(l.Rows) > 0 {
		m[optionRowEpochs] = strings.TrimPrefix(Spread{Rows: l.Rows}.String(), "0, ")
	}
	return m
}

// String returns the options as a CQL map literal with sorted keys.
func (l *Layout) String() string {
	m := l.Options()
	var b strings.Builder
	b.WriteByte('{')
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "'%s': '%s'", k, strings.ReplaceAll(m[k], "'", "''"))
	}
	b.WriteByte('}')
	return b.String()
}
