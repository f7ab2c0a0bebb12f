package items

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/engine/capacity"
)

// table is a table in use.
type table struct {
	// mu is held shared by writers while they apply what they have worked out for
	// one shape, and exclusively where the shape changes: no entry is written for
	// an index that is gone, none is missing in one that is new.
	mu    sync.RWMutex
	shape atomic.Pointer[shape]

	counts counts
}

// shape is what there is to know of a table at one moment. It does not change.
type shape struct {
	*record
	indexes []index         // local ones, then global ones
	expiry  string          // the attribute of expiry times, "" for none
	model   *capacity.Model // of the table's limits; nil: it has none
	stream  *stream         // where changes go; nil: nowhere
	dropped bool
}

// index is a secondary index.
type index struct {
	*schema.Index
	id         uint16
	local      bool
	hash, sort []expression.KeyAttribute
	projected  []string        // nil for all attributes; else keys and others, sorted
	model      *capacity.Model // of a global index's limits
}

func (s *Store) newTable(r *record) *table {
	t := new(table)
	t.shape.Store(s.newShape(r, nil))
	return t
}

func newShape(r *record) *shape {
	sh := &shape{record: r}
	add := func(def *schema.Index, local bool) {
		ix := index{Index: def, id: r.Indexes[def.Name], local: local}
		ix.hash, ix.sort = api.KeyAttributes(r.Table, def.Key)
		if def.Projection.Type != schema.ProjectAll {
			names := def.Key.Names(nil)
			names = r.Table.Key.Names(names)
			names = append(names, def.Projection.NonKey...)
			slices.Sort(names)
			ix.projected = slices.Compact(names)
		}
		sh.indexes = append(sh.indexes, ix)
	}
	for i := range r.Table.Local {
		add(&r.Table.Local[i], true)
	}
	for i := range r.Table.Global {
		add(&r.Table.Global[i], false)
	}
	if r.Table.TimeToLive.Enabled {
		sh.expiry = r.Table.TimeToLive.Attribute
	}
	return sh
}

// index returns an index that can be read, by name.
func (sh *shape) index(name string) *index {
	for i := range sh.indexes {
		if sh.indexes[i].Name == name {
			return &sh.indexes[i]
		}
	}
	return nil
}

// prefix appends what the entries of one of the table's indexes begin with.
func (s *Store) prefix(dst []byte, sh *shape, index uint16) []byte {
	return appendPrefix(dst, s.space.Prefix, sh.ID, index)
}

// appendItemKey appends the key of an item, of which the key's attributes are
// given.
func (s *Store) appendItemKey(dst []byte, sh *shape, item attribute.Item) []byte {
	return appendItem(s.prefix(dst, sh, indexItems), sh.Table.Key, item)
}

// lookup returns a table by name or ARN, nil where there is none.
func (s *Store) lookup(name string) *table {
	if strings.HasPrefix(name, "arn:") {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	return (*s.tables.Load())[name]
}

// table is lookup for operations on items.
func (s *Store) table(name string) (*table, error) {
	if t := s.lookup(name); t != nil {
		return t, nil
	}
	return nil, exception.New(exception.ResourceNotFound, "Requested resource not found")
}

// tableNamed is lookup for operations on tables, whose error names it.
func (s *Store) tableNamed(name string) (*table, error) {
	if t := s.lookup(name); t != nil {
		return t, nil
	}
	return nil, notFound(name)
}

func notFound(name string) error {
	return exception.New(exception.ResourceNotFound, "Requested resource not found: Table: %s not found", name)
}

// enter lets a writer in, for the table's shape as it is, which stays until leave.
func (t *table) enter() (*shape, error) {
	t.mu.RLock()
	sh := t.shape.Load()
	if sh.dropped {
		t.mu.RUnlock()
		return nil, exception.New(exception.ResourceNotFound, "Requested resource not found")
	}
	return sh, nil
}

func (t *table) leave() { t.mu.RUnlock() }
