// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/profile"
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
			total += present * (c.MeanBytes + 4)
		}
	}
	if s.o.Target == Keyspaces {
		total += 100 // per row ("Estimate row size in Amazon Keyspaces")
	}
	return total
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

// itemOf returns the mean size of an item of a design's table. In DynamoDB that includes attributes
// that join several columns of a key, and the hidden key of a table with shards. indexBytes
// has the attributes of indexes.
func (s *facts) itemOf(d *Design) float64 {
	item := s.itemBytes()
	if s.o.Target != DynamoDB {
		return item
	}
	item += s.joinedBytes(s.partNames(d)) + s.joinedBytes(d.clusteringNames())
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
