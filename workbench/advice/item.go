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

// itemBytes returns the mean size of a row in a store that bills requests: names and values of all
// columns (DynamoDB), or values with metadata (Keyspaces).
func (s *facts) itemBytes() float64 {
	total := 0.0
	for i := range s.p.Columns {
		c := &s.p.Columns[i]
		present := float64(c.Values) / float64(s.p.Rows)
		switch s.o.Target {
		case DynamoDB:
			total += present * (float64(len(c.Name)) + attributeBytes(c))
		default:
			total += present * (c.MeanBytes + keyspacesColumn)
		}
	}
	if s.o.Target == Keyspaces {
		total += keyspacesRow
	}
	return total
}

// billing says how a store counts the bytes of each row's columns; nil: it does not bill requests.
func (s *facts) billing() *profile.Billing {
	if !s.o.Target.units() {
		return nil
	}
	b := &profile.Billing{Columns: make(map[string]profile.Billed)}
	if s.o.Target == Keyspaces {
		b.Fixed = keyspacesRow
	}
	for i := range s.p.Columns {
		c := &s.p.Columns[i]
		v := profile.Billed{Head: keyspacesColumn}
		if s.o.Target == DynamoDB {
			v.Head = len(c.Name)
			switch {
			case c.Stored:
				v.Fixed = len(c.Time.Stored)
			case dynamoType(c) == "N":
				v.Text = numberBytes
			case dynamoType(c) == "S":
				v.Text = func(text []byte) int { return len(text) }
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

// itemOf returns the mean size of an item of a design's table. indexBytes has the attributes of
// indexes.
func (s *facts) itemOf(d *Design) float64 { return s.itemBytes() + s.keyBytes(d) }

// keyBytes returns what a design's key adds to an item. In DynamoDB these are attributes that join
// several columns of a key, and the hidden key of a table with shards. In Keyspaces these are
// metadata, and columns that the data do not have.
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

// indexBytes returns the mean size of the attributes that an item of a design's table has for its
// indexes: those that join several columns.
func (s *facts) indexBytes(d *Design, indexes []Extra) float64 {
	if s.o.Target != DynamoDB {
		return 0
	}
	have := [][]string{s.partNames(d), d.clusteringNames()}
	total := 0.0
	for i := range indexes {
		e := indexes[i].design
		sort := e.clusteringNames()
		for _, names := range [][]string{s.partNames(e), sort[:min(1, len(sort))]} {
			if !slices.ContainsFunc(have, func(h []string) bool { return slices.Equal(h, names) }) {
				total += s.joinedBytes(names)
				have = append(have, names)
			}
		}
	}
	return total
}

// mayIndex returns how many bytes an item has at most for the indexes of a design's table: for one
// that each query needs which the key does not serve.
func (s *serving) mayIndex(d *Design) float64 {
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

// joinedBytes returns the size of a key's attribute that the data do not have; 0 if the key is one
// of their columns.
func (s *facts) joinedBytes(names []string) float64 {
	if len(names) == 0 || len(names) == 1 && s.p.Column(names[0]) != nil {
		return 0
	}
	return float64(len(strings.Join(names, "#"))) + s.valueBytes(names)
}

// These are the lengths of values that the application makes: of a UUID as a text, and of the
// beginning of a period.
const (
	idTextBytes     = len("00000000-0000-1000-8000-000000000000")
	bucketTextBytes = len("2026-01-01T00:00:00Z")
)

// valueBytes returns the mean length of the values of columns, joined by #.
func (s *facts) valueBytes(names []string) float64 {
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

// unitBytes is the size of a unit of writes and of reads.
const (
	writeUnitBytes = 1024
	readUnitBytes  = 4096
)

// unitsOf returns the units of a request for one item of all, if each has that many bytes more than
// the rows.
func (s *measures) unitsOf(unit int, more float64) profile.Units {
	if s.items == nil {
		return unitsOfOne(s.itemBytes()+more, unit)
	}
	return s.items.Units(unit, more)
}

// unitsOfOne returns the units of items that all have one size.
func unitsOfOne(bytes float64, unit int) profile.Units {
	n := math.Max(1, math.Ceil(bytes/float64(unit)))
	return profile.Units{Mean: n, Low: n, High: n, Square: n * n}
}

// readUnits returns the eventually consistent read units of a query that reads so many rows of one
// partition.
func (s *measures) readUnits(rows, more float64) float64 {
	if rows <= 1 {
		return math.Max(0.5, s.unitsOf(readUnitBytes, more).Mean/2)
	}
	return math.Max(0.5, math.Ceil(rows*(s.itemBytes()+more)/readUnitBytes)/2)
}
