// SPDX-License-Identifier: Apache-2.0

package live_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel/evenkeel/engine/cassandra"
	"github.com/evenkeel/evenkeel/engine/throughput"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/workbench/live"
	"github.com/evenkeel/evenkeel/workbench/livetable"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// TestRead reads ranges that divide the ring. Every row must come once, partitions whole and one
// after the other, with the tokens of their keys.
func TestRead(t *testing.T) {
	for name, addr := range stores(t) {
		t.Run(name, func(t *testing.T) {
			c := connect(t, addr)
			c.do("CREATE TABLE " + c.keyspace + ".t (a int, b text, c int, v text, PRIMARY KEY ((a, b), c))")
			c.each(1500, func(i int) (string, []any) {
				return "INSERT INTO " + c.keyspace + ".t (a, b, c, v) VALUES (?, ?, ?, ?)", []any{i % 50, fmt.Sprint("b", i%7), i, fmt.Sprint("value ", i)}
			})
			table := c.open("t", live.Options{})
			for _, page := range []int{7, 5000} {
				seen := map[string]int{}
				ended := map[string]bool{}
				for _, r := range live.Pieces(10, 1, 0) {
					last := ""
					err := table.Read(t.Context(), r, live.Selection{Page: page}, func(row *live.Row) error {
						key := partitioner.AppendComposite(nil, row.Cells[0], row.Cells[1])
						if got := partitioner.Murmur3(key); got != row.Token || got <= r.After || got > r.UpTo {
							t.Errorf("token %d, want %d, in %+v", row.Token, got, r)
						}
						if string(key) != last && ended[string(key)] {
							t.Errorf("partition %q comes in parts", key)
						}
						last, ended[string(key)] = string(key), true
						seen[fmt.Sprintf("%x %s", key, row.Cells[2])]++
						n := int(binary.BigEndian.Uint32(row.Cells[2]))
						if want := fmt.Sprint("value ", n); string(row.Cells[3]) != want {
							t.Errorf("%s, want %s", row.Cells[3], want)
						}
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				if len(seen) != 1500 {
					t.Errorf("pages of %d: %d different rows", page, len(seen))
				}
				for k, n := range seen {
					if n != 1 {
						t.Errorf("row %s came %d times", k, n)
					}
				}
			}
		})
	}
}

// TestRowsAgain reads a table of many types as rows, several times.
func TestRowsAgain(t *testing.T) {
	for name, addr := range stores(t) {
		t.Run(name, func(t *testing.T) {
			c := connect(t, addr)
			c.do("CREATE TYPE " + c.keyspace + ".u (x int, y text)")
			c.do("CREATE TABLE " + c.keyspace + `.t (id int PRIMARY KEY, "Mixed" text, b blob, l list<int>, m map<text, int>, u frozen<u>, tp frozen<tuple<int, text>>, v vector<float, 2>, d decimal, empty text)`)
			want := map[string]bool{}
			for i := range 100 {
				c.do("INSERT INTO "+c.keyspace+`.t (id, "Mixed", b, l, m, u, tp, v, d) VALUES (?, ?, 0x00ff, [1, 2], {'a': 1}, {x: 1, y: 'y'}, (3, null), [1.5, 2.5], 1.50)`, i, fmt.Sprint("m", i))
				want[fmt.Sprint(i)] = true
			}
			c.do("INSERT INTO " + c.keyspace + ".t (id, empty) VALUES (100, '')")
			want["100"] = true
			r := c.open("t", live.Options{}).Rows(live.RowsOptions{Page: 13})
			defer r.Close()
			columns := r.Columns()
			scan := func(names []string) (out []string) {
				done, err := r.Scan(t.Context(), rows.ScanOptions{Workers: 1, Columns: names}, func(_ int, b *rows.Batch) error {
					for i := range b.N {
						var cells []string
						for j := range b.Columns {
							at := j
							if names != nil {
								at = slices.IndexFunc(columns, func(c rows.Column) bool { return c.Name == names[j] })
							}
							if b.Columns[j].Null(i) {
								cells = append(cells, "null")
							} else {
								cells = append(cells, string(columns[at].Type.Format(nil, b.Columns[j].Bytes(i))))
							}
						}
						out = append(out, strings.Join(cells, "|"))
					}
					return nil
				})
				if err != nil || done.Partial || done.Rows != 101 {
					t.Fatalf("%+v %v", done, err)
				}
				return out
			}
			first, second := scan(nil), scan(nil)
			if diff := cmp.Diff(first, second); diff != "" {
				t.Errorf("the second scan: %s", diff)
			}
			if !slices.Contains(first, "7|'m7'|0x00ff|1.50|null|[1, 2]|{'a': 1}|(3, null)|{x: 1, y: 'y'}|[1.5, 2.5]") {
				t.Errorf("%q", first[:3])
			}
			if !slices.Contains(first, "100|null|null|null|''|null|null|null|null|null") {
				t.Error("an empty text is not null")
			}
			for _, row := range scan([]string{"Mixed", "id"}) {
				text, id, _ := strings.Cut(row, "|")
				if !want[id] || id != "100" && text != "'m"+id+"'" {
					t.Errorf("row %s", row)
				}
				delete(want, id)
			}
			if len(want) != 0 {
				t.Errorf("rows %v did not come", want)
			}
			if _, err := r.Scan(t.Context(), rows.ScanOptions{Columns: []string{"mixed"}}, nil); err == nil || !strings.Contains(livetable.Hint(err), "did you mean") {
				t.Errorf("an unknown column: %v (%s)", err, livetable.Hint(err))
			}
		})
	}
}

// TestRowsInterrupted checks that later scans have the rows that were read before the interruption.
func TestRowsInterrupted(t *testing.T) {
	c := connect(t, serve(t, cassandra.Options{}))
	c.do("CREATE TABLE " + c.keyspace + ".t (id int PRIMARY KEY)")
	c.each(8000, func(i int) (string, []any) { return "INSERT INTO " + c.keyspace + ".t (id) VALUES (?)", []any{i} })
	r := c.open("t", live.Options{}).Rows(live.RowsOptions{Page: 100})
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	count := func(ctx context.Context, stop bool) (n int, partial bool) {
		done, err := r.Scan(ctx, rows.ScanOptions{Workers: 1}, func(_ int, b *rows.Batch) error {
			n += b.N
			if stop {
				cancel()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n, done.Partial
	}
	first, partial := count(ctx, true)
	if !partial || first == 0 || first == 8000 {
		t.Fatalf("%d rows, partial %v", first, partial)
	}
	if again, partial := count(t.Context(), false); again != first || !partial {
		t.Errorf("%d rows again, partial %v, were %d", again, partial, first)
	}
}

// TestSample reads about a tenth of a table, in whole partitions.
func TestSample(t *testing.T) {
	c := connect(t, serve(t, cassandra.Options{}))
	c.do("CREATE TABLE " + c.keyspace + ".t (k int, i int, PRIMARY KEY (k, i))")
	c.each(6000, func(i int) (string, []any) {
		return "INSERT INTO " + c.keyspace + ".t (k, i) VALUES (?, ?)", []any{i % 2000, i / 2000}
	})
	r := c.open("t", live.Options{}).Rows(live.RowsOptions{Fraction: 0.1, Seed: 1})
	defer r.Close()
	partitions := map[string]int{}
	_, err := r.Scan(t.Context(), rows.ScanOptions{Workers: 1, Columns: []string{"k"}}, func(_ int, b *rows.Batch) error {
		for i := range b.N {
			partitions[string(b.Columns[0].Bytes(i))]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(partitions); n < 140 || n > 270 { // 200 are expected, with a deviation of 13.4
		t.Errorf("%d partitions of 2000", n)
	}
	for k, n := range partitions {
		if n != 3 {
			t.Errorf("partition %x has %d rows of 3", k, n)
		}
	}
}

// TestCluster reads what the store says about itself.
func TestCluster(t *testing.T) {
	for name, addr := range stores(t) {
		t.Run(name, func(t *testing.T) {
			c := connect(t, addr)
			c.do("CREATE TABLE " + c.keyspace + ".t (k int PRIMARY KEY)")
			table := c.open("t", live.Options{})
			cluster, err := table.Cluster(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if cluster.Partitioner != "Murmur3Partitioner" || len(cluster.Nodes) != 1 || cluster.Keyspaces || cluster.Door != (name == "engine") {
				t.Errorf("%+v", cluster)
			}
			if n := len(cluster.Nodes[0].Tokens); name == "cassandra" && n != 16 {
				t.Errorf("%d tokens", n)
			}
			views, err := table.Views(t.Context(), cluster)
			if err != nil {
				t.Fatal(err)
			}
			if has := slices.ContainsFunc(views, func(v live.View) bool { return v.Table == "max_partition_size" }); has != (name == "cassandra") {
				t.Errorf("views %+v", views)
			}
			if p, err := table.Partitions(t.Context()); p != nil || err != nil {
				t.Errorf("partitions of a store without limits: %+v, %v", p, err)
			}
			if err := table.Same(t.Context()); err != nil {
				t.Error(err)
			}
			c.do("DROP TABLE " + c.keyspace + ".t")
			c.do("CREATE TABLE " + c.keyspace + ".t (k int PRIMARY KEY)")
			if err := table.Same(t.Context()); !errors.Is(err, livetable.ErrDropped) {
				t.Errorf("another table of that name: %v", err)
			}
		})
	}
}

// TestPartitions reads the partitions of a store that enforces limits.
func TestPartitions(t *testing.T) {
	c := connect(t, serve(t, cassandra.Options{Capacity: &throughput.Limits{SplitAfter: time.Minute}}))
	c.do("CREATE TABLE " + c.keyspace + ".t (a text, b int, c int, PRIMARY KEY ((a, b), c))")
	c.do("CREATE TABLE " + c.keyspace + ".other (a int PRIMARY KEY)")
	c.each(20, func(i int) (string, []any) {
		return "INSERT INTO " + c.keyspace + ".t (a, b, c) VALUES ('x', 1, ?)", []any{i}
	})
	all, err := c.open("t", live.Options{}).Partitions(t.Context())
	if err != nil || len(all) != 4 {
		t.Fatalf("%+v, %v", all, err)
	}
	keys, units := 0, 0.0
	for i, p := range all {
		if p.Number != i+1 || (p.From == nil) != (i == 0) || p.Share != 0.25 || p.MaxRead != 3000 || p.MaxWrite != 1000 || p.SplitAfter != time.Minute || time.Since(p.Since) > time.Minute || p.FromKey != nil {
			t.Errorf("%+v", p)
		}
		units += p.Write.UnitsTotal
		if keys += len(p.Keys); len(p.Keys) == 1 && (!slices.Equal(p.Keys[0].Values, []string{"x", "1"}) || p.Keys[0].Units != 20 || p.KeyCount != 1 || p.More) {
			t.Errorf("%+v", p)
		}
	}
	if keys != 1 || units != 20 {
		t.Errorf("%d keys, %v units", keys, units)
	}
}

// TestDropped drops a table during a read.
func TestDropped(t *testing.T) {
	for name, addr := range stores(t) {
		t.Run(name, func(t *testing.T) {
			c := connect(t, addr)
			c.do("CREATE TABLE " + c.keyspace + ".t (k int PRIMARY KEY)")
			c.each(300, func(i int) (string, []any) { return "INSERT INTO " + c.keyspace + ".t (k) VALUES (?)", []any{i} })
			table := c.open("t", live.Options{})
			n := 0
			err := table.Read(t.Context(), live.Whole, live.Selection{Page: 10}, func(*live.Row) error {
				if n++; n == 15 {
					c.do("DROP TABLE " + c.keyspace + ".t")
				}
				return nil
			})
			if !errors.Is(err, livetable.ErrDropped) || livetable.Hint(err) == "" || !strings.Contains(err.Error(), c.keyspace+".t") {
				t.Errorf("%v (hint %q)", err, livetable.Hint(err))
			}
		})
	}
}

// TestLost cuts the connection during a read: for a moment, which the reader does not notice; and
// for good.
func TestLost(t *testing.T) {
	c := connect(t, serve(t, cassandra.Options{}))
	c.do("CREATE TABLE " + c.keyspace + ".t (k int PRIMARY KEY)")
	c.each(300, func(i int) (string, []any) { return "INSERT INTO " + c.keyspace + ".t (k) VALUES (?)", []any{i} })
	p := newProxy(t, c.addr)
	c.addr = p.ln.Addr().String()

	table := c.open("t", live.Options{})
	var seen [][]byte
	read := func(patient *live.Table, meanwhile func(n int)) error {
		seen = nil
		return patient.Read(t.Context(), live.Whole, live.Selection{Page: 10}, func(row *live.Row) error {
			seen = append(seen, bytes.Clone(row.Cells[0]))
			meanwhile(len(seen))
			return nil
		})
	}
	if err := read(table, func(n int) {
		if n == 95 {
			p.set(true)
			time.AfterFunc(300*time.Millisecond, func() { p.set(false) })
		}
	}); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(seen, bytes.Compare)
	if n := len(slices.CompactFunc(seen, bytes.Equal)); n != 300 || len(seen) != 300 {
		t.Errorf("%d rows, %d different", len(seen), n)
	}

	hasty := c.open("t", live.Options{Patience: time.Second})
	err := read(hasty, func(n int) {
		if n == 95 {
			p.set(true)
		}
	})
	if !errors.Is(err, livetable.ErrLost) || livetable.Hint(err) == "" {
		t.Errorf("%v (hint %q)", err, livetable.Hint(err))
	}
}

// TestRate checks the rows per second.
func TestRate(t *testing.T) {
	c := connect(t, serve(t, cassandra.Options{}))
	c.do("CREATE TABLE " + c.keyspace + ".t (k int PRIMARY KEY)")
	c.each(300, func(i int) (string, []any) { return "INSERT INTO " + c.keyspace + ".t (k) VALUES (?)", []any{i} })
	begun := time.Now()
	if err := c.open("t", live.Options{Rate: 600}).Read(t.Context(), live.Whole, live.Selection{Page: 20}, func(*live.Row) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if spent := time.Since(begun); spent < 490*time.Millisecond {
		t.Errorf("300 rows in %v, at 600 a second", spent)
	}
}

// TestNotThere checks that errors name what is missing, and what exists.
func TestNotThere(t *testing.T) {
	for name, addr := range stores(t) {
		t.Run(name, func(t *testing.T) {
			c := connect(t, addr)
			c.do("CREATE TABLE " + c.keyspace + ".readings (k int PRIMARY KEY)")
			for _, table := range []struct{ name, want, hint string }{
				{c.keyspace + ".reading", "there is no table reading", "did you mean readings?"},
				{c.keyspace + "x.readings", "there is no keyspace " + c.keyspace + "x", "did you mean " + c.keyspace[:4]},
			} {
				at, err := live.Parse("cql://" + addr + "/" + table.name)
				if err != nil {
					t.Fatal(err)
				}
				_, err = live.Open(t.Context(), at, live.Options{})
				if err == nil || !strings.Contains(err.Error(), table.want) || !strings.Contains(livetable.Hint(err), table.hint) {
					t.Errorf("%s: %v (hint %q)", table.name, err, livetable.Hint(err))
				}
			}
		})
	}
}

// TestNobody checks the errors for a host that does not answer, or does not speak CQL.
func TestNobody(t *testing.T) {
	nobody := loopback.FreeAddr(t)
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	go func() {
		for {
			c, err := web.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) // some other server
			c.Close()
		}
	}()
	for _, c := range []struct{ host, want, hint string }{
		{nobody, "nothing listens there", "is the store running"},
		{web.Addr().String(), "does not speak CQL", "port of the native protocol"},
		{"no-such-host.invalid", "no machine has that name", "check the host"},
	} {
		at, err := live.Parse("cql://" + c.host + "/a.b")
		if err != nil {
			t.Fatal(err)
		}
		_, err = live.Open(t.Context(), at, live.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(livetable.Hint(err), c.hint) {
			t.Errorf("%s: %v (hint %q)", c.host, err, livetable.Hint(err))
		}
	}
}
