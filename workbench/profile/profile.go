// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"context"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// Input is a source of rows that can be read several times. *rows.Source is one.
type Input interface {
	Name() string
	// Columns returns the columns known so far. A scan may find more (JSON Lines); they always come
	// after the known ones.
	Columns() []rows.Column
	// Scan reads all rows from the first one on, and passes them to each in batches, from several
	// goroutines at once. lane is less than o.Lanes. The lane of a batch depends only on the rows,
	// and the batches of a lane come in order. Scan returns after the last call has returned.
	Scan(ctx context.Context, o rows.ScanOptions, each func(lane int, b *rows.Batch) error) (rows.Scanned, error)
}

// Options says how to profile and measure.
type Options struct {
	Types      map[string]*value.Type // the types of columns, whatever the values look like; a row with another value is a bad row
	Workers    int                    // goroutines; 0: one for each processor. Results do not depend on the number
	MaxBadRows int64
	Top        int // how many values and keys to name; 0: 20

	// EventTime is the column that the caller takes for the time of writing. Its values are read as
	// times if half of them can be.
	EventTime string
	// MonthFirst says for columns whether their numeric dates have the month first. For other
	// columns, the values decide.
	MonthFirst map[string]bool

	// OneLane counts all rows in one lane instead of four, so that a partition takes memory once,
	// and all samples grow while there is memory. It is for few candidates: four times as many of
	// their partitions are counted one by one.
	OneLane bool

	// Billing asks Measure to count the sizes of items; nil: it does not.
	Billing *Billing

	// Progress, if not nil, is called now and then with the bytes of the file and the rows read.
	Progress func(bytes, rows int64)
}

// Profile describes the data.
type Profile struct {
	Data    string
	Rows    int64 // good rows
	Bad     int64
	Bads    []rows.BadRow // the first few of the bad rows
	Partial bool          // reading ended early: everything describes the rows read until then
	Columns []Column

	// Repeated counts the rows that are the same as another in every column.
	Repeated Estimate

	batches int
	starts  []int64 // rows before each batch
	only    []bool  // the batches that were read, if Partial
}

// Column returns the column of that name; nil: there is none.
func (p *Profile) Column(name string) *Column {
	for i := range p.Columns {
		if p.Columns[i].Name == name {
			return &p.Columns[i]
		}
	}
	return nil
}

// Column describes a column.
type Column struct {
	Name   string
	Type   *value.Type
	Given  bool // the caller or the file gave Type
	Stored bool // Type is Time.Store; see Profile.Stored
	// MaybeDays says that the values could be days since 1970, but also other numbers that rise. It takes
	// Options.EventTime to read them as days.
	MaybeDays bool
	Note      string // anything odd about the type, such as a few values of another type; "": nothing

	Values    int64 // not null
	Nulls     int64
	Empty     int64 // of Values: empty texts
	Nested    bool  // has JSON objects or arrays
	Distinct  Estimate
	Top       []Top    // the most frequent values, the most frequent first
	Most      Estimate // rows of the most frequent value
	Pairs     Estimate // of rows with the same value
	Repeated  Estimate // rows whose value an earlier row has, too; 0 if each value is unique
	Min, Max  string
	MeanBytes float64 // of a value, serialized as CQL does
	TextBytes float64 // of a value, written as a text
	MaxBytes  int

	Order  Order
	Time   *Time     // nil unless the values are points in time
	Made   *Time     // nil unless the values are ids that begin with the time at which they were made; then Time is nil
	Growth []float64 // the share of the distinct values that has come by each tenth of the rows: 0.1, …, 1 if they keep coming evenly

	strict bool // each value is above the one before it, or each is below
}

// unique reports whether no value repeats. The profile counts texts of a column. If equal values
// may be written in several ways, only their order can tell. declared is the type that the file
// gives the column.
func (c *Column) unique(declared *value.Type) bool {
	if !c.Distinct.Exact || c.Distinct.Value != float64(c.Values) {
		return false
	}
	return c.strict || declared != nil || newLane(c, declared).identity()
}

// Estimate is a number with its 99% confidence interval.
type Estimate struct {
	Value     float64
	Low, High float64
	Exact     bool // Low = Value = High
}

// Top is a frequent value.
type Top struct {
	Text  string // as the data have it
	Rows  Estimate
	Share float64 // of the column's values
}

// Order says how the values follow each other in the data.
type Order struct {
	Ascending  float64 // share of the steps from a value to the next that go up
	Descending float64
	Same       float64
	Steps      int64 // pairs of neighbours that were compared

	// Sequential says that the values are integers that nearly always go up (or down) by the same
	// small step, as database sequences do, or that would do so if sorted: distinct, without many
	// gaps.
	Sequential bool
	Monotonic  bool    // never goes down, or never up
	Gaps       float64 // the share of the integers from Min to Max that does not occur; 0 if the values are no integers
}

// Time describes a column as a time.
type Time struct {
	Granularity Granularity   // the coarsest that loses nothing of the values; Second also if they are finer
	Resolution  time.Duration // the finest step of the values: a nanosecond to a second, a minute, an hour, a day
	First, Last time.Time     // least and greatest
	Hot         []Period      // the fullest second, minute, hour and day, down to the granularity

	// Unit is the unit of values that are numbers: for example datetime.Seconds since 1970, or
	// datetime.DateDigits (20240315).
	Unit datetime.Unit
	// Forms lists how the values are written, if CQL does not read them as times: "dd.mm.yyyy
	// hh:mm"; the most frequent first.
	Forms []string
	// Sorts says that the values, in the column's type, sort in the order of their times. If it is
	// false, a clustering column of these values does not sort by time, and a query cannot read a
	// range of time from it. Then Store is the type to store instead ("timestamp" or "date"), and
	// Stored is the form of the value Example in that type.
	Sorts                  bool
	Store, Example, Stored string
	// ID names the form of ids: "a ULID". Where says which part of them holds the time. Both are ""
	// of a column whose values are times.
	ID, Where string
	// Doubt says why the times are not certain: which order of day and month was assumed, or which
	// unit. "": they are certain.
	Doubt string

	reader reader
}

// Period is a period and the rows in it.
type Period struct {
	Granularity Granularity
	Start       time.Time
	Rows        Estimate
	Share       float64 // of the rows with a time
	Busy        int64   // about how many periods have any rows
}
