// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"context"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// Input is rows that can be read again and again. *rows.Source is one.
type Input interface {
	Name() string
	// Columns are the columns known so far; a scan may find more (JSON Lines), always
	// behind those that were there.
	Columns() []rows.Column
	// Scan reads all rows from the first, and gives them to each in batches, from
	// several goroutines at once: lane, below o.Lanes, says which. Which batch is of which
	// lane is a matter of the rows alone, and those of a lane come in order. It returns
	// when the last call has.
	Scan(ctx context.Context, o rows.ScanOptions, each func(lane int, b *rows.Batch) error) (rows.Scanned, error)
}

// Options says how to profile and measure.
type Options struct {
	Types      map[string]*value.Type // what columns are, whatever they look like; a row that is not so is a bad row
	Workers    int                    // goroutines; 0: as many as there are processors. Results are the same with any number
	MaxBadRows int64
	Top        int // values and keys to name; 0: 20

	// EventTime is the column that the caller takes for the time of writing: its values
	// are read as times where half of them can be.
	EventTime string
	// MonthFirst says of columns whether their numeric dates have the month first; of
	// others the values tell.
	MonthFirst map[string]bool

	// Progress, where not nil, is told now and then: bytes of the file and rows.
	Progress func(bytes, rows int64)
}

// Profile is what the data are like.
type Profile struct {
	Data    string
	Rows    int64 // good ones
	Bad     int64
	Bads    []rows.BadRow // the first few of them
	Partial bool          // ended before all was read: everything is about the rows up to there
	Columns []Column

	// Repeated is how many rows are the same as another in every column.
	Repeated Estimate

	batches int
	starts  []int64 // rows before each batch
	only    []bool  // the batches that were read, where Partial
}

// Column returns the column of that name, nil where there is none.
func (p *Profile) Column(name string) *Column {
	for i := range p.Columns {
		if p.Columns[i].Name == name {
			return &p.Columns[i]
		}
	}
	return nil
}

// Column is what a column is like.
type Column struct {
	Name   string
	Type   *value.Type
	Given  bool   // Type was given, by the caller or the file
	Stored bool   // Type is Time.Store, see Profile.Stored
	Note   string // what is odd about the type, such as the few values that are not of it; "" mostly

	Values    int64 // not null
	Nulls     int64
	Empty     int64 // of Values: the empty text
	Nested    bool  // has JSON objects or arrays
	Distinct  Estimate
	Top       []Top    // the most frequent values, first the most
	Most      Estimate // rows of the most frequent one
	Pairs     Estimate // of rows that have the same value
	Repeated  Estimate // values that another row has, too, but for the first of each: 0 where each is unique
	Min, Max  string
	MeanBytes float64 // of a value, serialized as CQL does
	MaxBytes  int

	Order  Order
	Time   *Time     // where values are points in time
	Growth []float64 // of the distinct values, the share that has come by each tenth of the rows: 0.1, …, 1 where they keep coming evenly

	strict bool // each value is above the one before it, or each below
}

// unique says that no value repeats. What is counted of a column are texts: where equal
// values may be written in several ways, only their order can tell. declared is the
// file's type of it.
func (c *Column) unique(declared *value.Type) bool {
	if !c.Distinct.Exact || c.Distinct.Value != float64(c.Values) {
		return false
	}
	return c.strict || declared != nil || newLane(c, declared).identity()
}

// Estimate is a number and where it is with 99% confidence.
type Estimate struct {
	Value     float64
	Low, High float64
	Exact     bool // Low = Value = High
}

// Top is a frequent value.
type Top struct {
	Text  string // as it is written
	Rows  Estimate
	Share float64 // of the column's values
}

// Order is how the values follow each other in the data.
type Order struct {
	Ascending  float64 // share of steps from a value to the next that go up
	Descending float64
	Same       float64
	Steps      int64 // pairs of neighbours that were compared

	// Sequential says that the values are integers that go up (or down) nearly always
	// by the same small step, as database sequences do, or that sorted they would:
	// distinct, without many gaps.
	Sequential bool
	Monotonic  bool    // never goes down, or never up
	Gaps       float64 // of the integers from Min to Max, the share that does not occur; 0 where values are no integers
}

// Time is what a column says of when.
type Time struct {
	Granularity Granularity   // the coarsest that loses nothing of the values; Second also where they are finer
	Resolution  time.Duration // the finest step of the values: a nanosecond to a second, a minute, an hour, a day
	First, Last time.Time     // least and greatest
	Hot         []Period      // the fullest second, minute, hour and day, as far as the granularity goes

	// Unit is what the values count or write, where they are numbers: datetime.Seconds
	// since 1970, datetime.DateDigits (20240315).
	Unit datetime.Unit
	// Forms are how the values are written, where CQL does not read them as times:
	// "dd.mm.yyyy hh:mm"; the most frequent first.
	Forms []string
	// Sorts says that the values, as the column's type has them, are in the order of
	// their times. Where it is false, a clustering column of them is in no order of time:
	// a range of time cannot be read from it, and Store is the type to store in their
	// place ("timestamp" or "date"), in which the value Example is Stored.
	Sorts                  bool
	Store, Example, Stored string
	// Doubt says why it is not certain when the values are, "" where it is: which order
	// of day and month was taken, or which unit.
	Doubt string

	reader reader
}

// Period is a period and the rows in it.
type Period struct {
	Granularity Granularity
	Start       time.Time
	Rows        Estimate
	Share       float64 // of the rows with a time
	Busy        int64   // periods with any rows, about
}
