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

// statement is what the cache knows of a prepared statement.
type statement struct {
	kind  kind
	table *table   // the table it reads or writes; nil: it may write to anything
	key   []uint16 // markers of the partition key; nil: the markers do not bind all of it
}

// kind says how the cache treats a statement.
type kind uint8

const (
	passes kind = iota // it changes nothing, and its answer may not be kept
	reads              // its answer may be kept
	writes
)

// table is what the cache knows of a table.
type table struct {
	name string // keyspace.name

	expires atomic.Bool   // its cells may expire
	defined atomic.Uint64 // 1 + the number of changes to the table at which its cells were known not to expire
	asking  atomic.Bool   // the store is being asked for default_time_to_live
	next    atomic.Int64  // earliest time of the next question, Unix nanoseconds
}

// maxStatements is how many prepared statements, and how many tables, the cache remembers. When
// there are more it forgets all of them. It learns them again when clients prepare them again.
const maxStatements = 20_000

// statements maps ids to prepared statements, and names to tables.
type statements struct {
	mu     sync.RWMutex
	byID   map[[16]byte]*statement
	tables map[string]*table
}

// get returns the statement with an id, or nil if it is not known.
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

// table returns the entry of a table. It adds one if there is none.
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
		// A known statement keeps a pointer to its table. The new table would not know that its
		// cells may expire, so the statements are forgotten too.
		s.tables, s.byID = make(map[string]*table), nil
	}
	t = &table{name: strings.Clone(name)}
	s.tables[t.name] = t
	return t
}

// classify says what a text does. keyspace is the keyspace of unqualified names, "" if it is not
// known.
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
			return &statement{kind: passes} // the doors' own tables, which no client reads
		}
		if t != nil && syntax.Mentions(text, "ttl") {
			t.expires.Store(true)
		}
		return &statement{kind: writes, table: t}
	}
	return &statement{kind: writes} // a batch as text, DDL, or something unknown
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

// keyOf appends the partition key that an EXECUTE binds. It returns false if a part is missing.
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

// againAfter is how long to wait before the store is asked again after an error.
const againAfter = time.Minute
