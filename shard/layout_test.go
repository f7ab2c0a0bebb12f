// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		options map[string]string
		want    string // String of the layout, or a part of the error after "!"
	}{
		{map[string]string{"shards": "200"}, "{'column': 'shard', 'hash': 'murmur3', 'shards': '200', 'strategy': 'calculated'}"},
		{map[string]string{"strategy": "calculated", "by": "title", "shards": "1"}, "{'by': 'title', 'column': 'shard', 'hash': 'murmur3', 'shards': '1', 'strategy': 'calculated'}"},
		{map[string]string{"by": ` Title ,"Day of it", x_1`, "shards": "10000", "hash": "code_points", "column": "Salt"},
			`{'by': 'title, "Day of it", x_1', 'column': 'salt', 'hash': 'code_points', 'shards': '10000', 'strategy': 'calculated'}`},
		{map[string]string{"by": `"it's ""so"""`, "shards": "2"}, `{'by': '"it''s ""so"""', 'column': 'shard', 'hash': 'murmur3', 'shards': '2', 'strategy': 'calculated'}`},
		{map[string]string{"strategy": "random", "shards": "16"}, "{'column': 'shard', 'shards': '16', 'strategy': 'random'}"},

		{map[string]string{"strategy": "time", "by": "ts", "bucket": "60m"}, "{'bucket': '1h', 'by': 'ts', 'column': 'shard', 'shards': '1', 'strategy': 'time'}"},
		{map[string]string{"strategy": "time", "by": "ts", "bucket": "1d", "shards": "4"}, "{'bucket': '1d', 'by': 'ts', 'column': 'shard', 'shards': '4', 'strategy': 'time'}"},

		{map[string]string{"strategy": "time", "by": "ts", "bucket": "1d", "keep": "4w"}, "{'bucket': '1d', 'by': 'ts', 'column': 'shard', 'keep': '28d', 'shards': '1', 'strategy': 'time'}"},
		{map[string]string{"strategy": "time", "by": "ts", "bucket": "1d", "keep": "1h"}, "!'keep' is 1h, shorter than a bucket, which is 1d"},
		{map[string]string{"strategy": "time", "by": "ts", "bucket": "1d", "keep": "ever"}, "!'keep': \"ever\" is not a length of time"},
		{map[string]string{"shards": "2", "keep": "1d"}, "!'keep' means nothing under strategy 'calculated'"},
		{map[string]string{"strategy": "time", "by": "ts"}, "!strategy 'time' needs the length of a bucket; add 'bucket': '1h'"},
		{map[string]string{"strategy": "time", "bucket": "1h"}, "!strategy 'time' needs the one column that tells the time; add 'by'"},
		{map[string]string{"strategy": "time", "by": "a, b", "bucket": "1h"}, "!needs the one column that tells the time"},
		{map[string]string{"strategy": "time", "by": "ts", "bucket": "soon"}, "!'bucket': \"soon\" is not a length of time; write a whole number and a unit"},
		{map[string]string{"strategy": "time", "by": "ts", "bucket": "1s"}, "!buckets of 1s with 1 shards each are too many until the year 2200"},
		{map[string]string{"strategy": "time", "by": "ts", "bucket": "1h", "hash": "murmur3"}, "!'hash' means nothing under strategy 'time'"},
		{map[string]string{"strategy": "time", "by": "ts", "bucket": "1h", "base": "1"}, "!'base' means nothing under strategy 'time'"},
		{map[string]string{"strategy": "time", "by": "ts", "bucket": "1h", "epochs": "2 from 2020-01-01"}, "!'epochs' means nothing under strategy 'time'"},
		{map[string]string{"strategy": "time", "by": "ts", "bucket": "1h", "row_epochs": "64@1 from 0xab"}, "!'row_epochs' means nothing under strategy 'time'"},
		{map[string]string{"shards": "2", "bucket": "1h"}, "!'bucket' means nothing under strategy 'calculated'"},
		{nil, "!number of shards is missing; add 'shards'"},
		{map[string]string{"shards": "0"}, "!'shards' is '0'; it must be a whole number from 1 to 10000"},
		{map[string]string{"shards": "10001"}, "!from 1 to 10000"},
		{map[string]string{"shards": "-3"}, "!from 1 to 10000"},
		{map[string]string{"shards": "many"}, "!'shards' is 'many'"},
		{map[string]string{"shards": "99999999999999999999"}, "!from 1 to 10000"},
		{map[string]string{"shards": "2", "salt": "x"}, "!unknown option 'salt'; the options are strategy, by, shards, hash, column, base, epochs, row_epochs, bucket, keep, rows, bytes, max"},
		{map[string]string{"shards": "2", "strategy": "dice"}, "!unknown strategy 'dice'; use 'calculated', 'random', 'time' or 'rollover'"},
		{map[string]string{"strategy": "rollover", "rows": "100000"}, "{'column': 'shard', 'rows': '100000', 'strategy': 'rollover'}"},
		{map[string]string{"strategy": "rollover", "rows": "10", "bytes": "50000000", "max": "500", "column": "Part"}, "{'bytes': '50000000', 'column': 'part', 'max': '500', 'rows': '10', 'strategy': 'rollover'}"},
		{map[string]string{"strategy": "rollover", "bytes": "1024", "max": "10000"}, "{'bytes': '1024', 'column': 'shard', 'strategy': 'rollover'}"},
		{map[string]string{"strategy": "rollover"}, "!needs to know when a shard is full; add 'rows': '100000'"},
		{map[string]string{"strategy": "rollover", "rows": "9"}, "!'rows' is '9'; it must be a whole number, at least 10"},
		{map[string]string{"strategy": "rollover", "rows": "many"}, "!'rows' is 'many'"},
		{map[string]string{"strategy": "rollover", "rows": "99999999999999999999"}, "!'rows' is '99999999999999999999'"},
		{map[string]string{"strategy": "rollover", "bytes": "10"}, "!'bytes' is '10'; it must be a whole number, at least 1024"},
		{map[string]string{"strategy": "rollover", "rows": "10", "max": "1"}, "!'max' is '1'; it must be a whole number from 2 to 10000"},
		{map[string]string{"strategy": "rollover", "rows": "10", "max": "10001"}, "!'max' is '10001'"},
		{map[string]string{"strategy": "rollover", "rows": "10", "shards": "4"}, "!'shards' means nothing under strategy 'rollover'"},
		{map[string]string{"strategy": "rollover", "rows": "10", "by": "c"}, "!'by' means nothing under strategy 'rollover'"},
		{map[string]string{"strategy": "rollover", "rows": "10", "hash": "murmur3"}, "!'hash' means nothing under strategy 'rollover'"},
		{map[string]string{"strategy": "rollover", "rows": "10", "base": "4"}, "!'base' means nothing under strategy 'rollover'"},
		{map[string]string{"strategy": "rollover", "rows": "10", "epochs": "2 from 2020-01-01"}, "!'epochs' means nothing under strategy 'rollover'"},
		{map[string]string{"strategy": "rollover", "rows": "10", "row_epochs": "64@1 from 0xab"}, "!'row_epochs' means nothing under strategy 'rollover'"},
		{map[string]string{"strategy": "rollover", "rows": "10", "bucket": "1h"}, "!'bucket' means nothing under strategy 'rollover'"},
		{map[string]string{"shards": "2", "rows": "100"}, "!'rows' means nothing under strategy 'calculated'; leave it out, or use 'rollover'"},
		{map[string]string{"shards": "2", "strategy": "random", "max": "100"}, "!'max' means nothing under strategy 'random'"},
		{map[string]string{"shards": "2", "hash": "md5"}, "!unknown hash 'md5'; use 'murmur3' or 'code_points'"},
		{map[string]string{"shards": "2", "by": ""}, "!a name is missing"},
		{map[string]string{"shards": "2", "by": "a,"}, "!a name is missing"},
		{map[string]string{"shards": "2", "by": "a, A"}, "!a is named twice"},
		{map[string]string{"shards": "2", "by": "a b"}, `!"b" cannot be part`},
		{map[string]string{"shards": "2", "by": `"a`}, "!not closed"},
		{map[string]string{"shards": "2", "column": "a, b"}, "!2 names; give one column name"},
		{map[string]string{"shards": "2", "strategy": "random", "by": "a"}, "!'by' means nothing under strategy 'random'"},
		{map[string]string{"shards": "2", "strategy": "random", "hash": "murmur3"}, "!'hash' means nothing under strategy 'random'"},
	} {
		l, err := Parse(c.options)
		if fault, wrong := strings.CutPrefix(c.want, "!"); wrong {
			if err == nil || !strings.Contains(err.Error(), fault) || !strings.HasPrefix(err.Error(), "write_sharding: ") {
				t.Errorf("%v: error %v, want %s", c.options, err, fault)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.options, err)
			continue
		}
		if l.String() != c.want {
			t.Errorf("%v: %s, want %s", c.options, l, c.want)
		}
	}
}

func TestOptionsParseBack(t *testing.T) {
	name := rapid.OneOf(rapid.StringMatching(`[a-z][a-z0-9_]{0,5}`), rapid.StringN(1, 5, -1))
	rapid.Check(t, func(t *rapid.T) {
		l := &Layout{
			N:        rapid.IntRange(1, MaxShards).Draw(t, "n"),
			Strategy: rapid.SampledFrom([]Strategy{Calculated, Random, Time}).Draw(t, "strategy"),
			Column:   name.Draw(t, "column"),
		}
		if l.Strategy == Time {
			l.By, l.Width = []string{name.Draw(t, "by")}, timebucket.Width(rapid.IntRange(1, 1000).Draw(t, "days"))*30*timebucket.Day
			l.Keep = l.Width * timebucket.Width(rapid.IntRange(0, 1).Draw(t, "keep"))
		}
		if l.Strategy == Calculated {
			l.Hash = rapid.SampledFrom([]Hash{Murmur3, CodePoints}).Draw(t, "hash")
			l.By = rapid.SliceOfNDistinct(name, 0, 3, rapid.ID[string]).Draw(t, "by")
		}
		back, err := Parse(l.Options())
		if err != nil || !back.Equal(l) {
			t.Fatalf("%s: %v, %v", l, back, err)
		}
		if !maps.Equal(back.Options(), l.Options()) {
			t.Fatalf("%v, %v", back.Options(), l.Options())
		}
	})
}

func FuzzIdentifiers(f *testing.F) {
	f.Add(`a, "B ""c""",d`)
	f.Add(`"`)
	f.Add(`a""`)
	f.Fuzz(func(t *testing.T, s string) {
		names, err := identifiers(s)
		if err != nil {
			return
		}
		var quoted []string
		for _, n := range names {
			quoted = append(quoted, quote(n))
		}
		back, err := identifiers(strings.Join(quoted, ","))
		if err != nil || !slices.Equal(back, names) {
			t.Fatalf("%q: %q, %v", names, back, err)
		}
	})
}

// TestHome holds the shard of static columns to the published form: the token of the
// key in a jump hash, whatever the strategy and the hash.
func TestHome(t *testing.T) {
	for _, key := range []string{"", "a", "2020-07-09", "日本"} {
		want := Jump(uint64(partitioner.Murmur3([]byte(key))), 16) + 1
		for _, l := range []*Layout{{N: 16}, {N: 16, Hash: CodePoints}, {N: 16, Strategy: Random}} {
			if got := l.Home([]byte(key)); got != want {
				t.Errorf("%q: %d, want %d", key, got, want)
			}
		}
	}
}

// TestTimeless gives a key shards with and without openings. Those without take cells of any time once they are
// open, and every deletion reaches them.
func TestTimeless(t *testing.T) {
	key := []byte("k")
	var none *Rolled
	if open, closed := none.Timeless(key); !slices.Equal(open, []int{1}) || len(closed) > 0 {
		t.Errorf("without a directory: %v, %v", open, closed)
	}
	n := none.Next()
	for s, from := range []int64{0, 0, 100, Always, Always} { // of shards 2, 3 and 4
		if s > 1 && !n.Announce(key, s, from) {
			t.Fatalf("shard %d is not announced", s)
		}
	}
	n.Open(key, 3)
	r := n.Done()
	if open, closed := r.Timeless(key); !slices.Equal(open, []int{1, 3}) || !slices.Equal(closed, []int{4}) {
		t.Errorf("the shards are %v, and %v that are closed", open, closed)
	}
	if got := r.Reached(key, math.MinInt64+1); !slices.Equal(got, []int{1, 3, 4}) {
		t.Errorf("the oldest deletion reaches %v", got)
	}
	if got := r.Current(key, 50); got != 3 {
		t.Errorf("an old cell goes to shard %d", got)
	}
	if none.Deletes(r, math.MinInt64) != true || none.Deletes(r, 5) {
		t.Error("of deletions that were planned without the directory, only none at all would be complete")
	}
}
