// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
)

var number = value.Native(value.Int)

// path returns a timeuuid that is sorted by n.
func path(n int) []byte {
	p := make([]byte, 16)
	binary.BigEndian.PutUint32(p, uint32(n+1<<31)) // the low half of the time
	p[6] = 0x10
	return p
}

func element(at, v int) storage.Cell {
	return storage.Cell{Path: path(at), Value: binary.BigEndian.AppendUint32(nil, uint32(v))}
}

// TestElements changes elements at random, and the same ones of a slice. Several statements begin
// with the same elements and do not see each other.
func TestElements(t *testing.T) {
	for seed := range uint64(600) {
		draw := rand.New(rand.NewPCG(1, seed))
		var begin []storage.Cell
		for i := range draw.IntN(12) {
			begin = append(begin, element(i, draw.IntN(4)))
		}
		shared := &before{cells: begin}
		for range 3 {
			e, want := shared.elements(), slices.Clone(begin)
			low, high := 0, len(begin)
			sort := func() {
				slices.SortStableFunc(want, func(a, b storage.Cell) int { return timeuuid.Compare(a.Path, b.Path) })
			}
			for range draw.IntN(25) {
				switch draw.IntN(6) {
				case 0:
					high++
					c := element(high, draw.IntN(4))
					e, want = e.put([]storage.Cell{c}, number), append(want, c)
					sort()
				case 1:
					low -= 2
					more := []storage.Cell{element(low, draw.IntN(4)), element(low+1, draw.IntN(4))}
					e, want = e.put(slices.Clone(more), number), append(more, want...)
					sort()
				case 2:
					if draw.IntN(4) == 0 { // the clock went back
						c := element(3, draw.IntN(4))
						e, want = e.put([]storage.Cell{c}, number), append(want, c)
						sort()
					}
				case 3, 4:
					if len(want) > 0 {
						i := draw.IntN(len(want))
						if place := e.at(i); draw.IntN(2) == 0 {
							e.remove(place)
							want = slices.Delete(want, i, i+1)
						} else {
							want[i].Value = element(0, draw.IntN(4)).Value
							e.replace(place, want[i].Value, number)
						}
					}
				case 5:
					gone := [][]byte{element(0, draw.IntN(4)).Value}
					var removed [][]byte
					e.discard(gone, number, func(p []byte) bool {
						removed = append(removed, p)
						return true
					})
					had := len(want)
					want = slices.DeleteFunc(want, func(c storage.Cell) bool { return bytes.Equal(c.Value, gone[0]) })
					if len(removed) != had-len(want) {
						t.Fatalf("seed %d: %d elements were removed, not %d", seed, len(removed), had-len(want))
					}
				}
				if e.left() != len(want) {
					t.Fatalf("seed %d: %d elements are left, not %d", seed, e.left(), len(want))
				}
				for i, c := range want {
					place := e.at(i)
					if !bytes.Equal(e.value(place), c.Value) || !bytes.Equal(e.cell(place).Path, c.Path) {
						t.Fatalf("seed %d: element %d is %x, not %x", seed, i, e.value(place), c.Value)
					}
				}
			}
		}
	}
}

// TestElementsWork doubles both how many changes there are, of one statement and of several that
// begin with the same elements, and how many elements there are. The steps are about doubled.
func TestElementsWork(t *testing.T) {
	every := func([]byte) bool { return true }
	for name, change := range map[string]func(e *elements, i, n int) *elements{
		"remove":  func(e *elements, _, _ int) *elements { e.remove(e.at(0)); return e },
		"replace": func(e *elements, i, _ int) *elements { e.replace(e.at(i), element(0, -i).Value, number); return e },
		"append": func(e *elements, i, n int) *elements {
			return e.put([]storage.Cell{element(n+i, i)}, number)
		},
		"prepend": func(e *elements, i, _ int) *elements { return e.put([]storage.Cell{element(-i-1, i)}, number) },
		"append and discard": func(e *elements, i, n int) *elements {
			e = e.put([]storage.Cell{element(n+i, n+i)}, number)
			e.discard([][]byte{element(0, n+i-1).Value}, number, every)
			return e
		},
		"remove, append, replace": func(e *elements, i, n int) *elements {
			e.remove(e.at(e.left() / 2))
			e = e.put([]storage.Cell{element(n+i, i)}, number)
			e.replace(e.at(e.left()-1), element(0, i).Value, number)
			return e
		},
	} {
		for _, alone := range []bool{false, true} {
			work := func(n int) int {
				var cells []storage.Cell
				for i := range n {
					cells = append(cells, element(i, i))
				}
				shared := &before{cells: cells}
				e, steps := shared.elements(), 0
				for i := range n {
					e = change(e, i, n)
					if alone {
						steps += e.steps
						e = shared.elements()
					}
				}
				return steps + e.steps
			}
			if one, two := work(2000), work(4000); two > 3*one {
				t.Errorf("%s, each in a statement of its own: %v: %d steps for 2000 elements, %d for 4000", name, alone, one, two)
			}
		}
	}
}

// TestManyChangesOfOneList has many statements of a batch, and many assignments of a statement,
// change one long list. Twice as many changes of a list that is twice as long allocate about
// twice as much.
func TestManyChangesOfOneList(t *testing.T) {
	c := newCrowd(t, 0)
	c.must("CREATE TABLE ks.l (p int, c double, l list<int>, s list<int> static, PRIMARY KEY (p, c))")
	for name, text := range map[string]func(n int) string{
		"set in statements":     batchOf("UPDATE ks.l SET l[$] = $ WHERE p = @ AND c = 1"),
		"set in static":         batchOf("UPDATE ks.l SET s[$] = $ WHERE p = @"),
		"delete in statements":  batchOf("DELETE l[$] FROM ks.l WHERE p = @ AND c = 1"),
		"discard in statements": batchOf("UPDATE ks.l SET l = l - [$] WHERE p = @ AND c = 1"),
		"set": func(n int) string {
			return "UPDATE ks.l SET " + numbered(n, "l[$] = $", ", ") + " WHERE p = @ AND c = 1"
		},
		"delete": func(n int) string {
			return "DELETE " + strings.Repeat("l[0], ", n-1) + "l[0] FROM ks.l WHERE p = @ AND c = 1"
		},
		"append and set": func(n int) string {
			return "UPDATE ks.l SET " + numbered(n, "l = l + [$], l[0] = -1, l = [$] + l, l = l - [$]", ", ") + " WHERE p = @ AND c = 1"
		},
	} {
		t.Run(name, func(t *testing.T) {
			allocated := func(n int) uint64 {
				list := numbered(n, "$", ", ")
				c.must(fmt.Sprintf("UPDATE ks.l SET s = [%s], l = [%s] WHERE p = %d AND c = 1", list, list, n))
				return c.allocates(strings.ReplaceAll(text(n), "@", fmt.Sprint(n)))
			}
			allocated(100)
			if one, two := allocated(700), allocated(1400); two > 3*one {
				t.Errorf("%d KiB for 700 changes of 700 elements, %d KiB for 1400 of 1400", one>>10, two>>10)
			}
		})
	}
}

// TestStatementsOfABatchReadTheSame has statements of a batch change one list by index. Each sees
// the list as it was before the batch, as in Cassandra.
func TestStatementsOfABatchReadTheSame(t *testing.T) {
	c := newCrowd(t, 0)
	c.must("CREATE TABLE ks.l (p int PRIMARY KEY, l list<int>)")
	c.must("UPDATE ks.l SET l = [0, 1, 2, 3] WHERE p = 1")
	c.must("BEGIN BATCH DELETE l[0] FROM ks.l WHERE p = 1; DELETE l[0], l[1] FROM ks.l WHERE p = 1; UPDATE ks.l SET l[3] = 9 WHERE p = 1; APPLY BATCH")
	resp := c.do(ask("SELECT l FROM ks.l WHERE p = 1"))
	r, err := wire.ParseRows(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := value.ListOf(number, true).Build(nil, [][]byte{element(0, 1).Value, element(0, 9).Value})
	if !bytes.Contains(r.Raw, want) {
		t.Errorf("the row is %x, which does not have %x", r.Raw, want)
	}
}

// TestRemovalsAreBounded removes the same equal elements by many statements of a batch.
func TestRemovalsAreBounded(t *testing.T) {
	c := newCrowd(t, 0)
	c.must("CREATE TABLE ks.l (p int PRIMARY KEY, l list<int>)")
	const n = 3000
	c.must("UPDATE ks.l SET l = [" + strings.Repeat("7, ", n) + "7] WHERE p = 1")
	resp := c.do(ask("BEGIN BATCH " + strings.Repeat("UPDATE ks.l SET l = l - [7] WHERE p = 1; ", n) + "APPLY BATCH"))
	if e, err := wire.ParseError(wire.V4, resp.Body); resp.Op != wire.OpError || err != nil || !strings.Contains(e.Message, "oversized") {
		t.Errorf("it ended with %s %v", resp.Op, e)
	}
}
