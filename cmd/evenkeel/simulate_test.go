// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// TestFormatsAgree checks that the same drawn rows give the same figures as CSV, as JSON Lines and
// as Parquet, whatever type the file stores them as.
func TestFormatsAgree(t *testing.T) {
	type record struct {
		Server string   `parquet:"server"`
		Level  *int64   `parquet:"level"`
		Load   *float64 `parquet:"load"`
		Up     bool     `parquet:"up"`
	}
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	var all []record
	var csv, lines strings.Builder
	csv.WriteString("server,level,load,up\n")
	for range 500 + rnd.IntN(3000) {
		r := record{Server: fmt.Sprint("srv", rnd.IntN(90)), Up: rnd.IntN(2) == 0}
		level, load := "", ""
		line := fmt.Sprintf(`{"server":%q,"up":%t`, r.Server, r.Up)
		if rnd.IntN(5) > 0 {
			n := rnd.Int64N(1 << rnd.IntN(62))
			r.Level, level = &n, fmt.Sprint(n)
			line += `,"level":` + level
		}
		if rnd.IntN(5) > 0 {
			x := float64(rnd.IntN(100_000)) / 64
			r.Load, load = &x, fmt.Sprint(x)
			line += `,"load":` + load
		}
		all = append(all, r)
		fmt.Fprintf(&csv, "%s,%s,%s,%t\n", r.Server, level, load, r.Up)
		lines.WriteString(line + "}\n")
	}
	var packed bytes.Buffer
	if err := parquet.Write(&packed, all); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var want *simulation.Report
	for name, content := range map[string][]byte{"rows.csv": []byte(csv.String()), "rows.jsonl": []byte(lines.String()), "rows.parquet": packed.Bytes()} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		if code := run([]string{"simulate", file, "--key", "server", "--key", "server,level", "--key", "up,salt(server,7)", "--uniformity", "--limit", "bytes=2KB", "--json"}, &out, &errs); code != 0 {
			t.Fatalf("%s: %d %s", name, code, errs.String())
		}
		got := &simulation.Report{}
		if err := json.Unmarshal(out.Bytes(), got); err != nil {
			t.Fatal(err)
		}
		got.Data = ""
		if want == nil {
			want = got
		} else if !reflect.DeepEqual(got.Keys, want.Keys) || got.Rows != want.Rows || len(got.Uniformity) != len(want.Uniformity) {
			t.Errorf("seed %d, %s: %+v\nwant %+v", seed, name, got.Keys, want.Keys)
		}
	}
}
