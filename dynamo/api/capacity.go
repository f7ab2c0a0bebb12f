// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strconv"
)

// ConsumedCapacity is the capacity units that an operation took from one table and its indexes.
type ConsumedCapacity struct {
	Table   string // the table's name, or its ARN if the request named it so
	Units   Units  // in total
	Detail  bool   // ReturnConsumedCapacity is INDEXES: the answer has the fields below
	Base    Units  // of the table without its indexes
	Local   []IndexCapacity
	Global  []IndexCapacity
	Display CapacityDisplay
}

// CapacityDisplay is the kind of units that an answer shows beside the total. Transactions show
// read or write units beside their sum.
type CapacityDisplay uint8

const (
	DisplayTotal CapacityDisplay = iota
	DisplayRead
	DisplayWrite
)

// IndexCapacity is the capacity units that an operation took from one index.
type IndexCapacity struct {
	Index string
	Units Units
}

// Units is a number of half capacity units: an eventually consistent read of 4 KB takes one half.
type Units int64

// The sizes that one unit pays for.
const (
	ReadUnit  = 4096 // bytes of a strongly consistent read
	WriteUnit = 1024
)

// ReadUnits returns the units that a read of some bytes takes. A read of an item that does not
// exist takes as much as a read of up to 4 KB.
func ReadUnits(bytes int, consistent bool) Units {
	n := Units(max(1, (bytes+ReadUnit-1)/ReadUnit))
	if consistent {
		return 2 * n
	}
	return n
}

// WriteUnits returns the units that a write of an item takes. The larger of the item's sizes before
// and after the write counts.
func WriteUnits(before, after int) Units {
	return 2 * Units(max(1, (max(before, after)+WriteUnit-1)/WriteUnit))
}

// Transactional returns the units that the same operation takes in a transaction. Reads in
// transactions are strongly consistent.
func (u Units) Transactional() Units { return 2 * u }

// Float returns the number of whole units.
func (u Units) Float() float64 { return float64(u) / 2 }

func (u Units) append(dst []byte) []byte {
	dst = strconv.AppendInt(dst, int64(u/2), 10)
	if u%2 != 0 {
		return append(dst, '.', '5')
	}
	return append(dst, '.', '0')
}

func (c *ConsumedCapacity) appendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendText(member(dst, "TableName"), c.Table)
	dst = c.appendUnits(dst, c.Units)
	if c.Detail {
		dst = c.appendUnits(append(member(dst, "Table"), '{'), c.Base)
		dst = append(dst, '}')
		dst = c.appendIndexes(dst, "LocalSecondaryIndexes", c.Local)
		dst = c.appendIndexes(dst, "GlobalSecondaryIndexes", c.Global)
	}
	return append(dst, '}')
}

func (c *ConsumedCapacity) appendUnits(dst []byte, u Units) []byte {
	dst = u.append(member(dst, "CapacityUnits"))
	switch c.Display {
	case DisplayRead:
		dst = u.append(member(dst, "ReadCapacityUnits"))
	case DisplayWrite:
		dst = u.append(member(dst, "WriteCapacityUnits"))
	}
	return dst
}

func (c *ConsumedCapacity) appendIndexes(dst []byte, name string, indexes []IndexCapacity) []byte {
	if len(indexes) == 0 {
		return dst
	}
	dst = append(member(dst, name), '{')
	for _, ix := range indexes {
		dst = append(c.appendUnits(append(member(dst, ix.Index), '{'), ix.Units), '}')
	}
	return append(dst, '}')
}

func appendCapacities(dst []byte, all []ConsumedCapacity) []byte {
	if all == nil {
		return dst
	}
	dst = append(member(dst, "ConsumedCapacity"), '[')
	for i := range all {
		dst = element(dst, i)
		dst = all[i].appendJSON(dst)
	}
	return append(dst, ']')
}

// Add adds the units that another operation took from the same table.
func (c *ConsumedCapacity) Add(o *ConsumedCapacity) {
	c.Units += o.Units
	c.Base += o.Base
	c.Local = addIndexes(c.Local, o.Local)
	c.Global = addIndexes(c.Global, o.Global)
}

func addIndexes(to, from []IndexCapacity) []IndexCapacity {
	for _, ix := range from {
		i := slices.IndexFunc(to, func(x IndexCapacity) bool { return x.Index == ix.Index })
		if i < 0 {
			to = append(to, ix)
			continue
		}
		to[i].Units += ix.Units
	}
	return to
}
