// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// statement is what is known of a prepared statement.
type statement struct {
	kind  kind
	table *table   // that it reads or writes; nil of one that may be to anything
	key   []uint16 // the markers of the partition key; nil where they do not bind all of it
}

// kind is what a statement is to the cache.
type kind uint8

const (
	passes kind = iota // it neither changes anything nor may be kept
	reads              // it may be kept
	writes
)

// table is what is known of a table.
type table struct {
	name string // keyspace.name

	expires atomic.Bool   // cells of it may expire
	defined atomic.Uint64 // 1 more than the count of changes of the table under which settled holds
	asking  atomic.Bool   // the store is being asked for its default_time_to_live
	next    atomic.Int64  // not before then, Unix nanoseconds
}

// maxStatements is how many prepared statements, and tables, are remembered: all are forgotten
// when there are more, and known again when clients prepare them anew.
const maxStatements = 20_000

// statements is what is known of prepared statements by id, and of tables by name.
type statements struct {
	mu     sync.RWMutex
	byID   map[[16]byte]*statement
	tables map[string]*table
}

// get returns what is known of an id; nil of one that is not known.
func (s *statements) get(id []byte) *statement {
	if len(id) != 16 {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byID[[16]byte(id)]
}

func (s *statements) put(id []byte, st *statement) {
	if len(id) != 16 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil || len(s.byID) >= maxStatements {
		s.byID = make(map[[16]byte]*statement)
	}
	s.byID[[16]byte(id)] = st
}

// table is what is known of a table, from now on.
func (s *statements) table(name string) *table {
	s.mu.RLock()
	t := s.tables[name]
	s.mu.RUnlock()
	if t != nil {
		return t
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tables[name]; t != nil {
		return t
	}
	if s.tables == nil || len(s.tables) >= maxStatements {
		// A statement that is known keeps its table: what is forgotten with the others is that
		// cells of it may expire, so the statements are forgotten, too.
		s.tables, s.byID = make(map[string]*table), nil
	}
	t = &table{name: strings.Clone(name)}
	s.tables[t.name] = t
	return t
}

// classify says what a text does. keyspace is that of names without one, "" where none is known.
func (s *statements) classify(text, keyspace string) *statement {
	h := syntax.Target(text)
	switch h.Kind {
	case syntax.StatementUse, syntax.StatementDescribe:
		return &statement{kind: passes}
	case syntax.StatementSelect:
		t := s.named(h.Name, keyspace)
		if t == nil || strings.HasPrefix(t.name, "system") || !plainSelect(text) {
			return &statement{kind: passes}
		}
		return &statement{kind: reads, table: t}
	case syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete, syntax.StatementTruncate:
		t := s.named(h.Name, keyspace)
		if t != nil && strings.HasPrefix(t.name, "evenkeel.") {
			return &statement{kind: passes} // the doors' own notes, which no client reads
		}
		if t != nil && syntax.Mentions(text, "ttl") {
			t.expires.Store(true)
		}
		return &statement{kind: writes, table: t}
	}
	return &statement{kind: writes} // a written batch, DDL, or what is not known
}

func (s *statements) named(n syntax.Name, keyspace string) *table {
	if n.Keyspace != "" {
		keyspace = n.Keyspace
	}
	if keyspace == "" || n.Name == "" {
		return nil
	}
	return s.table(keyspace + "." + n.Name)
}

// plainSelect says whether a SELECT selects columns alone: what it gives depends on the rows, and
// on nothing else.
func plainSelect(text string) bool {
	tree, err := syntax.Parse(text)
	if err != nil {
		return false
	}
	sel, ok := tree.(*syntax.Select)
	if !ok || sel.AllowFiltering {
		return false
	}
	for _, item := range sel.Selectors {
		if _, column := item.Expr.(*syntax.Column); !column {
			return false
		}
	}
	for _, r := range sel.Where {
		if !markersOrConstants(r) {
			return false
		}
	}
	return true
}

// markersOrConstants says whether a relation compares columns with values that are written out or
// bound. Those with IN name several partitions, or may.
func markersOrConstants(r syntax.Relation) bool {
	if r.Tuple || r.Token || r.Index != "" || r.Key != nil || r.Values != nil || r.Op == syntax.OpIn {
		return false
	}
	switch r.Value.(type) {
	case *syntax.Bind, *syntax.Constant:
		return true
	}
	return false
}

// keyOf is the partition key that an EXECUTE binds; false where a part is not there.
func (s *statement) keyOf(dst []byte, values *wire.Values) ([]byte, bool) {
	if s.key == nil || values.Named {
		return dst, false
	}
	var few [8][]byte
	parts := few[:0]
	for it := values.Iter(); it.Next(); {
		if it.Unset {
			parts = append(parts, nil)
			continue
		}
		parts = append(parts, it.Bytes)
	}
	for _, i := range s.key {
		if int(i) >= len(parts) || parts[i] == nil {
			return dst, false
		}
		dst = append(appendLength(dst, len(parts[i])), parts[i]...)
	}
	return dst, true
}

// againAfter is how soon the store is asked again for what it could not tell.
const againAfter = time.Minute
