// SPDX-License-Identifier: Apache-2.0

package nodetool_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/workbench/nodetool"
)

// read parses the output of a tool of Cassandra 5.0.9 about a table with known sizes: server-000
// has 20,000 rows, server-001 and -002 have 3,000.
func read(t *testing.T, names ...string) *nodetool.Output {
	t.Helper()
	var text []byte
	for _, n := range names {
		one, err := os.ReadFile(filepath.Join("testdata", n))
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, one...), '\n')
	}
	o, err := nodetool.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestTopPartitions(t *testing.T) {
	o := read(t, "toppartitions.txt")
	if len(o.Rankings) != 7 {
		t.Fatalf("%d rankings of partitions, want 7 (that of statements is none)", len(o.Rankings))
	}
	reads := o.Rankings[0]
	if reads.Title != "Frequency of reads by partition" || reads.Unit != "Count" || len(reads.Rows) != 5 {
		t.Fatalf("%+v", reads)
	}
	if got, want := reads.Rows[0], (nodetool.Ranked{Table: "insp.logs", Key: "server-000", Count: 241}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, r := range o.Rankings {
		if strings.Contains(r.Title, "tombstones") && len(r.Rows) != 0 {
			t.Errorf("%s: %+v, and nothing was recorded", r.Title, r.Rows)
		}
		if strings.Contains(r.Title, "mutation") && (r.Unit != "Bytes" || r.Rows[0].Count != 82) {
			t.Errorf("%+v", r)
		}
	}
	if got := o.Of("insp.other").Tables(); len(got) != 0 {
		t.Errorf("tables of another one: %v", got)
	}
}

func TestKeysWithSpaces(t *testing.T) {
	o, err := nodetool.Parse([]byte("Frequency of writes by partition:\n   Table     Partition        Count +/-\n   insp.logs a key: of 12 3   241   7  \n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := o.Rankings[0].Rows[0], (nodetool.Ranked{Table: "insp.logs", Key: "a key: of 12 3", Count: 241, Error: 7}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestQuotes reads keys as sstablepartitions -m writes them.
func TestQuotes(t *testing.T) {
	text := "key,keyBinary,live,offset,size,rowCount,cellCount,tombstoneCount,directory,keyspace,table\n" +
		`"plain",00,true,0,10,1,2,3,/data/a,b/x-Data.db,ks,t` + "\n" +
		`""page 4"",00,true,0,11,,,,/data/x-Data.db,ks,t` + "\n" +
		`""say ""hi"", now"",00,false,0,12,1,1,1,/data/x-Data.db,ks,t` + "\n" +
		`"a,"b",c",00,true,0,13,1,1,1,/data/x-Data.db,ks,t` + "\n"
	o, err := nodetool.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range []string{"plain", "page 4", `say "hi", now`, `a,"b",c`} {
		if p := o.Partitions[i]; p.Key != key || p.Bytes != int64(10+i) || p.Table != "ks.t" || p.Detailed != (i != 1) {
			t.Errorf("%+v, want key %s", p, key)
		}
	}
}

func TestTableHistograms(t *testing.T) {
	h := read(t, "tablehistograms.txt").Histograms
	if len(h) != 1 || h[0].Table != "insp.logs" || len(h[0].Percentiles) != 7 {
		t.Fatalf("%+v", h)
	}
	if got, want := h[0].Percentiles[4], (nodetool.Percentile{Name: "99%", ReadMicros: 0, WriteMicros: 924, SSTables: 0, Bytes: 315852, Cells: 9887}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := h[0].Percentiles[6]; got.Name != "Max" || got.Bytes != 2346799 {
		t.Errorf("%+v", got)
	}
}

// TestAllTableHistograms reads the output for all tables at once, of which some have no files.
func TestAllTableHistograms(t *testing.T) {
	h := read(t, "tablehistograms-all.txt").Histograms
	if len(h) != 2 || h[0].Table != "system_traces.events" || !math.IsNaN(h[0].Percentiles[0].Bytes) || len(h[1].Percentiles) != 7 || !(h[1].Percentiles[6].Bytes > 0) {
		t.Errorf("%+v", h)
	}
}

func TestSSTablePartitions(t *testing.T) {
	for _, c := range []struct {
		file       string
		exact      bool
		tombstones int64
	}{{"sstablepartitions.txt", false, 24000}, {"sstablepartitions.csv", true, 24000}, {"sstablepartitions-only.txt", false, 0}} {
		p := read(t, c.file).Partitions
		if len(p) != 3 || p[0].Table != "insp.logs" || p[0].Key != "server-000" {
			t.Fatalf("%s: %+v", c.file, p)
		}
		if off := math.Abs(float64(p[0].Bytes) - 2038430); c.exact && off != 0 || off > 1024 {
			t.Errorf("%s: %d bytes", c.file, p[0].Bytes)
		}
		if p[0].Tombstones != c.tombstones || p[0].Detailed != (c.tombstones > 0) || p[0].Detailed && (p[0].Rows != 20000 || p[0].Cells != 64000) {
			t.Errorf("%s: %+v", c.file, p[0])
		}
	}
}

func TestSeveralOutputs(t *testing.T) {
	o := read(t, "toppartitions.txt", "tablehistograms.txt", "sstablepartitions.txt", "sstablepartitions-only.txt", "sstablepartitions.csv")
	if len(o.Rankings) != 7 || len(o.Histograms) != 1 || len(o.Partitions) != 9 {
		t.Fatalf("%d rankings, %d histograms, %d partitions", len(o.Rankings), len(o.Histograms), len(o.Partitions))
	}
	sum := nodetool.Sum(o.Partitions)
	if len(sum) != 3 || sum[0].Key != "server-000" || sum[0].Tombstones != 48000 || sum[0].Detailed || sum[0].Bytes < 3*2038430-2048 {
		t.Errorf("%+v", sum)
	}
	if got := strings.Join(o.Tables(), " "); got != "insp.logs" {
		t.Errorf("tables %s", got)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "line 1: has no output"},
		{"\n\nrubbish\n", "line 3: is no output"},
		{"Frequency of reads by partition:\n", "line 2: a table is missing"},
		{"Frequency of reads by partition:\n   Table Partition Count +/-\n   a.b key many 0\n", "line 3: is no row"},
		{"a/b histograms\nPercentile x\n50% 1 2 3 4 many\n", `line 3: "many" is no number`},
		{"key,keyBinary,live\n", "line 1: does not begin with key"},
		{"key,keyBinary,live,offset,size,rows\n", "line 1: has no columns"},
		{"key,keyBinary,live,offset,size,directory,keyspace,table\n\"k\",00,true,x,1,d,a,b\n", "line 2: is no partition"},
		{"key,keyBinary,live,offset,size,directory,keyspace,table\n\"k\",00,true,0,1,d,a\n", "line 2: has 7 fields, and not 8"},
		{"Processing of nothing\n", "line 1: names no table"},
	} {
		_, err := nodetool.Parse([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "nodetool toppartitions") {
			t.Errorf("%q: %v, want %s and the commands", c.text, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, n := range []string{"toppartitions.txt", "tablehistograms.txt", "sstablepartitions.txt", "sstablepartitions.csv"} {
		text, err := os.ReadFile(filepath.Join("testdata", n))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := nodetool.Parse(text)
		if err != nil {
			return
		}
		for _, p := range nodetool.Sum(o.Partitions) {
			if p.Table == "" {
				t.Fatalf("%+v is of no table", p)
			}
		}
		for _, table := range o.Tables() {
			o.Of(table)
		}
	})
}
