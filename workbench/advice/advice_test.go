// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/workbench/prices"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// advise runs a study on rows in memory, which it counts.
func advise(t testing.TB, tb *table, text string, o Options) *Report {
	t.Helper()
	return adviseCounted(t, tb, text, o)
}

func adviseCounted(t failer, tb *table, text string, o Options) *Report {
	p := tb.profile(nil)
	return study(t, p, text, o, func(cs []profile.Candidate) []*profile.Measured {
		var out []*profile.Measured
		for _, c := range cs {
			out = append(out, tb.measure(p, c))
		}
		return out
	})
}

// adviseFile runs a study on the same rows in a file, which package profile reads.
func adviseFile(t testing.TB, tb *table, text string, o Options) *Report {
	t.Helper()
	name := filepath.Join(t.TempDir(), "data.csv")
	var b strings.Builder
	w := csv.NewWriter(&b)
	if err := errors.Join(w.Write(tb.names), w.WriteAll(tb.rows)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := rows.Open(name, rows.Options{Again: true, Header: rows.HasHeader})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	p, err := profile.Of(t.Context(), src, profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return study(t, p, text, o, func(cs []profile.Candidate) []*profile.Measured {
		m, _, err := profile.Measure(t.Context(), src, p, cs, profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}

// failer is a test or a property.
type failer interface {
	Helper()
	Fatal(...any)
}

func study(t failer, p *profile.Profile, text string, o Options, measure func([]profile.Candidate) []*profile.Measured) *Report {
	t.Helper()
	var qs []queries.Query
	if text != "" {
		var err error
		if qs, err = queries.Parse(text); err != nil {
			t.Fatal(err)
		}
		for i := range qs {
			var names []string
			for j := range p.Columns {
				names = append(names, p.Columns[j].Name)
			}
			if err := qs[i].Resolve(names); err != nil {
				t.Fatal(err)
			}
		}
	}
	if o.Target.units() {
		o.Prices, _ = prices.Builtin().Of(string(o.Target), "us-east-1")
	}
	s, err := New(p, qs, o)
	if err != nil {
		t.Fatal(err)
	}
	for cs := s.Next(); len(cs) > 0; cs = s.Next() {
		s.Take(measure(cs))
	}
	r := s.Report()
	if _, err := json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	return r
}

func show(r *Report) string {
	var b strings.Builder
	if v := r.Verdict; v != nil {
		bucket := "null"
		if v.TimeBucket != nil {
			bucket = *v.TimeBucket
		}
		fmt.Fprintf(&b, "key %v clustering %v strategy %s shards %d by %v bucket %s\n", v.PartitionKey, v.Clustering, v.Strategy, v.Shards, v.By, bucket)
		fmt.Fprintf(&b, "%s\n", v.Summary)
		for _, x := range v.Reasons {
			fmt.Fprintf(&b, "- %s\n", x)
		}
		fmt.Fprintf(&b, "fact: %s\n", v.Fact)
		for _, x := range v.DDL {
			fmt.Fprintf(&b, "%s\n", x)
		}
	}
	for _, a := range r.Antipatterns {
		fmt.Fprintf(&b, "antipattern %s %v: %s\n", a.Name, a.Columns, a.Evidence)
	}
	for _, h := range r.HotKeys {
		fmt.Fprintf(&b, "hot %v %s %.3f\n", h.Columns, h.Value, h.Share)
	}
	for i, c := range r.Candidates {
		if i > 12 {
			break
		}
		fmt.Fprintf(&b, "%d. %s | lost %g unserved %.2f filtered %.2f cost %.4g month %.4g headroom %.2g | %s\n", i+1, c.Design, c.RowsLost, c.Unserved, c.Filtered, c.Cost.CPU, c.Cost.Month, c.Headroom, c.WhyLost)
	}
	return b.String()
}
