// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// TestSecondTables checks that entries with physical tables of other names are written in format 4, or
// in 6 where an earlier release would overlook something, and read back. Their columns describe the
// sharded table.
func TestSecondTables(t *testing.T) {
	id, own := [16]byte{1}, [16]byte{2}
	sharded := &shard.Layout{N: 8, Column: "salt"}
	plain := &Entry{Keyspace: "ks", Table: "t", Physical: "t", ID: id, State: registry.Active, Layout: shard.Plain()}
	change := reshard.Change{Step: reshard.Announced, Generation: 7}
	prepared := plain.Filling(Second{Physical: "t_evenkeel_00000001"})
	changing := plain.Filling(Second{"t_evenkeel_00000001", own}).Changing(sharded, change)
	done := changing.Filled(sharded)
	settled := *done
	settled.Second = nil
	again := settled.Filling(Second{"t_evenkeel_00000002", [16]byte{3}}).Filled(shard.Plain())
	plainAgain := *again
	plainAgain.Second = nil
	back := settled.Filling(Second{"t_evenkeel_00000002", [16]byte{3}}).Changing(shard.Plain(), change)
	timed := &shard.Layout{Strategy: shard.Time, N: 2, By: []string{"ts"}, Width: timebucket.Hour, Keep: 48 * timebucket.Hour, Floor: 7, Column: "salt"}
	toTime := settled.Filling(Second{"t_evenkeel_00000002", [16]byte{3}}).Changing(timed, change)
	isTime := toTime.Filled(timed)
	for _, c := range []struct {
		what     string
		e        *Entry
		physical string // in the column
		id       [16]byte
		column   string
		hidden   string
		left     bool
	}{
		{"before a change", prepared, "t_evenkeel_00000001", [16]byte{}, "shard", "t_evenkeel_00000001", true},
		{"changing", changing, "t_evenkeel_00000001", own, "salt", "t_evenkeel_00000001", false},
		{"done", done, "t_evenkeel_00000001", own, "salt", "t_evenkeel_00000001", true},
		{"settled", &settled, "t_evenkeel_00000001", own, "salt", "t_evenkeel_00000001", false},
		{"plain again, and the sharded table left", again, "t_evenkeel_00000001", own, "shard", "t_evenkeel_00000002 t_evenkeel_00000001", true},
		{"plain again", &plainAgain, "t_evenkeel_00000002", [16]byte{3}, "shard", "t_evenkeel_00000002", false},
		{"on the way back", back, "t_evenkeel_00000001", own, "salt", "t_evenkeel_00000001 t_evenkeel_00000002", false},
		{"from plain to time", plain.Filling(Second{"t_evenkeel_00000001", own}).Changing(timed, change), "t_evenkeel_00000001", own, "salt", "t_evenkeel_00000001", false},
		{"to time", toTime, "t_evenkeel_00000001", own, "salt", "t_evenkeel_00000001 t_evenkeel_00000002", false},
		{"time", isTime, "t_evenkeel_00000002", [16]byte{3}, "salt", "t_evenkeel_00000002 t_evenkeel_00000001", true},
		{"to another column", settled.Filling(Second{"t_evenkeel_00000002", [16]byte{3}}).Changing(&shard.Layout{N: 8, Column: "other"}, change), "t_evenkeel_00000001", own, "salt",
			"t_evenkeel_00000001 t_evenkeel_00000002", false},
	} {
		format := "format 4: "
		if strings.Contains(c.what, "time") || strings.Contains(c.what, "another column") {
			format = "format 6: "
		}
		r := Row{"keyspace_name": []byte("ks"), "table_name": []byte("t")}
		for i, name := range strings.Split(strings.ReplaceAll(columns, `"`, ""), ", ") {
			if v := c.e.values()[i]; v != nil {
				r[name] = v
			}
		}
		if !strings.HasPrefix(string(r["strategy"]), format) {
			t.Errorf("%s is written as %s", c.what, r["strategy"])
		}
		if string(r["physical_name"]) != c.physical || string(r["table_id"]) != string(idOrNull(c.id)) || string(r["column"]) != `"`+c.column+`"` && string(r["column"]) != c.column {
			t.Errorf("%s: the columns are %s, %x, %s", c.what, r["physical_name"], r["table_id"], r["column"])
		}
		got, err := readEntry(r)
		if err != nil || got.Foreign != nil {
			t.Fatal(c.what, err, got)
		}
		if got.ID != c.e.ID || got.Own != c.e.Own || got.Physical != c.e.Physical || !reflect.DeepEqual(got.Second, c.e.Second) || !got.Layout.Equal(c.e.Layout) ||
			got.Layout.Plain() != c.e.Layout.Plain() || (got.Next == nil) != (c.e.Next == nil) || got.Next != nil && (!got.Next.Equal(c.e.Next) || got.Next.Floor != c.e.Next.Floor) || got.Layout.Floor != c.e.Layout.Floor {
			t.Errorf("%s: %+v is read as %+v", c.what, c.e, got)
		}
		if h := strings.Join(got.Hidden(), " "); h != c.hidden || got.Left() != c.left {
			t.Errorf("%s hides %s; a table is left: %v", c.what, h, got.Left())
		}
		r["strategy"] = []byte(strings.Replace(string(r["strategy"]), format, "format 7: ", 1))
		if later, err := readEntry(r); err != nil || later.Foreign == nil || later.Physical != c.physical || later.Layout.Column != c.column {
			t.Errorf("%s, as a door of an earlier release reads it: %+v %v", c.what, later, err)
		}
	}
	if done.Physical != "t_evenkeel_00000001" || done.PhysicalID() != own || done.ID != id || done.Second.Physical != "t" || done.Second.ID != id {
		t.Errorf("after the change: %+v %+v", done, done.Second)
	}
	for _, damaged := range []string{`format 4: {"layout":{},"tables":{"id":"zz","physical":"t"}}`, `format 3: {"layout":{}}`} {
		if e, err := readEntry(Row{"keyspace_name": []byte("ks"), "table_name": []byte("t"), "strategy": []byte(damaged)}); err == nil {
			t.Errorf("%s is read as %+v", damaged, e)
		}
	}
}

// TestSecondNames checks that names fit and differ.
func TestSecondNames(t *testing.T) {
	long := strings.Repeat("a", 48)
	if a, b := SecondName(long, [16]byte{1}), SecondName(long, [16]byte{2}); len(a) > longestName || a == b || !strings.HasPrefix(a, "aaaa") {
		t.Errorf("%s and %s", a, b)
	}
	if n := SecondName("events", [16]byte{0xab}); n != "events_evenkeel_ab000000" {
		t.Error(n)
	}
}

// TestPublishesSecondTables checks that an entry with a second table is published only on top of
// the entry before it.
func TestPublishesSecondTables(t *testing.T) {
	b := embedded(t)
	if _, err := b.door(nil).Create(t.Context(), b.entry("t", 8), b.keyspaceOf(b.door(nil)), b.createPhysical(b.session, "t")); err != nil {
		t.Fatal(err)
	}
	d := b.door(nil)
	first, err := d.Entry(t.Context(), b.keyspace, "t")
	if err != nil {
		t.Fatal(err)
	}
	e := first
	for _, next := range []func(*Entry) *Entry{
		func(e *Entry) *Entry { return e.Filling(Second{Physical: "u"}) },
		func(e *Entry) *Entry {
			return e.Filling(Second{"u", [16]byte{9}}).Changing(shard.Plain(), reshard.Change{Step: reshard.Announced})
		},
		func(e *Entry) *Entry { return e.Filled(shard.Plain()) },
	} {
		was := e
		if e, err = d.Publish(t.Context(), was, next(was)); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Publish(t.Context(), was, next(was)); !errors.Is(err, ErrChanged) {
			t.Errorf("published twice: %v", err)
		}
		now, err := d.Entry(t.Context(), b.keyspace, "t")
		if err != nil || now.Owner != e.Owner || now.ID != first.ID || !reflect.DeepEqual(now.Second, e.Second) || now.Own != e.Own || now.Physical != e.Physical {
			t.Fatalf("%+v, %v", now, err)
		}
	}
	if e.Physical != "u" || e.PhysicalID() != [16]byte{9} || e.Second.Physical != "t" || e.Second.ID != first.ID {
		t.Errorf("%+v", e)
	}
}
