// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/keys"
	"github.com/evenkeel/evenkeel/workbench/rows"
	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// TestTheExperiment reads what the program prints, and comes to the published sizes.
func TestTheExperiment(t *testing.T) {
	o := simulation.Options{Partitioner: simulation.MD5Mod, Partitions: 4, Within: -1}
	for _, text := range []string{"code", "code,user", "code,salt(user,200)"} {
		e, err := keys.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Keys = append(o.Keys, simulation.Key{Text: text, Expr: e})
	}
	var printed bytes.Buffer
	if err := write(&printed, 1, false, false); err != nil {
		t.Fatal(err)
	}
	src, err := rows.Open("-", rows.Options{Stdin: &printed})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	s, err := simulation.New(o)
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]*value.Type{}
	for _, c := range src.Columns() {
		types[c.Name] = c.Type
	}
	columns := o.Columns()
	_, err = src.Scan(t.Context(), rows.ScanOptions{Workers: 1, Columns: columns}, func(_ int, b *rows.Batch) error {
		for i := range b.N {
			row := make([]string, len(columns))
			for c, name := range columns {
				row[c] = string(b.Columns[c].AppendText(nil, i, types[name]))
			}
			if err := s.Add(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int64{{2240, 1320, 920, 1130}, {1411, 1427, 1420, 1352}, {1384, 1325, 1397, 1504}} {
		if k := s.Report().Keys[i]; !slices.Equal(k.Sizes, want) {
			t.Errorf("%s: %v, want %v", k.Key, k.Sizes, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		var out bytes.Buffer
		if err := write(&out, 1, true, lazy); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "\n"); n != 4604 {
			t.Errorf("%d lines", n)
		}
	}
}
