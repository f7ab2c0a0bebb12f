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

// maxCodes bounds the error codes that are told apart for one table. Stores have some
// thirty.
const maxCodes = 64

// Other is the name under which all else is measured: tables beyond MaxTables, names
// that no table has, codes beyond maxCodes.
const Other = "other"

// Requests measures the requests of one door. It is safe for concurrent use.
type Requests struct {
	operations []string
	most       int

	mu     sync.RWMutex
	tables map[Name]*Table
	exists func(keyspace, table string) bool // nil: whatever is asked for exists

	none, other *Table
}

// Name is a table's logical name. Keyspace is empty for DynamoDB.
type Name struct{ Keyspace, Table string }

// String is the name as it is shown.
func (n Name) String() string {
	if n.Keyspace == "" {
		return n.Table
	}
	return n.Keyspace + "." + n.Table
}

// NewRequests makes a Requests. Operations are referred to by their index.
func NewRequests(operations []string) *Requests {
	r := &Requests{operations: operations, most: MaxTables, tables: map[Name]*Table{}}
	r.none, r.other = r.newTable(""), r.newTable(Other)
	return r
}

func (r *Requests) newTable(label string) *Table {
	return &Table{label: label, operations: r.operations, series: make([]atomic.Pointer[Series], len(r.operations))}
}

// None is for requests that name no table, or several.
func (r *Requests) None() *Table { return r.none }

// Other is for requests of tables that are not measured by name.
func (r *Requests) Other() *Table { return r.other }

// Table returns where requests of a table are measured. It does not keep its arguments,
// and allocates for a table that it has not seen only.
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

// Known is Table for a name of which it is not certain that it is a table's: one that is
// not measured yet is measured as Other.
func (r *Requests) Known(keyspace, table string) *Table {
	if t := r.known(Name{keyspace, table}); t != nil {
		return t
	}
	return r.other
}

// Forget lets a table leave.
func (r *Requests) Forget(keyspace, table string) {
	if r.known(Name{keyspace, table}) == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.tables, Name{keyspace, table})
}

// Keep says which tables exist from now on. Others leave. exists is called until the
// next Keep, and must not call r.
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

// All returns the tables that are measured, and what is measured of no table and of all
// others.
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

// Table is what is measured of one table's requests.
type Table struct {
	label      string
	operations []string
	series     []atomic.Pointer[Series] // by operation
	fan        atomic.Pointer[FanTotals]

	mu    sync.Mutex
	codes map[string]uint64
}

// Label is the table's name as it is shown: "" for requests that name none or several.
func (t *Table) Label() string { return t.label }

// Series returns what is measured of an operation on the table.
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

// Codes calls f with the codes of errors and how often each was answered.
func (t *Table) Codes(f func(code string, n uint64)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for code, n := range t.codes {
		f(code, n)
	}
}

// Series is what is measured of one operation on one table.
type Series struct {
	table     *Table
	operation int
	took      Histogram
}

// Table is the table.
func (s *Series) Table() *Table { return s.table }

// Name says what the requests are, such as "select tracker.blogs".
func (s *Series) Name() string {
	name := s.table.operations[s.operation]
	if s.table.label != "" {
		name += " " + s.table.label
	}
	return name
}

// Of is another operation on the same table.
func (s *Series) Of(operation int) *Series { return s.table.Series(operation) }

// Took adds a request that took so many nanoseconds.
func (s *Series) Took(nanoseconds int64) { s.took.Record(nanoseconds) }

var epoch = time.Now()

// Now is the monotonic time in nanoseconds since the program began: it costs half of
// time.Now.
func Now() int64 { return int64(time.Since(epoch)) }
