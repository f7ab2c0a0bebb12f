// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

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
	if err := l.refuseRolloverOptions(m); err != nil {
		return nil, err
	}
	if err := l.refuseTimeOptions(m); err != nil {
		return nil, err
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

// meaningless is an option that means nothing under a strategy.
type meaningless struct{ option, why string }

// refuse returns an error if one of the options is given.
func (l *Layout) refuse(m map[string]string, all []meaningless) error {
	for _, o := range all {
		if _, given := m[o.option]; given {
			return fmt.Errorf("write_sharding: '%s' means nothing under strategy '%s': %s; leave it out", o.option, l.Strategy, o.why)
		}
	}
	return nil
}

// Options returns the layout as options of write_sharding. It includes defaults. It leaves out a base of
// 0, empty epochs, and Keys. A plain layout has no options.
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
