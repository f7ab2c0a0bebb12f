// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// Keyspace is the catalogue's own keyspace. Clients do not see it.
const Keyspace = "evenkeel"

// Entry is the catalogue's record of one table. It never changes once made.
type Entry struct {
	Keyspace string
	Table    string // the logical table's name
	Physical string // the physical table's name, in the same keyspace
	ID       [16]byte
	State    registry.State
	Layout   *shard.Layout

	// Own is the id of the physical table. Zero: it is ID, the id of the first physical table,
	// which the logical table always keeps.
	Own [16]byte

	// Second is a second physical table; nil: there is none. A change that is under way fills
	// it. If no change is under way, a change has left it, and a door will drop it.
	Second *Second

	// Next is the layout that a change gives the table, and Change is the change's step.
	// Both are nil if no change is under way. Layout stays the old layout until the change
	// ends.
	Next   *shard.Layout
	Change *reshard.Change

	// Key is the partition key, as a client wrote it, if the change concerns one key only; "" for
	// all keys.
	Key string

	// Adopted is the generation of the layout with which doors adopted a table that was sharded by
	// hand. 0: a door made the physical table.
	Adopted int64

	// Foreign is set if a newer release wrote the entry. It says what this release does not
	// understand. This release then knows only the table's name and its hidden column.
	Foreign error

	written string // column strategy as it was read, so that nothing of a Foreign entry is lost

	// Statement is the logical CREATE TABLE. It is for people who want to see the original
	// statement.
	Statement string

	// Rule names the shard rule that declared the layout, with its place; "" if the statement
	// declared it. It is stored as a comment after the statement, which older releases can read
	// too.
	Rule string

	// Owner is the operation that set the state to Creating or Dropping, and Started is when it
	// did, by its door's clock. A door that has seen the entry unchanged for some time may complete or
	// undo the operation. It does not compare Started with its own clock.
	Owner   [16]byte
	Started time.Time
}

func (e *Entry) String() string { return e.Keyspace + "." + e.Table }

// Logical returns the table as the application sees it: the physical table without the hidden
// column, and with the option write_sharding. It reports false for a table whose form does not fit
// the layout. It returns a plain table unchanged.
func Logical(t *schema.Table, l *shard.Layout) (*schema.Table, bool) {
	if l.Plain() {
		return t, true
	}
	n := len(t.PartitionKey) - 1
	if n < 1 || t.PartitionKey[n].Name != l.Column || t.PartitionKey[n].Type.Kind != value.Int {
		return nil, false
	}
	out := *t
	out.PartitionKey = t.PartitionKey[:n:n]
	out.Columns = maps.Clone(t.Columns)
	delete(out.Columns, l.Column)
	out.Options = maps.Clone(t.Options)
	out.Options[Property] = Shown(l)
	return &out, true
}

// Property is the name of the table option with which clients declare a layout.
const Property = "write_sharding"

// Shown returns a layout's options as clients see them. It includes the hidden column only if
// that does not have its default name.
func Shown(l *shard.Layout) map[string]string {
	m := l.Options()
	if l.Column == shard.DefaultColumn {
		delete(m, "column")
	}
	return m
}

// columns lists the columns of the table of layouts, in the order of values.
const columns = `physical_name, table_id, state, strategy, "by", hash, shards, "column", generation, statement, owner, started_at`

// Format is the newest format of an entry that this release reads and writes.
//
// An entry of format 1 has the layout in columns. An entry of format 2 has it in column strategy, as "format
// 2: " and JSON. A door that knows only format 1 refuses a strategy that it does not know, but would overlook
// a column that it does not know. Format 3 is like format 2, and can also have strategy time and keys with
// spreads of their own. Format 4 can also have plain layouts and physical tables of other names. Its columns
// describe the sharded physical table, so that a door of an earlier release does not treat the table as a
// plain one. Format 5 can also have strategy rollover. Format 6 can also have two sharded physical tables, a
// change from or to strategy rollover, and strategies time and rollover in a physical table with an id of its own,
// under which the directory has the buckets or the shards. An entry is written in the lowest format that can express it.
const Format = 6

const formatPrefix = "format "

// described is the JSON in column strategy of an entry of format 2 or later.
type described struct {
	Layout    map[string]string `json:"layout"`
	Remains   bool              `json:"remains,omitempty"` // Layout.Remains
	Drawn     int               `json:"drawn,omitempty"`   // Layout.Drawn
	Used      int               `json:"used,omitempty"`    // Layout.Used
	Floor     int64             `json:"floor,omitempty"`   // Layout.Floor
	Keys      map[string]string `json:"keys,omitempty"`    // Layout.Keys
	Next      map[string]string `json:"next,omitempty"`
	NextKeys  map[string]string `json:"next_keys,omitempty"`
	NextFloor int64             `json:"next_floor,omitempty"` // Next.Floor
	Key       string            `json:"key,omitempty"`
	Change    *change           `json:"change,omitempty"`
	Tables    *tables           `json:"tables,omitempty"` // of format 4
	Adopted   int64             `json:"adopted,omitempty"`
}

// change is a reshard.Change in its stored form.
type change struct {
	Step       string `json:"step"`
	Generation int64  `json:"generation"`
	Back       bool   `json:"back,omitempty"`
	Paused     bool   `json:"paused,omitempty"`
	Done       bool   `json:"done,omitempty"`
	Hurry      bool   `json:"hurry,omitempty"`
	Started    int64  `json:"started"`
	Skew       int64  `json:"skew"`
	Owner      string `json:"owner"`
	Counter    int64  `json:"counter"`
}

func storedChange(c *reshard.Change) *change {
	return &change{c.Step.String(), c.Generation, c.Back, c.Paused, c.Done, c.Hurry, c.Started, c.Skew, hex.EncodeToString(c.Owner[:]), c.Counter}
}

func (c *change) read() (*reshard.Change, error) {
	step, err := reshard.ParseStep(c.Step)
	if err != nil {
		return nil, err
	}
	out := &reshard.Change{Step: step, Generation: c.Generation, Back: c.Back, Paused: c.Paused, Done: c.Done, Hurry: c.Hurry, Started: c.Started, Skew: c.Skew, Counter: c.Counter}
	owner, err := hex.DecodeString(c.Owner)
	if err != nil || len(owner) != len(out.Owner) {
		return nil, fmt.Errorf("the change's owner is %q", c.Owner)
	}
	copy(out.Owner[:], owner)
	return out, nil
}

// keysGeneration is the generation of every set of keys. The keys are part of their entry and
// share its generation.
const keysGeneration = 1

// first returns the lowest format that can express the entry.
func (e *Entry) first() int {
	if e.several() && (e.uses(shard.Time) || e.uses(shard.Rollover) || e.Next != nil && e.Second != nil && !e.Layout.Plain() && !e.Next.Plain()) {
		return 6
	}
	if e.Layout.Strategy == shard.Rollover {
		return 5
	}
	if e.several() {
		return 4
	}
	if e.Layout.Keys.Len() > 0 || e.Next != nil && e.Next.Keys.Len() > 0 {
		return 3
	}
	if e.Layout.Strategy == shard.Time {
		return 3
	}
	if l := e.Layout; l.Base > 0 || len(l.Epochs) > 0 || len(l.Rows) > 0 || l.Remains || l.Used > 0 || l.Drawn > 0 || e.Change != nil || e.Adopted > 0 {
		return 2
	}
	return 1
}

// uses reports whether the present layout or the next one is of a strategy.
func (e *Entry) uses(s shard.Strategy) bool {
	return e.Layout.Strategy == s || e.Next != nil && e.Next.Strategy == s
}

// strategy returns the entry's content for column strategy.
func (e *Entry) strategy() []byte {
	switch {
	case e.Foreign != nil:
		return []byte(e.written)
	case e.first() == 1:
		return []byte(e.Layout.Strategy.String())
	}
	d := described{Keys: e.Layout.Keys.Texts(), Layout: e.Layout.Options(), Remains: e.Layout.Remains, Used: e.Layout.Used, Drawn: e.Layout.Drawn, Floor: e.Layout.Floor, Adopted: e.Adopted}
	if e.Change != nil {
		d.Next, d.Change = e.Next.Options(), storedChange(e.Change)
		d.NextKeys, d.NextFloor, d.Key = e.Next.Keys.Texts(), e.Next.Floor, e.Key
	}
	d.Tables = e.tables()
	text, err := json.Marshal(d)
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return fmt.Appendf(nil, "%s%d: %s", formatPrefix, e.first(), text)
}

// values returns the serialized values of columns.
func (e *Entry) values() [][]byte {
	name, at, layout := e.columns()
	o := layout.Options()
	text := func(name string) []byte {
		if s, ok := o[name]; ok {
			return []byte(s)
		}
		return nil
	}
	var id []byte
	if at != ([16]byte{}) {
		id = at[:]
	}
	return [][]byte{
		[]byte(name), id, []byte(e.State), e.strategy(), text("by"), text("hash"),
		binary.BigEndian.AppendUint32(nil, uint32(layout.N)), []byte(o["column"]),
		binary.BigEndian.AppendUint64(nil, uint64(e.Layout.Generation)), []byte(e.statement()), e.Owner[:], millis(e.Started),
	}
}

// These enclose the comment that names the shard rule of a layout.
const rulePrefix, ruleSuffix = " /* by shard rule ", " */"

// statement returns the entry's content for column statement.
func (e *Entry) statement() string {
	if e.Rule == "" {
		return e.Statement
	}
	return e.Statement + rulePrefix + strings.ReplaceAll(e.Rule, "*/", "* /") + ruleSuffix
}

// cutRule is the inverse of statement.
func cutRule(column string) (statement, rule string) {
	if i := strings.LastIndex(column, rulePrefix); i >= 0 && strings.HasSuffix(column, ruleSuffix) {
		return column[:i], column[i+len(rulePrefix) : len(column)-len(ruleSuffix)]
	}
	return column, ""
}

func millis(t time.Time) []byte { return binary.BigEndian.AppendUint64(nil, uint64(t.UnixMilli())) }

// readEntry is the inverse of values.
func readEntry(r Row) (*Entry, error) {
	e := &Entry{
		Keyspace: string(r["keyspace_name"]), Table: string(r["table_name"]), Physical: string(r["physical_name"]),
		State: registry.State(r["state"]),
	}
	e.Statement, e.Rule = cutRule(string(r["statement"]))
	copy(e.ID[:], r["table_id"])
	copy(e.Owner[:], r["owner"])
	if b := r["started_at"]; len(b) == 8 {
		e.Started = time.UnixMilli(int64(binary.BigEndian.Uint64(b)))
	}
	var err error
	if e.Layout, err = e.readLayout(r); err != nil {
		return nil, fmt.Errorf("the catalogue's entry of %s: %w", e, err)
	}
	if b := r["generation"]; len(b) == 8 {
		e.Layout.Generation = int64(binary.BigEndian.Uint64(b))
	}
	return e, nil
}

// readLayout reads the layout, in any format.
func (e *Entry) readLayout(r Row) (*shard.Layout, error) {
	o := map[string]string{"shards": strconv.FormatInt(r.Int("shards"), 10)}
	for _, name := range []string{"strategy", "by", "hash", "column"} {
		if b, ok := r[name]; ok {
			o[name] = string(b)
		}
	}
	e.written = o["strategy"]
	rest, later := strings.CutPrefix(e.written, formatPrefix)
	if !later {
		return shard.Parse(o)
	}
	var format int
	number, options, _ := strings.Cut(rest, ": ")
	if n, err := strconv.Atoi(number); err == nil {
		format = n
	}
	if format < 2 || format > Format {
		e.Foreign = fmt.Errorf("its entry in the catalogue is of format %s, which a newer release wrote; this one knows formats up to %d: bring this door up to that release", number, Format)
		return shard.Parse(map[string]string{"shards": "1", "column": o["column"]})
	}
	var d described
	if err := json.Unmarshal([]byte(options), &d); err != nil {
		return nil, err
	}
	l, err := parseLayout(d.Layout, d.Tables)
	if err != nil {
		return nil, err
	}
	if err := e.readTables(d.Tables); err != nil {
		return nil, err
	}
	l.Remains, l.Used, l.Drawn, l.Floor = d.Remains, d.Used, d.Drawn, d.Floor
	e.Adopted = d.Adopted
	if l.Keys, err = shard.ParseKeys(keysGeneration, d.Keys); err != nil {
		return nil, err
	}
	if d.Change == nil {
		return l, nil
	}
	if e.Change, err = d.Change.read(); err != nil {
		e.Foreign = fmt.Errorf("its entry in the catalogue: %w; bring this door up to that release", err)
		return l, nil
	}
	if e.Next, err = parseLayout(d.Next, d.Tables); err != nil {
		return nil, err
	}
	if e.Next.Keys, err = shard.ParseKeys(keysGeneration, d.NextKeys); err != nil {
		return nil, err
	}
	e.Next.Floor, e.Key = d.NextFloor, d.Key
	return l, nil
}
