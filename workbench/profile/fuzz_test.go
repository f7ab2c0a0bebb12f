// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"bytes"
	"testing"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// FuzzProfile checks that whatever the rows are, there is a result or an error, and the bounds of
// estimates are in order.
func FuzzProfile(f *testing.F) {
	for _, s := range []string{
		"a,b,c\n1,x,2020-07-09\n2,,2020-07-10\n", "ts,b\n-9223372036854775807,x\n9223372036854775807,y\n", "{\"a\":1}\n{\"b\":[1]}\n{\"a\":\"1\",\"b\":null}\n",
		"a,created_at\n1,1600000000\n2,1600000001\n", "a,b\n0000-01-01,9999-12-31T23:59:59Z\n1970-01-01,0000-01-01T00:00\n", "a,b\nd2177dd0-eaa2-11de-a572-001b779c76e3,0xca\n,NaN\n", "a\n1.5\n1e400\n",
	} {
		f.Add([]byte(s), byte(0))
		f.Add([]byte(s), byte(7))
	}
	types := []value.Kind{value.Text, value.Timestamp, value.Bigint, value.Date, value.Decimal, value.Blob, value.Inet, value.Timeuuid}
	f.Fuzz(func(t *testing.T, data []byte, given byte) {
		src, err := rows.Open("-", rows.Options{Stdin: bytes.NewReader(data), Again: true})
		if err != nil {
			return
		}
		defer src.Close()
		o := Options{Workers: 2, MaxBadRows: 1 << 40}
		columns := src.Columns()
		if len(columns) == 0 || len(columns) > 20 {
			return
		}
		if given > 0 {
			o.Types = map[string]*value.Type{columns[0].Name: value.Native(types[int(given)%len(types)])}
		}
		p, err := Of(t.Context(), src, o)
		if err != nil {
			return
		}
		var cs []Candidate
		when := ""
		for _, c := range p.Columns {
			if c.Distinct.Low > c.Distinct.Value || c.Distinct.High < c.Distinct.Value || c.Values+c.Nulls != p.Rows {
				t.Fatalf("%+v", c)
			}
			if c.Time != nil {
				when = c.Name
			}
		}
		for i, c := range p.Columns {
			cs = append(cs, Candidate{Partition: []Part{{Column: c.Name}}, Time: when, Detail: true})
			if next := p.Columns[(i+1)%len(p.Columns)].Name; next != c.Name {
				cs = append(cs, Candidate{Partition: []Part{{Column: c.Name}}, Clustering: []string{next}, Shards: 3})
			}
			if when != "" {
				for g := Second; g <= Year; g++ {
					cs = append(cs, Candidate{Partition: []Part{{Column: c.Name}, {Column: when, Bucket: g}}, Shards: 2, Time: when})
				}
			}
		}
		ms, _, err := Measure(t.Context(), src, p, cs, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ms {
			if m.Rows+m.Unkeyed != p.Rows {
				t.Fatalf("%d rows and %d without a key of %d: %+v", m.Rows, m.Unkeyed, p.Rows, m.Candidate)
			}
			if m.RowSizes.Max.Low > m.RowSizes.Max.High || m.Lost.Low > m.Lost.High {
				t.Fatalf("%+v", m)
			}
		}
	})
}
