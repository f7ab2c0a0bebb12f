// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"encoding/binary"
	"iter"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/value"
)

// Cell is one cell of a collection or UDT. Path is a list's timeuuid, a set's element (Value is
// then empty), a map's key, or the index of a UDT's field as 2 bytes.
type Cell struct {
	Path, Value []byte
}

// Cells are cells of one column. They are computed one at a time from the value that the client
// sends, because a Cell takes many times the bytes of a short element. The zero value has no cells.
type Cells struct {
	typ    *value.Type // of value; nil: one cell, of paths and value
	value  []byte
	paths  []byte // of a list: pathLen bytes for each element
	n      int
	remove bool // the parts are those of elements to remove
}

// pathLen is the length of the path of a list's element.
const pathLen = 16

// singleCell returns the cell alone.
func singleCell(path, v []byte) Cells { return Cells{value: v, paths: path, n: 1} }

// cells returns the cells in which a collection or UDT is stored.
func (o *Operation) cells(v []byte, env *eval.Env) Cells {
	c := Cells{typ: o.Column.Type, value: v}
	for range c.All() {
		c.n++
	}
	if c.typ.Kind == value.List {
		c.paths = listPaths(env, c.n, o.Kind == Prepend)
	}
	return c
}

// removed returns the elements that c = c - v removes, without nulls, which are no elements: the
// values of a list's, the paths of others.
func removed(t *value.Type, v []byte) Cells {
	c := Cells{typ: t, value: v, remove: true}
	for range c.All() {
		c.n++
	}
	return c
}

// Len returns the number of cells.
func (c *Cells) Len() int { return c.n }

// All returns the cells in the order of the value.
func (c *Cells) All() iter.Seq[Cell] {
	return func(yield func(Cell) bool) {
		if c.typ == nil {
			if c.n > 0 {
				yield(Cell{c.paths, c.value})
			}
			return
		}
		paths := c.paths
		p := c.typ.Parts(c.value)
		for i := 0; p.Next(); i++ {
			cell := Cell{Path: p.Part()}
			switch kind := c.typ.Kind; {
			case c.remove && cell.Path == nil, kind == value.UDT && cell.Path == nil:
				continue
			case kind == value.List:
				cell = Cell{Value: p.Part()}
				if len(paths) > 0 {
					cell.Path, paths = paths[:pathLen:pathLen], paths[pathLen:]
				}
			case c.remove:
			case kind == value.Set:
				cell.Value = []byte{}
			case kind == value.UDT:
				cell = Cell{fieldPath(i), p.Part()}
			case p.Next():
				cell.Value = p.Part()
			default:
				return
			}
			if !yield(cell) {
				return
			}
		}
	}
}

func fieldPath(i int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(i)) }

// listPaths returns n ascending paths for elements that are added to a list at its end or, with
// front, at its start.
func listPaths(env *eval.Env, n int, front bool) []byte {
	out := make([]byte, 0, n*pathLen)
	for i := range n {
		if env.Timeuuid == nil {
			out = eval.AppendTimeuuid(out, env.Now*10+uuidEpochTicks+int64(i), 0x8080808080808080)
			continue
		}
		u := env.Timeuuid()
		out = append(out, u[:]...)
	}
	if front {
		mirrorPaths(out)
	}
	return out
}

const (
	// uuidEpochTicks is 1970-01-01 in 100-nanosecond intervals since the start of the Gregorian
	// calendar.
	uuidEpochTicks = 122192928000000000
	// mirror is 2010-01-01. The times of prepended elements are mirrored at it, so that the element
	// that was prepended last comes first.
	mirror = uuidEpochTicks + 1262304000000*10000
)

// mirrorPaths turns ascending paths of the present into ascending paths of the mirrored past.
func mirrorPaths(paths []byte) {
	for low, high := 0, len(paths)-pathLen; low <= high; low, high = low+pathLen, high-pathLen {
		first, last := [pathLen]byte(paths[low:]), [pathLen]byte(paths[high:])
		mirrorPath(paths[low:low], &last)
		mirrorPath(paths[high:high], &first)
	}
}

func mirrorPath(dst []byte, path *[pathLen]byte) {
	eval.AppendTimeuuid(dst, 2*mirror-eval.TimeuuidTicks(*path), binary.BigEndian.Uint64(path[8:]))
}
