package advice

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/workbench/prices"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// advise runs a study over rows in memory.
func advise(t testing.TB, tb *table, text string, o Options) *Report {
	t.Helper()
	var qs []queries.Query
	if text != "" {
		var err error
		if qs, err = queries.Parse(text); err != nil {
			t.Fatal(err)
		}
		for i := range qs {
			if err := qs[i].Resolve(tb.names); err != nil {
				t.Fatal(err)
			}
		}
	}
	if o.Target.units() {
		o.Prices, _ = prices.Builtin().Of(string(o.Target), "us-east-1")
	}
	p := tb.profile(nil)
	s, err := New(p, qs, o)
	if err != nil {
		t.Fatal(err)
	}
	for cs := s.Next(); len(cs) > 0; cs = s.Next() {
		measured := make([]*profile.Measured, 0, len(cs))
		for _, c := range cs {
			measured = append(measured, tb.measure(p, c))
		}
		s.Take(measured)
	}
	r := s.Report()
	if _, err := json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	return r
}

// generate makes rows of a function of their number.
func generate(seed uint64, n int, names string, row func(r *rand.Rand, i int) string) *table {
	r := rand.New(rand.NewPCG(seed, 7))
	tb := &table{names: strings.Split(names, ",")}
	for i := range n {
		tb.rows = append(tb.rows, strings.Split(row(r, i), ","))
	}
	return tb
}

var start = time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)

func at(seconds float64) string {
	return start.Add(time.Duration(seconds * float64(time.Second))).Format(time.RFC3339)
}

func day(n int) string { return start.AddDate(0, 0, n).Format(time.DateOnly) }

// zipf draws 0..n-1, small ones far more often.
func zipf(r *rand.Rand, s float64, n int) int {
	return int(rand.NewZipf(r, s, 1, uint64(n-1)).Uint64())
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
