// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strconv"
)

// ConsumedCapacity is the units that an operation took of one table and its indexes.
type ConsumedCapacity struct {
	Table   string // its name, or its ARN where the request had that
	Units   Units  // in all
	Detail  bool   // ReturnConsumedCapacity is INDEXES: the rest is told
	Base    Units  // of the table itself
	Local   []IndexCapacity
	Global  []IndexCapacity
	Display CapacityDisplay
}

// CapacityDisplay is which of the units an operation tells apart: transactions
// tell read and write units beside their sum.
type CapacityDisplay uint8

const (
	DisplayTotal CapacityDisplay = iota
	DisplayRead
	DisplayWrite
)

// IndexCapacity is the units of one index.
type IndexCapacity struct {
	Index string
	Units Units
}

// Units are capacity units in halves: an eventually consistent read takes one half.
type Units int64

// Sizes that one unit pays for.
const (
	ReadUnit  = 4096 // bytes of a strongly consistent read
	WriteUnit = 1024
)

// ReadUnits is what reading bytes takes; what does not exist takes as much as one.
func ReadUnits(bytes int, consistent bool) Units {
	n := Units(max(1, (bytes+ReadUnit-1)/ReadUnit))
	if consistent {
		return 2 * n
	}
	return n
}

// WriteUnits is what writing an item takes: the larger of its sizes before and after.
func WriteUnits(before, after int) Units {
	return 2 * Units(max(1, (max(before, after)+WriteUnit-1)/WriteUnit))
}

// Transactional is what the same takes in a transaction. Reads in transactions are
// strongly consistent.
func (u Units) Transactional() Units { return 2 * u }

// Float is the units as a number.
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

// Add adds what another operation took of the same table.
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
