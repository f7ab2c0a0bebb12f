// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// MaxTables is how many tables of a door are measured by name.
const MaxTables = 200

// maxCodes bounds the number of error codes for one table. Stores have about thirty.
const maxCodes = 64

// Other is the name for everything else: tables beyond MaxTables, names of no table, codes beyond
// maxCodes.
const Other = "other"

// Requests measures the requests of one door. It is safe for concurrent use.
type Requests struct {
	operations []string
	most       int

	mu     sync.RWMutex
	tables map[Name]*Table
	exists func(keyspace, table string) bool // nil: every table is taken to exist

	none, other *Table
}

// Name is a table's logical name. Keyspace is empty for DynamoDB.
type Name struct{ Keyspace, Table string }

// String returns the name in the form that is shown.
func (n Name) String() string {
	if n.Keyspace == "" {
		return n.Table
	}
	return n.Keyspace + "." + n.Table
}

// NewRequests makes a Requests. An operation is an index into operations.
func NewRequests(operations []string) *Requests {
	r := &Requests{operations: operations, most: MaxTables, tables: map[Name]*Table{}}
	r.none, r.other = r.newTable(""), r.newTable(Other)
	return r
}

func (r *Requests) newTable(label string) *Table {
	return &Table{label: label, operations: r.operations, series: make([]atomic.Pointer[Series], len(r.operations))}
}

// None returns the Table for requests that name no table or several.
func (r *Requests) None() *Table { return r.none }

// Other returns the Table for requests on tables that are not measured by name.
func (r *Requests) Other() *Table { return r.other }

// Table returns the Table that measures requests on a table. It does not keep its arguments, and
// allocates only for a new table.
func (r *Requests) Table(keyspace, table string) *Table {
	if t := r.known(Name{keyspace, table}); t != nil {
		return t
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := Name{keyspace, table}
	if t := r.tables[n]; t != nil {
		return t
	}
	if len(r.tables) >= r.most || r.exists != nil && !r.exists(keyspace, table) {
		return r.other
	}
	n = Name{strings.Clone(keyspace), strings.Clone(table)}
	t := r.newTable(n.String())
	r.tables[n] = t
	return t
}

func (r *Requests) known(n Name) *Table {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.tables[n]
}

// Known is Table for a name that may not be a table's. A name that is not measured yet counts as
// Other.
func (r *Requests) Known(keyspace, table string) *Table {
	if t := r.known(Name{keyspace, table}); t != nil {
		return t
	}
	return r.other
}

// Forget removes a table.
func (r *Requests) Forget(keyspace, table string) {
	if r.known(Name{keyspace, table}) == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.tables, Name{keyspace, table})
}

// Keep removes the tables that do not exist. It calls exists until the next Keep. exists must not
// call r.
func (r *Requests) Keep(exists func(keyspace, table string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exists = exists
	for n := range r.tables {
		if !exists(n.Keyspace, n.Table) {
			delete(r.tables, n)
		}
	}
}

// All returns the measured tables, and the Tables for no table and for all others.
func (r *Requests) All() []*Table {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]*Table, 0, len(r.tables)+2)
	all = append(all, r.none, r.other)
	for _, t := range r.tables {
		all = append(all, t)
	}
	return all
}

// Table measures the requests on one table.
type Table struct {
	label      string
	operations []string
	series     []atomic.Pointer[Series] // by operation
	fan        atomic.Pointer[FanTotals]

	mu    sync.Mutex
	codes map[string]uint64
}

// Label returns the table's name in the form that is shown: "" for requests that name no table or
// several.
func (t *Table) Label() string { return t.label }

// Series returns the series that measures an operation on the table.
func (t *Table) Series(operation int) *Series {
	if s := t.series[operation].Load(); s != nil {
		return s
	}
	s := &Series{table: t, operation: operation, took: Histogram{bounds: Durations}}
	if !t.series[operation].CompareAndSwap(nil, s) {
		return t.series[operation].Load()
	}
	return s
}

// Each calls f with the operations that have been measured.
func (t *Table) Each(f func(operation string, took Snapshot)) {
	for i := range t.series {
		if s := t.series[i].Load(); s != nil {
			f(t.operations[i], s.took.Snapshot())
		}
	}
}

// Failed counts a request that was answered with an error.
func (t *Table) Failed(code string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.codes == nil {
		t.codes = map[string]uint64{}
	}
	if _, ok := t.codes[code]; !ok && len(t.codes) >= maxCodes {
		code = Other
	}
	t.codes[code]++
}

// Codes calls f with each error code and its number of answers.
func (t *Table) Codes(f func(code string, n uint64)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for code, n := range t.codes {
		f(code, n)
	}
}

// Series measures one operation on one table.
type Series struct {
	table     *Table
	operation int
	took      Histogram
}

// Table returns the table of the series.
func (s *Series) Table() *Table { return s.table }

// Name describes the requests, such as "select tracker.blogs".
func (s *Series) Name() string {
	name := s.table.operations[s.operation]
	if s.table.label != "" {
		name += " " + s.table.label
	}
	return name
}

// Of returns the series of another operation on the same table.
func (s *Series) Of(operation int) *Series { return s.table.Series(operation) }

// Took adds a request that took so many nanoseconds.
func (s *Series) Took(nanoseconds int64) { s.took.Record(nanoseconds) }

var epoch = time.Now()

// Now returns the monotonic time in nanoseconds since the program began. It costs half as much as
// time.Now.
func Now() int64 { return int64(time.Since(epoch)) }
