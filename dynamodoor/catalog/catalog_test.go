// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

func layout(t *testing.T) *shard.Layout {
	t.Helper()
	l, err := shard.Parse(map[string]string{"strategy": "calculated", "shards": "5"})
	if err != nil {
		t.Fatal(err)
	}
	l.Generation = 3
	return l
}

func TestEntryIsKeptWhole(t *testing.T) {
	e := &Entry{
		Table: "Tab", Physical: "Tab", ID: "id", State: registry.Active, Layout: layout(t), Hash: "h", HashType: "N", Started: time.UnixMilli(1_800_000_000_123),
	}
	byHand, drawn := *e, *e
	byHand.Layout, byHand.Affix = &shard.Layout{N: 5, Hash: shard.CodePoints, Column: shard.DefaultColumn}, &shard.Affix{Separator: "#", First: 0, Alike: true}
	drawn.Layout, drawn.Affix = &shard.Layout{N: 5, Strategy: shard.Random, Column: shard.DefaultColumn}, &shard.Affix{Separator: "-", First: 1, Front: true}
	timed, numbered := *e, *e
	timed.Layout = &shard.Layout{Strategy: shard.Time, N: 4, Width: timebucket.Hour, Column: shard.DefaultColumn, Generation: 2}
	numbered.Layout = &shard.Layout{Strategy: shard.Time, N: 1, Width: 90 * timebucket.Second, Numbers: timebucket.Milliseconds, Column: shard.DefaultColumn}
	rolling := *e
	rolling.Layout = &shard.Layout{Strategy: shard.Rollover, N: 1, Fill: shard.Fill{Rows: 100}, Max: 7, Column: shard.DefaultColumn, Generation: 4}
	moving := *e
	moving.Layout = layout(t)
	moving.Layout.Base, moving.Layout.Used, moving.Plain, moving.Floor = 8, 13, true, 2
	moving.Change = &Change{Step: "moving", Shards: 4, Base: 13, Key: "12", Plain: true, Back: true, Hurry: true}
	if err := moving.SetOwn("7", Own{Range: shard.Range{N: 64, Base: 8}, Used: 72}); err != nil {
		t.Fatal(err)
	}
	if s := moving.Layout.Spread([]byte("7")); s.N != 64 || s.Base != 8 {
		t.Errorf("%v", s)
	}
	plain, dropping := *e, *e
	plain.Layout, plain.Plain = shard.Plain(), true
	plain.Layout.Generation = 7
	plain.Change = &Change{Step: Preparing, Shards: 50, Second: SecondName("Tab")}
	dropping.Physical, dropping.Floor = "evenkeel.of.Tab.1", 5
	dropping.Change = &Change{Step: Dropping, Shards: 5, Second: "Tab", SecondID: "other"}
	towards, after, again := *e, *e, *e
	towards.Change = &Change{Step: "looking", Shards: 2, Base: shard.Lot, Bucket: timebucket.Hour, Numbers: timebucket.Seconds, Beyond: true}
	after.Layout = &shard.Layout{Strategy: shard.Time, N: 4, Base: 2 * shard.Lot, Used: 2*shard.Lot + shard.Lot/2, Width: timebucket.Hour, Column: shard.DefaultColumn, Generation: 9}
	after.Change = &Change{Step: "cleaning", Shards: 9, Base: after.Layout.Used}
	again.Layout = &shard.Layout{N: 4, Base: shard.Lot / 2, Used: shard.Lot/2 + 4, Column: shard.DefaultColumn, Generation: 9}
	for _, e := range []*Entry{e, &byHand, &drawn, &timed, &numbered, &rolling, &moving, &plain, &dropping, &towards, &after, &again} {
		kept := e.item()
		got, err := kept.entry()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, got); diff != "" {
			t.Errorf("(- written, + read)\n%s", diff)
		}
	}
}

// TestEarlierDoorsDoNotServe checks that an entry with places that doors of earlier releases would not look
// at has a strategy, or a step, that they do not know.
func TestEarlierDoorsDoNotServe(t *testing.T) {
	at := &Entry{Table: "Tab", Layout: &shard.Layout{Strategy: shard.Time, N: 4, Base: shard.Lot, Width: timebucket.Hour}}
	by := &Entry{Table: "Tab", Layout: &shard.Layout{N: 4, Base: shard.Lot / 2}}
	for _, e := range []*Entry{at, by} {
		if i := e.item(); i.Strategy.S == "time" || i.Strategy.S == "calculated" {
			t.Errorf("the strategy is %s", i.Strategy.S)
		}
	}
	to := &Entry{Table: "Tab", Layout: &shard.Layout{N: 4}, Change: &Change{Step: "looking", Shards: 1, Bucket: timebucket.Hour}}
	from := &Entry{Table: "Tab", Layout: &shard.Layout{Strategy: shard.Time, N: 4, Width: timebucket.Hour}, Change: &Change{Step: "looking", Shards: 3}}
	shards := &Entry{Table: "Tab", Layout: &shard.Layout{N: 4}, Change: &Change{Step: "looking", Shards: 3}}
	for e, same := range map[*Entry]bool{to: false, from: false, shards: true} {
		if i := e.item(); (i.Change.M.Step.S == "looking") != same {
			t.Errorf("the step of %+v is %s", e.Change, i.Change.M.Step.S)
		}
	}
}

// TestSecondNames checks that the names of second tables are those of tables, of the door's own, and
// each another.
func TestSecondNames(t *testing.T) {
	long := strings.Repeat("x", 255)
	for _, table := range []string{"Tab", long} {
		a, b := SecondName(table), SecondName(table)
		if a == b || len(a) > 255 || !Owns(a) || !strings.Contains(a, table[:3]) {
			t.Errorf("%q and %q", a, b)
		}
	}
}

func TestMalformedEntriesAreNamed(t *testing.T) {
	for what, spoil := range map[string]func(i *item){
		"shards": func(i *item) { i.Shards.N = "many" }, "generation": func(i *item) { i.Gen.N = "x" }, "time": func(i *item) { i.Started.N = "" },
		"buckets": func(i *item) { i.Strategy.S = "time" }, "length of time": func(i *item) { i.Strategy.S, i.Time = "time", new(timed) },
		"items that fill a shard": func(i *item) { i.Strategy.S = "rollover" }, "rows": func(i *item) { i.Strategy.S, i.Rolling = "rollover", new(rolling) },
		"unit": func(i *item) {
			i.Strategy.S, i.Time = "time", new(timed)
			i.Time.M.Bucket.S, i.Time.M.Unit.S = "1h", "weeks"
		},
		"first shard": func(i *item) { i.Adopted.M.First.N = "" }, "hash": func(i *item) { i.Adopted.M.Hash.S = "crc" },
	} {
		e := &Entry{Table: "Tab", Layout: layout(t), Affix: &shard.Affix{Separator: "-"}}
		kept := e.item()
		spoil(&kept)
		if _, err := kept.entry(); err == nil || !strings.Contains(err.Error(), "Tab") || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// failing is a store that fails.
type failing struct{ err error }

func (f failing) Do(context.Context, string, []byte, []byte) ([]byte, error) { return nil, f.err }

func (f failing) Answer(context.Context, api.Request, func(api.Response) error) error { return f.err }

// TestNoCatalogueIsNoFailure checks that a store without a catalogue has no sharded tables, and
// that a failure is not taken for that.
func TestNoCatalogueIsNoFailure(t *testing.T) {
	none := New(failing{exception.New(exception.ResourceNotFound, "")}, time.Now)
	if all, err := none.All(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%v %v", all, err)
	}
	broken := errors.New("broken")
	if _, err := New(failing{broken}, time.Now).All(t.Context()); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
