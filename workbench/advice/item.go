// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/workbench/profile"
)

// These are the bytes that Keyspaces counts for a row in addition to its values ("Estimate row size
// in Amazon Keyspaces"): for the row, and for each column of the partition key, clustering column,
// and other column.
const (
	keyspacesRow        = 100
	keyspacesPartition  = 3
	keyspacesClustering = 4
	keyspacesColumn     = 1
)

// These are the lengths of values that the data do not have.
const (
	uuidBytes      = 16
	timestampBytes = 8
	dateBytes      = 4
	shardBytes     = 4
)

// itemSizes computes the bytes of items and of their keys. It depends on the store and on the columns alone.
type itemSizes struct {
	target Target
	p      *profile.Profile
}

// itemBytes returns the mean bytes that a row of the data takes as an item of the store: the names
// and values of all columns (DynamoDB), or values with metadata (Keyspaces). What a key adds is not
// in it: see keyBytes.
func (s itemSizes) itemBytes() float64 {
	total := 0.0
	for i := range s.p.Columns {
		c := &s.p.Columns[i]
		present := float64(c.Values) / float64(s.p.Rows)
		switch s.target {
		case DynamoDB:
			total += present * (float64(len(c.Name)) + attributeBytes(c))
		default:
			total += present * (c.MeanBytes + keyspacesColumn)
		}
	}
	if s.target == Keyspaces {
		total += keyspacesRow
	}
	return total
}

// billing says how a store counts the bytes of an item with these columns; nil: it does not bill
// requests.
func (t Target) billing(columns []profile.Column) *profile.Billing {
	if !t.units() {
		return nil
	}
	b := &profile.Billing{Columns: make(map[string]profile.BilledColumn)}
	if t == Keyspaces {
		b.ItemBytes = keyspacesRow
	}
	for i := range columns {
		c := &columns[i]
		v := profile.BilledColumn{Overhead: keyspacesColumn}
		if t == DynamoDB {
			v.Overhead = len(c.Name)
			switch {
			case c.Stored:
				v.ValueBytes = len(c.Time.Stored)
			case dynamoType(c) == "N":
				v.Measure = numberBytes
			case dynamoType(c) == "S":
				v.Measure = func(text []byte) int { return len(text) }
			}
		}
		b.Columns[c.Name] = v
	}
	return b
}

// numberBytes returns the size of a number in DynamoDB, from its text in the data.
func numberBytes(text []byte) int {
	if bytes.ContainsAny(text, "eE+") {
		if f, err := strconv.ParseFloat(string(text), 64); err == nil {
			text = strconv.AppendFloat(nil, f, 'f', -1, 64)
		}
	}
	if len(text) == 0 {
		return 0
	}
	return attribute.NumberSize(string(text))
}

// attributeBytes returns the mean size of a column's values in DynamoDB. Times, ids and booleans are
// texts there. A number takes a byte for each two digits, and one more.
func attributeBytes(c *profile.Column) float64 {
	switch dynamoType(c) {
	case "N":
		digits := c.TextBytes
		if c.Time != nil {
			digits -= float64(c.Time.Zeros()) // they take no bytes at the end of a number
		}
		return 1 + (digits+1)/2
	case "B":
		return c.MeanBytes
	}
	return c.TextBytes
}

// keyedBytes returns the mean bytes of an item of a design's table, without the attributes of its
// indexes: see indexBytes.
func (s *facts) keyedBytes(d *Design) float64 { return s.itemBytes() + s.keyBytes(d) }

// keyBytes returns how many bytes a design's key adds to each item, on average. In DynamoDB the key
// adds attributes: one for each part of the key that joins several columns, and the physical key of
// a table with shards. In Keyspaces it adds metadata, and columns that the data do not have: a
// bucket, an id, a shard. A store that does not bill requests counts no bytes: 0.
func (s *facts) keyBytes(d *Design) float64 {
	if !s.o.Target.units() {
		return 0
	}
	if s.o.Target == Keyspaces {
		more := float64((keyspacesPartition-keyspacesColumn)*len(d.columns()) + (keyspacesClustering-keyspacesColumn)*len(d.Clustering))
		if b := s.bucketColumnOf(d); b != nil {
			more += keyspacesPartition + dateBytes
			if b.Type == "timestamp" {
				more += timestampBytes - dateBytes
			}
		}
		if d.AddID {
			more += uuidBytes + keyspacesClustering
		}
		if d.Shards > 1 {
			more += shardBytes + keyspacesPartition
		}
		return more
	}
	item := s.joinedBytes(s.partNames(d)) + s.joinedBytes(d.clusteringNames())
	if d.Shards > 1 {
		item += float64(len("evenkeel.pk")+len("-")+len(fmt.Sprint(d.Shards))) + s.valueBytes(s.partNames(d))
	}
	return item
}

// indexBytes returns how many bytes the keys of indexes add to each item of a design's table, on
// average. An index of DynamoDB has one attribute as its partition key and one as its sort key. If
// such a key has several columns, the application stores one more attribute that joins their values.
// An attribute that the table or another index already has counts once.
func (s *facts) indexBytes(d *Design, indexes []Extra) float64 {
	if s.o.Target != DynamoDB {
		return 0
	}
	have := [][]string{s.partNames(d), d.clusteringNames()}
	total := 0.0
	for i := range indexes {
		e := indexes[i].design
		for _, names := range [][]string{s.partNames(e), e.clusteringNames()} {
			if !slices.ContainsFunc(have, func(h []string) bool { return slices.Equal(h, names) }) {
				total += s.joinedBytes(names)
				have = append(have, names)
			}
		}
	}
	return total
}

// possibleIndexBytes returns the most bytes that keys of indexes may add to each item of a design's
// table, on average. It assumes an index for each query that reads and that the key does not serve.
func (s *serving) possibleIndexBytes(d *Design) float64 {
	if s.o.Target != DynamoDB {
		return 0
	}
	var have [][]string
	total := 0.0
	for i := range s.qs {
		q := &s.qs[i]
		if q.Writes() || s.serve(d, q).Kind < Filtered {
			continue
		}
		var names []string
		for _, e := range q.Equal[:min(len(q.Equal), maxKeys)] {
			names = append(names, e.Column)
		}
		if !slices.ContainsFunc(have, func(h []string) bool { return slices.Equal(h, names) }) {
			total += s.joinedBytes(names)
			have = append(have, names)
		}
	}
	return total
}

// joinedBytes returns the mean bytes, name and value, of the attribute that joins these columns. It
// returns 0 if there are none, or one that the data have: the key is then that attribute itself.
func (s itemSizes) joinedBytes(names []string) float64 {
	if len(names) == 0 || len(names) == 1 && s.p.Column(names[0]) != nil {
		return 0
	}
	return float64(len(strings.Join(names, "#"))) + s.valueBytes(names)
}

// These are the lengths of texts that the application makes: a UUID, and the time at which a bucket
// begins.
const (
	idTextBytes     = len("00000000-0000-1000-8000-000000000000")
	bucketTextBytes = len("2026-01-01T00:00:00Z")
)

// valueBytes returns the mean length of a text that joins the values of these columns with #. A
// column that the data do not have is an id or a bucket.
func (s itemSizes) valueBytes(names []string) float64 {
	total := float64(len(names) - 1)
	for _, name := range names {
		switch c := s.p.Column(name); {
		case c != nil:
			total += c.TextBytes
		case name == idColumn:
			total += float64(idTextBytes)
		default:
			total += float64(bucketTextBytes)
		}
	}
	return total
}

// A write unit is a write of up to writeUnitBytes. A read unit is a strongly consistent read of up
// to readUnitBytes, or two eventually consistent ones.
const (
	writeUnitBytes = 1024
	readUnitBytes  = 4096
)

// unitsOf returns the units of a request for one item, over all items. A unit has unitBytes. Each
// item has more bytes than its row: those of keys.
func (s *measures) unitsOf(unitBytes int, more float64) profile.Units {
	if s.rowSizes == nil {
		return unitsOfOne(s.itemBytes()+more, unitBytes)
	}
	return s.rowSizes.Units(unitBytes, more)
}

// unitsOfOne returns the units of a request for one item if all items have the same size.
func unitsOfOne(itemBytes float64, unitBytes int) profile.Units {
	n := math.Max(1, math.Ceil(itemBytes/float64(unitBytes)))
	return profile.Units{Mean: n, Low: n, High: n, Square: n * n}
}

// readUnits returns the read units of an eventually consistent query that reads some rows of one
// partition. The store bills the sum of their sizes. Each item has more bytes than its row.
func (s *measures) readUnits(rows, more float64) float64 {
	if rows <= 1 {
		return math.Max(0.5, s.unitsOf(readUnitBytes, more).Mean/2)
	}
	return math.Max(0.5, math.Ceil(rows*(s.itemBytes()+more)/readUnitBytes)/2)
}
