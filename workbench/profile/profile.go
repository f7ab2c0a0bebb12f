package profile

import (
	"context"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// Input is rows that can be read again and again. *rows.Source is one.
type Input interface {
	Name() string
	// Columns are the columns known so far; a scan may find more (JSON Lines), always
	// behind those that were there.
	Columns() []rows.Column
	// Scan reads all rows from the first, and gives them to each in batches, from
	// several goroutines at once: worker, below o.Workers, says which. It returns when
	// the last call has.
	Scan(ctx context.Context, o rows.ScanOptions, each func(worker int, b *rows.Batch) error) (rows.Scanned, error)
}

// Options says how to profile and measure.
type Options struct {
	Types      map[string]*value.Type // what columns are, whatever they look like; a row that is not so is a bad row
	Workers    int                    // goroutines; 0: as many as there are processors, up to 8
	MaxBadRows int64
	Top        int // values and keys to name; 0: 20

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
	Name  string
	Type  *value.Type
	Given bool   // Type was given, by the caller or the file
	Note  string // what is odd about the type, such as the few values that are not of it; "" mostly

	Values    int64 // not null
	Nulls     int64
	Empty     int64 // of Values: the empty text
	Nested    bool  // has JSON objects or arrays
	Distinct  Estimate
	Top       []Top    // the most frequent values, first the most
	Most      Estimate // rows of the most frequent one
	Pairs     Estimate // of rows that have the same value
	Min, Max  string
	MeanBytes float64 // of a value, serialized as CQL does
	MaxBytes  int

	Order  Order
	Time   *Time     // where values are points in time
	Growth []float64 // of the distinct values, the share that has come by each tenth of the rows: 0.1, …, 1 where they keep coming evenly
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

// Granularity is a unit of time.
type Granularity uint8

const (
	Whole  Granularity = iota // no unit: the value as it is
	Second                    // finer than a second, too
	Minute
	Hour
	Day
	Month
	Year
)

// Time is what a column says of when.
type Time struct {
	Granularity Granularity // the coarsest that loses nothing of the values; Second also where they are finer
	First, Last time.Time   // least and greatest
	Hot         []Period    // the fullest second, minute, hour and day, as far as the granularity goes
}

// Period is a period and the rows in it.
type Period struct {
	Granularity Granularity
	Start       time.Time
	Rows        Estimate
	Share       float64 // of the rows with a time
	Busy        int64   // periods with any rows, about
}
