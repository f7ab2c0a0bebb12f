package shard

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Strategy is how a row comes to its shard.
type Strategy uint8

const (
	Calculated Strategy = iota // by a hash of the By columns
	Random                     // drawn evenly for each write (Drawer)
)

func (s Strategy) String() string {
	if s == Random {
		return "random"
	}
	return "calculated"
}

// Limits and defaults of a layout.
const (
	MaxShards     = 10_000
	DefaultColumn = "shard"
)

// Layout is how a table's logical partitions are spread over physical ones. It
// is immutable.
type Layout struct {
	Strategy   Strategy
	By         []string // clustering columns that are hashed; empty means all of them, in their order
	Hash       Hash     // Calculated only
	N          int      // shards of a key: ask Shards
	Column     string   // the physical tables' additional partition-key column
	Generation int64    // counts the table's layouts; not one of the options
}

// Shards returns how many shards a logical partition has; key is its serialized
// partition key. Shards are numbered from 1.
func (l *Layout) Shards(key []byte) int { return l.N }

// ShardOf returns the shard, 1..Shards(key), of a row of the logical partition
// key under Calculated. by is the canonical serialized values of the By columns,
// in their order.
func (l *Layout) ShardOf(key []byte, by ...[]byte) int {
	return l.Hash.shard(by, l.Shards(key))
}

// Home returns the shard, 1..Shards(key), of the static columns of the logical
// partition key: by the hash murmur3 of the serialized key, under every strategy
// and hash.
func (l *Layout) Home(key []byte) int {
	return Murmur3.shard([][]byte{key}, l.Shards(key))
}

// Equal says whether two layouts place rows alike and in the same column.
func (l *Layout) Equal(m *Layout) bool {
	return l.Strategy == m.Strategy && slices.Equal(l.By, m.By) && l.Hash == m.Hash && l.N == m.N && l.Column == m.Column
}

// The options of write_sharding.
const (
	optionStrategy = "strategy"
	optionBy       = "by"
	optionShards   = "shards"
	optionHash     = "hash"
	optionColumn   = "column"
)

var options = []string{optionStrategy, optionBy, optionShards, optionHash, optionColumn}

// Parse reads the options of write_sharding, such as {'shards': '200'}. `by` and
// `column` are CQL identifiers: folded to lower case unless in double quotes.
// Whether the columns exist and fit is for the caller, who knows the table.
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
	default:
		return nil, fmt.Errorf("write_sharding: unknown strategy '%s'; use 'calculated' or 'random'", s)
	}

	n, given := m[optionShards]
	if !given {
		return nil, fmt.Errorf("write_sharding: the number of shards is missing; add 'shards': '…', from 1 to %d", MaxShards)
	}
	var err error
	if l.N, err = strconv.Atoi(n); err != nil || l.N < 1 || l.N > MaxShards {
		return nil, fmt.Errorf("write_sharding: 'shards' is '%s'; it must be a whole number from 1 to %d", n, MaxShards)
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
	if c, given := m[optionColumn]; given {
		names, err := identifiers(c)
		if err == nil && len(names) != 1 {
			err = fmt.Errorf("%d names", len(names))
		}
		if err != nil {
			return nil, fmt.Errorf("write_sharding: 'column' is '%s': %w; give one column name", c, err)
		}
		l.Column = names[0]
	}
	return l, nil
}

// Options returns the layout as the options of write_sharding, defaults spelled out.
func (l *Layout) Options() map[string]string {
	m := map[string]string{
		optionStrategy: l.Strategy.String(),
		optionShards:   strconv.Itoa(l.N),
		optionColumn:   quote(l.Column),
	}
	if l.Strategy == Calculated {
		m[optionHash] = l.Hash.String()
	}
	if len(l.By) > 0 {
		names := make([]string, len(l.By))
		for i, n := range l.By {
			names[i] = quote(n)
		}
		m[optionBy] = strings.Join(names, ", ")
	}
	return m
}

// String returns the options as a CQL map literal, its keys in order.
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
